/*
 * stint submit: hands a job to the daemon.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/draft.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/ui.h"

/* "Submitted job 7", "Submitted array 7 of 10 jobs"; with --quiet or --parsable the number alone. */
static void tell_one(const struct args *args, const json_t *job, double count, struct buf *out)
{
	double id = live_number(job, "id");
	bool is_new = !json_is_false(json_object_get(job, "new"));

	if (args->quiet || args->parsable)
		buf_printf(out, "%.0f\n", id);
	else if (count > 1)
		buf_printf(out, "Submitted array %.0f of %.0f jobs\n", id, count);
	else
		buf_printf(out, "Submitted job %.0f\n", id);
	if (!is_new)
		ui_say(args, "job %.0f was submitted before under this key and is %s; nothing is new",
			id, live_text(job, "state") ? live_text(job, "state") : "there");
}

static int tell(const struct args *args, const json_t *reply, struct err *err)
{
	const json_t *jobs = json_object_get(reply, "jobs");
	const json_t *remarks = json_object_get(reply, "remarks");
	bool array = !args->batch && json_array_size(jobs) > 1;
	double count = (double)json_array_size(jobs);
	struct buf text = { 0 };
	int rc;

	if (args->json)
		return live_print_json(reply, err);
	for (size_t i = 0; i < json_array_size(jobs); i++) {
		const json_t *job = json_array_get(jobs, i);

		tell_one(args, job, array ? count : 1, &text);
		if (array) /* the others are named by the first */
			break;
	}
	rc = ui_print(&text, err);
	buf_fini(&text);
	for (size_t i = 0; i < json_array_size(remarks); i++)
		ui_say(args, "%s", json_string_value(json_array_get(remarks, i)));
	live_say_notes(args, reply);
	return rc;
}

/* With --wait: the first of them that did not complete says how all went. */
static int wait_for_all(const struct args *args, const json_t *reply, struct err *err)
{
	const json_t *jobs = json_object_get(reply, "jobs");
	int code = 0;

	for (size_t i = 0; i < json_array_size(jobs); i++) {
		char id[32];
		json_t *job;
		int rc;

		snprintf(id, sizeof(id), "%.0f", live_number(json_array_get(jobs, i), "id"));
		rc = live_wait(args, id, INFINITY, &job, err);
		if (rc)
			return rc;
		code = code ? code : live_exit_code(job);
		json_decref(job);
	}
	return code;
}

static json_t *refuse_pty(struct err *err)
{
	err_set(err, ERR_USAGE,
		"--pty: a job on a terminal needs a person in front of it; use stint run --pty instead");
	return NULL;
}

static int run(const struct args *args, struct err *err)
{
	json_t *body = args->pty ? refuse_pty(err) : draft_body(args, err), *reply;
	int rc;

	if (!body)
		return err->code;
	if (args->if_unchanged >= 0)
		json_object_set_new(body, "if_unchanged", json_integer(args->if_unchanged));
	rc = live_post(args, "/v1/jobs", body, &reply, err);
	if (rc)
		return rc;
	rc = tell(args, reply, err);
	if (!rc && args->wait)
		rc = wait_for_all(args, reply, err);
	json_decref(reply);
	return rc;
}

static const struct flag flags[] = {
	TEXT(like, "JOB",
		"as that job of yours was submitted, with its command, directory and variables; flags and a command given here win"),
	TEXT(batch, "FILE", "many jobs at once, all or none: a JSON object in each line"),
	NUMBER(if_unchanged, FLAG_INT, "STAMP", -1, 0, 9e15,
		"only if nothing that matters has happened since the plan of that stamp"),
	SWITCH(wait, "wait until it has ended; exit with its exit code"),
	SWITCH(pty, "not here: use 'stint run --pty'"),
	SWITCH(parsable, "print only the job number"),
	SWITCH(quiet, "print only the job number, no remarks"),
	SWITCH(json, "print the daemon's answer"),
	{ 0 },
};

static const struct flag_group flags_submit = { .title = "submitting", .flags = flags };

static const char *const examples[] = {
	"stint submit --gpus 1 --time 2h -- python train.py --epochs 90",
	"stint submit --gpus 4 --min-gpus 1 --signal USR1@60 -- ./train.sh",
	"stint submit -J sweep --array 0-99%8 -- sh -c 'python train.py --seed $STINT_ARRAY_INDEX'",
	"stint submit --dependency afterok:7 eval.sh",
	"stint submit --gpus 2 job.yaml",
	"stint submit --like 12 --gpus 4",
	"stint submit --batch jobs.jsonl",
	"stint submit --if-unchanged 4711 --gpus 2 job.yaml",
	NULL,
};

const struct command command_submit = {
	.name = "submit",
	.summary = "hand a job to the daemon",
	.operands = "[--] COMMAND [ARG...]",
	.max_operands = 1 << 20,
	.takes_rest = draft_takes_rest,
	.live = true,
	.groups = { &flags_job, &flags_submit, &flags_daemon },
	.about = "Flags come before the command: what follows it belongs to it.  After -- the command is taken\n"
		 "as it is.  Without --, COMMAND may be a script, whose #SBATCH and #STINT lines at the top\n"
		 "say what it wants; a job file in YAML with the same fields as the flags, command and env; or\n"
		 "a program of $PATH, if there is no file of its name here.  Flags win over what a file says.",
	.examples = examples,
	.run = run,
};
