#include "sim/fate.h"

#include <math.h>
#include <stdlib.h>

enum { ARRIVALS_LEAST = 200 };

void fate_init(struct fate *fate, const struct snapshot *from)
{
	uint32_t n = (uint32_t)from->jobs.n;

	*fate = (struct fate){ .from = from, .most = n > ARRIVALS_LEAST ? n : ARRIVALS_LEAST };
	fate->work = mem_alloc(mem_array_size(n + 1u, sizeof(*fate->work)));
	fate->arrivals = mem_alloc(mem_array_size(fate->most, sizeof(*fate->arrivals)));
}

void fate_fini(struct fate *fate)
{
	free(fate->work);
	free(fate->arrivals);
}

/* Draws of a job depend on nothing but the job, so that one more job changes no other's. */
void fate_draw(struct fate *fate, const struct habits *habits, double until_s, uint64_t seed,
	uint32_t number)
{
	const struct snapshot *s = fate->from;
	uint64_t stream = seed ^ (UINT64_C(0x9e3779b97f4a7c15) * (number + 1u));
	struct rng rng;

	for (size_t i = 0; i < s->jobs.n; i++) {
		rng_for(&rng, stream, RNG_SAMPLE, s->jobs.at[i].number);
		fate->work[i] = habits_draw_work(habits, s, &s->jobs.at[i], &rng);
	}
	rng_for(&rng, stream, RNG_TRACE, 0);
	fate->narrivals = habits_draw_arrivals(habits, s, until_s, &rng, fate->arrivals, fate->most);
}

void fate_as_said(struct fate *fate)
{
	const struct snapshot *s = fate->from;

	for (size_t i = 0; i < s->jobs.n; i++)
		fate->work[i] = fmax(s->jobs.at[i].job.work_est,
			job_done(&s->jobs.at[i].job, s->now_s));
	fate->narrivals = 0;
}
