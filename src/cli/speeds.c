#include "cli/speeds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/ui.h"
#include "model/catalogue.h"

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- types */

/* Facts come from the catalogue or from whoever wrote the cluster; a type without is only a name. */
static bool is_only_name(const struct device_type *type)
{
	return !(type->flops > 0);
}

/* "gpu" is what a type is called where nobody names it. */
static bool is_named(const struct device_type *type)
{
	return strcmp(type->name, "gpu") != 0;
}

/* Every name and alias of the catalogue's accelerators, in `memory`. */
static void known_types(struct arena *memory, struct words *out)
{
	for (const struct accelerator *a = catalogue_accelerators; a->name; a++) {
		struct slice rest = slice_of(a->aliases ? a->aliases : "");

		vec_push(out, a->name);
		while (rest.n) {
			struct slice alias = slice_cut(&rest, ' ');

			if (alias.n)
				vec_push(out, arena_strndup(memory, alias.at, alias.n));
		}
	}
}

void speeds_check_types(const struct args *args, const struct cluster *cluster)
{
	struct arena memory = { 0 };
	struct words known = { 0 };

	known_types(&memory, &known);
	for (uint32_t i = 0; i < cluster->ntypes; i++) {
		const char *name = cluster->types[i].name;
		int nearest = is_only_name(&cluster->types[i]) && is_named(&cluster->types[i])
			? text_nearest(name, known.at, known.n)
			: -1;

		if (nearest >= 0)
			ui_say(args, "warning: type '%s' is not in the catalogue; did you mean %s?",
				name, known.at[nearest]);
	}
	vec_fini(&known);
	arena_fini(&memory);
}

/* ---- jobs measured in steps */

enum { MODELS_NAMED = 3 };

/* Who gets which speed, counted. */
struct tally {
	const struct trace *trace;
	const struct cluster *cluster;
	const struct profile *profile;
	signed char *known; /* by model and type: 1 yes, -1 no, 0 not looked up yet */
	bool *odd;          /* by model: the catalogue does not know it */
	uint32_t *by_type;  /* jobs that get an assumed speed there because of the type */
	uint32_t steps;     /* jobs measured in steps */
	uint32_t estimated; /* of which some type has a speed for */
	uint32_t by_model;  /* of which get an assumed speed because of their model */
	uint32_t without;   /* of which because they name none */
};

static bool knows(struct tally *t, const struct job *job, uint32_t type)
{
	signed char *known = &t->known[(size_t)job->model * t->cluster->ntypes + type];

	if (!*known) {
		struct shape shape = profile_packed(t->profile, type, (uint32_t)job->gpus);

		*known = profile_rate(t->profile, job->model, type, shape) >= 0 ? 1 : -1;
	}
	return *known > 0;
}

static bool may_use(const struct tally *t, const struct job *job, uint32_t type)
{
	const struct names *types = &t->trace->types;

	for (uint32_t i = 0; i < types->n && i < 32; i++) {
		if (job->types >> i & 1 && cluster_find_type(t->cluster, types->at[i]) == (int)type)
			return true;
	}
	return !job->types;
}

static void count_job(struct tally *t, const struct job *job)
{
	bool assumed = job->nominal_rate == 1; /* else the trace says how fast */
	bool estimated = false, odd = false;

	t->steps++;
	if (job->model == NAME_NONE) {
		t->without += assumed;
		return;
	}
	for (uint32_t type = 0; type < t->cluster->ntypes; type++) {
		if (!may_use(t, job, type))
			continue;
		if (knows(t, job, type))
			estimated = true;
		else if (is_only_name(&t->cluster->types[type]))
			t->by_type[type] += assumed;
		else
			odd = true;
	}
	t->estimated += estimated;
	t->by_model += odd && assumed;
	t->odd[job->model] |= odd && assumed;
}

static void tell_types(const struct args *args, const struct tally *t)
{
	for (uint32_t i = 0; i < t->cluster->ntypes; i++) {
		if (t->by_type[i])
			ui_say(args,
				"warning: type '%s' is not in the catalogue: 1 step/s assumed for %u job%s; "
				"name a type such as v100, or give --throughputs",
				t->cluster->types[i].name, t->by_type[i], plural(t->by_type[i]));
	}
}

/* Models that `is` says of, the first few by name; how many there are. */
static uint32_t list_models(const struct names *models, const bool *is, struct buf *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < models->n; i++) {
		if (is[i] && n++ < MODELS_NAMED)
			buf_printf(out, "%s'%s'", n > 1 ? ", " : "", models->at[i]);
	}
	if (n > MODELS_NAMED)
		buf_printf(out, " and %u more", n - MODELS_NAMED);
	return n;
}

static void tell_models(const struct args *args, const struct tally *t)
{
	struct buf list = { 0 };
	uint32_t n = list_models(&t->trace->models, t->odd, &list);

	if (n && args->throughputs)
		ui_say(args,
			"warning: neither %s nor the catalogue says how fast model%s %s %s on every type: "
			"1 step/s assumed there for %u job%s",
			args->throughputs, plural(n), list.at, n == 1 ? "is" : "are", t->by_model,
			plural(t->by_model));
	else if (n)
		ui_say(args,
			"warning: model%s %s %s not in the catalogue: 1 step/s assumed for %u job%s; "
			"give --throughputs, or the column rate",
			plural(n), list.at, n == 1 ? "is" : "are", t->by_model, plural(t->by_model));
	if (t->without)
		ui_say(args,
			"warning: %u job%s measured in steps name%s no model: 1 step/s assumed; "
			"give the column model or rate",
			t->without, plural(t->without), t->without == 1 ? "s" : "");
	buf_fini(&list);
}

/* ---- models that the file of speeds lacks */

static void mark_measured(void *ctx, const struct measured *one)
{
	bool *missing = ctx;

	if (one->beside == NAME_NONE)
		missing[one->model] = false;
}

static void tell_missing(const struct args *args, const struct trace *trace,
	const struct profile *profile)
{
	bool *missing = mem_alloc(mem_array_size(trace->models.n + 1u, sizeof(bool)));
	struct buf list = { 0 };
	uint32_t jobs = 0, n;

	for (uint32_t i = 0; i < trace->njobs; i++) {
		if (trace->jobs[i].model != NAME_NONE)
			missing[trace->jobs[i].model] = true;
	}
	profile_each(profile, mark_measured, missing);
	for (uint32_t i = 0; i < trace->njobs; i++)
		jobs += trace->jobs[i].model != NAME_NONE && missing[trace->jobs[i].model];
	n = list_models(&trace->models, missing, &list);
	if (n)
		ui_say(args,
			"%s: no speeds of model%s %s (%u job%s): estimated where the catalogue knows them",
			args->throughputs, plural(n), list.at, jobs, plural(jobs));
	buf_fini(&list);
	free(missing);
}

/* ---- types that the file of speeds lacks */

static void mark_type(void *ctx, const struct measured *one)
{
	((bool *)ctx)[one->type] = true;
}

static void tell_unmeasured(const struct args *args, const struct cluster *cluster,
	const struct profile *profile)
{
	bool measured[TYPES_MAX] = { false };

	profile_each(profile, mark_type, measured);
	for (uint32_t type = 0; type < cluster->ntypes; type++) {
		if (!measured[type])
			ui_say(args, "%s: no speeds of type '%s' (%u device%s): estimated",
				args->throughputs, cluster->types[type].name,
				cluster->types[type].devices, plural(cluster->types[type].devices));
	}
}

/* ---- types that nobody can use */

/* Where no speed is known, one is assumed; only a speed of 0 says that it cannot run. */
static bool can_run(const struct tally *t, const struct job *job, uint32_t type)
{
	if (!may_use(t, job, type))
		return false;
	return job->model == NAME_NONE ||
		profile_rate(t->profile, job->model, type,
			profile_packed(t->profile, type, (uint32_t)job->gpus)) != 0;
}

static bool is_of_use(const struct tally *t, uint32_t type)
{
	for (uint32_t i = 0; i < t->trace->njobs; i++) {
		if (can_run(t, &t->trace->jobs[i], type))
			return true;
	}
	return false;
}

static void tell_useless(const struct args *args, const struct tally *t)
{
	for (uint32_t type = 0; type < t->cluster->ntypes; type++) {
		if (!is_of_use(t, type))
			ui_say(args,
				"warning: no job can run on type '%s': its %u device%s stay%s idle",
				t->cluster->types[type].name, t->cluster->types[type].devices,
				plural(t->cluster->types[type].devices),
				t->cluster->types[type].devices == 1 ? "s" : "");
	}
}

void speeds_tell(const struct args *args, const struct trace *trace, const struct cluster *cluster,
	const struct profile *profile)
{
	size_t models = trace->models.n + 1, types = cluster->ntypes + 1;
	struct tally t = {
		.trace = trace,
		.cluster = cluster,
		.profile = profile,
		.known = mem_alloc(mem_array_size(models, types)),
		.odd = mem_alloc(mem_array_size(models, sizeof(bool))),
		.by_type = mem_alloc(mem_array_size(types, sizeof(uint32_t))),
	};

	for (uint32_t i = 0; i < trace->njobs; i++) {
		if (trace->jobs[i].by_steps)
			count_job(&t, &trace->jobs[i]);
	}
	if (t.estimated && !args->throughputs)
		ui_say(args,
			"%u of %u job%s are measured in steps: without --throughputs their speed is "
			"estimated from the catalogue",
			t.estimated, trace->njobs, plural(trace->njobs));
	if (args->throughputs) {
		tell_missing(args, trace, profile);
		tell_unmeasured(args, t.cluster, profile);
	}
	tell_types(args, &t);
	tell_models(args, &t);
	tell_useless(args, &t);
	free(t.known);
	free(t.odd);
	free(t.by_type);
}
