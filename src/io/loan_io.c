#include "io/loan_io.h"

#include <math.h>

#include "base/file.h"
#include "io/csv.h"
#include "io/header.h"

enum { COLUMN_TIME, COLUMN_SERVERS, COLUMN_DEMAND, COLUMNS };

static const struct column columns[] = {
	[COLUMN_TIME] = { "time_s", "time", true },
	[COLUMN_SERVERS] = { "servers", "lent", false },
	[COLUMN_DEMAND] = { "demand", "load", false },
	[COLUMNS] = { 0 },
};

/* Servers lent at most: no cluster is larger. */
#define SERVERS_MAX 1e6

void loan_series_fini(struct loan_series *series)
{
	vec_fini(&series->rows);
}

static int read_header(const struct csv *csv, int where[COLUMNS], struct err *err)
{
	for (int i = 0; i < COLUMNS; i++)
		where[i] = -1;
	for (size_t i = 0; i < csv->n; i++) {
		int column = columns_find(columns, csv->fields[i]);

		if (column < 0)
			continue;
		if (where[column] >= 0)
			return err_set(err, ERR_FORMAT, "column %s is there twice",
				columns[column].name);
		where[column] = (int)i;
	}
	if (where[COLUMN_TIME] < 0)
		return err_set(err, ERR_FORMAT,
			"there is no column time_s; the first line names the columns: time_s,servers");
	if ((where[COLUMN_SERVERS] < 0) == (where[COLUMN_DEMAND] < 0))
		return err_set(err, ERR_FORMAT,
			"beside time_s there must be one column servers (lent from then on) or demand "
			"(part of the servers that inference needs, 0 to 1)%s",
			where[COLUMN_SERVERS] < 0 ? "" : ", not both");
	return 0;
}

static int bad_field(struct slice field, const char *column, const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT, "%s '%.*s' is not %s", column, (int)field.n, field.at, what);
}

static int read_value(struct slice field, bool demand, double *out, struct err *err)
{
	if (!slice_double(field, out))
		return bad_field(field, demand ? "demand" : "servers", "a number", err);
	if (demand && !(*out >= 0 && *out <= 1))
		return bad_field(field, "demand", "a part of all servers, 0 to 1", err);
	if (!demand && !(*out >= 0 && *out <= SERVERS_MAX && *out == floor(*out)))
		return bad_field(field, "servers", "a number of servers, 0 or more", err);
	return 0;
}

static int read_row(const struct csv *csv, const int where[COLUMNS], struct loan_series *out,
	struct err *err)
{
	size_t value = (size_t)where[out->demand ? COLUMN_DEMAND : COLUMN_SERVERS];
	struct loan_row row = { .line = csv->line };
	struct slice time;

	if (csv->n <= value || csv->n <= (size_t)where[COLUMN_TIME])
		return err_set(err, ERR_FORMAT, "the line has %zu fields, too few for its columns",
			csv->n);
	time = csv->fields[where[COLUMN_TIME]];
	if (!slice_seconds(time, &row.at_s) || row.at_s < 0)
		return bad_field(time, "time_s", "a time of 0 or more, such as 3600 or 1.5h", err);
	if (out->rows.n > 0 && row.at_s <= out->rows.at[out->rows.n - 1].at_s)
		return err_set(err, ERR_FORMAT,
			"time_s goes from %g back to %g; lines must be in order of time, each later than "
			"the one before",
			out->rows.at[out->rows.n - 1].at_s, row.at_s);
	if (read_value(csv->fields[value], out->demand, &row.value, err) < 0)
		return err->code;
	vec_push(&out->rows, row);
	return 0;
}

static int read_all(struct csv *csv, struct loan_series *out, struct err *err)
{
	int where[COLUMNS], rc = csv_next(csv, err);

	if (rc == 0)
		return err_set(err, ERR_FORMAT, "the file is empty; its first line is time_s,servers");
	if (rc < 0 || read_header(csv, where, err) < 0)
		return err->code;
	out->demand = where[COLUMN_DEMAND] >= 0;
	while ((rc = csv_next(csv, err)) > 0) {
		if (read_row(csv, where, out, err) < 0)
			return err->code;
	}
	if (rc == 0 && out->rows.n == 0)
		rc = err_set(err, ERR_FORMAT, "there is no line after the names of the columns");
	return rc;
}

int loan_read_csv(const char *where, const char *text, size_t n, struct loan_series *out,
	struct err *err)
{
	struct csv_style style = { .separator = ',', .comment = '#', .quotes = true };
	struct loan_series series = { 0 };
	struct csv csv;
	int rc;

	csv_init(&csv, (struct slice){ text, n }, style);
	rc = read_all(&csv, &series, err);
	if (rc < 0) {
		err_prefix(err, "%s:%zu", where, csv.line ? csv.line : 1);
		loan_series_fini(&series);
	} else {
		*out = series;
	}
	csv_fini(&csv);
	return rc;
}

int loan_read(const char *path, struct loan_series *out, struct err *err)
{
	struct file file;
	int rc = file_read(path, &file, err);

	if (rc < 0)
		return err_prefix(err, "loan");
	rc = loan_read_csv(path, file.at, file.n, out, err);
	file_fini(&file);
	return rc;
}
