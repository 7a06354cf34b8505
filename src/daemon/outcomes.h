/*
 * The track record of forecasts: what was said of jobs that have not started or
 * ended yet, and how the others came out.
 *
 * Outcomes are kept in STATE/forecasts.json across restarts; what was said of
 * jobs that still wait is said anew then.
 */
#ifndef DAEMON_OUTCOMES_H
#define DAEMON_OUTCOMES_H

#include "base/err.h"
#include "base/text.h"
#include "sim/forecast.h"

/* What was first said of a job. */
struct said {
	uint32_t job;
	bool open_start, open_finish; /* not known yet */
	double at_s;
	struct forecast_job forecast;
};

struct outcomes {
	struct calibration start, finish;
	VEC(struct said) said; /* by job */
	uint64_t changes;      /* of the calibrations */
};

void outcomes_fini(struct outcomes *outcomes);

/* New jobs of the forecast are remembered; those that have no future any more are forgotten. */
void outcomes_take(struct outcomes *outcomes, const struct forecast *forecast);
/* A job started, or ended by itself, at `at_s` of the core's time. */
void outcomes_started(struct outcomes *outcomes, uint32_t job, double at_s);
void outcomes_ended(struct outcomes *outcomes, uint32_t job, double at_s);
/* Somebody took it away: nothing can be learnt from it. */
void outcomes_drop(struct outcomes *outcomes, uint32_t job);

/* The two calibrations as text; what cannot be read gives none, and the reason. */
void outcomes_write(const struct calibration *start, const struct calibration *finish, struct buf *out);
int outcomes_read(const char *path, struct outcomes *out, struct err *err);
/* The same of a text with this name. */
int outcomes_read_text(const char *name, const char *text, size_t n, struct outcomes *out,
	struct err *err);

#endif
