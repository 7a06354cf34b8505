/*
 * What a run would trip over, beyond what reading a row can see.
 *
 * Every remark is made once per job it concerns: notes count equal texts and
 * keep the line of the first, so the texts are constant and the remedy names
 * the job.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/capacity.h"
#include "io/circle.h"
#include "io/trace_io.h"
#include "model/dag.h"

#define DAY_S 86400.0

/* A median run time beyond this is in milliseconds, or the cluster trains for a generation. */
static const double longest_median_s = 1e7;
/* No trace is three years long, but 1973 and later are dates in seconds. */
static const double latest_first_s = 1e8;

struct check {
	const struct trace *trace;
	const struct cluster *cluster; /* may be NULL */
	struct capacity capacity;      /* of it */
	struct notes *notes;
	uint32_t type_of[TYPES_MAX]; /* by type of the trace: bit of the cluster's type, 0: it has none */
};

static void say(const struct check *c, uint32_t job, enum note_level level, const char *field,
	const char *text, const char *fix)
{
	char remedy[256];

	snprintf(remedy, sizeof(remedy), "job '%.60s': %s", c->trace->jobs[job].label, fix);
	notes_add(c->notes, level, notes_line(c->notes, job), field, remedy, "%s", text);
}

/* ---- one job ---- */

static void check_numbers(const struct check *c, uint32_t i)
{
	const struct job *job = &c->trace->jobs[i];
	double work = c->trace->work[i];

	if (isnan(work))
		say(c, i, NOTE_PROBLEM, job->by_steps ? "steps" : "duration_s",
			"no run time: the job cannot be simulated", "give it duration_s or steps");
	else if (!(work > 0) || isinf(work))
		say(c, i, NOTE_PROBLEM, job->by_steps ? "steps" : "duration_s",
			"the work is not a positive number", "give it a run time above 0");
	if (!isfinite(job->arrival_s) || job->arrival_s < 0)
		say(c, i, NOTE_PROBLEM, "arrival_s", "the arrival is not a time of 0 or later",
			"give seconds from the start of the trace");
	if (job->gpus < 1 || job->min_gpus < 1 || job->min_gpus > job->gpus || job->max_gpus < job->gpus)
		say(c, i, NOTE_PROBLEM, "gpus", "min_gpus <= gpus <= max_gpus does not hold",
			"correct the three");
	if (!(job->weight > 0) || isinf(job->weight))
		say(c, i, NOTE_PROBLEM, "weight", "the weight is not a positive number", "1 is usual");
	if (job->work_est <= 0)
		say(c, i, NOTE_PROBLEM, "est_s", "the estimated run time is not positive",
			"leave it empty for a perfect estimate");
}

static void check_deadline(const struct check *c, uint32_t i)
{
	const struct job *job = &c->trace->jobs[i];
	double run_s = c->trace->work[i] / job->nominal_rate;

	if (isinf(job->deadline_s))
		return;
	if (job->deadline_s <= job->arrival_s)
		say(c, i, NOTE_PROBLEM, "deadline_s", "the deadline is not after the arrival",
			"deadlines are points in time, as arrivals are, not durations");
	else if (!job->by_steps && job->arrival_s + run_s > job->deadline_s)
		say(c, i, NOTE_WARNING, "deadline_s",
			"the deadline is missed even if the job starts at once",
			"allow more time, or expect it to be refused");
}

/* The cluster's types that it may use. */
static uint32_t cluster_types(const struct check *c, uint32_t types)
{
	uint32_t mask = 0;

	if (!types)
		return UINT32_MAX;
	for (uint32_t i = 0; i < TYPES_MAX; i++)
		if (types >> i & 1)
			mask |= c->type_of[i];
	return mask;
}

static void say_types(const struct check *c, uint32_t i)
{
	uint32_t types = c->trace->jobs[i].types, known = cluster_types(c, types);

	if (!known)
		say(c, i, NOTE_PROBLEM, "types", "the cluster has none of the device types it may use",
			"name types of the cluster, or none for any");
	for (uint32_t t = 0; known && t < c->trace->types.n && t < TYPES_MAX; t++)
		if ((types >> t & 1) && !c->type_of[t])
			notes_add(c->notes, NOTE_ASSUMED, notes_line(c->notes, i), "types", NULL,
				"the cluster has no '%.60s'; jobs that may use it run on their other types",
				c->trace->types.at[t]);
}

/* Enough devices are there, but the nodes cannot feed them. */
static void say_starved(const struct check *c, uint32_t i, uint32_t types)
{
	struct job job = c->trace->jobs[i];
	bool cpus_alone, mem_alone;
	char fix[120];

	job.mem_bytes = 0;
	cpus_alone = capacity_gpus(&c->capacity, &job, types) == 0;
	job.mem_bytes = c->trace->jobs[i].mem_bytes;
	job.cpus = 0;
	mem_alone = capacity_gpus(&c->capacity, &job, types) == 0;
	job = c->trace->jobs[i];
	if (cpus_alone || !mem_alone) {
		snprintf(fix, sizeof(fix),
			"it asks for %g CPUs in all, %g for each of its %d GPUs; lower cpus",
			job.cpus, job.cpus / job.gpus, job.gpus);
		say(c, i, NOTE_PROBLEM, "cpus",
			"more CPUs than the nodes have for so many of their GPUs: it can never run",
			fix);
		return;
	}
	snprintf(fix, sizeof(fix),
		"it asks for %.1f GiB in all, %.1f for each of its %d GPUs; lower mem",
		(double)job.mem_bytes / (1 << 30), (double)job.mem_bytes / (1 << 30) / job.gpus,
		job.gpus);
	say(c, i, NOTE_PROBLEM, "mem",
		"more memory than the nodes have for so many of their GPUs: it can never run", fix);
}

/* Whether some type of the cluster has the gang that the job needs there. */
static bool some_gang_fits(const struct check *c, const struct job *job, uint32_t types)
{
	for (uint32_t i = 0; i < TYPES_MAX; i++) {
		struct job gang = *job;

		if (!c->type_of[i] || !job->gpus_by_type[i] || !(types & c->type_of[i]))
			continue;
		types &= ~c->type_of[i];
		gang.gpus = gang.min_gpus = job->gpus_by_type[i];
		if (capacity_gpus(&c->capacity, &gang, c->type_of[i]))
			return true;
	}
	return types && capacity_gpus(&c->capacity, job, types);
}

/* What submission would do with it: refuse it, or cut its GPUs to what fits. */
static void check_demand(const struct check *c, uint32_t i)
{
	const struct job *job = &c->trace->jobs[i];
	uint32_t types, most, gpus;
	char fix[120];

	if (!c->cluster)
		return;
	say_types(c, i);
	types = cluster_types(c, job->types);
	if (!types || job->min_gpus < 1 || job->gpus < job->min_gpus)
		return;
	if (job->gpus_by_type) {
		if (!some_gang_fits(c, job, types))
			say(c, i, NOTE_PROBLEM, "gpus_by_type",
				"no type has the GPUs, CPUs and memory that it needs there: it can never run",
				"lower the numbers, or name a type of the cluster that is large enough");
		return;
	}
	most = capacity_devices(&c->capacity, types);
	gpus = capacity_gpus(&c->capacity, job, types);
	if (gpus == (uint32_t)job->gpus)
		return;
	if (job->min_gpus > (int64_t)most) {
		snprintf(fix, sizeof(fix),
			"it asks for %d, a type it may use has %u; lower gpus or enlarge the cluster",
			job->min_gpus, most);
		say(c, i, NOTE_PROBLEM, "gpus",
			"more GPUs than the cluster has of one type: it can never run", fix);
	} else if (!gpus) {
		say_starved(c, i, types);
	} else {
		snprintf(fix, sizeof(fix), "it asks for %d and will run with at most %u", job->gpus,
			gpus);
		say(c, i, NOTE_WARNING, "gpus",
			"more GPUs than the cluster can give it: it runs with fewer", fix);
	}
}

/* ---- dependencies ---- */

static void check_deps(const struct check *c, uint32_t i)
{
	const struct job *job = &c->trace->jobs[i];

	for (uint32_t k = 0; k < job->ndeps; k++) {
		uint32_t other = c->trace->deps[job->first_dep + k];

		if (other >= c->trace->njobs)
			say(c, i, NOTE_PROBLEM, "after", "it waits for a job that is not there",
				"name an id of this trace");
		else if (c->trace->jobs[other].arrival_s > job->arrival_s)
			say(c, i, NOTE_WARNING, "after", "it waits for a job that arrives later",
				"is the order of the two right?");
	}
}

/* Readers refuse circles; a trace may have been made otherwise. */
static void check_circles(const struct check *c)
{
	const struct trace *t = c->trace;
	struct arena arena = { 0 };
	struct buf text = { 0 };
	uint32_t *circle, *lines, n;
	struct dag dag;

	dag_of_jobs(&dag, &arena, t->jobs, t->njobs, t->deps);
	n = dag_cycle(&dag, &arena, &circle);
	if (n) {
		lines = arena_array(&arena, uint32_t, n);
		for (uint32_t i = 0; i < n; i++)
			lines[i] = (uint32_t)notes_line(c->notes, circle[i]);
		circle_text(t, circle, lines, n, &text);
		notes_add(c->notes, NOTE_PROBLEM, lines[0], "after", "remove one of these dependencies",
			"jobs wait for each other in a circle: %s; none of them can start", text.at);
	}
	buf_fini(&text);
	arena_fini(&arena);
}

/* ---- the whole ---- */

static int by_value(const void *a_, const void *b_)
{
	double a = *(const double *)a_, b = *(const double *)b_;

	return a < b ? -1 : a > b;
}

/* Of the run times in seconds; NAN if there are none. */
static double median_duration(const struct trace *trace)
{
	double *s = mem_alloc(mem_array_size(trace->njobs, sizeof(*s)));
	double median = NAN;
	uint32_t n = 0;

	for (uint32_t i = 0; i < trace->njobs; i++)
		if (!trace->jobs[i].by_steps && !isnan(trace->work[i]))
			s[n++] = trace->work[i];
	qsort(s, n, sizeof(*s), by_value);
	if (n)
		median = s[n / 2];
	free(s);
	return median;
}

static void check_times(const struct check *c)
{
	const struct trace *t = c->trace;
	double median_s = median_duration(t), first_s = t->jobs[0].arrival_s;
	double last_s = t->jobs[t->njobs - 1].arrival_s;

	if (median_s > longest_median_s)
		notes_add(c->notes, NOTE_WARNING, 0, "duration_s",
			"times are in seconds: divide them by 1000 if these are milliseconds",
			"half of the jobs run longer than %.0f days", median_s / DAY_S);
	if (first_s > latest_first_s)
		notes_add(c->notes, NOTE_WARNING, notes_line(c->notes, 0), "arrival_s",
			"subtract the first arrival from all of them",
			"the first job arrives after %.0f years: these are dates",
			first_s / DAY_S / 365);
	if (t->njobs > 1 && first_s == last_s)
		notes_add(c->notes, NOTE_WARNING, 0, "arrival_s",
			"right for a batch; else give arrivals", "all jobs arrive at the same time");
}

static void check_labels(const struct check *c)
{
	struct names labels = { 0 };

	for (uint32_t i = 0; i < c->trace->njobs; i++) {
		const char *label = c->trace->jobs[i].label;
		uint32_t before = labels.n;

		names_add(&labels, label, strlen(label));
		if (labels.n == before)
			say(c, i, NOTE_PROBLEM, "id", "an earlier job has the same id", "rename one");
	}
	names_fini(&labels);
}

/* GPU-seconds asked for over those there are while jobs arrive. */
static void check_load(const struct check *c)
{
	const struct trace *t = c->trace;
	double span_s = t->jobs[t->njobs - 1].arrival_s - t->jobs[0].arrival_s, sum = 0, load;

	if (!c->cluster || !c->cluster->devices || !(span_s > 0) || t->njobs < 10)
		return;
	for (uint32_t i = 0; i < t->njobs; i++)
		if (!t->jobs[i].by_steps && t->work[i] > 0)
			sum += t->jobs[i].gpus * t->work[i];
	load = sum / (span_s * c->cluster->devices);
	if (load > 1)
		notes_add(c->notes, NOTE_WARNING, 0, NULL,
			"expect a queue that grows until arrivals end; enlarge the cluster for steady state",
			"the jobs ask for %.2f times the cluster's capacity while they arrive", load);
}

static void check_steps(const struct check *c)
{
	const struct trace *t = c->trace;

	for (uint32_t i = 0; i < t->njobs; i++)
		if (t->jobs[i].by_steps && t->jobs[i].nominal_rate == 1 && !isnan(t->work[i]))
			notes_add(c->notes, NOTE_ASSUMED, notes_line(c->notes, i), "steps",
				"give a profile with measured speeds, or the column rate",
				"work in steps: the speed comes from a profile or the catalogue");
}

void trace_check(const struct trace *trace, const struct cluster *cluster, struct notes *notes)
{
	struct check c = { .trace = trace, .cluster = cluster, .notes = notes };

	if (!trace->njobs) {
		notes_add(notes, NOTE_PROBLEM, 0, NULL, NULL, "no jobs");
		return;
	}
	for (uint32_t i = 0; cluster && i < trace->types.n && i < TYPES_MAX; i++) {
		int type = cluster_find_type(cluster, trace->types.at[i]);

		c.type_of[i] = type >= 0 ? UINT32_C(1) << type : 0;
	}
	if (cluster)
		capacity_init(&c.capacity, cluster);
	for (uint32_t i = 0; i < trace->njobs; i++) {
		check_numbers(&c, i);
		check_deadline(&c, i);
		check_demand(&c, i);
		check_deps(&c, i);
	}
	if (trace->ndeps)
		check_circles(&c);
	check_labels(&c);
	check_times(&c);
	check_load(&c);
	check_steps(&c);
	capacity_fini(&c.capacity);
}
