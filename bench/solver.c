/*
 * solver SECTION: what one decision of a policy that works by shares costs,
 * beside the bars it should meet.
 *
 *	decisions   2,048 jobs on three types, every objective; AlloX at 256
 *	packed      512 jobs of 26 models that may share devices
 *	large       100,000 jobs on eight types, and the memory of the whole process
 *	growth      from 128 jobs to 100,000
 *
 * A workload arrives at once; the simulator submits it, lets the policy decide
 * once and stops; then the policy is asked for its shares again and again.
 * "shares" is the median of that, "decision" the first decision with its turns
 * and the submission of the jobs, less what fifo takes for the same.  CPU time.
 * Speeds are drawn: where it is not said otherwise no two jobs are alike, which
 * is the hardest case.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "policy/hetero/program.h"
#include "sim/sim.h"
#include "solver/pairs.h"

/* ---- a workload */

struct load {
	uint32_t jobs, types;
	uint32_t models;  /* 0: as many as jobs */
	bool singles;     /* all of one GPU, else up to eight as in Gavel's traces */
	bool pair_speeds; /* of every two models */
	double crowd;     /* devices asked for over devices that are there; 0: 3 */
};

struct world {
	struct trace trace;
	struct cluster cluster;
	struct profile *profile;
};

static void fail(const struct err *err)
{
	fprintf(stderr, "solver: %s\n", err->text);
	exit(1);
}

static int draw_gang(struct rng *rng, bool singles)
{
	double u = rng_between(rng, 0, 1);

	return singles || u < 0.7 ? 1 : u < 0.8 ? 2 : u < 0.95 ? 4 : 8;
}

/* Nodes of eight. */
static void make_cluster(struct world *world, const struct load *load)
{
	double wanted = load->jobs * (load->singles ? 1 : 1.9);
	uint32_t nodes = (uint32_t)ceil(wanted / (load->crowd > 0 ? load->crowd : 3) / load->types / 8);
	struct err err = { 0 };
	char text[256];
	size_t n = 0;

	for (uint32_t w = 0; w < load->types; w++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%ux8:t%u", w ? "," : "", nodes, w);
	if (cluster_parse(text, &world->cluster, &err) < 0)
		fail(&err);
}

/* A newer type is faster, by how much is a matter of the model; a few do not run on the oldest. */
static void add_speeds(struct world *world, struct rng *rng, uint32_t model, uint32_t gpus,
	uint32_t types)
{
	double speed = rng_between(rng, 0.5, 20) * gpus;
	bool fits = rng_below(rng, 20) > 0;

	for (uint32_t w = 0; w < types; w++) {
		profile_add(world->profile, model, w, gpus, 0,
			w == 0 && types > 1 && !fits ? 0 : speed);
		speed *= rng_between(rng, 1, 3);
	}
}

static void add_pairs(struct world *world, struct rng *rng, uint32_t models, uint32_t types)
{
	for (uint32_t a = 0; a < models; a++) {
		for (uint32_t b = a; b < models; b++) {
			double keep = rng_between(rng, 0.3, 1);
			bool fits = rng_below(rng, 10) > 0;

			for (uint32_t w = 0; w < types; w++) {
				profile_add_beside(world->profile, w, 1, a, b, fits ? keep : 0);
				profile_add_beside(world->profile, w, 1, b, a, fits ? keep : 0);
			}
		}
	}
}

static void add_jobs(struct world *world, struct rng *rng, const struct load *load)
{
	uint32_t models = load->models ? load->models : load->jobs;

	for (uint32_t i = 0; i < load->jobs; i++) {
		struct job *job = trace_add(&world->trace);

		job->gpus = draw_gang(rng, load->singles);
		job->model = i % models;
		job->by_steps = true;
		world->trace.work[i] = rng_between(rng, 1e4, 1e7);
		if (i < models || !load->singles)
			add_speeds(world, rng, job->model, (uint32_t)job->gpus, load->types);
	}
	trace_finish(&world->trace, NAN);
}

static void build_world(struct world *world, const struct load *load)
{
	uint32_t models = load->models ? load->models : load->jobs;
	struct rng rng;

	*world = (struct world){ 0 };
	rng_init(&rng, 1, RNG_TEST);
	make_cluster(world, load);
	for (uint32_t i = 0; i < models; i++) {
		char name[16];
		int n = snprintf(name, sizeof(name), "m%u", i);

		names_add(&world->trace.models, name, (size_t)n);
	}
	world->profile = profile_create(&world->cluster, &world->trace.models);
	add_jobs(world, &rng, load);
	if (load->pair_speeds)
		add_pairs(world, &rng, models, load->types);
}

static void world_release(struct world *world)
{
	profile_destroy(world->profile);
	trace_fini(&world->trace);
	cluster_fini(&world->cluster);
}

/* ---- measuring */

enum { REPEAT_MAX = 7 };
#define ENOUGH_S 1.0 /* of CPU for the repeats of one figure */

struct timing {
	double shares_s[REPEAT_MAX];
	int n;
	double decision_s; /* the whole run up to the first decision */
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(struct timing *m)
{
	qsort(m->shares_s, (size_t)m->n, sizeof(*m->shares_s), by_value);
	return m->n ? m->shares_s[m->n / 2] : NAN;
}

static int ask_again(void *ctx, const struct chosen_policy *policy, const struct round *round,
	const struct plan *plan, struct err *err)
{
	struct timing *m = ctx;
	double all_s = 0;

	if (!policy->rule->shares)
		return 0;
	while (m->n < REPEAT_MAX && all_s < ENOUGH_S) {
		double before_s = clock_cpu_s();
		struct shares shares = { 0 };
		struct program program;

		if (policy->rule->shares(policy->state, round, plan, &program, &shares, err) < 0)
			return err->code;
		if (shares.fallback && m->n == 0)
			printf("  (%s)\n", shares.fallback);
		m->shares_s[m->n] = clock_cpu_s() - before_s;
		all_s += m->shares_s[m->n++];
	}
	return 0;
}

typedef int look_fn(void *ctx, const struct chosen_policy *policy, const struct round *round,
	const struct plan *plan, struct err *err);

/* CPU seconds up to a time; that of the first end of a job goes to `ended_s`, if asked for. */
static double run_until(const struct world *world, const char *policy, double until_s,
	look_fn *look, void *ctx, double *ended_s)
{
	struct sim_config config;
	struct outcome out;
	struct err err = { 0 };
	double took_s;

	sim_config_init(&config);
	config.trace = &world->trace;
	config.cluster = &world->cluster;
	config.truth = world->profile;
	config.policy = policy;
	config.until_s = until_s;
	config.look = look;
	config.look_ctx = ctx;
	if (sim_run(&config, &out, &err) < 0)
		fail(&err);
	took_s = out.cpu_s;
	for (uint32_t i = 0; ended_s && i < out.njobs; i++) {
		if (out.jobs[i].state == JOB_FINISHED)
			*ended_s = fmin(*ended_s, out.jobs[i].finish_s);
	}
	outcome_fini(&out);
	return took_s;
}

/* CPU seconds from the start to the end of the first decision. */
static double first_decision(const struct world *world, const char *policy, look_fn *look, void *ctx)
{
	return run_until(world, policy, DBL_MIN, look, ctx, NULL);
}

static struct timing measure(const struct world *world, const char *policy)
{
	struct timing m = { 0 };
	double asked_s = 0;

	m.decision_s = first_decision(world, policy, ask_again, &m);
	for (int i = 0; i < m.n; i++)
		asked_s += m.shares_s[i];
	m.decision_s = fmax(0, m.decision_s - asked_s - first_decision(world, "fifo", NULL, NULL));
	return m;
}

/* ---- the table */

static void heading(const char *what)
{
	printf("\n%-60s %10s %11s   bar\n", what, "shares ms", "decision ms");
}

static void print_row(const char *what, double shares_s, double decision_s, double bar_s)
{
	double figure_s = isnan(shares_s) ? decision_s : shares_s;
	char shares[32] = "-", decision[32] = "-";

	if (!isnan(shares_s))
		snprintf(shares, sizeof(shares), "%.2f", shares_s * 1e3);
	if (!isnan(decision_s))
		snprintf(decision, sizeof(decision), "%.2f", decision_s * 1e3);
	printf("%-60s %10s %11s   ", what, shares, decision);
	if (bar_s > 0)
		printf("<= %g ms  %s\n", bar_s * 1e3, figure_s <= bar_s ? "pass" : "MISS");
	else
		printf("-\n");
	fflush(stdout);
}

static void row(const struct world *world, const char *what, const char *policy, double bar_s)
{
	struct timing m = measure(world, policy);
	char text[96];

	snprintf(text, sizeof(text), "%s: %s", what, policy);
	print_row(text, median(&m), m.decision_s, bar_s);
}

/* The decision when the first job ends: all other devices are busy, each for another time. */
static void next_decision(const struct world *world, const char *policy, double bar_s)
{
	double ended_s = INFINITY;
	struct timing m = { 0 };
	char text[96];

	run_until(world, policy, 0, NULL, NULL, &ended_s);
	while (m.n < REPEAT_MAX)
		m.shares_s[m.n++] = run_until(world, policy, ended_s + 1e-3, NULL, NULL, NULL) -
			first_decision(world, policy, NULL, NULL);
	snprintf(text, sizeof(text), "when the first job ends: %s", policy);
	print_row(text, NAN, median(&m), bar_s);
}

/* ---- sections */

static void decisions(void)
{
	static const struct {
		const char *what, *policy;
		double bar_s;
	} rows[] = {
		{ "max-min", "gavel:compat=gavel", 0.008 },
		{ "max-min", "gavel", 0.004 },
		{ "makespan", "gavel:objective=makespan,compat=gavel", 0.040 },
		{ "makespan", "gavel:objective=makespan", 0.040 },
		{ "finish-time", "gavel:objective=finish-time,compat=gavel", 0.100 },
		{ "finish-time", "gavel:objective=finish-time", 0.100 },
		{ "water filling", "gavel:water_filling=1,compat=gavel", 0.150 },
		{ "water filling", "gavel:water_filling=1", 0.150 },
		{ "throughput", "gavel:objective=throughput,compat=gavel", 0 },
		{ "fifo", "gavel:objective=fifo", 0 },
		{ "agnostic", "gavel:hetero=0", 0 },
		{ "isolated", "isolated", 0 },
	};
	struct world world;

	build_world(&world, &(struct load){ .jobs = 2048, .types = 3 });
	heading("one decision: 2,048 jobs, no two alike, 3 types");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		row(&world, rows[i].what, rows[i].policy, rows[i].bar_s);
	world_release(&world);
	build_world(&world, &(struct load){ .jobs = 2048, .types = 3, .models = 26, .singles = true });
	heading("the same of 26 models, one GPU each");
	row(&world, "max-min", "gavel:compat=gavel", 0.008);
	row(&world, "max-min", "gavel", 0.004);
	row(&world, "water filling", "gavel:water_filling=1,compat=gavel", 0.150);
	row(&world, "water filling", "gavel:water_filling=1", 0.150);
	world_release(&world);
	build_world(&world,
		&(struct load){ .jobs = 48 + 256, .types = 3, .singles = true, .crowd = 8 });
	heading("matching: 256 jobs wait for 48 devices, no two alike");
	row(&world, "AlloX", "allox:alpha=1", 0.020);
	next_decision(&world, "allox:alpha=1", 0.020);
	row(&world, "AlloX", "allox:alpha=1,preempt=1", 0.020);
	next_decision(&world, "allox:alpha=1,preempt=1", 0.020);
	row(&world, "AlloX", "allox:compat=gavel", 0.020);
	world_release(&world);
}

/* The packed program with every job and pair written out. */
struct written_out {
	double took_s;
	double z;
	uint32_t entries;
};

static void fill_entries(const struct program *p, struct pair_entry *entry, double *value,
	double *scale, double *g)
{
	for (uint32_t i = 0; i < p->jobs; i++) {
		double proportional = 0, devices = 0;

		entry[i] = (struct pair_entry){ i, PAIR_NONE };
		for (uint32_t w = 0; w < p->types; w++) {
			value[((size_t)i * p->types + w) * 2] = p->speed[(size_t)i * p->types + w];
			proportional += p->speed[(size_t)i * p->types + w] * p->capacity[w];
			devices += p->capacity[w];
		}
		scale[i] = p->gang[i] * devices / proportional;
		g[i] = 1;
	}
	for (uint32_t k = 0; k < p->pairs; k++)
		entry[p->jobs + k] = (struct pair_entry){ p->pair[k].a, p->pair[k].b };
	memcpy(value + (size_t)p->jobs * p->types * 2, p->pair_speed,
		sizeof(double) * p->pairs * p->types * 2);
}

static int solve_written_out(void *ctx, const struct chosen_policy *policy,
	const struct round *round, const struct plan *plan, struct err *err)
{
	struct written_out *out = ctx;
	struct program p;
	struct pair_answer answer = { 0 };
	double *value, *scale, *g, before_s;
	struct pair_entry *entry;

	(void)policy;
	(void)err;
	program_init(&p, round, plan, true);
	out->entries = p.jobs + p.pairs;
	entry = arena_array(round->scratch, struct pair_entry, out->entries);
	value = arena_array(round->scratch, double, (size_t)out->entries *p.types * 2);
	answer.x = arena_array(round->scratch, double, (size_t)out->entries *p.types);
	scale = arena_array(round->scratch, double, p.jobs);
	g = arena_array(round->scratch, double, p.jobs);
	fill_entries(&p, entry, value, scale, g);
	before_s = clock_cpu_s();
	pairs_solve(
		&(struct pair_program){
			.jobs = p.jobs,
			.types = p.types,
			.entries = out->entries,
			.entry = entry,
			.value = value,
			.gang = p.gang,
			.capacity = p.capacity,
			.rows = 1,
			.scale = scale,
			.g = g,
			.z_cost = -1,
		},
		&answer);
	out->took_s = clock_cpu_s() - before_s;
	out->z = answer.z;
	return 0;
}

static void packed(void)
{
	struct written_out out = { 0 };
	struct world world;
	char text[96];

	build_world(&world,
		&(struct load){
			.jobs = 512,
			.types = 3,
			.models = 26,
			.singles = true,
			.pair_speeds = true,
		});
	heading("one decision with pairs: 512 jobs of 26 models, 3 types");
	row(&world, "kinds", "gavel:packing=1,compat=gavel", 2);
	row(&world, "pricing", "gavel:packing=1", 0.5);
	row(&world, "makespan", "gavel:packing=1,objective=makespan", 0);
	row(&world, "throughput", "gavel:packing=1,objective=throughput", 0);
	first_decision(&world, "fifo", solve_written_out, &out);
	snprintf(text, sizeof(text), "interior point, all %u entries written out", out.entries);
	print_row(text, out.took_s, NAN, 2);
	world_release(&world);
}

static void large(void)
{
	struct world world;
	double mib;

	build_world(&world, &(struct load){ .jobs = 100000, .types = 8 });
	heading("one decision: 100,000 jobs, no two alike, 8 types");
	row(&world, "max-min", "gavel", 1);
	mib = (double)clock_peak_rss_bytes() / 1048576;
	printf("%-60s %10s %11.0f   <= 500 MB  %s\n", "peak of memory of all this, MiB", "", mib,
		mib * 1.048576 <= 500 ? "pass" : "MISS");
	world_release(&world);
}

/* A column is not measured further once a decision has taken this long. */
#define TOO_LONG_S 2.0

static void growth(void)
{
	static const uint32_t sizes[] = { 128, 512, 2048, 8192, 32768, 100000 };
	static const struct {
		const char *what, *policy;
	} columns[] = {
		{ "max-min compat", "gavel:compat=gavel" },
		{ "max-min", "gavel" },
		{ "makespan compat", "gavel:objective=makespan,compat=gavel" },
		{ "makespan", "gavel:objective=makespan" },
		{ "finish-time compat", "gavel:objective=finish-time,compat=gavel" },
		{ "finish-time", "gavel:objective=finish-time" },
		{ "water compat", "gavel:water_filling=1,compat=gavel" },
		{ "water filling", "gavel:water_filling=1" },
	};
	enum { COLUMNS = sizeof(columns) / sizeof(*columns) };
	bool stopped[COLUMNS] = { false };

	printf("\ngrowth: ms of CPU for the shares, 3 types, no two jobs alike\n%8s", "jobs");
	for (int c = 0; c < COLUMNS; c++)
		printf(" %18s", columns[c].what);
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		struct world world;

		build_world(&world, &(struct load){ .jobs = sizes[s], .types = 3 });
		printf("\n%8u", sizes[s]);
		for (int c = 0; c < COLUMNS; c++) {
			struct timing m = { 0 };

			if (stopped[c]) {
				printf(" %18s", "-");
				continue;
			}
			first_decision(&world, columns[c].policy, ask_again, &m);
			stopped[c] = median(&m) > TOO_LONG_S;
			printf(" %18.2f", median(&m) * 1e3);
			fflush(stdout);
		}
		world_release(&world);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} sections[] = {
		{ "decisions", decisions },
		{ "packed", packed },
		{ "large", large },
		{ "growth", growth },
	};

	for (size_t i = 0; argc == 2 && i < sizeof(sections) / sizeof(*sections); i++) {
		if (strcmp(argv[1], sections[i].name) == 0) {
			sections[i].run();
			return 0;
		}
	}
	fprintf(stderr, "usage: solver decisions|packed|large|growth\n");
	return 2;
}
