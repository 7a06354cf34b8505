/*
 * stint daemon: the scheduler of this machine, or of a partition of Slurm.
 */
#include <string.h>

#include "cli/serve.h"
#include "cli/slurm_flags.h"

static int run(const struct args *args, struct err *err)
{
	struct serve_world world = { 0 };
	struct slurm_words slurm = { 0 };
	int rc = 0;

	if (args->driver && strcmp(args->driver, "local") != 0 && strcmp(args->driver, "slurm") != 0)
		return err_set(err, ERR_USAGE, "--driver %s: local (this machine) or slurm",
			args->driver);
	if (args->driver && !strcmp(args->driver, "slurm")) {
		rc = slurm_words_read(args, &slurm, err);
		if (rc == 0 && !args->partition)
			rc = err_set(err, ERR_USAGE,
				"--driver slurm needs --partition: the one whose jobs Stint starts; 'stint slurm status' lists them");
		world.slurm = &slurm.options;
	} else if (args->partition) {
		return err_set(err, ERR_USAGE, "--partition goes with --driver slurm");
	}
	if (rc == 0)
		rc = serve_daemon(args, &world, err);
	slurm_words_fini(&slurm);
	return rc;
}

static const struct flag_group flags_machine = {
	.title = "the machine",
	.flags =
		(const struct flag[]){
			NUMBER(slots, FLAG_INT, "N", -1, -1, 4096, "CPU slots to offer; -1: one per CPU"),
			SWITCH(no_gpus, "offer CPU slots even if there are GPUs"),
			SWITCH(no_cgroups, "do not put jobs into cgroups"),
			{ 0 },
		},
};

static const struct flag_group flags_limits = {
	.title = "users",
	.flags =
		(const struct flag[]){
			TEXT(roles, "RULES",
				"with --system: who is read, user, operator or admin, as operator:alice,operator:@ops,read:*, or a file of such lines (doc/operations.md); every user is a user (default)"),
			TEXT(limits, "RULE",
				"what a user may have: queued=200000,bytes=4G,rate=200,burst=2000,whatifs=1 (default); tenant:*: before one is for each tenant, user:NAME: and tenant:NAME: for one; admins: for them, too; off"),
			{ 0 },
		},
};

static const struct flag_group flags_care = {
	.title = "idle jobs and failing devices",
	.flags =
		(const struct flag[]){
			TEXT(idle, "RULE",
				"warn of jobs that hold devices and do nothing, and take these back: warn=30m,reclaim=2h,then=hold|requeue|cancel; off (default)"),
			NUMBER(avoid_after, FLAG_INT, "N", 2, 0, 1000,
				"a job avoids a device on which it failed N times within 5 minutes of its start; 0: never"),
			NUMBER(drain_after, FLAG_INT, "N", 3, 0, 1000,
				"drain a device on which N different jobs failed that way in a row; 0: never"),
			{ 0 },
		},
};

static const char *const examples[] = {
	"stint daemon &",
	"stint daemon --policy tiresias:limit_s=600 --slots 4",
	"stint daemon --state /tmp/try --port 8780",
	"stint daemon --notify ~/.config/stint/notify.yaml",
	"stint daemon --idle warn=30m,reclaim=2h,then=requeue",
	"sudo stint daemon --system",
	"sudo stint daemon --system --limits queued=5000,rate=20,user:ci:rate=none,tenant:nlp:queued=50000",
	"sudo stint daemon --system --roles operator:@ops,read:@viewers,admin:bob",
	"sudo stint daemon --driver slurm --partition gpu --policy gavel",
	NULL,
};

const struct command command_daemon = {
	.name = "daemon",
	.summary = "run jobs on this machine, or drive a Slurm partition: the scheduler itself",
	.operands = "",
	.live = true,
	.groups = { &serve_flags_place, &flags_machine, &slurm_flags_drive, &serve_flags_rules,
		&flags_care, &flags_limits, &serve_flags_output },
	.about = "Needs no configuration: GPUs are found through the NVIDIA driver, and where there are none CPU slots\n"
		 "are offered.  Everything is recorded before it counts; a daemon that is stopped or killed loses\n"
		 "nothing, its jobs run on, and the next one takes them over.  Ctrl-C stops it, not the jobs.",
	.examples = examples,
	.run = run,
};
