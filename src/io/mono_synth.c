/*
 * Jobs of monotasks that nobody recorded: queries over tables, and training
 * with its loading of data.
 *
 *	a query		map (disk, cpu) -> shuffle and reduce (net, cpu), a few rounds -> write (cpu, disk)
 *	training	epochs of load (disk, net, cpu) -> train (gpu); the next epoch is loaded meanwhile
 */
#include <string.h>

#include "base/option.h"
#include "base/rng.h"
#include "base/vec.h"
#include "io/mono_io.h"

struct mono_draw {
	int jobs, tasks, rounds;
	double training, gap_s, size_s, spread, seed;
};

/* clang-format off */
static const struct option options[] = {
	OPT_INT(struct mono_draw, jobs, 20, 1, 10000, "number of jobs"),
	OPT_DOUBLE(struct mono_draw, training, 0.5, 0, 1, "fraction of jobs that train; the others are queries"),
	OPT_INT(struct mono_draw, tasks, 100, 1, 10000, "tasks of a stage, mean"),
	OPT_INT(struct mono_draw, rounds, 3, 1, 100, "shuffles of a query, epochs of training"),
	OPT_DOUBLE(struct mono_draw, size_s, 0.5, 1e-3, 1e6, "seconds of a monotask, mean"),
	OPT_DOUBLE(struct mono_draw, spread, 0.5, 0, 3, "how much stages differ in size: deviation of the logarithm"),
	OPT_DOUBLE(struct mono_draw, gap_s, 2, 0, 1e6, "seconds between arrivals, mean; 0: all at once"),
	OPT_DOUBLE(struct mono_draw, seed, 0, 0, 9007199254740992.0, "whole number that names the draw"),
	{ 0 },
};
/* clang-format on */

struct drawing {
	const struct mono_draw *draw;
	struct rng rng;
	struct mono_load load;
	VEC(struct mono_job) jobs;
	VEC(struct mono_stage) stages;
	VEC(struct dag_edge) edges;
};

static double draw_size(struct drawing *d, double part)
{
	double s = d->draw->spread;

	return part * d->draw->size_s * rng_lognormal(&d->rng, -s * s / 2, s);
}

static uint32_t draw_tasks(struct drawing *d)
{
	return 1 + (uint32_t)rng_below(&d->rng, (uint64_t)d->draw->tasks * 2);
}

/* A stage of the last job; `after` is another or UINT32_MAX. */
static uint32_t add_stage(struct drawing *d, const char *name, int number, uint32_t tasks,
	uint32_t after, const struct mono_step *steps, uint32_t nsteps)
{
	uint32_t id = (uint32_t)d->stages.n;
	struct mono_stage stage = {
		.name = arena_printf(&d->load.memory, "%s%d", name, number),
		.job = (uint32_t)d->jobs.n - 1,
		.tasks = tasks,
		.nsteps = nsteps,
		.mem_bytes = (double)((int64_t)1 << (28 + rng_below(&d->rng, 4))),
	};

	for (uint32_t i = 0; i < nsteps; i++)
		stage.steps[i] = (struct mono_step){ steps[i].resource, draw_size(d, steps[i].size_s) };
	if (after != UINT32_MAX)
		vec_push(&d->edges, ((struct dag_edge){ after, id }));
	vec_push(&d->stages, stage);
	d->jobs.at[stage.job].nstages++;
	d->load.ntasks += tasks;
	return id;
}

static void add_query(struct drawing *d)
{
	static const struct mono_step map[] = { { MONO_DISK, 1 }, { MONO_CPU, 1 } };
	static const struct mono_step reduce[] = { { MONO_NET, .7 }, { MONO_CPU, 1 } };
	static const struct mono_step write[] = { { MONO_CPU, .3 }, { MONO_DISK, .7 } };
	uint32_t last = add_stage(d, "map", 1, draw_tasks(d), UINT32_MAX, map, 2);

	for (int i = 1; i <= d->draw->rounds; i++)
		last = add_stage(d, "reduce", i, draw_tasks(d), last, reduce, 2);
	add_stage(d, "write", 1, draw_tasks(d), last, write, 2);
}

static void add_training(struct drawing *d)
{
	static const struct mono_step load[] = { { MONO_DISK, .5 }, { MONO_NET, .3 }, { MONO_CPU, .5 } };
	static const struct mono_step train[] = { { MONO_GPU, 1 } };
	uint32_t tasks = draw_tasks(d), loaded = UINT32_MAX, trained = UINT32_MAX;

	for (int i = 1; i <= d->draw->rounds; i++) {
		uint32_t before = trained;

		loaded = add_stage(d, "load", i, tasks, loaded, load, 3);
		trained = add_stage(d, "train", i, tasks, loaded, train, 1);
		if (before != UINT32_MAX)
			vec_push(&d->edges, ((struct dag_edge){ before, trained }));
	}
}

static void draw_all(struct drawing *d)
{
	double at_s = 0;

	for (int i = 0; i < d->draw->jobs; i++) {
		bool trains = rng_uniform(&d->rng) < d->draw->training;

		vec_push(&d->jobs,
			((struct mono_job){ .name = arena_printf(&d->load.memory, "%s%d",
						    trains ? "train" : "query", i),
				.arrival_s = at_s,
				.first = (uint32_t)d->stages.n }));
		if (trains)
			add_training(d);
		else
			add_query(d);
		if (d->draw->gap_s > 0)
			at_s += rng_exponential(&d->rng, d->draw->gap_s);
	}
}

int mono_synth(const char *text, struct mono_load *out, struct err *err)
{
	struct mono_draw draw;
	struct drawing d = { .draw = &draw };
	struct buf source = { 0 };
	int rc;

	option_defaults(options, &draw);
	rc = option_parse(options, &draw, "synth", text, err);
	if (rc < 0)
		return rc;
	if ((double)draw.jobs * (draw.rounds + 2) * 4 * draw.tasks > MONO_TASKS_MAX)
		return err_set(err, ERR_USAGE,
			"synth: more than %d tasks; lower jobs, tasks or rounds", MONO_TASKS_MAX);
	rng_for(&d.rng, (uint64_t)draw.seed, RNG_TRACE, 0);
	draw_all(&d);
	d.load.njobs = (uint32_t)d.jobs.n;
	d.load.nstages = (uint32_t)d.stages.n;
	d.load.jobs = arena_array(&d.load.memory, struct mono_job, d.jobs.n);
	d.load.stages = arena_array(&d.load.memory, struct mono_stage, d.stages.n);
	memcpy(d.load.jobs, d.jobs.at, d.jobs.n * sizeof(*d.jobs.at));
	memcpy(d.load.stages, d.stages.at, d.stages.n * sizeof(*d.stages.at));
	dag_build(&d.load.dag, &d.load.memory, d.load.nstages, d.edges.at, (uint32_t)d.edges.n);
	buf_str(&source, "synth:");
	option_format(options, &draw, &source);
	d.load.source = mem_strndup(source.at, source.n);
	buf_fini(&source);
	vec_fini(&d.jobs);
	vec_fini(&d.stages);
	vec_fini(&d.edges);
	*out = d.load;
	return 0;
}

void mono_synth_help(struct buf *out)
{
	option_help(options, out);
}
