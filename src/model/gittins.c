/*
 * Gittins indices from a sorted history with prefix sums: one index in
 * O(log n), or O(n) where the best quantum is sought.
 */
#include "model/gittins.h"

#include <math.h>

void history_fini(struct history *history)
{
	vec_fini(&history->sizes);
	vec_fini(&history->sums);
	vec_fini(&history->fresh);
}

void history_add(struct history *history, double size)
{
	vec_push(&history->fresh, size);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* From the largest down, so that nothing is overwritten before it has been moved. */
static void merge_fresh(struct history *h)
{
	size_t old = h->sizes.n, fresh = h->fresh.n, at = old + fresh;

	vec_grow_zero(&h->sizes, at);
	while (fresh > 0) {
		if (old > 0 && h->sizes.at[old - 1] > h->fresh.at[fresh - 1])
			h->sizes.at[--at] = h->sizes.at[--old];
		else
			h->sizes.at[--at] = h->fresh.at[--fresh];
	}
	h->fresh.n = 0;
}

void history_sort(struct history *history, bool all)
{
	double sum = 0;

	if (history->fresh.n == 0 || (!all && history->fresh.n * 100 < history->sizes.n))
		return;
	qsort(history->fresh.at, history->fresh.n, sizeof(double), ascending);
	merge_fresh(history);
	history->sums.n = 0;
	for (size_t i = 0; i < history->sizes.n; i++) {
		sum += history->sizes.at[i];
		vec_push(&history->sums, sum);
	}
}

/* How many sizes are at most x. */
static size_t at_most(const struct history *history, double x)
{
	size_t lo = 0, hi = history->sizes.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (history->sizes.at[mid] <= x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static double sum_between(const struct history *history, size_t from, size_t to)
{
	if (to <= from)
		return 0;
	return history->sums.at[to - 1] - (from ? history->sums.at[from - 1] : 0);
}

/* The index for one quantum; `first` is the first size larger than `served`. */
static double index_for(const struct history *history, size_t first, double served, double quantum)
{
	size_t end = at_most(history, served + quantum);
	double alive = (double)(history->sizes.n - first);
	double ending = end > first ? (double)(end - first) : 0;
	double spent = sum_between(history, first, end) - ending * served + (alive - ending) * quantum;

	return spent > 0 ? ending / spent : 0;
}

double gittins_index(const struct history *history, double served, double quantum)
{
	size_t first = at_most(history, served);
	double best = 0;

	if (first == history->sizes.n)
		return 0;
	if (quantum > 0)
		return index_for(history, first, served, quantum);
	/* The best quantum ends exactly at one of the sizes. */
	for (size_t i = first; i < history->sizes.n; i++)
		best = fmax(best, index_for(history, first, served, history->sizes.at[i] - served));
	return best;
}

/* Decimal rounding of the published tables; it makes equal indices of nearly equal ones. */
static double rounded(double x, double scale)
{
	return rint(x * scale) / scale;
}

double gittins_index_published(const struct history *history, double served, double quantum)
{
	size_t n = history->sizes.n, first = at_most(history, served), end;
	double alive, a, chance, spent;

	if (first == n)
		return 0;
	/* The table holds one index per size, taken one unit of service before it. */
	a = floor(history->sizes.at[first] - 1);
	first = at_most(history, a);
	alive = (double)(n - first);
	if (a > history->sizes.at[n - 1] - 1)
		return 0;
	end = a + quantum > history->sizes.at[n - 1] - 1 ? n - 1 : at_most(history, a + quantum);
	chance = rounded((double)(end - first) / alive, 1e5);
	spent = rounded((sum_between(history, first, end) + quantum * (double)(n - end)) / alive, 1e5);
	return spent > 0 ? rounded(chance * 1e6 / spent, 1e4) : 0;
}
