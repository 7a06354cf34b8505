/*
 * Forecasts of the live queue: the moment is copied in the loop, run forward by
 * a thread beside it, and what it said is kept until the next one, together with
 * how the earlier ones came out.
 *
 * One is made now and then by itself, so that there is a track record, and
 * whenever somebody asks and the last one is too old.
 */
#ifndef DAEMON_FORECASTER_H
#define DAEMON_FORECASTER_H

#include "daemon/daemon_state.h"
#include "daemon/outcomes.h"

struct forecaster;

/* `every_s`: how often by itself; 0: only when asked. */
struct forecaster *forecaster_create(struct daemon *d, double every_s);
/* Its thread ends; d->closing tells what it is at to give up.  NULL is fine. */
void forecaster_stop(struct forecaster *forecaster);
/* After that.  NULL is fine. */
void forecaster_destroy(struct forecaster *forecaster);

/* ---- in the loop */
/* Takes in what was worked out, and begins the next one if it is time. */
void forecaster_turn(struct daemon *d);
/* When it next wants to, by clock_wall_s(). */
double forecaster_next_s(const struct daemon *d);
/* What was decided: starts and ends are outcomes. */
void forecaster_see(struct daemon *d, const struct core_note *note);

/*
 * For a call about `job` (0: about all): true if what is there is good enough, or cannot be had, which
 * forecaster_failed() tells.  Else the call waits: it is asked again when there is a newer one.
 */
bool forecaster_ready(struct daemon *d, struct call *call, uint32_t job);
/* What the call waits for is there. */
bool forecaster_is_done(const struct daemon *d, const struct call *call);
/* Why there is none, or NULL. */
const char *forecaster_failed(const struct daemon *d);
const struct forecast *forecaster_last(const struct daemon *d);
/* As forecast_to_json() wrote it. */
const struct forecast_text *forecaster_text(const struct daemon *d);
/* Seconds since 1970 when the last one was done. */
double forecaster_computed_at(const struct daemon *d);
/* How starts (or ends) came out so far. */
struct track forecaster_track(const struct daemon *d, bool starts);
/* How to move what futures say of starts and ends to where it came out. */
struct correction forecaster_correction(const struct daemon *d, bool starts);

/* For other tasks that need to know what the record remembers: in the forecaster's thread only. */
struct worker *forecaster_worker(struct daemon *d);
struct recall *forecaster_recall(struct daemon *d);

#endif
