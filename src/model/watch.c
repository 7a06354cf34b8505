/*
 * From events to observed speeds.
 */
#include "model/watch.h"

#include <math.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/vec.h"
#include "model/rate.h"

/* A running job, as far as its speed goes. */
struct sight {
	bool running;
	uint32_t company; /* other jobs on its devices */
	uint32_t model, type;
	struct shape shape;
	struct slot first; /* some of its devices */
	double rate;       /* of the job */
	double speed;      /* the same in steps of its model; NAN: it tells nothing */
};

struct watch {
	struct estimator *estimator;
	struct rates belief;
	double after_s;
	VEC(struct sight) sights; /* by job */
	VEC(uint32_t) sharing;    /* jobs that have company, perhaps no more */
	struct heap due;          /* by when their speed counts */
	uint64_t order;
};

struct watch *watch_create(struct estimator *estimator, const struct cluster *cluster, double after_s)
{
	struct watch *w = mem_alloc(sizeof(*w));

	w->estimator = estimator;
	w->belief = (struct rates){
		.cluster = cluster,
		.profile = estimator_belief(estimator),
	};
	w->after_s = after_s;
	return w;
}

void watch_destroy(struct watch *w)
{
	if (!w)
		return;
	vec_fini(&w->sights);
	vec_fini(&w->sharing);
	heap_fini(&w->due);
	free(w);
}

/* ---- who runs beside whom */

static bool overlap(const struct sight *a, const struct sight *b)
{
	return a->first.node == b->first.node && (a->first.devices & b->first.devices);
}

/* Forgets those of the list that have no company any more. */
static void tidy_sharing(struct watch *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->sharing.n; i++) {
		const struct sight *s = &w->sights.at[w->sharing.at[i]];

		if (s->running && s->company > 0)
			w->sharing.at[kept++] = w->sharing.at[i];
	}
	w->sharing.n = kept;
}

/* The one neighbour's model; NAME_NONE when it is not to be seen, or its gang is of another size. */
static uint32_t neighbour(struct watch *w, uint32_t job)
{
	tidy_sharing(w);
	for (size_t i = 0; i < w->sharing.n; i++) {
		uint32_t other = w->sharing.at[i];

		if (other != job && overlap(&w->sights.at[job], &w->sights.at[other]))
			return w->sights.at[other].shape.gpus == w->sights.at[job].shape.gpus
				? w->sights.at[other].model
				: NAME_NONE;
	}
	return NAME_NONE;
}

/* ---- what a job shows */

/*
 * A job known by its run time has steps of its own: its speed here is known relative to where it was
 * asked for, so it tells nothing there, and elsewhere what that is worth in steps of the model.
 */
static double model_speed(const struct watch *w, const struct job *job, const struct grant *grant)
{
	struct shape packed = profile_packed(w->belief.profile, grant->type, grant->gpus);
	double here;

	/* A balanced job loses but a part of what its slowed devices do. */
	if (grant->mixed || (grant->balanced && job->company > 0))
		return NAN;
	if (job->model == NAME_NONE || (grant->share > 0 && grant->share < 1) ||
		(grant->batch && (int32_t)grant->batch != job->batch))
		return NAN;
	if (job->by_steps)
		return job->rate;
	if (job->rate == job->nominal_rate)
		return NAN;
	here = profile_rate(w->belief.profile, job->model, grant->type, packed);
	return job->rate * here / rate_if(&w->belief, job, grant->type, grant->gpus);
}

static struct sight look(const struct watch *w, const struct job *job, const struct grant *grant)
{
	return (struct sight){
		.running = true,
		.company = job->company,
		.model = job->model,
		.type = grant->type,
		.shape = grant_shape(w->belief.cluster, grant),
		.first = grant->slots[0],
		.rate = job->rate,
		.speed = model_speed(w, job, grant),
	};
}

/* Whether a job goes on as before, so that the time it has run counts. */
static bool goes_on(const struct sight *a, const struct sight *b)
{
	return a->running && a->type == b->type && a->shape.gpus == b->shape.gpus &&
		a->shape.nodes == b->shape.nodes && a->shape.racks == b->shape.racks &&
		a->company == b->company && a->rate == b->rate;
}

static void begin(struct watch *w, const struct job *job, const struct grant *grant)
{
	struct sight now = look(w, job, grant), *sight;

	vec_grow_zero(&w->sights, (size_t)job->id + 1);
	sight = &w->sights.at[job->id];
	if (goes_on(sight, &now)) {
		sight->first = now.first;
		return;
	}
	if (now.company > 0 && !(sight->running && sight->company > 0)) {
		tidy_sharing(w);
		vec_push(&w->sharing, job->id);
	}
	*sight = now;
	if (isnan(now.speed) || now.company > 1)
		heap_remove(&w->due, job->id);
	else
		heap_put(&w->due, job->id, job->ready_s + w->after_s, w->order++);
}

static void end(struct watch *w, const struct job *job)
{
	heap_remove(&w->due, job->id);
	if (job->id < w->sights.n)
		w->sights.at[job->id].running = false;
}

static void tell(struct watch *w, uint32_t job, double now_s)
{
	const struct sight *s = &w->sights.at[job];
	struct observation seen = {
		.at_s = now_s,
		.model = s->model,
		.type = s->type,
		.shape = s->shape,
		.beside = NAME_NONE,
		.steps_per_s = s->speed,
	};

	if (s->company > 0) {
		seen.beside = neighbour(w, job);
		if (seen.beside == NAME_NONE)
			return;
	}
	estimator_observe(w->estimator, &seen);
}

void watch_see(void *self, const struct event *event, const struct job *job)
{
	struct watch *w = self;
	const struct heap_item *top;

	while ((top = heap_top(&w->due)) && top->key <= event->at_s)
		tell(w, heap_pop(&w->due).id, event->at_s);
	switch (event->kind) {
	case EV_START:
	case EV_MIGRATE:
	case EV_RESIZE:
	case EV_RENEW:
		begin(w, job, event->grant);
		break;
	case EV_PREEMPT:
	case EV_FINISH:
	case EV_LOST:
		end(w, job);
		break;
	default:
		break;
	}
}
