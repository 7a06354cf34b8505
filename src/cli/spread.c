#include "cli/spread.h"

#include <assert.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/slurm_array.h"
#include "cli/spread_parts.h"

#define LOOK_EVERY_S 0.2  /* for results */
#define QUEUE_EVERY_S 2.0 /* for tasks */
#define LATE_S 6.0        /* a file system shows what another node wrote after this at the latest */
#define QUIET_S 15.0      /* without a task running, before it is said why */
#define LEAVE_S 15.0      /* for tasks that were cancelled */

static const struct flag spread_flags[] = {
	TEXT(on, "WHERE", "local (default), or slurm[:partition=P,…]: the runs as a job array"),
	TEXT(part_of, "DIR",
		"used by --on itself: be a task of the comparison that shares this directory"),
	{ 0 },
};

const struct flag_group flags_spread = {
	.title = "where it runs",
	.flags = spread_flags,
	.aside = true,
};

int spread_check(const struct args *args, const char *source, struct err *err)
{
	struct array_options options;
	int rc = array_options_read(args->on, &options, err);

	if (rc)
		return rc;
	if (options.is_slurm && !strcmp(source, "-"))
		rc = err_set(err, ERR_USAGE,
			"--on slurm: other nodes cannot read this standard input; save it to a file first");
	array_options_fini(&options);
	return rc;
}

/* ---- the whole */

struct spread {
	struct grid *grid;
	struct array_options options;
	char *dir;
	struct array array;
	bool *taken;    /* by place in the queue */
	double *gone_s; /* by task: since when it is not in Slurm's queue; NAN: it is */
	size_t left;
	double began_s, looked_s;
	bool told_waiting, told_silent;
};

static int make_dir(struct spread *s, struct err *err)
{
	char *base = s->options.dir ? mem_strdup(s->options.dir) : getcwd(NULL, 0);
	char *real = base ? realpath(base, NULL) : NULL;
	int rc = 0;

	if (!real)
		rc = err_set(err, ERR_MISSING, "--on slurm: directory %s: %s", base ? base : ".",
			strerror(errno));
	if (!rc) {
		s->dir = mem_printf("%s/.stint-compare-XXXXXX", real);
		if (!mkdtemp(s->dir)) {
			rc = err_set(err, ERR_IO,
				"cannot make a directory in %s: %s; name one that all nodes share with --on "
				"slurm:dir=PATH",
				real, strerror(errno));
			free(s->dir);
			s->dir = NULL;
		}
	}
	free(real);
	free(base);
	return rc;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
	(void)info;
	(void)kind;
	(void)place;
	remove(path);
	return 0;
}

/* Twice: a task that ends meanwhile may write once more. */
static void remove_dir(struct spread *s)
{
	for (int i = 0; s->dir && i < 2 && file_is_dir(s->dir); i++)
		nftw(s->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(s->dir);
	s->dir = NULL;
}

/* This program again, with the flags that shape results. */
static int make_script(const struct spread *s, struct buf *out, struct err *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return err_set(err, ERR_IO, "cannot tell where this program is: %s", strerror(errno));
	self[n] = '\0';
	buf_str(out, "#!/bin/sh\nexec ");
	quote_word(out, self);
	buf_str(out, s->grid->command + strlen("stint"));
	buf_str(out, " --quiet --threads 1 --part-of ");
	quote_word(out, s->dir);
	buf_char(out, '\n');
	return 0;
}

static int submit(struct spread *s, struct err *err)
{
	size_t runs = s->grid->nqueue;
	struct spread_plan plan = {
		.tasks = runs < s->options.tasks ? runs : s->options.tasks,
		.runs = runs,
		.record = s->grid->args->out != NULL,
		.spans = s->grid->args->html != NULL,
	};
	struct buf script = { 0 };
	int rc = make_dir(s, err);

	if (!rc)
		rc = spread_plan_write(s->dir, &plan, err);
	if (!rc)
		rc = make_script(s, &script, err);
	if (!rc)
		rc = array_submit(&s->options, script.at, s->dir, plan.tasks, &s->array, err);
	buf_fini(&script);
	if (!rc)
		ui_say(s->grid->args, "array job %s of Slurm: %zu runs in %zu task%s", s->array.id,
			runs, plan.tasks, plan.tasks == 1 ? "" : "s");
	return rc;
}

static struct grid_piece *piece_at(const struct spread *s, size_t number)
{
	return &s->grid->pieces[s->grid->queue[number]];
}

/* Takes what has come. */
static void take_results(struct spread *s)
{
	for (size_t i = 0; i < s->grid->nqueue && !grid_told_to_stop(s->grid); i++) {
		char *path;

		if (s->taken[i])
			continue;
		path = spread_path(s->dir, "result", i);
		if (file_exists(path)) {
			spread_result_take(piece_at(s, i), s->dir, i);
			s->taken[i] = true;
			s->left--;
		}
		free(path);
	}
}

enum { TAIL = 500 };

/* The end of what the task said, on one line. */
static void add_log(const struct spread *s, size_t task, struct buf *out)
{
	char *path = spread_path(s->dir, "log", task);
	struct file file;
	struct err err;

	if (file_read(path, &file, &err) == 0) {
		struct slice text = slice_trim((struct slice){ file.at, file.n });

		if (text.n > TAIL)
			text = (struct slice){ text.at + text.n - TAIL, TAIL };
		for (size_t i = 0; i < text.n; i++)
			buf_char(out, (unsigned char)text.at[i] < ' ' ? ' ' : text.at[i]);
		file_fini(&file);
	}
	free(path);
}

static void fail_run(struct spread *s, size_t number)
{
	size_t task = number % s->array.tasks;
	struct grid_piece *piece = piece_at(s, number);
	struct buf log = { 0 };

	add_log(s, task, &log);
	if (log.n)
		err_set(&piece->err, ERR_IO, "task %s_%zu ended without a result; it said: %s",
			s->array.id, task, log.at);
	else
		err_set(&piece->err, ERR_IO,
			"task %s_%zu ended without a result, and without a word: is %s on a file system that "
			"all nodes share? name one with --on slurm:dir=PATH ('scontrol show job %s_%zu' may "
			"know more)",
			s->array.id, task, s->dir, s->array.id, task);
	buf_fini(&log);
	grid_fail(piece, ERR_IO);
	s->taken[number] = true;
	s->left--;
}

/* Runs whose task is gone for so long that no result can be on its way. */
static void fail_lost(struct spread *s)
{
	double now_s = clock_wall_s();

	for (size_t i = 0; i < s->grid->nqueue; i++) {
		double gone_s = s->gone_s[i % s->array.tasks];

		if (!s->taken[i] && !isnan(gone_s) && now_s - gone_s > LATE_S)
			fail_run(s, i);
	}
}

static void tell_waiting(struct spread *s, const struct array_state *state)
{
	if (s->told_waiting || state->running || !state->waiting || clock_wall_s() - s->began_s < QUIET_S)
		return;
	s->told_waiting = true;
	ui_say(s->grid->args, "all %zu tasks of job %s wait: %s", state->waiting, s->array.id,
		state->reason);
}

static void look_at_queue(struct spread *s)
{
	struct array_state state = { .there = mem_alloc(s->array.tasks * sizeof(bool)) };
	struct err err;

	s->looked_s = clock_wall_s();
	if (array_look(&s->array, &state, &err)) {
		if (!s->told_silent)
			ui_say(s->grid->args, "%s; waiting goes on", err.text);
		s->told_silent = true;
		free(state.there);
		return;
	}
	s->told_silent = false;
	for (size_t i = 0; i < s->array.tasks; i++) {
		if (state.there[i])
			s->gone_s[i] = NAN;
		else if (isnan(s->gone_s[i]))
			s->gone_s[i] = s->looked_s;
	}
	tell_waiting(s, &state);
	fail_lost(s);
	free(state.there);
}

static void rest(double seconds)
{
	struct timespec time = { .tv_nsec = (long)(seconds * 1e9) };

	nanosleep(&time, NULL);
}

static void wait_for_all(struct spread *s)
{
	s->began_s = s->looked_s = clock_wall_s();
	while (s->left && !grid_told_to_stop(s->grid)) {
		rest(LOOK_EVERY_S);
		take_results(s);
		if (s->left && clock_wall_s() - s->looked_s > QUEUE_EVERY_S)
			look_at_queue(s);
	}
}

/* Nothing of ours stays in the queue, and nobody writes to the directory any more. */
static void end_tasks(struct spread *s)
{
	struct array_state state = { .there = mem_alloc(s->array.tasks * sizeof(bool)) };
	double began_s = clock_wall_s();
	struct err err;

	if (s->left)
		array_cancel(&s->array);
	while (s->left && clock_wall_s() - began_s < LEAVE_S) {
		if (array_look(&s->array, &state, &err) == 0 && !state.waiting && !state.running)
			break;
		rest(LOOK_EVERY_S);
	}
	free(state.there);
}

/* What happened is no run; the others form the queue of the tasks. */
static void run_recorded(struct grid *grid)
{
	size_t kept = 0;

	for (size_t i = 0; i < grid->nqueue; i++) {
		if (grid_is_recorded(&grid->pieces[grid->queue[i]]))
			grid_run_piece(&grid->pieces[grid->queue[i]]);
		else
			grid->queue[kept++] = grid->queue[i];
	}
	grid->nqueue = kept;
}

static int carry(struct grid *grid, struct err *err)
{
	struct spread s = { .grid = grid };
	int rc = array_options_read(grid->args->on, &s.options, err);

	run_recorded(grid);
	if (!rc && grid->nqueue)
		rc = submit(&s, err);
	if (!rc && grid->nqueue) {
		s.left = grid->nqueue;
		s.taken = mem_alloc(mem_array_size(s.left, sizeof(*s.taken)));
		s.gone_s = mem_alloc(mem_array_size(s.array.tasks, sizeof(*s.gone_s)));
		for (size_t i = 0; i < s.array.tasks; i++)
			s.gone_s[i] = NAN;
		wait_for_all(&s);
		end_tasks(&s);
	}
	remove_dir(&s);
	free(s.taken);
	free(s.gone_s);
	array_options_fini(&s.options);
	return rc;
}

void spread_ready(struct grid *grid)
{
	struct array_options options;

	if (array_options_read(grid->args->on, &options, NULL))
		return;
	grid->carry = options.is_slurm ? carry : NULL;
	assert(!grid->carry || grid->command);
	array_options_fini(&options);
}

/* ---- a part */

int spread_part_plan(struct args *args, struct err *err)
{
	struct spread_plan plan = { 0 };
	int rc = spread_plan_read(args->part_of, &plan, err);

	args->out = NULL;
	args->html = plan.spans ? "-" : NULL; /* runs keep what a report draws */
	return rc;
}

static int carry_part(struct grid *grid, struct err *err)
{
	const char *number = getenv("SLURM_ARRAY_TASK_ID");
	struct spread_plan plan = { 0 };
	int rc = spread_plan_read(grid->args->part_of, &plan, err);
	size_t place = 0, task = number ? strtoul(number, NULL, 10) : 0;

	if (!rc && !number)
		rc = err_set(err, ERR_USAGE, "--part-of is for tasks that --on slurm starts");
	for (size_t i = 0; i < grid->nqueue && !rc; i++) {
		struct grid_piece *piece = &grid->pieces[grid->queue[i]];

		if (grid_is_recorded(piece))
			continue;
		if (place % plan.tasks == task)
			rc = spread_result_make(piece, &plan, grid->args->part_of, place, err);
		place++;
	}
	if (!rc && place != plan.runs)
		rc = err_set(err, ERR_DIFFER,
			"here are %zu runs, and there were %zu: have files changed?", place,
			plan.runs);
	return rc;
}

int spread_part_run(struct grid *grid, struct err *err)
{
	grid->carry = carry_part;
	return grid_run(grid, 0, grid->nseeds, err);
}
