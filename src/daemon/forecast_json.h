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

/* Where a job is in a forecast_text, with the comma before it. */
struct forecast_place {
	uint32_t number;
	size_t from, to;
};

/* Members of the answer forecast/1 from "at" to "spans", as an object. */
struct forecast_text {
	struct buf json;
	VEC(struct forecast_place) jobs;
};

void forecast_to_json(const struct forecast *forecast, const struct snapshot *from,
	const struct desk *desk, double computed_at, struct forecast_text *out);
void forecast_text_fini(struct forecast_text *text);
/* The members without the braces; of the jobs those for which `has` is true. */
void forecast_text_put(const struct forecast_text *text,
	bool (*has)(const void *ctx, uint32_t number), const void *ctx, struct buf *out);

/* A moment before which nothing happens; none where that is never. */
void put_bound(const char *key, double s, double zero_s, struct json *j);
/* How many were run, and how many would have been with time enough. */
void put_futures(uint32_t futures, uint32_t wanted, struct json *j);
/* Jobs that the futures have, and those of a long queue that they leave out. */
void put_extent(const struct forecast *f, struct json *j);

#endif
