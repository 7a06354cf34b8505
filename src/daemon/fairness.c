/*
 * Sums by step, then water filling in each.
 */
#include "daemon/fairness.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

size_t fairness_tenant(struct fairness *f, const char *name)
{
	struct fair_tenant *t;

	for (size_t i = 0; i < f->tenants.n; i++) {
		if (!strcmp(f->tenants.at[i].name, name))
			return i;
	}
	vec_push(&f->tenants, (struct fair_tenant){ .name = mem_strdup(name), .weight = 1 });
	t = &f->tenants.at[f->tenants.n - 1];
	t->used = mem_alloc(mem_array_size(f->steps + 1, 4 * sizeof(double)));
	t->waiting = t->used + f->steps;
	t->deserved = t->waiting + f->steps;
	t->queued = t->deserved + f->steps;
	return f->tenants.n - 1;
}

/* Adds `amount` to each step by the part of it that lies between the times. */
static void spread(const struct fairness *f, double *steps, double amount, double from_s, double to_s)
{
	double end_s = f->from_s + f->step_s * f->steps;
	uint32_t i;

	from_s = fmax(from_s, f->from_s);
	to_s = fmin(to_s, end_s);
	if (!(to_s > from_s))
		return;
	i = (uint32_t)((from_s - f->from_s) / f->step_s);
	for (; i < f->steps; i++) {
		double begin = f->from_s + f->step_s * i;
		double part = fmin(to_s, begin + f->step_s) - fmax(from_s, begin);

		if (begin >= to_s)
			break;
		if (part > 0)
			steps[i] += amount * part / f->step_s;
	}
}

void fairness_use(struct fairness *f, size_t tenant, double devices, double from_s, double to_s)
{
	spread(f, f->tenants.at[tenant].used, devices, from_s, to_s);
}

void fairness_wait(struct fairness *f, size_t tenant, double devices, double from_s, double to_s)
{
	spread(f, f->tenants.at[tenant].waiting, devices, from_s, to_s);
	spread(f, f->tenants.at[tenant].queued, 1, from_s, to_s);
}

static double demand(const struct fair_tenant *t, uint32_t step)
{
	return t->used[step] + t->waiting[step];
}

/* Gives everybody below the level their demand, until nobody is below it any more. */
static void fill_step(struct fairness *f, uint32_t step)
{
	double left = f->devices;
	bool again = true;

	for (size_t i = 0; i < f->tenants.n; i++)
		f->tenants.at[i].deserved[step] = NAN;
	while (again) {
		double weights = 0, level;

		again = false;
		for (size_t i = 0; i < f->tenants.n; i++) {
			if (isnan(f->tenants.at[i].deserved[step]))
				weights += f->tenants.at[i].weight;
		}
		level = weights > 0 ? fmax(left, 0) / weights : 0;
		for (size_t i = 0; i < f->tenants.n; i++) {
			struct fair_tenant *t = &f->tenants.at[i];

			if (!isnan(t->deserved[step]) || demand(t, step) > level * t->weight)
				continue;
			t->deserved[step] = demand(t, step);
			left -= t->deserved[step];
			again = true;
		}
		for (size_t i = 0; !again && i < f->tenants.n; i++) {
			if (isnan(f->tenants.at[i].deserved[step]))
				f->tenants.at[i].deserved[step] = level * f->tenants.at[i].weight;
		}
	}
}

/* Who has more than they deserve is why others wait; if nobody has, whoever has devices. */
static void blame_step(struct fairness *f, uint32_t step)
{
	size_t n = f->tenants.n;
	double over = 0, used = 0;

	for (size_t j = 0; j < n; j++) {
		const struct fair_tenant *t = &f->tenants.at[j];

		over += fmax(0, t->used[step] - t->deserved[step]);
		used += t->used[step];
	}
	for (size_t i = 0; i < n; i++) {
		double seconds = f->tenants.at[i].queued[step] * f->step_s;

		for (size_t j = 0; seconds > 0 && j < n; j++) {
			const struct fair_tenant *t = &f->tenants.at[j];
			double part = over > 1e-9 ? fmax(0, t->used[step] - t->deserved[step]) / over
				: used > 1e-9     ? t->used[step] / used
						  : 0;

			f->because[i * n + j] += seconds * part;
		}
	}
}

void fairness_finish(struct fairness *f)
{
	f->because = mem_alloc(mem_array_size(f->tenants.n * f->tenants.n + 1, sizeof(double)));
	for (uint32_t step = 0; step < f->steps; step++) {
		fill_step(f, step);
		blame_step(f, step);
	}
}

void fairness_fini(struct fairness *f)
{
	for (size_t i = 0; i < f->tenants.n; i++) {
		free(f->tenants.at[i].name);
		free(f->tenants.at[i].used);
	}
	vec_fini(&f->tenants);
	free(f->because);
}
