/*
 * What a job that changes its batch size still needs: how many epochs it will
 * spend in each regime, guessed from those it has been seen in.
 *
 * The guess is a Dirichlet distribution.  Before anything is seen every regime
 * has its equal part of all epochs; every epoch seen counts for one more of its
 * regime.  The expected numbers, less what is behind the job, times the seconds
 * of an epoch in each regime, is the time left.
 */
#ifndef POLICY_ELASTIC_SHOCKWAVE_PREDICT_H
#define POLICY_ELASTIC_SHOCKWAVE_PREDICT_H

#include <stdint.h>

#include "model/regime.h"

struct forecast {
	uint32_t regimes;
	double epochs; /* in all */
	double ended;  /* behind it */
	double epoch_s[REGIMES_MAX];
	double seen[REGIMES_MAX]; /* epochs in each, the one it is in included */
};

/* Epochs that each regime is expected to have yet. */
void forecast_epochs(const struct forecast *forecast, double out[REGIMES_MAX]);
/* Seconds left; 1 if all epochs are behind it. */
double forecast_left_s(const struct forecast *forecast);
/* Seconds of an epoch, on average over those seen. */
double forecast_mean_s(const struct forecast *forecast);

/* When a job would end if everybody always had an equal part: estimates over time. */
struct estimates {
	double first, last; /* rounds of the first and the last */
	double last_s;
	double sum; /* of estimates times the rounds for which they stood, before the last */
	uint32_t n;
};

void estimates_add(struct estimates *e, double round, double end_s);
/* Their mean over time up to `round`, moved a little towards the last: `momentum` of it is the mean. */
double estimates_target_s(const struct estimates *e, double round, double momentum);

/* The part of the cluster that each of so many jobs has. */
double equal_share(double gpus, double jobs);

/* What a job's progress counts for that would end `rho` times as late as it should. */
struct urgency {
	double rho_max;    /* up to this it counts as ever */
	double power;      /* above, with this power of rho */
	double last_power; /* or this, if it would end within a round */
	double most;       /* no weight is larger */
};
double urgency_weight(const struct urgency *u, double rho, bool last_round);

#endif
