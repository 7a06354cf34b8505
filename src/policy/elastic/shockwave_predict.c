/*
 * Guessing regimes, and ends.
 */
#include "policy/elastic/shockwave_predict.h"

void forecast_epochs(const struct forecast *f, double out[REGIMES_MAX])
{
	double sum = 0;

	for (uint32_t i = 0; i < f->regimes; i++) {
		out[i] = f->epochs / f->regimes + f->seen[i];
		sum += out[i];
	}
	for (uint32_t i = 0; i < f->regimes; i++) {
		out[i] = f->epochs * out[i] / sum;
		/* Whole epochs only: what is left of one may still come. */
		out[i] -= fmin(f->seen[i], floor(out[i]));
	}
}

double forecast_left_s(const struct forecast *f)
{
	double left = f->epochs - f->ended, epochs[REGIMES_MAX], sum = 0, sum_s = 0;

	if (!(left > 0))
		return 1;
	forecast_epochs(f, epochs);
	for (uint32_t i = 0; i < f->regimes; i++) {
		sum += epochs[i];
		sum_s += epochs[i] * f->epoch_s[i];
	}
	return sum_s * left / fmax(left, floor(sum + 1));
}

double forecast_mean_s(const struct forecast *f)
{
	double sum = 0, sum_s = 0;

	for (uint32_t i = 0; i < f->regimes; i++) {
		sum += f->seen[i];
		sum_s += f->seen[i] * f->epoch_s[i];
	}
	return sum > 0 ? sum_s / sum : f->epoch_s[0];
}

void estimates_add(struct estimates *e, double round, double end_s)
{
	if (e->n == 0)
		e->first = round;
	else
		e->sum += e->last_s * (round - e->last);
	e->last = round;
	e->last_s = end_s;
	e->n++;
}

double estimates_target_s(const struct estimates *e, double round, double momentum)
{
	double mean_s = e->last_s;

	if (round > e->first)
		mean_s = (e->sum + e->last_s * (round - e->last)) / (round - e->first);
	return momentum * mean_s + (1 - momentum) * e->last_s;
}

double equal_share(double gpus, double jobs)
{
	return jobs > gpus ? gpus / jobs : 1;
}

double urgency_weight(const struct urgency *u, double rho, bool last_round)
{
	if (!(rho > u->rho_max))
		return 1;
	return fmin(u->most, pow(rho, last_round ? u->last_power : u->power));
}
