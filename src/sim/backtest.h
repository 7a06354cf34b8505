/*
 * How good forecasts would have been: a workload is simulated, forecasts are
 * made now and then as it goes by with what was known at that moment, and each
 * is held against what came.
 *
 * Of every job that waits the first forecast counts.  Habits and corrections are
 * learnt on the way, as they are live; what is measured are the jobs that arrive
 * in the part that is held back.
 */
#ifndef SIM_BACKTEST_H
#define SIM_BACKTEST_H

#include "sim/forecast.h"
#include "sim/sim.h"

struct backtest_config {
	const struct sim_config *sim;
	uint32_t asks;    /* forecasts in all, spread over the arrivals; 0: 200 */
	uint32_t futures; /* of each; 0: FORECAST_FUTURES */
	double held_back; /* of the arrivals: the last part, which is measured; 0: a half */
	bool raw;         /* what the futures say, without correction */
	void (*progress)(void *ctx, uint32_t done, uint32_t asks); /* may be NULL */
	void *progress_ctx;
};

/* Of those that had to wait and have started (or ended). */
struct backtest_part {
	uint32_t jobs;
	double coverage;       /* of the interval from p10 to p90, which should be 0.8 */
	double below, above;   /* came before it; after it */
	double median_error_s; /* of p50 */
	double plain_error_s;  /* of the plain forecast: see sim/forecast.h */
	double median_s;       /* what really came: the wait, or the time to the end */
	double median_width_s; /* p90 - p10 */
};

struct backtest {
	uint32_t asks, futures; /* futures: of all asks together */
	double cpu_s;           /* of all forecasts */
	struct backtest_part start, finish;
};

int backtest_run(const struct backtest_config *config, struct backtest *out, struct err *err);

#endif
