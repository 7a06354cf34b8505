/*
 * Finish-time fairness.
 */
#include "model/finish_time.h"

#include <math.h>

double finish_shared_s(double age_s, double left_gpu_s, double power)
{
	return power > 0 ? age_s + left_gpu_s / power : INFINITY;
}

double finish_rho(double shared_s, double ideal_s)
{
	return ideal_s > 0 && shared_s < FINISH_RHO_MAX * ideal_s ? shared_s / ideal_s : FINISH_RHO_MAX;
}

/* 1 - 0.8 is a little less than 0.2: without the billionth one of ten would be lost. */
uint32_t finish_visible(double f, uint32_t n)
{
	double part = ceil((1 - f) * n - 1e-9);

	return n == 0 ? 0 : part < 1 ? 1 : part > n ? n : (uint32_t)part;
}

void crowd_set(struct crowd *crowd, double now_s, double level)
{
	crowd->sum += crowd->level * (now_s - crowd->at_s);
	crowd->at_s = now_s;
	crowd->level = level;
}

double crowd_mean(const struct crowd *crowd, double sum, double since_s, double now_s)
{
	return now_s > since_s
		? (crowd->sum + crowd->level * (now_s - crowd->at_s) - sum) / (now_s - since_s)
		: crowd->level;
}
