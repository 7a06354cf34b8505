#include "io/usage_io.h"

#include <math.h>

#include "base/file.h"
#include "io/csv.h"
#include "io/header.h"

const char *const usage_resource_names[USAGE_RESOURCES + 1] = { "cpus", "mem", "disk", NULL };

enum { C_CATEGORY, C_TIME, C_CPUS, C_MEM, C_DISK, C_EXHAUSTED, COLUMNS };

static const struct column columns[] = {
	[C_CATEGORY] = { "category", "name|function|job", true },
	[C_TIME] = { "time_s", "duration_s|run_s|time|elapsed", true },
	[C_CPUS] = { "cpus", "cores|peak_cpus", false },
	[C_MEM] = { "mem", "memory|rss|mem_bytes|rss_bytes|maxrss", false },
	[C_DISK] = { "disk", "disk_bytes", false },
	[C_EXHAUSTED] = { "exhausted", "killed", false },
	[COLUMNS] = { 0 },
};

static bool amount(struct slice text, enum usage_resource r, double *out)
{
	int64_t bytes;

	if (r == USAGE_CPUS)
		return slice_double(text, out) && *out >= 0 && *out <= 1e9;
	if (!slice_bytes(text, &bytes) || bytes < 0)
		return false;
	*out = (double)bytes;
	return true;
}

static int read_header(const struct csv *csv, int where[COLUMNS], struct err *err)
{
	for (int i = 0; i < COLUMNS; i++)
		where[i] = -1;
	for (size_t i = 0; i < csv->n; i++) {
		int column = columns_find(columns, csv->fields[i]);

		if (column >= 0 && where[column] >= 0)
			return err_set(err, ERR_FORMAT, "column %s is there twice",
				columns[column].name);
		if (column >= 0)
			where[column] = (int)i;
	}
	for (int i = 0; i < COLUMNS; i++)
		if (columns[i].required && where[i] < 0)
			return err_set(err, ERR_FORMAT,
				"there is no column %s; the first line is category,time_s,cpus,mem,disk",
				columns[i].name);
	if (where[C_CPUS] < 0 && where[C_MEM] < 0 && where[C_DISK] < 0)
		return err_set(err, ERR_FORMAT,
			"there is none of the columns cpus, mem and disk: nothing says what was used");
	return 0;
}

static int bad(const struct csv *csv, int at, const char *name, const char *what, struct err *err)
{
	struct slice text = csv->fields[at];

	return err_set(err, ERR_FORMAT, "%s '%.*s' is not %s", name, text.n > 60 ? 60 : (int)text.n,
		text.at, what);
}

static int read_row(const struct csv *csv, const int where[COLUMNS], struct usage *out, struct err *err)
{
	struct usage_row row = { .peak = { NAN, NAN, NAN } };
	struct slice name;

	for (int i = 0; i < COLUMNS; i++)
		if (where[i] >= (int)csv->n)
			return err_set(err, ERR_FORMAT,
				"the line has %zu fields, too few for its columns", csv->n);
	name = slice_trim(csv->fields[where[C_CATEGORY]]);
	if (!name.n)
		return err_set(err, ERR_FORMAT, "the category is empty; name what ran");
	if (!slice_seconds(csv->fields[where[C_TIME]], &row.time_s) || !(row.time_s > 0) ||
		row.time_s > 1e12)
		return bad(csv, where[C_TIME], "time_s", "a time above 0, such as 90 or 1.5h", err);
	for (int r = 0; r < USAGE_RESOURCES; r++) {
		int at = where[C_CPUS + r];

		if (at < 0 || !slice_trim(csv->fields[at]).n)
			continue;
		if (!amount(slice_trim(csv->fields[at]), (enum usage_resource)r, &row.peak[r]))
			return bad(csv, at, usage_resource_names[r],
				r == USAGE_CPUS ? "a number of 0 or more" : "a size, such as 2G", err);
	}
	if (where[C_EXHAUSTED] >= 0) {
		struct slice mark = slice_trim(csv->fields[where[C_EXHAUSTED]]);

		if (mark.n && !slice_is(mark, "0") && !slice_is(mark, "no") &&
			!slice_is(mark, "false")) {
			out->exhausted++;
			return 0;
		}
	}
	row.category = names_add(&out->categories, name.at, name.n);
	vec_push(&out->rows, row);
	return 0;
}

static int read_all(struct csv *csv, struct usage *out, struct err *err)
{
	int where[COLUMNS], rc = csv_next(csv, err);

	if (rc == 0)
		return err_set(err, ERR_FORMAT,
			"the file is empty; its first line is category,time_s,cpus,mem,disk");
	if (rc < 0 || read_header(csv, where, err) < 0)
		return err->code;
	while ((rc = csv_next(csv, err)) > 0)
		if (read_row(csv, where, out, err) < 0)
			return err->code;
	if (rc == 0 && !out->rows.n)
		rc = err_set(err, ERR_FORMAT, "no run below the names of the columns counts");
	return rc;
}

int usage_read_csv(const char *where, const char *text, size_t n, struct usage *out, struct err *err)
{
	struct csv_style style = { .separator = ',', .comment = '#', .quotes = true };
	struct usage usage = { 0 };
	struct csv csv;
	int rc;

	csv_init(&csv, (struct slice){ text, n }, style);
	rc = read_all(&csv, &usage, err);
	if (rc < 0) {
		err_prefix(err, "%s:%zu", where, csv.line ? csv.line : 1);
		usage_fini(&usage);
	} else {
		*out = usage;
	}
	csv_fini(&csv);
	return rc < 0 ? rc : 0;
}

int usage_read(const char *path, struct usage *out, struct err *err)
{
	struct file file;
	int rc = file_read(path, &file, err);

	if (rc < 0)
		return rc;
	rc = usage_read_csv(path, file.at, file.n, out, err);
	file_fini(&file);
	return rc;
}

void usage_fini(struct usage *usage)
{
	names_fini(&usage->categories);
	vec_fini(&usage->rows);
}

int usage_amounts(const char *what, const char *text, double out[USAGE_RESOURCES], struct err *err)
{
	struct slice rest = slice_of(text);

	for (int r = 0; r < USAGE_RESOURCES; r++)
		out[r] = NAN;
	while (rest.n) {
		struct slice value = slice_trim(slice_cut(&rest, ',')), whole = value;
		struct slice name = slice_trim(slice_cut(&value, '='));
		bool known = false;

		for (int r = 0; r < USAGE_RESOURCES; r++)
			if (slice_is(name, usage_resource_names[r]))
				known = amount(slice_trim(value), (enum usage_resource)r, &out[r]) &&
					out[r] > 0;
		if (!known)
			return err_set(err, ERR_USAGE,
				"%s: '%.*s' is not understood; write cpus=16,mem=64G", what,
				whole.n > 60 ? 60 : (int)whole.n, whole.at);
	}
	return 0;
}
