#include "live/summary.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the engine needs to go on with a job, and what other columns of the record have. */
static const char *const dropped[] = {
	"submit_seq",
	"start_s",
	"held_s",
	"ready_s",
	"counted_s",
	"rate",
	"turn_end_s",
	"turn_steps",
	"wait_since_s",
	"eff_s",
	"worth_s",
	"gate_job",
	"failed_on",
	"progress_first_step",
	"progress_first_s",
	"idle_since_s",
	"told_s",
	"next",
	"next_told",
	"wish",
	"asked_s",
};

/* To the millisecond; what is shorter than a second to six digits. */
static double rounded(double x)
{
	char text[32];

	if (fabs(x) >= 1)
		return fabs(x) < 1e12 ? round(x * 1000) / 1000 : x;
	snprintf(text, sizeof(text), "%.6g", x);
	return strtod(text, NULL);
}

static bool is_time(const char *key)
{
	size_t n = strlen(key);

	return (n > 2 && !strcmp(key + n - 2, "_s")) || !strcmp(key, "done") ||
		!strcmp(key, "saved") || !strcmp(key, "work_est");
}

static void round_times(json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		if (json_is_real(value) && is_time(key))
			json_real_set(value, rounded(json_real_value(value)));
	}
}

void live_summarise(const char *status, struct buf *out)
{
	json_t *json = json_loads(status, 0, NULL);
	char *text;

	if (!json_is_object(json)) {
		json_decref(json);
		return;
	}
	for (size_t i = 0; i < sizeof(dropped) / sizeof(*dropped); i++)
		json_object_del(json, dropped[i]);
	round_times(json);
	text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15));
	if (text)
		buf_str(out, text);
	free(text);
	json_decref(json);
}

const char *retention_age(double seconds, char *text)
{
	static const struct {
		double s;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' } };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (seconds >= units[i].s && fmod(seconds, units[i].s) == 0) {
			snprintf(text, 32, "%.0f%c", seconds / units[i].s, units[i].unit);
			return text;
		}
	}
	snprintf(text, 32, "%gs", seconds);
	return text;
}
