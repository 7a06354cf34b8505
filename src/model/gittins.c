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
}

void history_add(struct history *history, double size)
{
	vec_push(&history->sizes, size);
	history->sorted = false;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void history_sort(struct history *history)
{
	double sum = 0;

	if (history->sorted || history->sizes.n == 0)
		return;
	qsort(history->sizes.at, history->sizes.n, sizeof(double), ascending);
	history->sums.n = 0;
	for (size_t i = 0; i < history->sizes.n; i++) {
		sum += history->sizes.at[i];
		vec_push(&history->sums, sum);
	}
	history->sorted = true;
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
	return rounded(chance * 1e6 / spent, 1e4);
}
