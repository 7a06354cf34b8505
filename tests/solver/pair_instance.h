/*
 * Random share programs with pairs, with speeds like those of real models: a
 * new type is some times as fast as an old one, a packed job keeps part of its
 * speed, and some pairs cannot run together at all.
 */
#ifndef TESTS_SOLVER_PAIR_INSTANCE_H
#define TESTS_SOLVER_PAIR_INSTANCE_H

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "solver/pairs.h"

struct pair_instance {
	struct pair_program program;
	struct arena memory;
	struct pair_entry *entry;
	double *speed; /* [jobs][types] alone */
	double *value, *gang, *capacity, *scale, *g, *least, *cost;
	uint32_t *count;
};

struct pair_wish {
	uint32_t jobs, types;
	bool gangs;     /* of 1, 2 and 4 GPUs; all 1 otherwise */
	bool ties;      /* speeds from a few values */
	double crowded; /* GPUs wanted for each there is */
	uint32_t most_count;
};

static inline double pair_speed(struct rng *rng, uint32_t w, bool ties)
{
	if (rng_below(rng, 20) == 0)
		return 0; /* does not run there */
	if (ties)
		return (double)(1 + rng_below(rng, 2) * w);
	return rng_between(rng, 0.5, 2) * (1 + w * rng_between(rng, 0.5, 4));
}

static inline void pair_instance_add(struct pair_instance *in, struct rng *rng, uint32_t a,
	uint32_t b, const struct pair_wish *wish)
{
	uint32_t c = in->program.entries++;

	in->entry[c] = (struct pair_entry){ a, b };
	for (uint32_t w = 0; w < wish->types; w++) {
		double *value = in->value + 2 * (c * wish->types + w);
		bool none = b != PAIR_NONE && rng_below(rng, 100) < 8;
		double keep_a = wish->ties ? 0.5 : rng_between(rng, 0.4, 1);
		double keep_b = wish->ties ? 0.5 : rng_between(rng, 0.4, 1);

		if (b == PAIR_NONE)
			value[0] = in->speed[a * wish->types + w];
		else if (!none) {
			value[0] = in->speed[a * wish->types + w] * keep_a;
			value[1] = in->speed[b * wish->types + w] * (a == b ? keep_a : keep_b);
		}
	}
}

/* Max-min over speeds relative to the cluster's average, as a policy would state it. */
static inline void pair_instance_init(struct pair_instance *in, struct rng *rng, struct pair_wish wish)
{
	uint32_t jobs = wish.jobs, types = wish.types;
	size_t entries = (size_t)jobs * (jobs + 3) / 2 + 1;
	double wanted = 0, there = 0;

	*in = (struct pair_instance){
		.program = { .jobs = jobs, .types = types, .rows = 1, .z_cost = -1 },
	};
	in->entry = arena_array(&in->memory, struct pair_entry, entries);
	in->value = arena_array(&in->memory, double, 2 * entries * types);
	in->cost = arena_array(&in->memory, double, entries *types);
	in->speed = arena_array(&in->memory, double, (size_t)jobs *types);
	in->gang = arena_array(&in->memory, double, jobs);
	in->capacity = arena_array(&in->memory, double, types);
	in->scale = arena_array(&in->memory, double, 2 * (size_t)jobs);
	in->g = arena_array(&in->memory, double, 2 * (size_t)jobs);
	in->least = arena_array(&in->memory, double, 2 * (size_t)jobs);
	in->count = arena_array(&in->memory, uint32_t, jobs);
	for (uint32_t i = 0; i < jobs; i++) {
		in->gang[i] = wish.gangs ? (double)(1 << rng_below(rng, 3)) : 1;
		in->count[i] = wish.most_count ? 1 + (uint32_t)rng_below(rng, wish.most_count) : 1;
		wanted += in->gang[i] * in->count[i];
		for (uint32_t w = 0; w < types; w++)
			in->speed[i * types + w] = pair_speed(rng, w, wish.ties);
	}
	for (uint32_t w = 0; w < types; w++)
		there += in->capacity[w] = ceil(
			wanted / wish.crowded / types * rng_between(rng, 0.5, 1.5));
	for (uint32_t i = 0; i < jobs; i++) {
		double mean = 0;

		for (uint32_t w = 0; w < types; w++)
			mean += in->speed[i * types + w] * in->capacity[w] / there;
		in->scale[i] = in->gang[i] / (mean > 0 ? mean : 1) / (rng_below(rng, 5) ? 1 : 2);
		in->g[i] = 1;
		pair_instance_add(in, rng, i, PAIR_NONE, &wish);
	}
	for (uint32_t i = 0; i < jobs; i++) {
		for (uint32_t k = in->count[i] > 1 ? i : i + 1; k < jobs; k++) {
			if (in->gang[i] == in->gang[k])
				pair_instance_add(in, rng, i, k, &wish);
		}
	}
	in->program.entry = in->entry;
	in->program.value = in->value;
	in->program.gang = in->gang;
	in->program.capacity = in->capacity;
	in->program.count = wish.most_count ? in->count : NULL;
	in->program.scale = in->scale;
	in->program.g = in->g;
}

/* The largest sum of speeds instead. */
static inline void pair_instance_sum(struct pair_instance *in)
{
	uint32_t n = in->program.entries * in->program.types;

	for (uint32_t v = 0; v < n; v++)
		in->cost[v] = -in->value[2 * v] - in->value[2 * v + 1];
	in->program.cost = in->cost;
	in->program.g = NULL;
	in->program.rows = 0;
	in->program.z_cost = 0;
}

/* Any shares that give each job its level, as a search for the shortest makespan asks. */
static inline void pair_instance_reach(struct pair_instance *in, double level)
{
	for (uint32_t i = 0; i < in->program.jobs; i++)
		in->least[i] = level;
	in->program.least = in->least;
	in->program.g = NULL;
	in->program.z_cost = 0;
}

/* A later step of water filling: all keep a level, some are done and only keep it. */
static inline void pair_instance_fill(struct pair_instance *in, struct rng *rng, double level)
{
	for (uint32_t i = in->program.jobs; i-- > 0;) {
		double scale = in->scale[i], own = level * rng_between(rng, 0.5, 1);
		bool done = rng_below(rng, 3) == 0;

		in->scale[2 * i] = done ? 0 : scale;
		in->g[2 * i] = 1;
		in->least[2 * i] = done ? -100 : own;
		in->scale[2 * i + 1] = scale;
		in->g[2 * i + 1] = 0;
		in->least[2 * i + 1] = own;
	}
	in->program.rows = 2;
	in->program.least = in->least;
}

static inline struct pair_wish pair_wish_small(struct rng *rng)
{
	struct pair_wish wish = { .jobs = 1 + (uint32_t)rng_below(rng, 8) };

	wish.types = 1 + (uint32_t)rng_below(rng, 3);
	wish.gangs = rng_below(rng, 2);
	wish.ties = rng_below(rng, 4) == 0;
	wish.crowded = rng_between(rng, 0.3, 4);
	return wish;
}

/* One of the four kinds of programs; `level` is what max-min reaches in it. */
static inline void pair_instance_become(struct pair_instance *in, struct rng *rng, uint32_t kind,
	double level)
{
	if (kind == 1)
		pair_instance_sum(in);
	else if (kind == 2)
		pair_instance_reach(in,
			rng_below(rng, 2) ? level * rng_between(rng, 0.3, 0.99) : level * 1.02 + 1e-3);
	else if (kind == 3)
		pair_instance_fill(in, rng, level * 0.9);
}

/* The same program with every job written out, and where each kind's jobs begin. */
static inline void pair_instance_write_out(const struct pair_instance *in,
	struct pair_instance *out, uint32_t *first)
{
	const struct pair_program *p = &in->program;
	uint32_t types = p->types, jobs = 0;
	struct rng unused;

	for (uint32_t i = 0; i < p->jobs; i++) {
		first[i] = jobs;
		jobs += p->count[i];
	}
	rng_init(&unused, 1, RNG_TEST);
	pair_instance_init(out, &unused,
		(struct pair_wish){ .jobs = jobs, .types = types, .crowded = 1 });
	out->program.entries = 0;
	for (uint32_t w = 0; w < types; w++)
		out->capacity[w] = p->capacity[w];
	for (uint32_t c = 0; c < p->entries; c++) {
		struct pair_entry e = p->entry[c];
		uint32_t others = e.b == PAIR_NONE ? 1 : p->count[e.b];

		for (uint32_t i = 0; i < p->count[e.a]; i++) {
			out->gang[first[e.a] + i] = p->gang[e.a];
			out->scale[first[e.a] + i] = p->scale[e.a];
			for (uint32_t k = e.a == e.b ? i + 1 : 0; k < others; k++) {
				uint32_t to = out->program.entries++;

				out->entry[to].a = first[e.a] + i;
				out->entry[to].b = e.b == PAIR_NONE ? PAIR_NONE : first[e.b] + k;
				for (uint32_t v = 0; v < 2 * types; v++)
					out->value[2 * to * types + v] = p->value[2 * c * types + v];
			}
		}
	}
}

/* An answer with memory of its own. */
static inline struct pair_answer pair_answer_for(struct pair_instance *in)
{
	struct pair_answer answer = { .z = NAN };

	answer.x = arena_array(&in->memory, double, in->program.entries * in->program.types + 1);
	return answer;
}

static inline void pair_instance_fini(struct pair_instance *in)
{
	arena_fini(&in->memory);
}

#endif
