/*
 * Reading logs of shares.
 */
#include "io/share_log.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "model/job.h"

enum { LOG_BYTES_MAX = 256 << 20 };

struct columns {
	int type[TYPES_MAX]; /* -1: the cluster does not have it */
	size_t n;
};

void share_log_fini(struct share_log *log)
{
	vec_fini(&log->allocs);
	vec_fini(&log->rows);
}

static int read_columns(const json_t *types, const struct cluster *cluster, struct columns *out,
	struct err *err)
{
	out->n = json_array_size(types);
	if (out->n == 0 || out->n > TYPES_MAX)
		return err_set(err, ERR_FORMAT, "\"types\" must list 1 to %d device types", TYPES_MAX);
	for (size_t i = 0; i < out->n; i++) {
		const char *name = json_string_value(json_array_get(types, i));

		if (!name)
			return err_set(err, ERR_FORMAT, "\"types\" must list names");
		out->type[i] = cluster_find_type(cluster, name);
	}
	return 0;
}

static bool read_number(const json_t *value, uint32_t *out)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0 || number >= JOB_NONE)
		return false;
	*out = (uint32_t)number;
	return true;
}

static int read_who(const json_t *who, struct share_row *row, struct err *err)
{
	bool good;

	row->b = JOB_NONE;
	if (json_is_array(who))
		good = json_array_size(who) == 2 && read_number(json_array_get(who, 0), &row->a) &&
			read_number(json_array_get(who, 1), &row->b) && row->a < row->b;
	else
		good = read_number(who, &row->a);
	if (!good)
		return err_set(err, ERR_FORMAT,
			"a row begins with a job's number, or with two in ascending order");
	return 0;
}

static int read_row(const json_t *json, const struct columns *columns, struct share_row *row,
	struct err *err)
{
	if (json_array_size(json) != columns->n + 1)
		return err_set(err, ERR_FORMAT, "a row has %zu values, not a job and %zu shares",
			json_array_size(json), columns->n);
	if (read_who(json_array_get(json, 0), row, err) < 0)
		return err->code;
	for (size_t i = 0; i < columns->n; i++) {
		const json_t *value = json_array_get(json, i + 1);
		double x = json_number_value(value);

		if (!json_is_number(value) || !(x >= 0 && x <= 1 + 1e-6))
			return err_set(err, ERR_FORMAT, "shares of job %u must lie between 0 and 1",
				row->a);
		if (columns->type[i] >= 0)
			row->x[columns->type[i]] = x;
		else if (x > 0)
			return err_set(err, ERR_FORMAT,
				"job %u has a share of a type that the cluster does not have", row->a);
	}
	return 0;
}

static int by_jobs(const void *a, const void *b)
{
	const struct share_row *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

static int read_alloc(const json_t *json, const struct cluster *cluster, struct share_log *out,
	struct err *err)
{
	const json_t *t = json_object_get(json, "t"), *rows = json_object_get(json, "x");
	struct share_alloc alloc = { .at_s = json_number_value(t), .first = out->rows.n };
	struct columns columns;

	if (!json_is_number(t) || !json_is_array(rows))
		return err_set(err, ERR_FORMAT, "an alloc needs \"t\", \"types\" and \"x\"");
	if (out->allocs.n > 0 && alloc.at_s < out->allocs.at[out->allocs.n - 1].at_s)
		return err_set(err, ERR_FORMAT, "times go backwards at %g", alloc.at_s);
	if (read_columns(json_object_get(json, "types"), cluster, &columns, err) < 0)
		return err->code;
	for (; alloc.n < json_array_size(rows); alloc.n++) {
		struct share_row row = { 0 };

		if (read_row(json_array_get(rows, alloc.n), &columns, &row, err) < 0)
			return err->code;
		vec_push(&out->rows, row);
	}
	if (alloc.n > 0)
		qsort(&out->rows.at[alloc.first], alloc.n, sizeof(struct share_row), by_jobs);
	vec_push(&out->allocs, alloc);
	return 0;
}

static int read_line(struct slice line, const struct cluster *cluster, struct share_log *out,
	struct err *err)
{
	json_error_t where;
	json_t *json = json_loadb(line.at, line.n, 0, &where);
	const char *kind;
	int rc = 0;

	if (!json)
		return err_set(err, ERR_FORMAT, "column %d: %s", where.column, where.text);
	kind = json_string_value(json_object_get(json, "ev"));
	if (kind && strcmp(kind, "alloc") == 0)
		rc = read_alloc(json, cluster, out, err);
	json_decref(json);
	return rc;
}

int share_log_parse(const char *text, size_t n, const struct cluster *cluster,
	struct share_log *out, struct err *err)
{
	struct lines lines = lines_of(text, n);
	struct share_log log = { 0 };
	struct slice line;
	int rc = 0;

	while (rc == 0 && lines_next(&lines, &line)) {
		if (slice_trim(line).n > 0)
			rc = read_line(line, cluster, &log, err);
		if (rc < 0)
			err_prefix(err, "line %zu", lines.number);
	}
	if (rc == 0 && log.allocs.n == 0)
		rc = err_set(err, ERR_FORMAT, "no line has \"ev\": \"alloc\"");
	if (rc < 0)
		share_log_fini(&log);
	else
		*out = log;
	return rc;
}

int share_log_read(const char *path, const struct cluster *cluster, struct share_log *out,
	struct err *err)
{
	struct file file;
	int rc;

	if (file_read_upto(path, LOG_BYTES_MAX, &file, err) < 0)
		return err->code;
	rc = share_log_parse(file.at, file.n, cluster, out, err);
	file_fini(&file);
	return rc < 0 ? err_prefix(err, "%s", path) : 0;
}

const struct share_alloc *share_log_at(const struct share_log *log, double at_s)
{
	size_t low = 0, high = log->allocs.n;

	at_s += 1e-6; /* written by another program, in its own rounding */
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (log->allocs.at[middle].at_s <= at_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &log->allocs.at[low - 1] : NULL;
}

const struct share_row *share_log_row(const struct share_log *log, const struct share_alloc *alloc,
	uint32_t a, uint32_t b)
{
	struct share_row key = { .a = a, .b = b };

	if (alloc->n == 0)
		return NULL;
	return bsearch(&key, &log->rows.at[alloc->first], alloc->n, sizeof(key), by_jobs);
}
