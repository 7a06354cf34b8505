#include "model/noise.h"

#include <math.h>

#define LATEST 0.6

static double blend(const struct noise *noise, double old, double latest)
{
	return noise->seen ? LATEST * latest + (1 - LATEST) * old : latest;
}

bool noise_feel(struct noise *noise, double small, double small_sqr, double big, double big_sqr)
{
	double sqr, var;

	/* One worker only: nothing to compare, the last estimate stands. */
	if (!(big > small))
		return false;
	sqr = (big * big_sqr - small * small_sqr) / (big - small);
	var = (small_sqr - big_sqr) / (1 / small - 1 / big);
	if (!(sqr > 0) || !(var >= 0))
		return false;
	/* Both apart: a mean of ratios would be led by the noisiest. */
	noise->sqr = blend(noise, noise->sqr, sqr);
	noise->var = blend(noise, noise->var, var);
	noise->seen = true;
	return true;
}

bool noise_feel_gradient(struct noise *noise, struct gradient g, double initial)
{
	return noise_feel(noise, initial, g.sqr + g.var, 2 * initial, g.sqr + g.var / 2);
}

double noise_scale(const struct noise *noise)
{
	return noise->seen ? noise->var / noise->sqr : NAN;
}

static double clip(double x, double low, double high)
{
	return fmax(low, fmin(high, x));
}

uint32_t noise_workers(double scale, double each, uint32_t now, const struct noise_limits *limits)
{
	double batch = limits->most_batch > 0 ? fmin(scale, limits->most_batch) : scale;
	double workers = floor(fmax(batch, limits->least_batch) / each + 0.5);

	workers = clip(workers, limits->least, limits->most);
	return (uint32_t)clip(workers, ceil(now / 2.0), 2.0 * now);
}
