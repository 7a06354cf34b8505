/*
 * Forecasts as the API tells them: moments in seconds since 1970.
 */
#ifndef DAEMON_FORECAST_JSON_H
#define DAEMON_FORECAST_JSON_H

#include "base/json.h"
#include "daemon/library.h"
#include "sim/forecast.h"

/* {"p10":…,"p50":…,"p90":…}, null where it is beyond the forecast. */
void put_moments(const char *key, const struct moments *moments, double zero_s, struct json *j);
void put_track(const char *key, const struct track *track, struct json *j);

/* Members of the answer forecast/1 from "at" to "spans", as an object. */
void forecast_to_json(const struct forecast *forecast, const struct snapshot *from,
	const struct desk *desk, double computed_at, struct buf *out);

/* A moment before which nothing happens; none where that is never. */
void put_bound(const char *key, double s, double zero_s, struct json *j);
/* Jobs that the futures have, and those of a long queue that they leave out. */
void put_extent(const struct forecast *f, struct json *j);

#endif
