/*
 * Writing down what happens.
 */
#include "support/diary.h"

#include <math.h>

#include "support/property.h"

void diary_fini(struct diary *diary)
{
	vec_fini(&diary->stays);
	vec_fini(&diary->excuses);
	vec_fini(&diary->visits);
	vec_fini(&diary->current);
}

static void visit(struct diary *d, uint32_t job, const struct grant *grant)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		struct visit v = { job, grant->slots[i].node };

		if (!diary_visited(d, job, v.node))
			vec_push(&d->visits, v);
	}
}

static void begin(struct diary *d, const struct event *event)
{
	vec_grow_zero(&d->current, (size_t)event->job + 1);
	vec_push(&d->stays, (struct stay){ event->job, event->at_s, NAN });
	d->current.at[event->job] = (uint32_t)d->stays.n;
	visit(d, event->job, event->grant);
}

static void end(struct diary *d, const struct event *event)
{
	d->stays.at[d->current.at[event->job] - 1].to_s = event->at_s;
	d->current.at[event->job] = 0;
}

static void see(void *self, const struct event *event, const struct job *job)
{
	struct diary *d = self;

	(void)job;
	d->count[event->kind]++;
	switch (event->kind) {
	case EV_START:
		begin(d, event);
		break;
	case EV_MIGRATE:
	case EV_RESIZE:
		visit(d, event->job, event->grant);
		break;
	case EV_PREEMPT:
	case EV_LOST:
	case EV_FINISH:
		end(d, event);
		break;
	case EV_WAIT:
	case EV_HOLD:
	case EV_REJECT:
		vec_push(&d->excuses, (struct excuse){ event->job, event->at_s, event->reason });
		break;
	default:
		break;
	}
}

struct observer diary_observer(struct diary *diary)
{
	return (struct observer){ .self = diary, .see = see };
}

const struct stay *diary_next(const struct diary *diary, uint32_t job, size_t *at)
{
	for (; *at < diary->stays.n; (*at)++) {
		if (diary->stays.at[*at].job == job)
			return &diary->stays.at[(*at)++];
	}
	return NULL;
}

bool diary_excused(const struct diary *diary, uint32_t job, enum why why)
{
	for (size_t i = 0; i < diary->excuses.n; i++) {
		if (diary->excuses.at[i].job == job && diary->excuses.at[i].reason.why == why)
			return true;
	}
	return false;
}

bool diary_visited(const struct diary *diary, uint32_t job, uint32_t node)
{
	for (size_t i = 0; i < diary->visits.n; i++) {
		if (diary->visits.at[i].job == job && diary->visits.at[i].node == node)
			return true;
	}
	return false;
}

bool diary_equal(const struct diary *a, const struct diary *b, uint32_t njobs)
{
	for (uint32_t job = 0; job < njobs; job++) {
		size_t i = 0, j = 0;
		const struct stay *x, *y;

		do {
			x = diary_next(a, job, &i);
			y = diary_next(b, job, &j);
			if (!x != !y || (x && (x->from_s != y->from_s || x->to_s != y->to_s)))
				return false;
		} while (x);
	}
	return true;
}

void diary_print(const struct diary *diary, uint32_t njobs)
{
	for (uint32_t job = 0; job < njobs; job++) {
		const struct stay *stay;
		size_t at = 0;

		printf("  %u:", job);
		while ((stay = diary_next(diary, job, &at)))
			printf(" %g-%g", stay->from_s, stay->to_s);
		printf("\n");
	}
}
