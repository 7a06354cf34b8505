/*
 * Who comes later: stretches of the past, one after the other.
 */
#include <math.h>
#include <string.h>

#include "sim/habits.h"

enum {
	ARRIVALS = 10, /* fewer tell nothing of who comes */
	DAY_S = 86400,
};

/* Where in the past a stretch begins: at the same time of day if there are days enough. */
static double stretch_begin(double first_s, double span_s, double at_s, struct rng *rng)
{
	double days = floor(span_s / DAY_S);

	if (days < 3)
		return first_s + rng_uniform(rng) * span_s;
	return first_s + fmod(at_s - first_s + (days + 1) * DAY_S, DAY_S) +
		DAY_S * (double)rng_below(rng, (uint64_t)days);
}

static size_t first_after(const struct habits *h, double at_s)
{
	size_t low = 0, high = h->past.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (h->past.at[mid].job.arrival_s < at_s)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct future_arrival again(const struct habits *h, const struct snapshot *s,
	const struct habit *habit, double at_s)
{
	struct future_arrival one = { .job = habit->job, .work = habit->work };
	const char *tenant = habit->job.tenant == NAME_NONE ? NULL : h->tenants.at[habit->job.tenant];

	one.job.arrival_s = at_s;
	one.job.tenant = tenant ? names_find(&s->tenant_names, tenant, strlen(tenant)) : NAME_NONE;
	return one;
}

uint32_t habits_draw_arrivals(const struct habits *h, const struct snapshot *s, double until_s,
	struct rng *rng, struct future_arrival *out, uint32_t most)
{
	double first_s, span_s, at_s = s->now_s;
	uint32_t n = 0;

	if (h->past.n < ARRIVALS)
		return 0;
	first_s = h->past.at[0].job.arrival_s;
	/* Up to now: that nobody has come lately is of the past, too. */
	span_s = fmax(s->now_s, h->past.at[h->past.n - 1].job.arrival_s) - first_s;
	if (!(span_s > 0))
		return 0;
	while (n < most && at_s < until_s) {
		double begin_s = stretch_begin(first_s, span_s, at_s, rng);
		double length_s = fmin(fmin(DAY_S, span_s / 4), first_s + span_s - begin_s);
		size_t i = first_after(h, begin_s);

		for (; i < h->past.n && n < most; i++) {
			double offset_s = h->past.at[i].job.arrival_s - begin_s;

			if (offset_s > length_s || at_s + offset_s > until_s)
				break;
			out[n++] = again(h, s, &h->past.at[i], at_s + offset_s);
		}
		at_s += fmax(length_s, 1);
	}
	return n;
}
