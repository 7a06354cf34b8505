/*
 * stint fit --optimus-loss and --optimus-speed: loss curves, and speed by
 * workers and parameter servers (model/optimus_fit.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/vec.h"
#include "cli/fit.h"
#include "cli/ui.h"
#include "io/csv.h"
#include "io/header.h"
#include "model/optimus_fit.h"

enum { WIDTH = 5 };

/* A table of numbers with a header; what is not there is NAN. */
struct table {
	const char *path;
	const struct column *columns;
	struct csv csv;
	int where[WIDTH];
	size_t width;
	VEC(double) cells; /* WIDTH a row */
	size_t rows;
};

static int clipped(struct slice s)
{
	return s.n > 60 ? 60 : (int)s.n;
}

static int read_header(struct table *t, struct err *err)
{
	for (int i = 0; i < WIDTH; i++)
		t->where[i] = -1;
	t->width = t->csv.n;
	for (size_t i = 0; i < t->csv.n; i++) {
		int column = columns_find(t->columns, t->csv.fields[i]);

		if (column >= 0)
			t->where[column] = (int)i;
	}
	for (int i = 0; t->columns[i].name; i++) {
		if (t->columns[i].required && t->where[i] < 0)
			return err_set(err, ERR_FORMAT, "the header has no column %s",
				t->columns[i].name);
	}
	return 0;
}

static int read_row(struct table *t, struct err *err)
{
	double row[WIDTH];

	if (t->csv.n != t->width)
		return err_set(err, ERR_FORMAT, "%zu fields, the header has %zu", t->csv.n, t->width);
	for (int i = 0; i < WIDTH; i++) {
		row[i] = NAN;
		if (t->where[i] >= 0 && !slice_double(t->csv.fields[t->where[i]], &row[i]))
			return err_set(err, ERR_FORMAT, "%s '%.*s' is not a finite number",
				t->columns[i].name, clipped(t->csv.fields[t->where[i]]),
				t->csv.fields[t->where[i]].at);
	}
	for (int i = 0; i < WIDTH; i++)
		vec_push(&t->cells, row[i]);
	t->rows++;
	return 0;
}

static int read_rows(struct table *t, struct err *err)
{
	bool headed = false;
	int rc;

	while ((rc = csv_next(&t->csv, err)) > 0) {
		rc = headed ? read_row(t, err) : read_header(t, err);
		if (rc < 0)
			break;
		headed = true;
	}
	if (rc < 0)
		return err_prefix(err, "%s:%zu", t->path, t->csv.line);
	return headed ? 0 : err_set(err, ERR_FORMAT, "%s: the file is empty", t->path);
}

static int table_read(struct table *t, const char *path, const struct column *columns, struct err *err)
{
	struct csv_style style = CSV_COMMAS;
	struct file file;
	int rc;

	*t = (struct table){ .path = path, .columns = columns };
	if (file_read_upto(path, 64 << 20, &file, err) < 0)
		return err->code;
	csv_init(&t->csv, (struct slice){ file.at, file.n }, style);
	rc = read_rows(t, err);
	csv_fini(&t->csv);
	file_fini(&file);
	return rc;
}

static double cell(const struct table *t, size_t row, int column)
{
	return t->cells.at[row * WIDTH + column];
}

/* ---- loss */

enum { STEP, LOSS };

static const struct column loss_columns[] = {
	[STEP] = { .name = "step", .aliases = "epoch|k|iteration", .required = true },
	[LOSS] = { .name = "loss", .required = true },
	{ 0 },
};

/* Decreases per step of the file, as parts of its first loss, that somebody may call converged. */
static const double thresholds[] = { 0.01, 0.001, 0.0001 };
#define HORIZON 1e9

static void loss_json(const struct loss_curve *c, double first, size_t points, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "fit-optimus-loss/1");
	json_double(&j, "b0", c->b0);
	json_double(&j, "b1", c->b1);
	json_double(&j, "b2", c->b2);
	json_double(&j, "error", c->error);
	json_int(&j, "points", (int64_t)points);
	json_int(&j, "used", c->used);
	json_begin_array(&j, "converged");
	for (size_t i = 0; i < sizeof(thresholds) / sizeof(*thresholds); i++) {
		json_begin_object(&j, NULL);
		json_double(&j, "decrease", thresholds[i] * first);
		json_double(&j, "step", loss_converged(c, thresholds[i] * first, 1, HORIZON));
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
}

static void loss_text(const struct loss_curve *c, double first, double last, size_t points,
	struct buf *out)
{
	buf_printf(out, "loss after k steps: 1 / (%.6g k + %.6g) + %.6g\n", c->b0, c->b1, c->b2);
	buf_printf(out, "%zu points, %u used, the curve is off by %.3g (root mean square)\n",
		points, c->used, c->error);
	for (size_t i = 0; i < sizeof(thresholds) / sizeof(*thresholds); i++) {
		double at = loss_converged(c, thresholds[i] * first, 1, HORIZON);

		buf_printf(out, "falls by less than %.3g a step from step %.0f on: %.0f to go\n",
			thresholds[i] * first, at, fmax(0, at - last));
	}
}

static int fit_loss(const struct args *args, const struct table *t, struct err *err)
{
	struct loss_point *points = mem_alloc(mem_array_size(t->rows + 1, sizeof(*points)));
	struct loss_curve curve;
	struct buf out = { 0 };
	int rc;

	for (size_t i = 0; i < t->rows; i++)
		points[i] = (struct loss_point){ cell(t, i, STEP), cell(t, i, LOSS) };
	rc = loss_fit(points, (uint32_t)t->rows, &(struct loss_fit_options){ .recent = true },
		&curve, err);
	if (rc < 0) {
		rc = err_prefix(err, "%s", t->path);
	} else {
		if (args->json)
			loss_json(&curve, points[0].loss, t->rows, &out);
		else
			loss_text(&curve, points[0].loss, points[t->rows - 1].k, t->rows, &out);
		rc = ui_print(&out, err);
	}
	buf_fini(&out);
	free(points);
	return rc;
}

/* What these fits do not write. */
static int refuse_files(const struct args *args, const char *flag, struct err *err)
{
	if (args->out || args->svg || args->html || args->operands.n > 0)
		return err_set(err, ERR_USAGE,
			"%s reads one file and prints its curve; leave out further files, --out, --svg and --html",
			flag);
	return 0;
}

static int run_table(const struct args *args, const char *flag, const char *path,
	const struct column *columns,
	int (*fit)(const struct args *args, const struct table *t, struct err *err), struct err *err)
{
	struct table t = { 0 };
	int rc = refuse_files(args, flag, err);

	if (!rc)
		rc = table_read(&t, path, columns, err);
	if (!rc)
		rc = fit(args, &t, err);
	vec_fini(&t.cells);
	return rc;
}

int fit_optimus_loss_run(const struct args *args, struct err *err)
{
	return run_table(args, "--optimus-loss", args->optimus_loss, loss_columns, fit_loss, err);
}

/* ---- speed */

enum { WORKERS, SERVERS, SPEED, BATCH, ASYNC };

static const struct column speed_columns[] = {
	[WORKERS] = { .name = "workers", .aliases = "w|gpus|replicas", .required = true },
	[SERVERS] = { .name = "servers", .aliases = "p|ps" },
	[SPEED] = { .name = "speed", .aliases = "steps_per_s", .required = true },
	[BATCH] = { .name = "batch", .aliases = "batch_size" },
	[ASYNC] = { .name = "async" },
	{ 0 },
};

static const char *const formulas[] = {
	[SPEED_SYNC] = "1 / (t0 M/w + t1 + t2 w/p + t3 w + t4 p)",
	[SPEED_ASYNC] = "w / (t0 + t1 w/p + t2 w + t3 p)",
	[SPEED_RING] = "1 / (t0 M/w + t1 + t2 w)",
};

/* Which of the three it is, and the batch; the same for all rows. */
static int read_kind(const struct table *t, enum speed_kind *kind, double *batch, struct err *err)
{
	*batch = t->rows && t->where[BATCH] >= 0 ? cell(t, 0, BATCH) : 1;
	*kind = t->where[SERVERS] < 0 ? SPEED_RING : SPEED_SYNC;
	if (t->rows && t->where[ASYNC] >= 0 && cell(t, 0, ASYNC) != 0)
		*kind = SPEED_ASYNC;
	if (*kind == SPEED_ASYNC && t->where[SERVERS] < 0)
		return err_set(err, ERR_FORMAT, "asynchronous workers need a column servers");
	for (size_t i = 1; i < t->rows; i++) {
		if (t->where[BATCH] >= 0 && cell(t, i, BATCH) != *batch)
			return err_set(err, ERR_FORMAT,
				"point %zu: batch %g, the first has %g; fit one batch at a time", i,
				cell(t, i, BATCH), *batch);
		if (t->where[ASYNC] >= 0 && cell(t, i, ASYNC) != cell(t, 0, ASYNC))
			return err_set(err, ERR_FORMAT, "point %zu: async differs from the first", i);
	}
	if (t->rows < speed_points_needed(*kind))
		return err_set(err, ERR_FORMAT, "a %s job needs %u points or more, there are %zu",
			speed_kind_names[*kind], speed_points_needed(*kind), t->rows);
	return 0;
}

static void speed_json(const struct speed_curve *c, size_t points, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "fit-optimus-speed/1");
	json_str(&j, "kind", speed_kind_names[c->kind]);
	json_double(&j, "batch", c->batch);
	json_begin_array(&j, "theta");
	for (uint32_t i = 0; i < speed_points_needed(c->kind); i++)
		json_double(&j, NULL, c->theta[i]);
	json_end(&j, ']');
	json_double(&j, "error", c->error);
	json_int(&j, "points", (int64_t)points);
	json_end(&j, '}');
}

static void speed_text(const struct speed_curve *c, const struct speed_point *points, size_t n,
	struct buf *out)
{
	buf_printf(out, "%s, steps per second: %s\n", speed_kind_names[c->kind], formulas[c->kind]);
	if (c->kind != SPEED_ASYNC)
		buf_printf(out, "M %g\n", c->batch);
	for (uint32_t i = 0; i < speed_points_needed(c->kind); i++)
		buf_printf(out, "t%u %.6g\n", i, c->theta[i]);
	buf_printf(out, "%zu points, speeds are met within %.2g %% (root mean square)\n", n,
		100 * c->error);
	buf_printf(out, "workers  servers  measured  fitted\n");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%7g  %7g  %8.4g  %6.4g\n", points[i].workers, points[i].servers,
			points[i].speed, speed_at(c, points[i].servers, points[i].workers));
}

static int fit_speed(const struct args *args, const struct table *t, struct err *err)
{
	struct speed_point *points = mem_alloc(mem_array_size(t->rows + 1, sizeof(*points)));
	struct speed_curve curve;
	struct buf out = { 0 };
	enum speed_kind kind;
	double batch;
	int rc = read_kind(t, &kind, &batch, err);

	for (size_t i = 0; i < t->rows; i++)
		points[i] = (struct speed_point){
			.workers = cell(t, i, WORKERS),
			.servers = t->where[SERVERS] < 0 ? 0 : cell(t, i, SERVERS),
			.speed = cell(t, i, SPEED),
		};
	if (!rc)
		rc = speed_fit(kind, batch, points, (uint32_t)t->rows, &curve, err);
	if (rc < 0) {
		rc = err_prefix(err, "%s", t->path);
	} else {
		if (args->json)
			speed_json(&curve, t->rows, &out);
		else
			speed_text(&curve, points, t->rows, &out);
		rc = ui_print(&out, err);
	}
	buf_fini(&out);
	free(points);
	return rc;
}

int fit_optimus_speed_run(const struct args *args, struct err *err)
{
	return run_table(args, "--optimus-speed", args->optimus_speed, speed_columns, fit_speed, err);
}
