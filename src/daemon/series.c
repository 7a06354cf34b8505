/*
 * Rows of progress into columns.
 */
#include "daemon/series.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/members.h"
#include "base/vec.h"

struct point {
	double at_s;
	uint32_t attempt;
	json_t *body; /* owned */
};

struct series {
	VEC(struct point) points;
	uint64_t seen, every; /* reports; one of `every` is kept */
	/* The last report, unless it is among the points: bodies are parsed only where they are kept. */
	struct buf last;
	double last_at_s;
	uint32_t last_attempt;
	const char *names[SERIES_METRICS]; /* borrowed of the points */
	size_t nnames;
	bool more;
};

/* Every second one goes, and from now on half as many come. */
static void halve(struct series *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->points.n; i++) {
		if (i % 2)
			json_decref(s->points.at[i].body);
		else
			s->points.at[kept++] = s->points.at[i];
	}
	s->points.n = kept;
	s->every *= 2;
}

static void keep(struct series *s, double at_s, uint32_t attempt, const char *text)
{
	json_t *body = json_loads(text, 0, NULL);

	if (body)
		vec_push(&s->points, ((struct point){ at_s, attempt, body }));
}

static int see_row(void *ctx, const struct record_event *event)
{
	struct series *s = ctx;
	uint64_t index;

	if (strcmp(event->kind, "progress") != 0)
		return 0;
	index = s->seen++;
	if (index % s->every == 0 && s->points.n == SERIES_POINTS - 1) /* the last report needs a place, too */
		halve(s);
	s->last.n = 0;
	if (index % s->every == 0) {
		keep(s, event->at_s, event->attempt, event->body);
		return 0;
	}
	buf_str(&s->last, event->body);
	s->last_at_s = event->at_s;
	s->last_attempt = event->attempt;
	return 0;
}

/* ---- writing */

static bool knows(const struct series *s, const char *name)
{
	for (size_t i = 0; i < s->nnames; i++) {
		if (!strcmp(s->names[i], name))
			return true;
	}
	return false;
}

static void find_names(struct series *s)
{
	for (size_t i = 0; i < s->points.n; i++) {
		json_t *metrics = json_object_get(s->points.at[i].body, "metrics");
		const char *name;
		json_t *value;

		json_object_foreach(metrics, name, value)
		{
			if (!json_is_number(value) || knows(s, name))
				continue;
			if (s->nnames < SERIES_METRICS)
				s->names[s->nnames++] = name;
			else
				s->more = true;
		}
	}
}

static void put_metrics(const struct series *s, struct json *j)
{
	json_begin_array(j, "metrics");
	for (size_t k = 0; k < s->nnames; k++) {
		json_begin_object(j, NULL);
		json_str(j, "name", s->names[k]);
		json_begin_array(j, "values");
		for (size_t i = 0; i < s->points.n; i++)
			json_double(j, NULL,
				member_number(json_object_get(s->points.at[i].body, "metrics"),
					s->names[k], NAN));
		json_end(j, ']');
		json_end(j, '}');
	}
	json_end(j, ']');
	json_bool(j, "more", s->more);
}

static void put_columns(const struct series *s, const struct wallclock *wall, struct json *j)
{
	double total = NAN;

	for (size_t i = 0; i < s->points.n; i++)
		total = member_number(s->points.at[i].body, "total", total);
	json_int(j, "reports", (int64_t)s->seen);
	json_double(j, "total", total);
	json_begin_array(j, "at");
	for (size_t i = 0; i < s->points.n; i++)
		json_double(j, NULL, wallclock_s(wall, s->points.at[i].at_s));
	json_end(j, ']');
	json_begin_array(j, "attempt");
	for (size_t i = 0; i < s->points.n; i++)
		json_int(j, NULL, s->points.at[i].attempt);
	json_end(j, ']');
	json_begin_array(j, "step");
	for (size_t i = 0; i < s->points.n; i++)
		json_double(j, NULL, member_number(s->points.at[i].body, "step", NAN));
	json_end(j, ']');
}

int series_to_json(struct record *record, uint32_t job, const struct wallclock *wall,
	struct json *j, struct err *err)
{
	struct series s = { .every = 1 };
	int rc = record_events(record, 0, job, 0, see_row, &s, err);

	if (rc == 0) {
		if (s.last.n)
			keep(&s, s.last_at_s, s.last_attempt, s.last.at);
		find_names(&s);
		put_columns(&s, wall, j);
		put_metrics(&s, j);
	}
	for (size_t i = 0; i < s.points.n; i++)
		json_decref(s.points.at[i].body);
	vec_fini(&s.points);
	buf_fini(&s.last);
	return rc;
}
