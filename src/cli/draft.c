#include "cli/draft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/file.h"
#include "cli/live.h"
#include "cli/ui.h"
#include "live/job_yaml.h"
#include "live/sbatch.h"

extern char **environ;

double draft_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcasecmp(text + n - m, end);
}

static bool is_yaml(const char *path)
{
	return ends_in(path, ".yaml") || ends_in(path, ".yml");
}

bool draft_takes_rest(const char *operand)
{
	return !is_yaml(operand);
}

/* ---- flags */

/* "min_gpus: …" as "--min-gpus: …". */
static int as_flag(struct err *err, const struct err *cause)
{
	char text[sizeof(cause->text)];
	size_t name = strcspn(cause->text, ":");

	memcpy(text, cause->text, sizeof(text));
	for (size_t i = 0; i < name; i++)
		text[i] = text[i] == '_' ? '-' : text[i];
	return err_set(err, cause->code, "--%s", text);
}

int draft_apply_flag(const struct said *said, struct submission *s,
	const struct submission_context *context, struct err *err)
{
	struct err cause = { 0 };

	if (submission_set(s, said->name, said->value, context, &cause))
		return as_flag(err, &cause);
	return 0;
}

int draft_apply_flags(const struct args *args, struct submission *s,
	const struct submission_context *context, struct err *err)
{
	for (size_t i = 0; i < args->said.n; i++) {
		if (draft_apply_flag(&args->said.at[i], s, context, err))
			return err->code;
	}
	return 0;
}

/* ---- what is run */

static void take_words(struct submission *s, const char *const *words, size_t n)
{
	const char **argv = arena_array(&s->memory, const char *, n + 1);

	for (size_t i = 0; i < n; i++)
		argv[i] = arena_strdup(&s->memory, words[i]);
	s->argv = argv;
}

static int not_a_script(const char *path, struct err *err)
{
	return err_set(err, ERR_USAGE,
		"%s is no script: its first line does not begin with #!; to run a command write it after "
		"--, such as: stint submit -- python %s",
		path, path);
}

static int take_script(struct submission *s, const char *path, const struct file *file,
	const struct submission_context *context, struct err *err)
{
	if (file->n < 2 || memcmp(file->at, "#!", 2) != 0 || memchr(file->at, 0, file->n))
		return not_a_script(path, err);
	s->script = arena_strndup(&s->memory, file->at, file->n);
	return sbatch_read(s, path, file->at, file->n, context, err);
}

static int take_file(const struct args *args, struct submission *s,
	const struct submission_context *context, struct err *err)
{
	const char *path = args->operands.at[0];
	struct file file;
	int rc;

	if (strcmp(path, "-") != 0 && !file_exists(path))
		return err_set(err, ERR_MISSING,
			"there is no file and no program %s; a command that only the job finds is written after --: stint %s -- %s",
			path, args->command->name, path);
	rc = file_read_upto(path, SUBMISSION_BYTES_MAX, &file, err);
	if (rc)
		return rc;
	if (is_yaml(path))
		rc = job_yaml_read(s, path, file.at, file.n, context, err);
	else
		rc = take_script(s, path, &file, context, err);
	file_fini(&file);
	return rc;
}

/* A name that is no file here, as a shell would find it. */
static bool is_program(const char *word)
{
	return !strchr(word, '/') && strcmp(word, "-") != 0 && !is_yaml(word) &&
		!file_exists(word) && child_is_there(word);
}

static int take_command(const struct args *args, struct submission *s,
	const struct submission_context *context, struct err *err)
{
	const struct words *words = &args->operands;
	size_t files = args->dashes == SIZE_MAX ? words->n : args->dashes;
	int rc;

	if (!words->n)
		return err_set(err, ERR_USAGE,
			"what shall run? write stint %s [FLAGS] [--] COMMAND, or name a script or a job file",
			args->command->name);
	if (!files || is_program(words->at[0])) {
		take_words(s, words->at, words->n);
		return 0;
	}
	rc = take_file(args, s, context, err);
	if (rc)
		return rc;
	if (is_yaml(words->at[0])) {
		if (words->n > 1)
			rc = err_set(err, ERR_USAGE,
				"'%s' was not expected: %s says itself what to run", words->at[1],
				words->at[0]);
		return rc;
	}
	take_words(s, words->at + 1, words->n - 1);
	if (!s->name && strcmp(words->at[0], "-") != 0)
		s->name = arena_strdup(&s->memory, path_base(words->at[0]));
	return 0;
}

/* ---- like an earlier job */

static bool is_said(const struct args *args, const char *name)
{
	for (size_t i = 0; i < args->said.n; i++) {
		if (!strcmp(args->said.at[i].name, name))
			return true;
	}
	return false;
}

/* What was meant for that one job alone: its key, moments that are past, jobs it waited for. */
static void forget_once(struct submission *s)
{
	s->key = NULL;
	s->deadline_s = s->begin_s = s->submitted_s = 0;
	s->hold = false;
	s->after = NULL;
	s->nafter = 0;
	s->pty_rows = s->pty_cols = 0;
	if (s->min_gpus == s->gpus && s->max_gpus == s->gpus)
		s->min_gpus = s->max_gpus = -1; /* they follow --gpus */
}

/* Of "25_3" that element alone. */
static int take_element(const char *job, struct submission *s, struct err *err)
{
	const char *index = strchr(job, '_');

	return index && s->narray ? submission_set_array(s, index + 1, err) : 0;
}

static int take_like(const struct args *args, struct submission *s, struct err *err)
{
	int rc = live_check_job(args->like, err);
	json_t *reply;
	char *path;

	if (rc)
		return err_prefix(err, "--like");
	path = live_job_path(args->like, "submission");
	rc = live_get(args, path, &reply, err);
	free(path);
	if (rc)
		return err_prefix(err, "--like %s", args->like);
	rc = submission_from_json(s, reply, err);
	json_decref(reply);
	if (rc)
		return rc;
	forget_once(s);
	if (is_said(args, "export"))
		s->env = NULL; /* those of now */
	rc = take_element(args->like, s, err);
	if (rc)
		submission_fini(s);
	return rc;
}

/* A command given here is run in place of that job's, under a name of its own. */
static int take_what(const struct args *args, struct submission *s,
	const struct submission_context *context, struct err *err)
{
	int rc;

	if (!args->like) {
		submission_init(s);
		return take_command(args, s, context, err);
	}
	rc = take_like(args, s, err);
	if (rc)
		submission_init(s);
	if (rc || !args->operands.n)
		return rc;
	s->script = s->name = NULL;
	return take_command(args, s, context, err);
}

/* ---- all of it */

static int finish(const struct args *args, struct submission *s,
	const struct submission_context *context, struct err *err)
{
	int rc = draft_apply_flags(args, s, context, err);

	if (rc)
		return rc;
	if (!s->cwd)
		s->cwd = arena_strdup(&s->memory, context->cwd);
	if (!args->like || is_said(args, "export"))
		submission_export(s, (const char *const *)environ, context->notes);
	return submission_check(s, err);
}

/* Calls read() with a context of here and now, and tells what was noted. */
static int here(const struct args *args, struct err *err, void *ctx,
	int (*read)(const struct args *args, const struct submission_context *context, void *ctx,
		struct err *err))
{
	struct notes notes = { 0 };
	struct submission_context context = { .now_s = draft_now(), .notes = &notes };
	char *cwd = getcwd(NULL, 0);
	int rc;

	if (!cwd)
		return err_set(err, ERR_IO, "cannot tell the current directory: %s", strerror(errno));
	context.cwd = cwd;
	rc = read(args, &context, ctx, err);
	if (!rc)
		ui_notes(args, args->operands.n ? args->operands.at[0] : "stint", &notes);
	notes_fini(&notes);
	free(cwd);
	return rc;
}

static int read_one(const struct args *args, const struct submission_context *context, void *ctx,
	struct err *err)
{
	struct submission *out = ctx, s;
	int rc;

	rc = take_what(args, &s, context, err);
	if (!rc)
		rc = finish(args, &s, context, err);
	if (rc) {
		submission_fini(&s);
		return rc;
	}
	*out = s;
	return 0;
}

int draft_read(const struct args *args, struct submission *out, struct err *err)
{
	return here(args, err, out, read_one);
}

/* ---- many */

static int read_line(const struct args *args, const struct submission_context *context,
	struct slice line, json_t *out, struct err *err)
{
	json_error_t where;
	json_t *json = json_loadb(line.at, line.n, 0, &where);
	struct submission s;
	int rc;

	if (!json)
		return err_set(err, ERR_FORMAT, "not valid JSON: %s", where.text);
	rc = submission_from_json(&s, json, err);
	json_decref(json);
	if (rc)
		return rc;
	rc = finish(args, &s, context, err);
	if (!rc)
		json_array_append_new(out, submission_to_json(&s));
	submission_fini(&s);
	return rc;
}

static int read_lines(const struct args *args, const struct submission_context *context, void *ctx,
	struct err *err)
{
	json_t **out = ctx, *list;
	struct lines lines;
	struct slice line;
	struct file file;
	int rc = file_read(args->batch, &file, err);

	if (rc)
		return rc;
	list = json_array();
	lines = lines_of(file.at, file.n);
	while (!rc && lines_next(&lines, &line)) {
		if (!slice_trim(line).n)
			continue;
		rc = read_line(args, context, line, list, err);
		if (rc)
			err_prefix(err, "%s:%zu", args->batch, lines.number);
	}
	if (!rc && !json_array_size(list))
		rc = err_set(err, ERR_FORMAT, "%s: no jobs are in it", args->batch);
	file_fini(&file);
	if (rc) {
		json_decref(list);
		return rc;
	}
	*out = list;
	return 0;
}

int draft_read_batch(const struct args *args, json_t **out, struct err *err)
{
	if (args->operands.n)
		return err_set(err, ERR_USAGE, "--batch says what to run: '%s' was not expected",
			args->operands.at[0]);
	return here(args, err, out, read_lines);
}

json_t *draft_body(const struct args *args, struct err *err)
{
	struct submission s;
	json_t *body;

	if (args->batch) {
		json_t *list;

		if (draft_read_batch(args, &list, err))
			return NULL;
		return json_pack("{s:o}", "jobs", list);
	}
	if (draft_read(args, &s, err))
		return NULL;
	body = submission_to_json(&s);
	submission_fini(&s);
	return body;
}
