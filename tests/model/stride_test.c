/*
 * Stride scheduling of gangs: the worked examples, and what must hold for any.
 */
#include "model/stride.h"

#include <math.h>
#include <string.h>

#include "support/property.h"

/* Letters of those who ran, by quantum. */
static void play(struct stride *all, uint32_t n, uint32_t free, uint32_t quanta, char *out,
	double *service)
{
	for (uint32_t q = 0; q < quanta; q++) {
		stride_choose(all, n, free);
		for (char id = 0; id < (char)n; id++) {
			for (uint32_t i = 0; i < n; i++) {
				if (all[i].id != (uint32_t)id || !all[i].runs)
					continue;
				all[i].pass += stride_of(&all[i]);
				service[all[i].id] += all[i].gpus;
				*out++ = (char)('A' + id);
			}
		}
		*out++ = ' ';
	}
	out[-1] = '\0';
}

static void worked_examples(void **state)
{
	static const struct {
		struct stride jobs[3];
		uint32_t n, quanta;
		const char *want;
	} rows[] = {
		{ { { 0, 4, 1, 0, 0 }, { 1, 1, 1, 0, 0 } }, 2, 10, "A B B B B A B B B B" },
		{ { { 0, 2, 1, 0, 0 }, { 1, 2, 1, 0, 0 }, { 2, 2, 1, 0, 0 } }, 3, 6,
			"AB AC BC AB AC BC" },
		{ { { 0, 4, 2, 0, 0 }, { 1, 1, 1, 0, 0 }, { 2, 1, 1, 0, 0 } }, 3, 6, "A BC BC A BC BC" },
		/* C fills what A leaves, out of turn, and is charged for it: B does not wait for C */
		{ { { 0, 3, 1, 0, 0 }, { 1, 2, 1, 0, 0 }, { 2, 1, 1, 0, 0 } }, 3, 6,
			"AC BC BC AC BC AC" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stride jobs[3];
		double service[3] = { 0 };
		char text[100];

		memcpy(jobs, rows[i].jobs, sizeof(jobs));
		play(jobs, rows[i].n, 4, rows[i].quanta, text, service);
		assert_string_equal(text, rows[i].want);
		if (i == 0)
			assert_true(service[0] == 8 && service[1] == 8);
		if (i == 2)
			assert_true(service[0] == 8 && service[1] == 4 && service[2] == 4);
	}
}

static double gap(const struct stride *a, const struct stride *b, const double *service)
{
	return fabs(service[a->id] / a->tickets - service[b->id] / b->tickets);
}

/* One gang at a time, or gangs and tickets alike on any devices: nobody is ahead by more than a stride. */
static void service_follows_tickets(void **state)
{
	struct rng rng = property("service over tickets stays within a stride");

	(void)state;
	for (size_t round = 0; round < rounds(300); round++) {
		bool alike = round % 2;
		uint32_t n = 2 + (uint32_t)rng_below(&rng, 5), free = 8,
			 gpus = 1 + (uint32_t)rng_below(&rng, 4);
		struct stride jobs[8];
		double service[8] = { 0 };
		char text[4000];

		for (uint32_t i = 0; i < n; i++)
			jobs[i] = (struct stride){ i, alike ? gpus : 5 + (uint32_t)rng_below(&rng, 4),
				alike ? 1 : 1 + (double)rng_below(&rng, 4), 0, false };
		for (uint32_t q = 0; q < 60; q++) {
			double least = stride_least(jobs, n, 0);

			play(jobs, n, free, 1, text, service);
			/* nobody starves: one of those at the smallest pass has run */
			for (uint32_t i = 0; i < n; i++) {
				if (fabs(jobs[i].pass - least) < 1e-9 && !jobs[i].runs)
					assert_true(jobs[0].runs);
			}
			for (uint32_t i = 0; i < n; i++) {
				for (uint32_t k = 0; k < n; k++)
					assert_true(gap(&jobs[i], &jobs[k], service) <=
						fmax(stride_of(&jobs[i]), stride_of(&jobs[k])) + 1e-9);
			}
		}
	}
}

static void shares_fill_like_water(void **state)
{
	static const struct {
		double tickets[3], demand[3], total, want[3];
	} rows[] = {
		{ { 1, 1, 1 }, { 9, 9, 9 }, 6, { 2, 2, 2 } },
		{ { 1, 1, 1 }, { 1, 9, 9 }, 6, { 1, 2.5, 2.5 } },
		{ { 2, 1, 1 }, { 1, 9, 2 }, 6, { 1, 3, 2 } },
		{ { 1, 1, 1 }, { 1, 1, 1 }, 6, { 1, 1, 1 } },
		{ { 1, 2, 3 }, { 9, 9, 9 }, 12, { 2, 4, 6 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double share[3];

		stride_shares(rows[i].tickets, rows[i].demand, 3, rows[i].total, share);
		for (uint32_t k = 0; k < 3; k++)
			assert_float_equal(share[k], rows[i].want[k], 1e-12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_examples),
		cmocka_unit_test(service_follows_tickets),
		cmocka_unit_test(shares_fill_like_water),
	};

	return cmocka_run_group_tests_name("model/stride", tests, NULL, NULL);
}
