/*
 * stint slurm attach, stint slurm shadow: looking on at a Slurm cluster, alone or
 * with a policy that decides beside it.
 */
#include <stdlib.h>

#include "cli/serve.h"
#include "cli/shadow_report.h"
#include "cli/slurm_history.h"
#include "cli/slurm_flags.h"
#include "cli/ui.h"

static int look_on(const struct args *args, struct err *err)
{
	struct slurm_words slurm = { 0 };
	struct slurm_history history = { 0 };
	struct serve_world world = {
		.slurm = &slurm.options,
		.observe = true,
		.opened = slurm_history_import,
		.ctx = &history,
	};
	int rc = slurm_words_read(args, &slurm, err);

	if (rc == 0)
		rc = slurm_history_read(args, &slurm, &history, err);
	/* The record's time begins with the first job it knows. */
	world.born_s = history.began_s;
	if (rc == 0)
		rc = serve_daemon(args, &world, err);
	slurm_history_fini(&history);
	slurm_words_fini(&slurm);
	return rc;
}

static int run_attach(const struct args *args, struct err *err)
{
	return look_on(args, err);
}

static int run_shadow(const struct args *args, struct err *err)
{
	if (args->report)
		return shadow_report(args, err);
	if (args->policy.n != 1)
		return err_set(err, ERR_USAGE,
			"--policy is needed, once: who decides in the shadow; 'stint policies' lists them");
	return look_on(args, err);
}

static const struct flag shadow_flags[] = {
	LIST(policy, "SPEC", "who decides, e.g. gavel or tiresias:limit_s=3600"),
	NUMBER(shadow_every, FLAG_SECONDS, "TIME", 10, 0.1, 86400,
		"decide at most this often, and not more often than the policy's rounds (10s)"),
	SWITCH(report, "do not look on: what came of it so far, from the record"),
	SWITCH(all, "with --report, every job that would have started at another time"),
	{ 0 },
};
static const struct flag_group group_shadow = { .title = "in the shadow", .flags = shadow_flags };

static const char *const attach_examples[] = {
	"stint slurm attach &",
	"stint queue; stint explain slurm:4711; stint report",
	"stint slurm attach --partition gpu --state /var/lib/stint-watch",
	NULL,
};
static const char *const shadow_examples[] = {
	"stint slurm shadow --policy gavel &",
	"stint slurm shadow --report",
	NULL,
};

const struct command command_slurm_attach = {
	.name = "slurm attach",
	.summary = "look on at a Slurm cluster: its queue explained, forecast and recorded",
	.operands = "",
	.live = true,
	.groups = { &slurm_flags_look, &flags_slurm_history, &serve_flags_place, &serve_flags_output },
	.about = "A daemon that changes nothing in Slurm: it follows nodes, GPUs and jobs, and 'stint queue',\n"
		 "'explain', 'eta', 'history', 'report', 'top' and the page work on them.  No rights are needed\n"
		 "but to see the jobs.  Explanations and forecasts go by backfilling in order of arrival, which\n"
		 "stands in for Slurm's own order.  Ctrl-C ends it; Slurm does not notice.",
	.examples = attach_examples,
	.run = run_attach,
};

const struct command command_slurm_shadow = {
	.name = "slurm shadow",
	.summary = "let a policy decide beside Slurm, act never, and compare",
	.operands = "",
	.live = true,
	.groups = { &group_shadow, &slurm_flags_look, &flags_slurm_history, &serve_flags_place,
		&serve_flags_output },
	.about = "As 'stint slurm attach', and every round the policy decides on what runs and waits: whom it\n"
		 "would start, whom it would stop.  --report tells who would have started when, and what the jobs\n"
		 "that ended would have taken under the policy from the first of them on.",
	.examples = shadow_examples,
	.run = run_shadow,
};
