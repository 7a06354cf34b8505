/*
 * A record as a directory to simulate, beside how it really went.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/db_trace.h"
#include "cli/setup.h"
#include "cli/ui.h"
#include "io/cluster_io.h"
#include "io/csv.h"
#include "io/tenants_io.h"
#include "io/trace_io.h"
#include "model/goodput.h"
#include "store/run_dir.h"

#define SIM_TRACE "trace.csv"
#define SIM_CLUSTER "cluster.yaml"
#define SIM_TENANTS "tenants.yaml"
#define SIM_REAL "real.csv"
#define SIM_SPEEDS "throughputs.csv"

static int write_in(const char *dir, const char *name, const struct buf *text, struct err *err)
{
	char *path = path_join(dir, name);
	int rc = file_write(path, text->at ? text->at : "", text->n, err);

	free(path);
	return rc;
}

/* ---- how fast elastic jobs were */

/* Steps of its first batch in a second there; NAN: measured before it said its batch. */
static double progress_of(const struct live_job *job, const struct live_speed *s)
{
	struct gradient g = {
		.sqr = fmax(0, job->progress.grad_sqr),
		.var = fmax(0, job->progress.grad_var),
	};

	if (!(s->batch > 0))
		return isnan(job->first_batch) ? 1 / s->step_s : NAN;
	return goodput_gain(g, s->batch, job->first_batch) / s->step_s;
}

/* The best that was measured there: it may have tried several batches. */
static double best_there(const struct live_job *job, const struct live_speed *like)
{
	double best = 0;

	for (size_t i = 0; i < job->speeds.n; i++) {
		const struct live_speed *s = &job->speeds.at[i];

		if (!strcmp(s->type, like->type) && s->gpus == like->gpus && s->nodes == like->nodes)
			best = fmax(best, progress_of(job, s));
	}
	return best;
}

/* Whether one before it is of the same devices. */
static bool is_told(const struct live_job *job, size_t which)
{
	const struct live_speed *s = &job->speeds.at[which];

	for (size_t i = 0; i < which; i++) {
		const struct live_speed *t = &job->speeds.at[i];

		if (!strcmp(s->type, t->type) && s->gpus == t->gpus && s->nodes == t->nodes)
			return true;
	}
	return false;
}

/* Rows of a file of speeds.  Says whether there is one of the machine's types. */
static bool put_speeds(const struct live_job *job, const char *model, const struct cluster *cluster,
	struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < job->speeds.n; i++) {
		const struct live_speed *s = &job->speeds.at[i];
		double per_s = best_there(job, s);

		if (!(per_s > 0) || is_told(job, i) || cluster_find_type(cluster, s->type) < 0)
			continue;
		buf_printf(out, "%s,", model);
		csv_write_text(out, s->type);
		buf_printf(out, ",%u,%u,", s->gpus, s->nodes);
		buf_double(out, per_s);
		buf_char(out, '\n');
		any = true;
	}
	return any;
}

/* Its speed as asked: as measured there, else as was believed in the end. */
static double rate_as_asked(const struct live_job *job)
{
	for (size_t i = 0; i < job->speeds.n; i++) {
		const struct live_speed *s = &job->speeds.at[i];

		if ((int32_t)s->gpus == job->base.gpus && best_there(job, s) > 0)
			return best_there(job, s);
	}
	return job->base.nominal_rate;
}

/*
 * Each of them is a model of its own, whose speeds are in the file, and its work is what it did at the speed it
 * has as asked.  What it was never seen on is in proportion to what it was.
 */
static void tell_speeds(const struct recorded *r, struct trace *trace, struct buf *out)
{
	for (uint32_t i = 0; i < trace->njobs; i++) {
		struct job *job = &trace->jobs[i];
		uint32_t id = (uint32_t)strtoul(job->label, NULL, 10);
		const struct live_job *ended = recorded_find(r, id)->ended;
		char model[32];

		snprintf(model, sizeof(model), "job-%u", id);
		if (!ended->base.by_steps || !put_speeds(ended, model, &r->epoch.cluster, out))
			continue;
		job->model = names_add(&trace->models, model, strlen(model));
		if (ended->base.done > 0 && rate_as_asked(ended) > 0)
			trace->work[i] = ended->base.done / rate_as_asked(ended);
	}
}

/* ---- how it went */

static void set_course(struct job *job, const struct live_job *from)
{
	job->state = JOB_FINISHED; /* as the simulator will see them: all that ran ran to their end */
	job->start_s = from->base.start_s;
	job->finish_s = from->end_s;
	job->ran_s = live_job_ran_s(from);
	job->waited_s = from->base.waited_s;
	job->overhead_s = from->base.overhead_s;
	job->lost_s = from->base.lost_s;
	job->preemptions = from->base.preemptions;
	job->migrations = from->base.migrations;
	job->resizes = from->base.resizes;
	job->failures = from->base.failures;
	job->restarts = from->base.restarts;
	job->served_s = from->base.served_s;
	job->occupied_s = from->base.occupied_s;
}

void recorded_course(const struct recorded *r, const struct trace *trace, struct outcome *out)
{
	out->jobs = mem_alloc(mem_array_size(trace->njobs + 1, sizeof(*out->jobs)));
	out->njobs = trace->njobs;
	for (uint32_t i = 0; i < trace->njobs; i++) {
		uint32_t id = (uint32_t)strtoul(trace->jobs[i].label, NULL, 10);

		out->jobs[i] = trace->jobs[i];
		set_course(&out->jobs[i], recorded_find(r, id)->ended);
	}
}

static void tell_course(const struct args *args, const struct outcome *real)
{
	double from_s = INFINITY, to_s = -INFINITY, sum_s = 0;

	for (uint32_t i = 0; i < real->njobs; i++) {
		from_s = fmin(from_s, real->jobs[i].arrival_s);
		to_s = fmax(to_s, real->jobs[i].finish_s);
		sum_s += real->jobs[i].finish_s - real->jobs[i].arrival_s;
	}
	ui_say(args, "it went so: %u job%s, mean completion time %.4g s, makespan %.4g s",
		real->njobs, real->njobs == 1 ? "" : "s", sum_s / real->njobs, to_s - from_s);
}

/* ---- files */

static int write_speeds(const char *dir, const struct buf *rows, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	buf_str(&text, "model,type,gpus,nodes,steps_per_s\n");
	buf_add(&text, rows->at, rows->n);
	rc = write_in(dir, SIM_SPEEDS, &text, err);
	buf_fini(&text);
	return rc;
}

/* `*speeds`: there is a file of speeds. */
static int write_workload(const char *dir, const struct args *args, const struct recorded *r,
	bool *speeds, struct err *err)
{
	struct trace trace = { 0 };
	struct outcome real = { 0 };
	struct buf text = { 0 };
	int rc = 0;

	recorded_trace(r, &trace);
	tell_speeds(r, &trace, &text);
	*speeds = text.n > 0;
	if (*speeds)
		rc = write_speeds(dir, &text, err);
	buf_clear(&text);
	recorded_course(r, &trace, &real);
	trace_write(&trace, &text);
	if (!rc)
		rc = write_in(dir, SIM_TRACE, &text, err);
	buf_clear(&text);
	jobs_csv(&trace, &real, &text);
	if (!rc)
		rc = write_in(dir, SIM_REAL, &text, err);
	if (!rc)
		tell_course(args, &real);
	buf_fini(&text);
	outcome_fini(&real);
	trace_fini(&trace);
	return rc;
}

static int write_world(const char *dir, const struct epoch *epoch, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	cluster_write_yaml(&epoch->cluster, &text);
	rc = write_in(dir, SIM_CLUSTER, &text, err);
	buf_clear(&text);
	tenants_write_yaml(&epoch->tenants, &text);
	if (!rc && epoch->tenants.n)
		rc = write_in(dir, SIM_TENANTS, &text, err);
	buf_fini(&text);
	return rc;
}

/* ---- the command */

static void add_path(struct buf *out, const char *dir, const char *name)
{
	char *path = path_join(dir, name);

	quote_word(out, path);
	free(path);
}

static void add_rule(struct buf *out, const char *flag, const char *spec, const char *preset)
{
	buf_printf(out, " --%s ", flag);
	quote_word(out, spec ? spec : preset);
}

static void sim_command(const char *dir, const struct epoch *epoch, bool speeds, struct buf *out)
{
	buf_str(out, "stint sim ");
	add_path(out, dir, SIM_TRACE);
	buf_str(out, " --cluster ");
	add_path(out, dir, SIM_CLUSTER);
	if (epoch->tenants.n) {
		buf_str(out, " --tenants ");
		add_path(out, dir, SIM_TENANTS);
	}
	if (speeds) {
		buf_str(out, " --throughputs ");
		add_path(out, dir, SIM_SPEEDS);
	}
	add_rule(out, "policy", epoch->rules.policy, PRESET_POLICY);
	add_rule(out, "placer", epoch->rules.placer, PRESET_PLACER);
	add_rule(out, "admit", epoch->rules.admit, PRESET_ADMIT);
	if (epoch->seed)
		buf_printf(out, " --seed %llu", (unsigned long long)epoch->seed);
}

static int write_dir(const struct args *args, const struct recorded *r, struct err *err)
{
	struct buf command = { 0 };
	int rc = dir_make(args->out, err);
	bool speeds = false;

	if (!rc)
		rc = write_workload(args->out, args, r, &speeds, err);
	if (!rc)
		rc = write_world(args->out, &r->epoch, err);
	if (!rc) {
		recorded_remarks(args, r);
		recorded_tell_unseen(args, r);
		sim_command(args->out, &r->epoch, speeds, &command);
		rc = ui_print(&command, err);
	}
	buf_fini(&command);
	return rc;
}

int db_export_sim(const struct args *args, struct record *record, struct err *err)
{
	struct recorded r;
	int rc;

	if (!args->out)
		return err_set(err, ERR_USAGE,
			"--format sim makes a directory: say which with --out DIR");
	rc = recorded_read(record, &r, err);
	if (rc < 0)
		return rc;
	if (r.jobs.n == 0)
		rc = err_set(err, ERR_MISSING, "no job of this record has run and ended yet");
	else if (!r.has_epoch)
		rc = err_set(err, ERR_FORMAT,
			"the record does not say on which machine it was made; export it with --format trace");
	else
		rc = write_dir(args, &r, err);
	recorded_fini(&r);
	return rc;
}
