/*
 * Tables of speed over CPUs and memory: interpolated, monotone, by model.
 */
#include "model/hosting.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"

/* ---- a table */

bool host_table_settle(struct host_table *t)
{
	for (uint32_t c = 0; c < t->ncpus; c++) {
		for (uint32_t m = 0; m < t->nmems; m++) {
			double speed = t->speed[c][m]; /* fmax passes over NAN */

			if (c > 0)
				speed = fmax(speed, t->speed[c - 1][m]);
			if (m > 0)
				speed = fmax(speed, t->speed[c][m - 1]);
			t->speed[c][m] = speed;
		}
	}
	/* What has less of everything than any measurement is as fast as the slowest of those above it. */
	for (uint32_t c = t->ncpus; c-- > 0;) {
		for (uint32_t m = t->nmems; m-- > 0;) {
			double above = c + 1 < t->ncpus ? t->speed[c + 1][m] : NAN;
			double right = m + 1 < t->nmems ? t->speed[c][m + 1] : NAN;

			if (isnan(t->speed[c][m]))
				t->speed[c][m] = fmin(above, right);
		}
	}
	return t->ncpus > 0 && t->nmems > 0 && t->speed[t->ncpus - 1][t->nmems - 1] > 0;
}

void host_table_fill_memory(struct host_table *t, uint32_t gpus, double epoch_s,
	double dataset_bytes, double storage_Bps)
{
	enum { STEPS = 8 };
	uint32_t full = t->nmems - 1;
	double at_full[HOST_AXIS_MAX] = { 0 };

	for (uint32_t c = 0; c < t->ncpus; c++)
		at_full[c] = t->speed[c][full];
	t->nmems = STEPS;
	for (uint32_t m = 0; m < STEPS; m++) {
		double hit = (m + 1) / (double)STEPS;
		double fetch_s = (1 - hit) * dataset_bytes / storage_Bps;

		t->mem_bytes[m] = hit * dataset_bytes / gpus;
		for (uint32_t c = 0; c < t->ncpus; c++)
			t->speed[c][m] = epoch_s / fmax(epoch_s / at_full[c], fetch_s);
	}
}

/* Where `x` lies on an axis: the point before it, and how far it is to the next (0..1). */
struct place {
	uint32_t at;
	double part;
};

static struct place find_place(const double *axis, uint32_t n, double x)
{
	uint32_t i = 0;

	if (!(x > axis[0]))
		return (struct place){ 0, 0 };
	while (i + 1 < n && axis[i + 1] <= x)
		i++;
	if (i + 1 == n)
		return (struct place){ i, 0 };
	return (struct place){ i, (x - axis[i]) / (axis[i + 1] - axis[i]) };
}

static double between(double a, double b, double part)
{
	return part > 0 ? a + (b - a) * part : a;
}

double host_table_speed(const struct host_table *t, struct host_share share)
{
	struct place c = find_place(t->cpus, t->ncpus, share.cpus);
	struct place m = find_place(t->mem_bytes, t->nmems, share.mem_bytes);
	uint32_t up = c.part > 0 ? c.at + 1 : c.at, right = m.part > 0 ? m.at + 1 : m.at;
	double low = between(t->speed[c.at][m.at], t->speed[c.at][right], m.part);
	double high = between(t->speed[up][m.at], t->speed[up][right], m.part);
	double speed = between(low, high, c.part);

	if (share.cpus < t->cpus[0])
		speed *= share.cpus / t->cpus[0];
	return speed;
}

/* The first of the axis at which the speed is enough, cut at `most`; `most` itself if none is. */
static double least_enough(const struct host_table *t, bool cpus, struct host_share share,
	double most, double enough)
{
	const double *axis = cpus ? t->cpus : t->mem_bytes;
	uint32_t n = cpus ? t->ncpus : t->nmems;

	for (uint32_t i = 0; i < n && axis[i] <= most; i++) {
		if (cpus)
			share.cpus = axis[i];
		else
			share.mem_bytes = axis[i];
		if (host_table_speed(t, share) >= enough)
			return axis[i];
	}
	return most;
}

struct host_share host_table_best(const struct host_table *t, struct host_share fair,
	struct host_share most, double tolerance)
{
	const double dust = 1e-12;
	double best = host_table_speed(t, most), enough;
	struct host_share share = most;

	enough = fmax((1 - tolerance) * best, fmin(host_table_speed(t, fair), best)) * (1 - dust);
	if (t->best.cpus > 0 && t->best.cpus <= most.cpus && t->best.mem_bytes <= most.mem_bytes &&
		host_table_speed(t, t->best) >= enough)
		return t->best;
	share.cpus = least_enough(t, true, share, most.cpus, enough);
	share.mem_bytes = least_enough(t, false, share, most.mem_bytes, enough);
	/* Beyond the last point nothing changes: no more of anything than that. */
	share.cpus = fmin(share.cpus, t->cpus[t->ncpus - 1]);
	share.mem_bytes = fmin(share.mem_bytes, t->mem_bytes[t->nmems - 1]);
	return share;
}

/* ---- tables by model */

struct entry {
	uint32_t gpus;
	struct host_table table;
};

struct shelf {
	VEC(struct entry *) entries; /* by devices, ascending */
};

struct hosting {
	VEC(struct shelf) shelves; /* by model */
};

struct hosting *hosting_create(void)
{
	return mem_alloc(sizeof(struct hosting));
}

void hosting_destroy(struct hosting *hosting)
{
	if (!hosting)
		return;
	for (size_t i = 0; i < hosting->shelves.n; i++) {
		for (size_t k = 0; k < hosting->shelves.at[i].entries.n; k++)
			free(hosting->shelves.at[i].entries.at[k]);
		vec_fini(&hosting->shelves.at[i].entries);
	}
	vec_fini(&hosting->shelves);
	free(hosting);
}

void hosting_add(struct hosting *hosting, uint32_t model, uint32_t gpus, const struct host_table *table)
{
	struct shelf *shelf;
	struct entry *one;
	size_t i = 0;

	vec_grow_zero(&hosting->shelves, (size_t)model + 1);
	shelf = &hosting->shelves.at[model];
	while (i < shelf->entries.n && shelf->entries.at[i]->gpus < gpus)
		i++;
	if (i < shelf->entries.n && shelf->entries.at[i]->gpus == gpus) {
		shelf->entries.at[i]->table = *table;
		return;
	}
	one = mem_alloc(sizeof(*one));
	one->gpus = gpus;
	one->table = *table;
	vec_push(&shelf->entries, one);
	for (size_t k = shelf->entries.n - 1; k > i; k--)
		shelf->entries.at[k] = shelf->entries.at[k - 1];
	shelf->entries.at[i] = one;
}

struct hosting *hosting_copy(const struct hosting *from)
{
	struct hosting *to = from ? hosting_create() : NULL;

	for (uint32_t i = 0; from && i < from->shelves.n; i++) {
		for (size_t k = 0; k < from->shelves.at[i].entries.n; k++) {
			const struct entry *one = from->shelves.at[i].entries.at[k];

			hosting_add(to, i, one->gpus, &one->table);
		}
	}
	return to;
}

const struct host_table *hosting_find(const struct hosting *hosting, uint32_t model, uint32_t gpus)
{
	const struct shelf *shelf;
	size_t i = 0;

	if (!hosting || model >= hosting->shelves.n || !hosting->shelves.at[model].entries.n)
		return NULL;
	shelf = &hosting->shelves.at[model];
	while (i + 1 < shelf->entries.n && shelf->entries.at[i + 1]->gpus <= gpus)
		i++;
	return &shelf->entries.at[i]->table;
}
