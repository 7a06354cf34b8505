#include "cli/slurm_array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/file.h"
#include "base/mem.h"

enum { OUTPUT_MAX = 1 << 20 };
#define PATIENCE_S 60.0

/* ---- options */

static const char *const passed_on[] = { "partition", "account", "qos", "time", "mem", "constraint",
	"nodelist", "exclude", "reservation", "nice" };

static bool is_passed_on(struct slice name)
{
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(*passed_on); i++) {
		if (slice_is(name, passed_on[i]))
			return true;
	}
	return false;
}

static int unknown(struct slice name, struct err *err)
{
	struct buf list = { 0 };

	for (size_t i = 0; i < sizeof(passed_on) / sizeof(*passed_on); i++)
		buf_printf(&list, "%s, ", passed_on[i]);
	err_set(err, ERR_USAGE, "--on slurm has no option '%.*s'; there are %stasks, dir",
		(int)name.n, name.at, list.at);
	buf_fini(&list);
	return ERR_USAGE;
}

static int take_option(struct slice item, struct array_options *out, struct err *err)
{
	struct slice value = item, name = slice_cut(&value, '=');
	int64_t n;

	if (!value.n)
		return err_set(err, ERR_USAGE,
			"--on slurm: '%.*s' has no value; write it as NAME=VALUE", (int)item.n,
			item.at);
	if (slice_is(name, "dir")) {
		free(out->dir);
		out->dir = mem_strndup(value.at, value.n);
		return 0;
	}
	if (slice_is(name, "tasks")) {
		if (!slice_int(value, &n) || n < 1 || n > 100000)
			return err_set(err, ERR_USAGE,
				"--on slurm: tasks is '%.*s', but must be 1 to 100000",
				(int)value.n, value.at);
		out->tasks = (size_t)n;
		return 0;
	}
	if (!is_passed_on(name))
		return unknown(name, err);
	if (out->nflags == sizeof(out->flags) / sizeof(*out->flags))
		return err_set(err, ERR_USAGE, "--on slurm: too many options");
	out->flags[out->nflags++] = mem_printf("--%.*s=%.*s", (int)name.n, name.at, (int)value.n,
		value.at);
	return 0;
}

int array_options_read(const char *text, struct array_options *out, struct err *err)
{
	struct slice rest = slice_of(text ? text : "local"), where = slice_cut(&rest, ':');
	int rc = 0;

	*out = (struct array_options){ .tasks = ARRAY_TASKS };
	out->is_slurm = slice_is(where, "slurm");
	if (!out->is_slurm && (!slice_is(where, "local") || rest.n))
		return err_set(err, ERR_USAGE,
			"--on is '%s', but must be local, slurm or slurm:NAME=VALUE,… such as "
			"slurm:partition=cpu,time=60",
			text);
	while (rest.n && !rc)
		rc = take_option(slice_cut(&rest, ','), out, err);
	if (rc)
		array_options_fini(out);
	return rc;
}

void array_options_fini(struct array_options *options)
{
	for (size_t i = 0; i < options->nflags; i++)
		free(options->flags[i]);
	free(options->dir);
	*options = (struct array_options){ 0 };
}

/* ---- programs */

/* The first thing it said, on one line. */
static void said(const struct child_end *end, struct buf *out)
{
	struct slice text = slice_trim((struct slice){ end->err.n ? end->err.at : "", end->err.n });

	for (size_t i = 0; i < text.n && i < 600; i++)
		buf_char(out, (unsigned char)text.at[i] < ' ' ? ' ' : text.at[i]);
	if (!text.n)
		child_end_text(end, PATIENCE_S, out);
}

static int ask(const char *const *argv, const char *input, struct child_end *end, struct err *err)
{
	const struct child_ask ask = {
		.argv = argv,
		.input = input,
		.ninput = input ? strlen(input) : 0,
		.out_max = OUTPUT_MAX,
		.timeout_s = PATIENCE_S,
	};

	return child_run(&ask, end, err);
}

static int refused(const struct child_end *end, struct err *err)
{
	struct buf why = { 0 };

	said(end, &why);
	err_set(err, ERR_REFUSED, "Slurm did not take the job: %s", why.at);
	buf_fini(&why);
	return ERR_REFUSED;
}

/* "17", or "17;cluster". */
static int read_id(const struct child_end *end, struct array *out, struct err *err)
{
	struct slice text = slice_trim((struct slice){ end->out.n ? end->out.at : "", end->out.n });
	struct slice id = slice_cut(&text, ';');
	int64_t number;

	if (!slice_int(id, &number) || id.n >= sizeof(out->id))
		return err_set(err, ERR_REFUSED, "sbatch gave no job number: '%.*s'",
			(int)(id.n < 100 ? id.n : 100), id.at);
	snprintf(out->id, sizeof(out->id), "%.*s", (int)id.n, id.at);
	return 0;
}

int array_submit(const struct array_options *options, const char *script, const char *dir,
	size_t tasks, struct array *out, struct err *err)
{
	char *array = mem_printf("--array=0-%zu", tasks - 1);
	char *output = mem_printf("--output=%s/log-%%a", dir);
	const char *argv[32] = { "sbatch", "--parsable", "--job-name=stint-compare", "--ntasks=1",
		"--cpus-per-task=1", "--requeue", array, output };
	struct child_end end;
	size_t n = 8;
	int rc;

	for (size_t i = 0; i < options->nflags; i++)
		argv[n++] = options->flags[i];
	rc = child_is_there("sbatch")
		? ask(argv, script, &end, err)
		: err_set(err, ERR_MISSING,
			  "--on slurm: there is no sbatch in PATH; run this where Slurm's "
			  "programs are, or leave --on away");
	if (!rc) {
		rc = end.code == 0 ? read_id(&end, out, err) : refused(&end, err);
		child_end_fini(&end);
	}
	out->tasks = tasks;
	free(array);
	free(output);
	return rc;
}

static void count(const struct array *array, struct slice line, struct array_state *out)
{
	struct slice number = slice_cut(&line, '|'), state = slice_cut(&line, '|');
	int64_t task;

	if (!slice_int(number, &task) || task < 0 || (size_t)task >= array->tasks)
		return;
	out->there[task] = true;
	if (!slice_is(state, "PENDING")) {
		out->running++;
		return;
	}
	if (!out->waiting++)
		snprintf(out->reason, sizeof(out->reason), "%.*s", (int)line.n, line.at);
}

int array_look(const struct array *array, struct array_state *out, struct err *err)
{
	const char *argv[] = { "squeue", "--noheader", "--array", "--jobs", array->id,
		"--format=%K|%T|%r", NULL };
	struct child_end end;
	int rc = ask(argv, NULL, &end, err);
	bool gone;

	if (rc)
		return rc;
	/* A job that ended a while ago is not known any more. */
	gone = end.err.n && strstr(end.err.at, "Invalid job id");
	memset(out->there, 0, array->tasks * sizeof(*out->there));
	out->waiting = out->running = 0;
	if (end.code != 0 && !gone) {
		struct buf why = { 0 };

		said(&end, &why);
		rc = err_set(err, ERR_UNREACHABLE, "squeue: %s", why.at);
		buf_fini(&why);
	} else if (end.out.n) {
		struct lines lines = lines_of(end.out.at, end.out.n);
		struct slice line;

		while (lines_next(&lines, &line))
			count(array, slice_trim(line), out);
	}
	child_end_fini(&end);
	return rc;
}

void array_cancel(const struct array *array)
{
	const char *argv[] = { "scancel", array->id, NULL };
	struct child_end end;
	struct err err;

	if (ask(argv, NULL, &end, &err) == 0)
		child_end_fini(&end);
}
