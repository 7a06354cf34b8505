/*
 * Belief chosen by options.
 */
#include "sim/belief.h"

#include <stdlib.h>

#include "base/vec.h"
#include "model/watch.h"
#include "solver/completion.h"

enum method { BY_ALS, BY_MATCH, BY_SGD, BY_TWO_WAY, BY_CATALOGUE };

static const char *const methods[] = { "als", "match", "sgd", "two-way", "catalogue", NULL };

struct choice {
	double known, full;
	int types, method;
	bool prior, online;
	double weight, after_s, again_s;
	int rank;
	double ridge, shrink;
};

const struct option belief_options[] = {
	OPT_DOUBLE(struct choice, known, 0.5, 0, 1, "share of speeds measured beforehand"),
	OPT_DOUBLE(struct choice, full, 0, 0, 1,
		"share of models measured everywhere, whatever known says"),
	OPT_INT(struct choice, types, 0, 0, 64,
		"number of types on which each other model is measured; 0: any"),
	OPT_CHOICE(struct choice, method, BY_ALS, methods, "how the rest is completed"),
	OPT_BOOL(struct choice, prior, false, "complete what speeds differ from the catalogue by"),
	OPT_BOOL(struct choice, online, true, "learn from the speeds that jobs show"),
	OPT_DOUBLE(struct choice, weight, 0.5, 0, 1, "of a speed seen against one measured before"),
	OPT_DOUBLE(struct choice, after_s, 60, 0, 1e9, "a job's measured speed counts after this time"),
	OPT_DOUBLE(struct choice, again_s, 600, 0, 1e9, "shortest time between updates of the estimates"),
	OPT_INT(struct choice, rank, 10, 1, 64, "of als and match: likenesses told apart"),
	OPT_DOUBLE(struct choice, ridge, 0.3, 1e-9, 1e9, "of als and match: reluctance to see any"),
	OPT_DOUBLE(struct choice, shrink, 0.05, 0, 1e9,
		"the same reluctance about effects of models and types"),
	{ 0 },
};

struct belief {
	struct choice choice;
	uint64_t seed;
	struct estimator *estimator;
	struct watch *watch; /* NULL: it does not learn */
	struct belief_error before;
};

/* ---- methods */

static bool fill(void *ctx, const double *known, uint32_t rows, uint32_t cols, double *out)
{
	const struct belief *b = ctx;
	const struct holes holes = { known, rows, cols };
	struct als als;
	struct sgd sgd;

	als_init(&als);
	als.rank = (uint32_t)b->choice.rank;
	als.ridge = b->choice.ridge;
	als.seed = b->seed;
	als.stop = 1e-5;
	switch ((enum method)b->choice.method) {
	case BY_ALS:
		return complete_around(&holes, b->choice.shrink, &als, out);
	case BY_MATCH:
		return complete_match(&holes, b->choice.shrink, &als, out);
	case BY_SGD:
		sgd_init(&sgd);
		return complete_around_sgd(&holes, b->choice.shrink, &sgd, out) > 0;
	case BY_TWO_WAY:
		complete_two_way(&holes, b->choice.shrink, out);
		return true;
	case BY_CATALOGUE:
		break;
	}
	return false;
}

/* ---- creation */

static int read_choice(const char *spec, struct choice *out, struct err *err)
{
	option_defaults(belief_options, out);
	return option_parse(belief_options, out, "estimate", spec, err);
}

int belief_spell(const char *spec, char **out, struct err *err)
{
	struct choice choice = { 0 };
	struct buf text = { 0 };
	int rc = read_choice(spec, &choice, err);

	if (rc < 0)
		return rc;
	option_format(belief_options, &choice, &text);
	*out = mem_strdup(text.at ? text.at : "");
	buf_fini(&text);
	return 0;
}

void belief_help(struct buf *out)
{
	option_help(belief_options, out);
}

struct wanted {
	struct estimate_cell *at;
	size_t n, cap;
};

static int by_cell(const void *x, const void *y)
{
	const struct estimate_cell *a = x, *b = y;

	if (a->model != b->model)
		return a->model < b->model ? -1 : 1;
	if (a->gpus != b->gpus)
		return a->gpus < b->gpus ? -1 : 1;
	return 0;
}

/* What jobs of the trace may ask about: their models with as many devices, each once. */
static void list_asked(const struct trace *trace, struct wanted *out)
{
	size_t kept = 0;

	for (uint32_t i = 0; i < trace->njobs; i++) {
		const struct job *job = &trace->jobs[i];

		if (job->model == NAME_NONE)
			continue;
		vec_push(out, (struct estimate_cell){ job->model, 0, (uint32_t)job->gpus });
		for (uint32_t t = 0; job->gpus_by_type && t < TYPES_MAX; t++) {
			if (job->gpus_by_type[t])
				vec_push(out,
					(struct estimate_cell){ job->model, 0, job->gpus_by_type[t] });
		}
	}
	if (out->n == 0)
		return;
	qsort(out->at, out->n, sizeof(*out->at), by_cell);
	for (size_t i = 0; i < out->n; i++) {
		if (kept == 0 || by_cell(&out->at[kept - 1], &out->at[i]))
			out->at[kept++] = out->at[i];
	}
	out->n = kept;
}

/* And that on every type. */
static void list_wanted(const struct belief_source *source, struct wanted *out)
{
	struct wanted asked = { 0 };

	list_asked(source->trace, &asked);
	for (size_t i = 0; i < asked.n; i++) {
		for (uint32_t type = 0; type < source->cluster->ntypes; type++) {
			asked.at[i].type = type;
			vec_push(out, asked.at[i]);
		}
	}
	vec_fini(&asked);
}

static void create_estimator(struct belief *b, const struct belief_source *source)
{
	struct wanted wanted = { 0 };
	struct estimate_config config = {
		.cluster = source->cluster,
		.models = &source->trace->models,
		.truth = source->truth,
		.full = b->choice.full,
		.known = b->choice.known,
		.types = (uint32_t)b->choice.types,
		.seed = source->seed,
		.fill = b->choice.method == BY_CATALOGUE ? NULL : fill,
		.ctx = b,
		.prior = b->choice.prior,
		.weight = b->choice.weight,
		.again_s = b->choice.again_s,
	};

	list_wanted(source, &wanted);
	config.also = wanted.at;
	config.nalso = (uint32_t)wanted.n;
	b->estimator = estimator_create(&config);
	vec_fini(&wanted);
}

int belief_create(const char *spec, const struct belief_source *source, struct belief **out,
	struct err *err)
{
	struct choice choice = { 0 };
	int rc = read_choice(spec, &choice, err);
	struct belief *b;

	if (rc < 0)
		return rc;
	b = mem_alloc(sizeof(*b));
	b->choice = choice;
	b->seed = source->seed;
	create_estimator(b, source);
	b->before = belief_error_now(b);
	if (choice.online)
		b->watch = watch_create(b->estimator, source->cluster, choice.after_s);
	*out = b;
	return 0;
}

void belief_destroy(struct belief *b)
{
	if (!b)
		return;
	watch_destroy(b->watch);
	estimator_destroy(b->estimator);
	free(b);
}

/* ---- use */

const struct profile *belief_profile(const struct belief *b)
{
	return estimator_belief(b->estimator);
}

static void see(void *self, const struct event *event, const struct job *job)
{
	struct belief *b = self;

	if (b->watch)
		watch_see(b->watch, event, job);
}

struct observer belief_observer(struct belief *b)
{
	return (struct observer){ b, see };
}

struct belief_error belief_error_before(const struct belief *b)
{
	return b->before;
}

struct belief_error belief_error_now(const struct belief *b)
{
	return (struct belief_error){
		.alone = estimator_error(b->estimator, false),
		.beside = estimator_error(b->estimator, true),
	};
}

struct estimate_counts belief_counts(const struct belief *b)
{
	return estimator_counts(b->estimator);
}
