#include "daemon/outcomes.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"

#define SCHEMA "forecasts/1"

enum { FILE_MAX = 1 << 20 };

void outcomes_fini(struct outcomes *o)
{
	vec_fini(&o->said);
}

/* Among the first `n`. */
static struct said *find(const struct outcomes *o, size_t n, uint32_t job)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (o->said.at[mid].job < job)
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && o->said.at[low].job == job ? &o->said.at[low] : NULL;
}

/* ---- what is said */

static int by_job(const void *a, const void *b)
{
	uint32_t x = ((const struct said *)a)->job, y = ((const struct said *)b)->job;

	return (x > y) - (x < y);
}

static bool has_future(const struct forecast_job *job)
{
	return isfinite(job->raw_finish.p50) && (!job->waits || isfinite(job->raw_start.p50));
}

static bool is_open(const struct said *said)
{
	return said->open_start || said->open_finish;
}

/* Numbers mostly ascend as they are. */
static void put_in_order(struct said *said, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (said[i - 1].job > said[i].job) {
			qsort(said, n, sizeof(*said), by_job);
			return;
		}
	}
}

/* Those after the first `known`, which are in order as these are, go between them; what is settled goes. */
static void merge(struct outcomes *o, size_t known)
{
	size_t a = 0, b = known, all = o->said.n, kept = 0;
	struct said *merged = mem_alloc(mem_array_size(all + 1, sizeof(*merged)));

	while (a < known || b < all) {
		bool first = b == all || (a < known && o->said.at[a].job < o->said.at[b].job);
		const struct said *next = &o->said.at[first ? a++ : b++];

		if (is_open(next))
			merged[kept++] = *next;
	}
	free(o->said.at);
	o->said.at = merged;
	o->said.n = kept;
	o->said.cap = all + 1;
}

void outcomes_take(struct outcomes *o, const struct forecast *forecast)
{
	size_t known = o->said.n;

	vec_reserve(&o->said, known + forecast->jobs.n);
	for (size_t i = 0; i < forecast->jobs.n; i++) {
		const struct forecast_job *job = &forecast->jobs.at[i];
		struct said *said = find(o, known, job->number);

		if (job->bounded) /* no interval was told */
			continue;
		if (said && !has_future(job))
			said->open_start = said->open_finish = false;
		if (!said && has_future(job))
			vec_push(&o->said,
				((struct said){ job->number, job->waits, true, forecast->at_s, *job }));
	}
	put_in_order(o->said.at + known, o->said.n - known);
	merge(o, known);
}

/* ---- what came */

static void settle(struct outcomes *o, struct calibration *of, const struct moments *raw,
	const struct moments *said, double plain_s, double actual_s)
{
	struct score score = calibration_judge(raw, said, plain_s, fmax(0, actual_s));

	calibration_add(of, &score);
	o->changes++;
}

void outcomes_started(struct outcomes *o, uint32_t job, double at_s)
{
	struct said *said = find(o, o->said.n, job);

	if (!said || !said->open_start)
		return;
	said->open_start = false;
	settle(o, &o->start, &said->forecast.raw_start, &said->forecast.start,
		said->forecast.plain_start_s, at_s - said->at_s);
}

void outcomes_ended(struct outcomes *o, uint32_t job, double at_s)
{
	struct said *said = find(o, o->said.n, job);

	if (!said)
		return;
	if (said->open_finish)
		settle(o, &o->finish, &said->forecast.raw_finish, &said->forecast.finish,
			said->forecast.plain_finish_s, at_s - said->at_s);
	said->open_start = said->open_finish = false;
}

void outcomes_drop(struct outcomes *o, uint32_t job)
{
	struct said *said = find(o, o->said.n, job);

	if (said)
		said->open_start = said->open_finish = false;
}

/* ---- kept */

static void put_calibration(const char *key, const struct calibration *c, struct json *j)
{
	json_begin_array(j, key);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct score *score =
			&c->at[(c->next + CALIBRATION_MAX - c->n + i) % CALIBRATION_MAX];

		json_begin_array(j, NULL);
		json_double(j, NULL, score->place);
		json_double(j, NULL, score->error_s);
		json_double(j, NULL, score->plain_s);
		json_bool(j, NULL, score->covered);
		json_end(j, ']');
	}
	json_end(j, ']');
}

void outcomes_write(const struct calibration *start, const struct calibration *finish, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", SCHEMA);
	put_calibration("start", start, &j);
	put_calibration("finish", finish, &j);
	json_end(&j, '}');
}

/* Anything that is no outcome is passed over. */
static void take_calibration(const json_t *list, struct calibration *out)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i), *plain = json_array_get(one, 2);
		struct score score = {
			.place = json_number_value(json_array_get(one, 0)),
			.error_s = json_number_value(json_array_get(one, 1)),
			.plain_s = json_is_number(plain) ? json_number_value(plain) : NAN,
			.covered = json_is_true(json_array_get(one, 3)),
		};

		if (json_array_size(one) == 4 && json_is_number(json_array_get(one, 0)))
			calibration_add(out, &score);
	}
}

int outcomes_read_text(const char *name, const char *text, size_t n, struct outcomes *out,
	struct err *err)
{
	json_error_t problem;
	json_t *root = json_loadb(text, n, 0, &problem);
	const char *schema;
	int rc = 0;

	if (!root)
		return err_set(err, ERR_FORMAT, "%s:%d: %s", name, problem.line, problem.text);
	schema = json_string_value(json_object_get(root, "schema"));
	if (schema && !strcmp(schema, SCHEMA)) {
		take_calibration(json_object_get(root, "start"), &out->start);
		take_calibration(json_object_get(root, "finish"), &out->finish);
	} else {
		rc = err_set(err, ERR_FORMAT, "%s: its schema is not " SCHEMA, name);
	}
	json_decref(root);
	return rc;
}

int outcomes_read(const char *path, struct outcomes *out, struct err *err)
{
	struct file file;
	int rc;

	if (!file_exists(path))
		return 0;
	if (file_read_upto(path, FILE_MAX, &file, err) < 0)
		return err->code;
	rc = outcomes_read_text(path, file.at, file.n, out, err);
	file_fini(&file);
	return rc;
}
