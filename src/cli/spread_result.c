/*
 * The outcome of one run on its way from a task to whoever puts them together.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/spread_parts.h"
#include "store/outcome_file.h"

static const char magic[] = "stint result/1\n";

char *spread_path(const char *dir, const char *what, size_t number)
{
	return mem_printf("%s/%s-%zu", dir, what, number);
}

/* ---- the plan */

int spread_plan_write(const char *dir, const struct spread_plan *plan, struct err *err)
{
	struct buf text = { 0 };
	char *path = path_join(dir, "plan");
	int rc;

	buf_printf(&text, "tasks %zu runs %zu record %d spans %d\n", plan->tasks, plan->runs,
		plan->record, plan->spans);
	rc = file_write(path, text.at, text.n, err);
	buf_fini(&text);
	free(path);
	return rc;
}

int spread_plan_read(const char *dir, struct spread_plan *out, struct err *err)
{
	char *path = path_join(dir, "plan"), text[128];
	FILE *in = fopen(path, "re");
	int record = 0, spans = 0, n = 0;

	if (in && fgets(text, sizeof(text), in))
		n = sscanf(text, "tasks %zu runs %zu record %d spans %d", &out->tasks, &out->runs,
			&record, &spans);
	if (in)
		fclose(in);
	free(path);
	if (n != 4 || !out->tasks)
		return err_set(err, ERR_MISSING,
			"cannot read %s/plan on this node: the directory must be on a file system that all "
			"nodes share; name one with --on slurm:dir=PATH",
			dir);
	out->record = record;
	out->spans = spans;
	return 0;
}

/* ---- the task's side */

static int write_result(const char *dir, size_t number, const struct buf *body, int code,
	const char *why, struct err *err)
{
	char *path = spread_path(dir, "result", number);
	struct buf text = { 0 };
	int rc;

	buf_str(&text, magic);
	buf_printf(&text, "%d\n%s", code, code ? why : "");
	if (!code)
		buf_add(&text, body->at, body->n);
	rc = file_write(path, text.at, text.n, err);
	buf_fini(&text);
	free(path);
	return rc;
}

static int open_run(struct grid_piece *piece, const char *dir, size_t number, struct err *err)
{
	piece->dir = (struct run_dir){ .kind = DIR_RUN, .part = true };
	piece->dir.building = spread_path(dir, "run", number);
	/* One that is there already is of a task that Slurm started again. */
	if (mkdir(piece->dir.building, 0777) < 0 && errno != EEXIST)
		return err_set(err, ERR_IO, "cannot make %s: %s", piece->dir.building, strerror(errno));
	return 0;
}

static int simulate(struct grid_piece *piece, struct buf *body, struct err *err)
{
	const struct workload *workload;
	struct outcome outcome = { 0 };
	int rc = grid_begin_seed(piece, &workload, err);

	if (rc)
		return rc;
	rc = grid_simulate(piece, workload, &outcome, err);
	if (!rc) {
		outcome_pack(&outcome, body);
		outcome_fini(&outcome);
	}
	grid_end_seed(piece);
	return rc;
}

int spread_result_make(struct grid_piece *piece, const struct spread_plan *plan, const char *dir,
	size_t number, struct err *err)
{
	struct err why = { 0 };
	struct buf body = { 0 };
	int rc = plan->record ? open_run(piece, dir, number, err) : 0;

	if (!rc) {
		int code = simulate(piece, &body, &why);

		/* Killed to be started again, or for good: either way this is no result. */
		rc = grid_told_to_stop(piece->grid)
			? err_set(err, ERR_REFUSED, "interrupted")
			: write_result(dir, number, &body, code, why.text, err);
	}
	buf_fini(&body);
	return rc;
}

/* ---- the other side */

static int move_file(const char *from_dir, const struct run_dir *to, const char *name, struct err *err)
{
	char *from = path_join(from_dir, name), *there = run_dir_path(to, name);
	struct file file;
	int rc = 0;

	if (rename(from, there) < 0) {
		rc = file_read(from, &file, err);
		if (!rc) {
			rc = file_write(there, file.at, file.n, err);
			file_fini(&file);
		}
	}
	free(from);
	free(there);
	return rc;
}

static int move_run(struct grid_piece *piece, const char *dir, size_t number, struct err *err)
{
	static const char *const files[] = { RUN_EVENTS, RUN_JOBS, RUN_MANIFEST };
	char *from = spread_path(dir, "run", number);
	int rc = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !rc; i++)
		rc = move_file(from, &piece->dir, files[i], err);
	free(from);
	return rc;
}

static int take_outcome(struct grid_piece *piece, struct slice body, const char *dir, size_t number,
	struct err *err)
{
	const struct workload *workload;
	struct outcome outcome = { 0 };
	int rc = piece->dir.building ? move_run(piece, dir, number, err) : 0;

	if (!rc)
		rc = grid_begin_seed(piece, &workload, err);
	if (rc)
		return rc;
	rc = outcome_unpack(body, &workload->trace, &piece->grid->figures, &outcome, err);
	if (!rc)
		rc = grid_take(piece, workload, &outcome, err);
	grid_end_seed(piece);
	return rc;
}

static int take_result(struct grid_piece *piece, struct slice text, const char *dir, size_t number,
	struct err *err)
{
	struct slice code;
	int64_t n;

	if (text.n < strlen(magic) || memcmp(text.at, magic, strlen(magic)) != 0)
		return err_set(err, ERR_FORMAT, "%s/result-%zu is no result", dir, number);
	text = (struct slice){ text.at + strlen(magic), text.n - strlen(magic) };
	code = slice_cut(&text, '\n');
	if (!slice_int(code, &n) || n > 0)
		return err_set(err, ERR_FORMAT, "%s/result-%zu is no result", dir, number);
	if (n < 0)
		return err_set(err, (int)n, "%.*s", (int)(text.n < 1000 ? text.n : 1000), text.at);
	return take_outcome(piece, text, dir, number, err);
}

void spread_result_take(struct grid_piece *piece, const char *dir, size_t number)
{
	char *path = spread_path(dir, "result", number);
	struct file file;
	int rc = file_read(path, &file, &piece->err);

	if (!rc) {
		rc = take_result(piece, (struct slice){ file.at, file.n }, dir, number, &piece->err);
		file_fini(&file);
	}
	if (rc)
		grid_fail(piece, rc);
	unlink(path);
	free(path);
}
