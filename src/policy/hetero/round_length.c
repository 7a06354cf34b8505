#include "policy/hetero/round_length.h"

/*
 * The part of a newcomer's wait that the mean completion time feels.  Measured: on Gavel's traces,
 * without costs, a round longer by a second makes jobs 0.04 to 0.08 s later, which is k / 2.
 */
static const double felt = 0.125;

/* Nobody waits, and still jobs change types in turn: Gavel's traces show so many of those that run. */
static const double least_turnover = 0.015;

/* A round shorter than so many costs of resuming would be spent on them. */
static const double least_costs = 10;

static double left_s(const struct job *job, double now_s)
{
	double left = job_remaining_s(job, now_s);

	return left > 0 && isfinite(left) ? left : 0;
}

void round_stats_of(struct round_stats *stats, const struct round *round)
{
	uint32_t n = 0;

	*stats = (struct round_stats){ 0 };
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (!job_active(job))
			continue;
		n++;
		*(job->grant ? &stats->running : &stats->waiting) += job->gpus;
		stats->resume_s += job->resume_cost_s;
		stats->left_s += left_s(job, round->now_s);
	}
	if (n > 0) {
		stats->resume_s /= n;
		stats->left_s /= n;
	}
}

/* Whoever runs has its share, running / all, of the next round, too; else it makes room. */
double round_turnover(const struct round_stats *s)
{
	double all = s->running + s->waiting;

	return all > 0 ? fmax(s->waiting / all, least_turnover) : 0;
}

/* The nearest by ratio of 30, 60, 120, … 1920, 3600. */
static double in_steps(double seconds)
{
	double step = ROUND_LEAST_S;

	while (step < ROUND_MOST_S && seconds * seconds > 2 * step * step)
		step *= 2;
	return fmin(step, ROUND_MOST_S);
}

double round_length(const struct round_stats *s)
{
	double crowd = s->running > 0 ? (s->running + s->waiting) / s->running : 1;
	double best = sqrt(2 * round_turnover(s) * s->resume_s * s->left_s * crowd / felt);

	return in_steps(fmax(best, least_costs * s->resume_s));
}
