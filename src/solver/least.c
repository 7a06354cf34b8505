#include "solver/least.h"

#include "base/vec.h"

struct asked {
	uint32_t n;
	bool enough;
};

struct search {
	const struct least_question *q;
	VEC(struct asked) asked;
};

/* Remembers, so that a dear question is asked once. */
static int ask(struct search *s, uint32_t n, bool *enough, struct err *err)
{
	int rc;

	for (size_t i = 0; i < s->asked.n; i++) {
		if (s->asked.at[i].n == n) {
			*enough = s->asked.at[i].enough;
			return 0;
		}
	}
	rc = s->q->enough(s->q->ctx, n, err);
	if (rc < 0)
		return rc;
	*enough = rc > 0;
	vec_push(&s->asked, (struct asked){ n, *enough });
	return 0;
}

static bool hopeless(const struct search *s, uint32_t n)
{
	return n >= s->q->most || (s->q->hopeless && s->q->hopeless(s->q->ctx, n));
}

/* Doubles from *n until it is enough.  *below is the largest that was not; `found` false: nothing is. */
static int climb(struct search *s, uint32_t *n, int64_t *below, bool *found, struct err *err)
{
	for (;;) {
		uint32_t next;
		int rc = ask(s, *n, found, err);

		if (rc || *found)
			return rc;
		*below = *n;
		if (hopeless(s, *n))
			return 0;
		next = *n ? *n * 2 : 1;
		*n = next > s->q->most || next < *n ? s->q->most : next;
	}
}

/* Between *below (not enough, or just outside) and *n (enough). */
static int bisect(struct search *s, int64_t below, uint32_t *n, struct err *err)
{
	while (*n - below > 1) {
		uint32_t middle = (uint32_t)((below + *n) / 2);
		bool enough;
		int rc = ask(s, middle, &enough, err);

		if (rc)
			return rc;
		if (enough)
			*n = middle;
		else
			below = middle;
	}
	return 0;
}

/* Moves *n up until its neighbours above are enough too. */
static int settle(struct search *s, struct least_answer *a, struct err *err)
{
	for (uint32_t k = 1; k <= s->q->around && a->n + k <= s->q->most; k++) {
		bool enough;
		int rc = ask(s, a->n + k, &enough, err);

		if (rc)
			return rc;
		if (enough)
			continue;
		a->monotone = false;
		a->by_luck = a->by_luck ? a->by_luck : a->n;
		do {
			a->n++;
			rc = ask(s, a->n, &enough, err);
		} while (!rc && (!enough || a->n <= a->by_luck) && a->n < s->q->most);
		if (rc || !enough) {
			a->found = !rc && enough;
			return rc;
		}
		k = 0;
	}
	return 0;
}

/* Whether one below was enough by luck. */
static int look_below(struct search *s, struct least_answer *a, struct err *err)
{
	for (uint32_t k = 1; k <= s->q->around && a->n >= s->q->low + k; k++) {
		bool enough;
		int rc = ask(s, a->n - k, &enough, err);

		if (rc)
			return rc;
		if (!enough)
			continue;
		a->monotone = false;
		a->by_luck = a->by_luck && a->by_luck < a->n - k ? a->by_luck : a->n - k;
	}
	return 0;
}

static int find(struct search *s, struct least_answer *a, struct err *err)
{
	const struct least_question *q = s->q;
	int64_t below = (int64_t)q->low - 1;
	int rc;

	a->n = q->start < q->low ? q->low : q->start > q->most ? q->most : q->start;
	rc = climb(s, &a->n, &below, &a->found, err);
	if (rc || !a->found)
		return rc;
	rc = bisect(s, below, &a->n, err);
	if (!rc)
		rc = settle(s, a, err);
	return !rc && a->found ? look_below(s, a, err) : rc;
}

int least_find(const struct least_question *question, struct least_answer *out, struct err *err)
{
	struct search s = { .q = question };
	struct least_answer a = { .monotone = true };
	int rc = find(&s, &a, err);

	vec_fini(&s.asked);
	if (!rc)
		*out = a;
	return rc;
}
