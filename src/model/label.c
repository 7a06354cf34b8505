#include "model/label.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *const label_rule_names[] = { "waste", "throughput", "quantile", NULL };

double label_waste(const struct label_sample *s, uint32_t n, double first, double most)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += s[i].time_s *
			(s[i].peak <= first ? first - s[i].peak : first + (most - s[i].peak));
	return n ? sum / n : 0;
}

double label_taken(const struct label_sample *s, uint32_t n, double first, double most)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += s[i].time_s * (s[i].peak <= first ? first : first + most);
	return n ? sum / n : 0;
}

double label_retries(const struct label_sample *s, uint32_t n, double first)
{
	uint32_t over = 0;

	for (uint32_t i = 0; i < n; i++)
		over += s[i].peak > first;
	return n ? (double)over / n : 0;
}

static int by_peak(const void *a_, const void *b_)
{
	const struct label_sample *a = a_, *b = b_;

	if (a->peak != b->peak)
		return a->peak < b->peak ? -1 : 1;
	return a->time_s < b->time_s ? -1 : a->time_s > b->time_s;
}

void label_sort(struct label_sample *samples, uint32_t n)
{
	qsort(samples, n, sizeof(*samples), by_peak);
}

/*
 * Both forms are, but for what does not depend on the allocation a, a times all seconds and `most` times the
 * seconds of those above a.
 */
static double least_cost(const struct label_sample *s, uint32_t n, double most)
{
	double all_s = 0, above_s, best = s[n - 1].peak, least = INFINITY;

	for (uint32_t i = 0; i < n; i++)
		all_s += s[i].time_s;
	above_s = all_s;
	for (uint32_t i = 0; i < n; i++) {
		double cost;

		above_s -= s[i].time_s;
		if (i + 1 < n && s[i + 1].peak == s[i].peak)
			continue;
		cost = s[i].peak * all_s + most * (i + 1 < n ? above_s : 0);
		if (cost < least * (1 - 1e-12)) {
			least = cost;
			best = s[i].peak;
		}
	}
	return best;
}

double label_first(const struct label_sample *s, uint32_t n, double most, enum label_rule rule,
	double part)
{
	double at = rule == LABEL_QUANTILE ? s[(uint32_t)fmax(1, ceil(part * n - 1e-9)) - 1].peak
					   : least_cost(s, n, most);

	return fmin(at, most);
}

uint32_t label_pack(const double *each, const double *size, uint32_t n)
{
	double fits = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++)
		if (each[i] > 0)
			fits = fmin(fits, floor(size[i] / each[i] * (1 + 1e-12)));
	return (uint32_t)fits;
}

/* Where among the sorted a new one belongs. */
static void insert(struct label_sample *sorted, uint32_t n, struct label_sample one)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (by_peak(&sorted[mid], &one) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	memmove(&sorted[lo + 1], &sorted[lo], (n - lo) * sizeof(*sorted));
	sorted[lo] = one;
}

struct label_course label_replay(const struct label_sample *samples, uint32_t n, double most,
	enum label_rule rule, double part, uint32_t learn)
{
	struct label_sample *seen = mem_alloc(mem_array_size(n + 1, sizeof(*seen)));
	struct label_course c = { .last = most };
	uint32_t next = learn > 0 ? learn : 1;

	for (uint32_t i = 0; i < n; i++) {
		const struct label_sample *s = &samples[i];
		bool over = s->peak > c.last;

		c.learning += i < learn;
		c.retries += over;
		c.used += s->peak * s->time_s;
		c.taken += s->time_s * (over ? c.last + most : c.last);
		insert(seen, i, *s);
		if (i + 1 < next)
			continue;
		c.last = label_first(seen, i + 1, most, rule, part);
		next = i + 2 + i / 100; /* of many, one more changes little */
	}
	free(seen);
	return c;
}
