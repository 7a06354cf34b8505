/*
 * The generator: sizes, run times, arrivals, then who and what.
 *
 * Arrivals come last of the three because the load is met exactly: they are
 * spread so that the work drawn offers the load asked for.
 *
 * Every number is made by base/rng.h and plain arithmetic, no libm: the same
 * options give the same bytes everywhere.
 */
#include "io/synth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/option.h"
#include "base/rng.h"
#include "io/synth_dags.h"
#include "model/catalogue.h"

enum gpus { GPUS_PHILLY, GPUS_HELIOS, GPUS_GAVEL, GPUS_POW2, GPUS_ONE };
enum durations { DURATIONS_PHILLY, DURATIONS_HELIOS, DURATIONS_BLOX, DURATIONS_EXPONENTIAL };
enum arrivals { ARRIVALS_POISSON, ARRIVALS_DIURNAL, ARRIVALS_BURST, ARRIVALS_STATIC };

struct synth {
	int jobs;
	double load, rate_per_h, seed;
	int gpus, durations, arrivals;
	double duration_scale;
	int tenants;
	bool models;
	double deadlines, elastic, opportunistic;
	double start_cost_s, resume_cost_s, checkpoint_every_s;
	double dags;
	int dag_jobs, dag_form;
};

static const char *const gpus_choices[] = { "philly", "helios", "gavel", "pow2", "one", NULL };
static const char *const durations_choices[] = { "philly", "helios", "blox", "exponential", NULL };
static const char *const arrivals_choices[] = { "poisson", "diurnal", "burst", "static", NULL };

/* clang-format off */
static const struct option options[] = {
	OPT_INT(struct synth, jobs, 1000, 1, 20000000, "number of jobs"),
	OPT_DOUBLE(struct synth, load, 0.9, 1e-6, 1000, "GPU time asked for over GPU time there is, up to the last arrival"),
	OPT_DOUBLE(struct synth, rate_per_h, 0, 0, 1e9, "jobs per hour; 0: as the load says"),
	OPT_DOUBLE(struct synth, seed, 0, 0, 9007199254740992.0, "whole number that names the draw"),
	OPT_CHOICE(struct synth, gpus, GPUS_PHILLY, gpus_choices, "devices per job as in that trace; pow2: 1, 2, 4, 8 alike"),
	OPT_CHOICE(struct synth, durations, DURATIONS_PHILLY, durations_choices, "run times; blox: 80 % 0.5-17 h, 20 % 17-167 h; exponential: mean 1 h"),
	OPT_DOUBLE(struct synth, duration_scale, 1, 1e-6, 1e6, "factor on every run time"),
	OPT_CHOICE(struct synth, arrivals, ARRIVALS_POISSON, arrivals_choices, "diurnal: busy days, quiet nights; burst: nine of ten in a row; static: all at 0"),
	OPT_INT(struct synth, tenants, 10, 0, 100000, "tenants; the k-th has 1/k of the first one's jobs"),
	OPT_BOOL(struct synth, models, true, "jobs train models of the catalogue, so that types differ in speed"),
	OPT_DOUBLE(struct synth, deadlines, 0, 0, 1, "fraction of jobs with a deadline of 1.1 to 3 run times"),
	OPT_DOUBLE(struct synth, elastic, 0, 0, 1, "fraction of jobs that take a quarter to four times their devices"),
	OPT_DOUBLE(struct synth, opportunistic, 0, 0, 1, "fraction of jobs that run on what is left"),
	OPT_DOUBLE(struct synth, dags, 0, 0, 1, "fraction of jobs in pipelines, whose jobs come together and wait for each other"),
	OPT_INT(struct synth, dag_jobs, 8, 2, 100000, "jobs of a pipeline"),
	OPT_CHOICE(struct synth, dag_form, DAG_LAYERS, dag_form_names, "layers: of four, each job waits for one to three of the last; fork: first, many, last"),
	OPT_DOUBLE(struct synth, start_cost_s, 0, 0, 1e6, "before the first step"),
	OPT_DOUBLE(struct synth, resume_cost_s, 30, 0, 1e6, "save and restore around a preemption"),
	OPT_DOUBLE(struct synth, checkpoint_every_s, 1800, 0, 1e9, "a lost node costs at most this; 0: saved on preemption only"),
	{ 0 },
};
/* clang-format on */

/* What a draw refers to: devices in all, and the largest gang that a type can hold. */
struct room {
	uint32_t devices;
	int32_t gang;
};

static int32_t power_of_two_below(uint32_t n)
{
	int32_t p = 1;

	while (p <= INT32_MAX / 2 && (uint32_t)p * 2 <= n)
		p *= 2;
	return p;
}

static struct room room_of(const struct cluster *cluster)
{
	struct room room = { .devices = 64, .gang = 64 };
	uint32_t most = 0;

	if (!cluster || !cluster->devices)
		return room;
	for (uint32_t i = 0; i < cluster->ntypes; i++) {
		if (cluster->types[i].devices > most)
			most = cluster->types[i].devices;
	}
	room.devices = cluster->devices;
	room.gang = power_of_two_below(most);
	return room;
}

/* ---- sizes */

/* Chance of 1, 2, 4, … devices, per mille. */
static const double gpus_shares[][9] = {
	[GPUS_PHILLY] = { 931.7, 22.1, 22.7, 20, 2.5, 0.8, 0.1, 0.1 }, /* all jobs of the trace */
	[GPUS_HELIOS] = { 520, 100, 100, 200, 50, 30 },                /* Venus */
	[GPUS_GAVEL] = { 700, 100, 150, 50 },                          /* its generator */
	[GPUS_POW2] = { 250, 250, 250, 250 },
	[GPUS_ONE] = { 1000 },
};

static int32_t draw_gpus(const struct synth *s, const struct room *room, struct rng *rng)
{
	double at = 1000 * rng_uniform(rng);
	int i = 0;

	while (gpus_shares[s->gpus][i] > 0 && at >= gpus_shares[s->gpus][i]) {
		at -= gpus_shares[s->gpus][i];
		i++;
	}
	if (gpus_shares[s->gpus][i] == 0) /* rounding left a crumb */
		i = 0;
	return INT32_C(1) << i < room->gang ? INT32_C(1) << i : room->gang;
}

/* ---- run times */

/* 10^x; a lognormal draw without deviation is the exponential that is the same everywhere. */
static double ten_to(double x)
{
	struct rng unused = { { 1, 2, 3, 4 } };

	return rng_lognormal(&unused, x * 2.302585092994046, 0);
}

/* Philly: median 15 min, a tail of weeks; jobs of four and more devices run about ten times as long. */
static double draw_philly(int32_t gpus, struct rng *rng)
{
	return rng_lognormal(rng, gpus < 4 ? 6.79 : 9.1, 2.16);
}

static double draw_blox(struct rng *rng)
{
	bool is_short = rng_uniform(rng) < 0.8;

	return 60 * ten_to(is_short ? rng_between(rng, 1.5, 3) : rng_between(rng, 3, 4));
}

static double draw_duration(const struct synth *s, int32_t gpus, struct rng *rng)
{
	const double least_s = 1, most_s = 60 * 86400.0;
	double d = 0;

	switch ((enum durations)s->durations) {
	case DURATIONS_PHILLY:
		d = draw_philly(gpus, rng);
		break;
	case DURATIONS_HELIOS: /* median 206 s, mean 1.8 h */
		d = rng_lognormal(rng, 5.33, 2.64);
		break;
	case DURATIONS_BLOX:
		d = draw_blox(rng);
		break;
	case DURATIONS_EXPONENTIAL:
		d = rng_exponential(rng, 3600);
		break;
	}
	return fmin(fmax(d, least_s), most_s) * s->duration_scale;
}

/* ---- arrivals */

/* A day as two parabolas, close to a sine: -1 .. 1, least at midnight. */
static double day_wave(double at_s)
{
	double x = at_s / 86400 + 0.75;

	x -= floor(x);
	return x < 0.5 ? 16 * x * (0.5 - x) : -16 * (x - 0.5) * (1 - x);
}

/* Thinning: candidates at the busiest hour's rate, kept by how busy their hour is. */
static double next_diurnal(double at_s, double gap_s, struct rng *rng)
{
	const double swing = 0.7;

	do
		at_s += rng_exponential(rng, gap_s / (1 + swing));
	while (rng_uniform(rng) * (1 + swing) >= 1 + swing * day_wave(at_s));
	return at_s;
}

/* Nine of ten follow the last at once, the tenth after a long pause; the mean is kept. */
static double next_burst(double at_s, double gap_s, struct rng *rng)
{
	const double follow = 0.9, close = 0.01;
	double pause = (1 - follow * close) / (1 - follow);

	return at_s + rng_exponential(rng, gap_s * (rng_uniform(rng) < follow ? close : pause));
}

static double next_arrival(const struct synth *s, double at_s, double gap_s, struct rng *rng)
{
	switch ((enum arrivals)s->arrivals) {
	case ARRIVALS_POISSON:
		return at_s + rng_exponential(rng, gap_s);
	case ARRIVALS_DIURNAL:
		return next_diurnal(at_s, gap_s, rng);
	case ARRIVALS_BURST:
		return next_burst(at_s, gap_s, rng);
	case ARRIVALS_STATIC:
		break;
	}
	return 0;
}

/* The first job comes at 0, so that n jobs have n - 1 gaps. */
static void set_arrivals(const struct synth *s, struct trace *trace, double gap_s, struct rng *rng)
{
	for (uint32_t i = 1; i < trace->njobs; i++)
		trace->jobs[i].arrival_s = next_arrival(s, trace->jobs[i - 1].arrival_s, gap_s, rng);
}

/* Stretches time so that the last arrival, which decides the load, is where it was expected. */
static void meet_load(struct trace *trace, double last_s)
{
	double drawn_s = trace->njobs ? trace->jobs[trace->njobs - 1].arrival_s : 0;

	for (uint32_t i = 0; drawn_s > 0 && i < trace->njobs; i++)
		trace->jobs[i].arrival_s *= last_s / drawn_s;
}

static void draw_arrivals(const struct synth *s, struct trace *trace, const struct room *room,
	struct rng *rng)
{
	double gpu_s = 0, gap_s, last_s;

	for (uint32_t i = 0; i < trace->njobs; i++)
		gpu_s += trace->work[i] * trace->jobs[i].gpus;
	last_s = gpu_s / (s->load * room->devices);
	gap_s = last_s / trace->njobs;
	if (s->rate_per_h > 0)
		gap_s = 3600 / s->rate_per_h;
	set_arrivals(s, trace, gap_s, rng);
	/* A day must stay a day, so that a diurnal load is met on average only. */
	if (s->rate_per_h == 0 && s->arrivals != ARRIVALS_DIURNAL)
		meet_load(trace, last_s);
}

/* ---- who and what */

enum { MODELS_MAX = 64 };
static const double LARGE_PARAMS = 1e9; /* trained by gangs of LARGE_GANG and more only */
enum { LARGE_GANG = 8 };

struct cast {
	double *tenants; /* cumulative shares of tenants, unscaled */
	int ntenants;
	const struct model *models[MODELS_MAX]; /* small ones first */
	uint32_t numbers[MODELS_MAX];           /* in the trace's names */
	int nmodels, nsmall;
};

static void add_models(struct cast *cast, struct trace *trace, bool large)
{
	for (const struct model *m = catalogue_models; m->name; m++) {
		if ((m->params > LARGE_PARAMS) != large || cast->nmodels == MODELS_MAX)
			continue;
		cast->numbers[cast->nmodels] = names_add(&trace->models, m->name, strlen(m->name));
		cast->models[cast->nmodels++] = m;
	}
}

static void cast_init(struct cast *cast, const struct synth *s, struct trace *trace)
{
	double total = 0;

	*cast = (struct cast){ .ntenants = s->tenants };
	cast->tenants = arena_array(&trace->text, double, s->tenants);
	for (int i = 0; i < s->tenants; i++) {
		char name[32];
		int n = snprintf(name, sizeof(name), "tenant-%d", i + 1);

		names_add(&trace->tenants, name, (size_t)n);
		total += 1.0 / (i + 1);
		cast->tenants[i] = total;
	}
	if (!s->models)
		return;
	add_models(cast, trace, false);
	cast->nsmall = cast->nmodels;
	add_models(cast, trace, true);
}

static uint32_t draw_tenant(const struct cast *cast, struct rng *rng)
{
	int lo = 0, hi = cast->ntenants - 1;
	double at;

	if (!cast->ntenants)
		return NAME_NONE;
	at = rng_uniform(rng) * cast->tenants[hi];
	while (lo < hi) {
		int mid = (lo + hi) / 2;

		if (at < cast->tenants[mid])
			hi = mid;
		else
			lo = mid + 1;
	}
	return (uint32_t)lo;
}

static void draw_model(const struct cast *cast, struct job *job, struct rng *rng)
{
	int n = job->gpus >= LARGE_GANG ? cast->nmodels : cast->nsmall;
	uint64_t i;

	if (!n)
		return;
	i = rng_below(rng, (uint64_t)n);
	job->model = cast->numbers[i];
	job->batch = cast->models[i]->batch * job->gpus;
}

/* Every fraction draws whether it is zero or not: changing one leaves the other jobs alone. */
static void draw_wishes(const struct synth *s, const struct room *room, struct job *job,
	double run_s, struct rng *rng)
{
	bool deadline = rng_uniform(rng) < s->deadlines;
	double tightness = rng_between(rng, 1.1, 3);
	bool elastic = rng_uniform(rng) < s->elastic;
	bool opportunistic = rng_uniform(rng) < s->opportunistic;

	if (deadline)
		job->deadline_s = job->arrival_s + tightness * run_s;
	if (elastic) {
		job->min_gpus = job->gpus > 4 ? job->gpus / 4 : 1;
		job->max_gpus = job->gpus <= room->gang / 4 ? job->gpus * 4 : room->gang;
	}
	job->class_ = opportunistic ? JOB_OPPORTUNISTIC : JOB_GUARANTEED;
}

/* ---- the whole */

/* A generator of its own for each question, so that options do not move each other's numbers. */
enum part { PART_SIZE, PART_ARRIVAL, PART_WHO, PART_DAG };

static struct rng part_rng(const struct synth *s, enum part part)
{
	struct rng rng;

	rng_for(&rng, (uint64_t)s->seed, RNG_TRACE, part);
	return rng;
}

static void draw_sizes(const struct synth *s, struct trace *trace, const struct room *room)
{
	struct rng rng = part_rng(s, PART_SIZE);

	for (int i = 0; i < s->jobs; i++) {
		struct job *job = trace_add(trace);

		job->gpus = draw_gpus(s, room, &rng);
		trace->work[i] = draw_duration(s, job->gpus, &rng);
		job->start_cost_s = s->start_cost_s;
		job->resume_cost_s = s->resume_cost_s;
		job->resize_cost_s = s->resume_cost_s;
		job->checkpoint_every_s = s->checkpoint_every_s;
	}
}

static void draw(const struct synth *s, struct trace *trace, const struct room *room)
{
	struct rng arrivals = part_rng(s, PART_ARRIVAL), who = part_rng(s, PART_WHO);
	struct rng dags = part_rng(s, PART_DAG);
	struct cast cast;

	cast_init(&cast, s, trace);
	draw_sizes(s, trace, room);
	draw_arrivals(s, trace, room, &arrivals);
	for (uint32_t i = 0; i < trace->njobs; i++) {
		struct job *job = &trace->jobs[i];

		job->tenant = draw_tenant(&cast, &who);
		draw_model(&cast, job, &who);
		draw_wishes(s, room, job, trace->work[i], &who);
	}
	if (s->dags > 0)
		synth_dags(trace, s->dags, (uint32_t)s->dag_jobs, (enum dag_form)s->dag_form, &dags);
}

/* Without pipelines nothing is said of them: the same draws keep the name, and the hash, they always had. */
static char *describe(const struct synth *s)
{
	struct option said[sizeof(options) / sizeof(*options)] = { 0 };
	struct buf text = { 0 };
	size_t n = 0;
	char *copy;

	for (const struct option *o = options; o->name; o++)
		if (s->dags > 0 || strncmp(o->name, "dag", 3) != 0)
			said[n++] = *o;
	buf_str(&text, "synth:");
	option_format(said, s, &text);
	copy = mem_strndup(text.at, text.n);
	buf_fini(&text);
	return copy;
}

int synth_trace(const char *text, const struct cluster *cluster, struct trace *out, struct err *err)
{
	struct room room = room_of(cluster);
	struct trace trace = { 0 };
	struct synth s;
	int rc;

	option_defaults(options, &s);
	rc = option_parse(options, &s, "synth", text, err);
	if (rc < 0)
		return rc;
	draw(&s, &trace, &room);
	trace.source = describe(&s);
	trace.format = "synth";
	trace.hash = hash_bytes(HASH_START, trace.source, strlen(trace.source));
	trace.hash = hash_u64(trace.hash, (uint64_t)room.devices << 32 | (uint32_t)room.gang);
	trace_finish(&trace, NAN);
	*out = trace;
	return 0;
}

void synth_help(struct buf *out)
{
	option_help(options, out);
}
