/*
 * Finding what Slurm did before, and handing it to the record.
 */
#include "cli/slurm_history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/members.h"
#include "base/vec.h"
#include "cli/slurm_talk.h"
#include "cli/ui.h"
#include "cli/workload.h"
#include "daemon/import.h"
#include "io/trace_io.h"

#define SACCT_PATIENCE_S 60.0
enum { SACCT_MAX = 1 << 30 };

static const struct flag flags[] = {
	TEXT(from_sacct, "FILE",
		"what happened before: sacct --parsable2 (else sacct is asked for 30 days)"),
	TEXT(from_jobcomp, "FILE",
		"likewise, the log of jobcomp/filetxt (else the cluster's own, if it can be read)"),
	TEXT(assume_gpus, "node=N|cpus=N",
		"where the log has no GPUs: N for each node of a job, or one for every N CPUs"),
	SWITCH(no_history, "begin with nothing"),
	{ 0 },
};
const struct flag_group flags_slurm_history = { .title = "history", .flags = flags };

/* Slurm's log has the controller's local time, which the importer takes for UTC. */
static double zone_s(double at_s)
{
	time_t t = (time_t)at_s;
	struct tm here;

	localtime_r(&t, &here);
	return (double)here.tm_gmtoff;
}

static int finish(struct slurm_history *h, const struct args *args, const char *from, bool local,
	int rc, struct err *err)
{
	if (rc < 0)
		return rc;
	h->args = args;
	h->from = mem_strdup(from);
	h->began_s = h->trace.began_s - (local ? zone_s(h->trace.began_s) : 0);
	(void)err;
	return 0;
}

static int read_file(const struct args *args, const char *path, const char *format, bool local,
	struct slurm_history *h, struct err *err)
{
	struct import_options options = { .format = format, .lenient = true };
	struct notes notes = { 0 };
	int rc = args->assume_gpus ? assume_gpus(args->assume_gpus, &options, err) : 0;

	if (rc == 0)
		rc = trace_read(path, &options, NULL, &h->trace, &notes, err);
	notes_fini(&notes);
	return finish(h, args, path, local, rc, err);
}

/* False: there is no accounting here. */
static bool ask_sacct(const struct args *args, struct slurm_history *h)
{
	static const char *const argv[] = { "env", "TZ=UTC", "sacct", "-a", "-D", "-X", "-S",
		"now-30days", "--parsable2",
		"--format=JobID,JobName,User,Account,Partition,Submit,Start,End,ElapsedRaw,TimelimitRaw,State,"
		"AllocTRES,ReqTRES,NNodes,NodeList",
		NULL };
	struct child_ask ask = { .argv = argv, .out_max = SACCT_MAX, .timeout_s = SACCT_PATIENCE_S };
	struct import_options options = { .format = "sacct", .lenient = true };
	struct notes notes = { 0 };
	struct child_end end;
	struct err ignored = { 0 };
	bool found = false;

	if (!child_is_there("sacct"))
		return false;
	if (args->assume_gpus)
		assume_gpus(args->assume_gpus, &options, &ignored);
	if (child_run(&ask, &end, &ignored) == 0) {
		found = end.code == 0 && end.out.n &&
			finish(h, args, "sacct", false,
				trace_read_text("sacct", (struct slice){ end.out.at, end.out.n },
					&options, &h->trace, &notes, &ignored),
				&ignored) == 0;
		child_end_fini(&end);
	}
	notes_fini(&notes);
	return found;
}

/* The cluster's own log, where it keeps one that can be read here; else why there is none.  An error: Slurm does not answer. */
static int find_log(const struct args *args, const struct slurm_words *words,
	struct slurm_history *h, struct buf *why, struct err *err)
{
	struct err trouble = { 0 };
	json_t *answers = NULL;
	const char *kind, *path;

	if (slurm_talk(words, json_array(), &answers, err) < 0)
		return err->code;
	kind = member_text(json_array_get(answers, 0), "jobcomp");
	path = member_text(json_array_get(answers, 0), "jobcomp_loc");
	if (!kind || !path || !strstr(kind, "filetxt"))
		buf_str(why, "the cluster keeps no log of jobs that end (JobCompType=jobcomp/filetxt)");
	else if (read_file(args, path, "jobcomp", true, h, &trouble) < 0)
		buf_str(why, trouble.text);
	json_decref(answers);
	return 0;
}

int slurm_history_read(const struct args *args, const struct slurm_words *words,
	struct slurm_history *out, struct err *err)
{
	struct buf why = { 0 };
	int rc = 0;

	struct import_options trial = { 0 };

	if (args->assume_gpus && assume_gpus(args->assume_gpus, &trial, err) < 0)
		return err->code;
	if (args->no_history)
		return 0;
	if (args->from_sacct)
		return read_file(args, args->from_sacct, "sacct", false, out, err);
	if (args->from_jobcomp)
		return read_file(args, args->from_jobcomp, "jobcomp", true, out, err);
	if (!ask_sacct(args, out))
		rc = find_log(args, words, out, &why, err);
	if (rc == 0 && why.n)
		ui_say(args,
			"it begins without a history: sacct tells nothing, and %s; --from-sacct or --from-jobcomp name one",
			why.at);
	buf_fini(&why);
	return rc;
}

void slurm_history_fini(struct slurm_history *h)
{
	trace_fini(&h->trace);
	free(h->from);
}

static const char *tenant_of(const struct trace *trace, const struct job *job)
{
	return job->tenant == NAME_NONE ? NULL : trace->tenants.at[job->tenant];
}

static struct past_job past_of(const struct slurm_history *h, const struct past_run *run, char *key)
{
	const struct job *job = &h->trace.jobs[run->job];
	double submitted_s = h->began_s + job->arrival_s;

	snprintf(key, 96, "slurm:%s@%.0f", job->label, submitted_s);
	return (struct past_job){
		.key = key,
		.name = job->name,
		.tenant = tenant_of(&h->trace, job),
		.submitted_s = submitted_s,
		.begun_s = h->began_s + run->start_s,
		.ended_s = h->began_s + run->end_s,
		.ran_s = run->end_s - run->start_s,
		.gpus = run->gpus > 0 ? (uint32_t)run->gpus : 1,
	};
}

/* By job; of one that was requeued the last run counts. */
static const struct past_run **last_runs(const struct trace *trace)
{
	const struct past_run **last = mem_alloc(mem_array_size(trace->njobs + 1, sizeof(*last)));

	for (uint32_t i = 0; i < trace->npast; i++) {
		const struct past_run *run = &trace->past[i];

		if (!last[run->job] || last[run->job]->end_s <= run->end_s)
			last[run->job] = run;
	}
	return last;
}

int slurm_history_import(void *ctx, struct daemon *daemon, struct err *err)
{
	const struct slurm_history *h = ctx;
	double now_s = clock_real_s();
	VEC(struct past_job) jobs = { 0 };
	const struct past_run **last;
	char(*keys)[96];
	int added;

	if (!h->trace.npast)
		return 0;
	keys = mem_alloc(mem_array_size(h->trace.npast, sizeof(*keys)));
	last = last_runs(&h->trace);
	for (uint32_t i = 0; i < h->trace.njobs; i++) {
		const struct past_run *run = last[i];

		if (run && run->end_s > run->start_s && h->began_s + run->end_s <= now_s)
			vec_push(&jobs, past_of(h, run, keys[jobs.n]));
	}
	free(last);
	added = daemon_import(daemon, jobs.at, jobs.n, err);
	if (added > 0)
		ui_say(h->args, "%d jobs of the history in %s are known now", added, h->from);
	vec_fini(&jobs);
	free(keys);
	return added < 0 ? added : 0;
}
