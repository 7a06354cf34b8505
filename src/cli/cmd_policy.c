/*
 * stint policy: which policy decides, and another one.
 */
#include <stdio.h>
#include <string.h>

#include "cli/draft.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/ui.h"

static int show(const json_t *reply, struct err *err)
{
	double since = live_number(reply, "since");
	char ago[DURATION_SIZE];
	struct buf text = { 0 };
	int rc;

	live_line(&text, "policy", live_text(reply, "policy"));
	live_line(&text, "placer", live_text(reply, "placer"));
	live_line(&text, "admit", live_text(reply, "admit"));
	if (since > 0)
		live_linef(&text, "since", "%s ago", live_duration(draft_now() - since, ago));
	rc = ui_print(&text, err);
	buf_fini(&text);
	return rc;
}

static int set(const struct args *args, json_t **reply, struct err *err)
{
	const char *policy = args->operands.n > 1 ? args->operands.at[1] : NULL;
	const char *placer = args->placer.n ? args->placer.at[args->placer.n - 1] : NULL;
	json_t *body;

	if (!policy && !placer && !args->admit)
		return err_set(err, ERR_USAGE,
			"which one? write: stint policy set tiresias; 'stint policies' lists them");
	body = json_object();
	if (policy)
		json_object_set_new(body, "policy", json_string(policy));
	if (placer)
		json_object_set_new(body, "placer", json_string(placer));
	if (args->admit)
		json_object_set_new(body, "admit", json_string(args->admit));
	return live_post(args, "/v1/policy", body, reply, err);
}

static int run(const struct args *args, struct err *err)
{
	const char *what = args->operands.n ? args->operands.at[0] : "show";
	bool sets = !strcmp(what, "set");
	json_t *reply;
	int rc;

	if (!sets && strcmp(what, "show") != 0)
		return err_set(err, ERR_USAGE, "'%s' was not expected; write: stint policy set %s",
			what, what);
	if (!sets && (args->operands.n > 1 || args->placer.n || args->admit))
		return err_set(err, ERR_USAGE,
			"write: stint policy set [SPEC] [--placer SPEC] [--admit SPEC]");
	rc = sets ? set(args, &reply, err) : live_get(args, "/v1/policy", &reply, err);
	if (rc)
		return rc;
	rc = args->json ? live_print_json(reply, err) : show(reply, err);
	json_decref(reply);
	return rc;
}

static const struct flag flags[] = {
	LIST(placer, "SPEC", "with set: the placer, which picks the devices (stint placers)"),
	TEXT(admit, "SPEC", "with set: the admission rule (stint admissions)"),
	SWITCH(json, "print the daemon's answer"),
	{ 0 },
};

static const struct flag_group flags_policy = { .title = "deciding", .flags = flags };
static const char *const examples[] = {
	"stint policy",
	"stint policy set tiresias:limit_s=600",
	"stint policy set --placer consolidate",
	NULL,
};

const struct command command_policy = {
	.name = "policy",
	.summary = "which policy decides, and changing it",
	.operands = "[show | set [SPEC]]",
	.max_operands = 2,
	.live = true,
	.groups = { &flags_policy, &flags_daemon },
	.about = "Jobs that run and wait stay; the new policy decides from now on.",
	.examples = examples,
	.run = run,
};
