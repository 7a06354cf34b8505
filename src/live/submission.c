/*
 * Presets of a submission, and whether one makes sense.
 */
#include "live/submission.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "base/file.h"
#include "base/plain.h"

enum {
	NAME_MAX_BYTES = 200,
	COMMENT_MAX_BYTES = 4000,
	WORD_MAX_BYTES = 131071, /* of one argument or variable: what Linux takes */
	WORDS_MAX = 20000,
	GPUS_MAX = 100000,
	DEPENDENCIES_MAX = 1000,
	RETRIES_MAX = 1000,
};

static const double TIME_MAX_S = 1e9; /* 30 years */

void submission_init(struct submission *s)
{
	*s = (struct submission){
		.gpus = -1,
		.min_gpus = -1,
		.max_gpus = -1,
		.share = 1,
		.weight = 1,
		.stop_signal = SIGTERM,
		.grace_s = 30,
		.requeue = true,
	};
}

void submission_fini(struct submission *s)
{
	arena_fini(&s->memory);
	memset(s, 0, sizeof(*s));
}

/* ---- text */

/* What is written down in one piece and read back: any text of a bearable length. */
static int check_text(const char *member, const char *text, size_t limit, struct err *err)
{
	if (!text)
		return 0;
	if (strlen(text) > limit)
		return err_set(err, ERR_USAGE, "%s: has %zu bytes; at most %zu are allowed", member,
			strlen(text), limit);
	if (!submission_travels(text))
		return err_set(err, ERR_USAGE, "%s: is not UTF-8, and only that can be passed on",
			member);
	return 0;
}

/* Nothing is wrong with a longer one but that no program can get it.  Of a variable only the name is said. */
static int check_word(const char *member, const char *word, struct err *err)
{
	bool is_variable = !strcmp(member, "env");
	struct slice name = slice_of(is_variable ? word : "one argument");

	if (strlen(word) <= WORD_MAX_BYTES)
		return check_text(member, word, WORD_MAX_BYTES, err);
	name = slice_cut(&name, '=');
	return err_set(err, ERR_REFUSED,
		"%s: %.*s has %zu bytes, which is above what this system passes to a program in one piece (%d); put it into a file",
		member, (int)(name.n < 80 ? name.n : 80), name.at, strlen(word), WORD_MAX_BYTES);
}

/* Names end up in tables, logs and file names. */
static int check_name(const char *member, const char *text, struct err *err)
{
	if (!text)
		return 0;
	if (!*text)
		return err_set(err, ERR_USAGE, "%s: is empty; leave it out or say one", member);
	if (text_check_plain(member, text, err) < 0)
		return err->code;
	return check_text(member, text, NAME_MAX_BYTES, err);
}

/* A list of types: "v100,a100-80g". */
static int check_types(const char *text, struct err *err)
{
	struct slice rest = slice_of(text ? text : ""), type;

	while (rest.n) {
		type = slice_cut(&rest, ',');
		for (size_t i = 0; i < type.n; i++)
			if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_+",
				    type.at[i]))
				type.n = 0;
		if (!type.n)
			return err_set(err, ERR_USAGE,
				"types: '%.80s' is no list of types; write names such as v100,a100",
				text);
	}
	return 0;
}

/* A file's name with its signs: those that submission_output() knows. */
static int check_pattern(const char *member, const char *text, struct err *err)
{
	if (!text)
		return 0;
	if (!*text)
		return err_set(err, ERR_USAGE, "%s: is empty; leave it out or name a file", member);
	for (const char *c = strchr(text, '%'); c; c = strchr(c + 1, '%')) {
		c += 1 + strspn(c + 1, "0123456789");
		if (!*c || !strchr("jJAaxuNnts%", *c))
			return err_set(err, ERR_USAGE,
				"%s: '%.80s': %%%.1s stands for nothing; there are %%j id, %%A array, "
				"%%a index, %%x name, %%u user, %%N node and %%%%",
				member, text, c);
	}
	return check_text(member, text, PATH_MAX, err);
}

static int check_texts(const struct submission *s, struct err *err)
{
	const struct {
		const char *member, *text;
	} names[] = {
		{ "name", s->name },
		{ "tenant", s->tenant },
		{ "model", s->model },
		{ "key", s->key },
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !rc; i++)
		rc = check_name(names[i].member, names[i].text, err);
	if (!rc && s->types && !*s->types)
		rc = err_set(err, ERR_USAGE, "types: is empty; leave it out for any type");
	if (!rc)
		rc = check_types(s->types, err);
	if (!rc)
		rc = check_pattern("output", s->out, err);
	if (!rc)
		rc = check_pattern("error", s->err_out, err);
	if (!rc)
		rc = text_check_plain("comment", s->comment, err);
	if (!rc)
		rc = check_text("comment", s->comment, COMMENT_MAX_BYTES, err);
	if (!rc)
		rc = s->checkpoint ? check_word("checkpoint", s->checkpoint, err) : 0;
	return rc;
}

void submission_make_plain(struct submission *s)
{
	const char **texts[] = { &s->name, &s->tenant, &s->model, &s->key, &s->comment };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char *copy;

		if (!*texts[i] || text_is_plain(*texts[i]))
			continue;
		copy = arena_strdup(&s->memory, *texts[i]);
		text_make_plain(copy);
		*texts[i] = copy;
	}
}

/* ---- the command */

static int check_words(const char *member, const char *const *words, struct err *err)
{
	size_t n = 0;
	int rc;

	for (; words && words[n]; n++) {
		rc = check_word(member, words[n], err);
		if (rc)
			return rc;
	}
	if (n > WORDS_MAX)
		return err_set(err, ERR_USAGE, "%s: there are %zu; at most %d are allowed", member,
			n, WORDS_MAX);
	return 0;
}

size_t submission_exec_bytes(const char *const *words)
{
	size_t n = 0;

	for (; words && *words; words++)
		n += strlen(*words) + 1 + sizeof(*words);
	return n;
}

static int check_env(const char *const *env, struct err *err)
{
	for (; env && *env; env++)
		if (**env == '=' || !strchr(*env, '='))
			return err_set(err, ERR_USAGE, "env: '%.40s' is not NAME=value", *env);
	return 0;
}

static int check_script(const char *script, struct err *err)
{
	if (strncmp(script, "#!", 2) != 0)
		return err_set(err, ERR_USAGE,
			"script: begin it with the line that says what runs it, such as #!/bin/bash");
	return check_text("script", script, SUBMISSION_BYTES_MAX, err);
}

static int check_command(const struct submission *s, struct err *err)
{
	bool empty = !s->argv || !s->argv[0];
	int rc = 0;

	if (s->script)
		rc = check_script(s->script, err);
	else if (empty || !*s->argv[0])
		rc = err_set(err, ERR_USAGE,
			"command: is missing; write it after --, such as: -- python train.py");
	if (!rc)
		rc = check_words("command", s->argv, err);
	if (!rc)
		rc = check_words("env", s->env, err);
	if (!rc)
		rc = check_env(s->env, err);
	if (!rc && (!s->cwd || *s->cwd != '/'))
		rc = err_set(err, ERR_USAGE,
			"cwd: say the directory it runs in, from / on, such as /home/me/project");
	return rc ? rc : check_text("cwd", s->cwd, PATH_MAX, err);
}

/* After the command, as far as a name may be so long and have such letters. */
static void settle_name(struct submission *s)
{
	const char *word = s->script ? "script" : path_base(s->argv[0]);
	size_t n = strnlen(word, NAME_MAX_BYTES);
	char *name;

	if (s->name)
		return;
	while (n && (word[n] & 0xc0) == 0x80) /* not inside a letter */
		n--;
	name = arena_strndup(&s->memory, n ? word : "job", n ? n : strlen("job"));
	text_make_plain(name);
	s->name = name;
}

/* ---- numbers */

static int check_range(const char *member, double x, double min, double max, struct err *err)
{
	if (x >= min && x <= max)
		return 0;
	return err_set(err, ERR_USAGE, "%s: %g is not from %g to %g", member, x, min, max);
}

/* Who says only how few or how many are possible leaves the number to that. */
static void settle_gpus(struct submission *s)
{
	if (s->gpus < 0)
		s->gpus = s->min_gpus > 0 ? s->min_gpus : s->max_gpus == 0 ? 0 : 1;
	if (s->min_gpus < 0)
		s->min_gpus = s->gpus;
	if (s->max_gpus < 0)
		s->max_gpus = s->gpus;
}

static int check_gpus(const struct submission *s, struct err *err)
{
	if (check_range("gpus", s->gpus, 0, GPUS_MAX, err) ||
		check_range("max_gpus", s->max_gpus, 0, GPUS_MAX, err))
		return ERR_USAGE;
	if (s->min_gpus > s->gpus)
		return err_set(err, ERR_USAGE, "min_gpus: %d is more than gpus, which is %d",
			s->min_gpus, s->gpus);
	if (s->max_gpus < s->gpus)
		return err_set(err, ERR_USAGE, "max_gpus: %d is less than gpus, which is %d",
			s->max_gpus, s->gpus);
	if (s->gpus > 0 && s->min_gpus < 1)
		return err_set(err, ERR_USAGE, "min_gpus: a job that uses devices needs at least 1");
	if (s->gpus == 0 && s->max_gpus > 0)
		return err_set(err, ERR_USAGE, "max_gpus: is %d, but gpus is 0", s->max_gpus);
	if (!(s->share > 0 && s->share <= 1))
		return err_set(err, ERR_USAGE,
			"share: %g is no part of a device; write 0.5 for half", s->share);
	return 0;
}

static int check_numbers(const struct submission *s, struct err *err)
{
	const struct {
		const char *member;
		double x, min, max;
	} rows[] = {
		{ "gpu_mem_bytes", (double)s->gpu_mem_bytes, 0, 1e15 },
		{ "cpus", s->cpus, 0, 1e6 },
		{ "mem_bytes", (double)s->mem_bytes, 0, 1e15 },
		{ "mem_auto", s->mem_auto, 0, 10000 },
		{ "mem_most", (double)s->mem_most, 0, 1e15 },
		{ "time_s", s->time_s, 0, TIME_MAX_S },
		{ "estimate_s", s->estimate_s, 0, TIME_MAX_S },
		{ "deadline", s->deadline_s, 0, 1e11 },
		{ "begin", s->begin_s, 0, 1e11 },
		{ "weight", s->weight, 1e-6, 1e6 },
		{ "grace_s", s->grace_s, 0, 86400 },
		{ "retries", s->retries, 0, RETRIES_MAX },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (check_range(rows[i].member, rows[i].x, rows[i].min, rows[i].max, err))
			return ERR_USAGE;
	if (s->deadline_s > 0 && s->begin_s >= s->deadline_s)
		return err_set(err, ERR_USAGE, "deadline: is before begin");
	return 0;
}

/* A signal that cannot be noticed, or that stops a process instead of ending it, leaves the kill alone. */
static int check_signal(int number, struct err *err)
{
	if (!strcmp(signal_name(number), "?"))
		return err_set(err, ERR_USAGE, "signal: there is no signal %d", number);
	if (number == SIGSTOP || number == SIGTSTP || number == SIGCONT || number == SIGURG)
		return err_set(err, ERR_USAGE,
			"signal: %s does not ask a process to end; write TERM, INT, USR1 or the like",
			signal_name(number));
	return 0;
}

/* ---- others */

static int check_dependencies(const struct submission *s, struct err *err)
{
	if (s->nafter > DEPENDENCIES_MAX)
		return err_set(err, ERR_USAGE, "after: there are %u jobs; at most %d are allowed",
			s->nafter, DEPENDENCIES_MAX);
	for (uint32_t i = 0; i < s->nafter; i++)
		if (!s->after[i].job)
			return err_set(err, ERR_USAGE, "after: jobs count from 1");
	return 0;
}

/* What runs on a terminal runs once: the person in front of it would meet another process. */
static int check_pty(struct submission *s, struct err *err)
{
	if (!s->pty_rows)
		return 0;
	if (s->array)
		return err_set(err, ERR_USAGE,
			"pty: an array has no terminal; run one job, or leave out pty");
	if (s->retries > 0)
		return err_set(err, ERR_USAGE, "pty: a job on a terminal runs once; leave out retries");
	if (s->mem_auto)
		return err_set(err, ERR_USAGE,
			"pty: mem auto may run a job twice; say how much memory it needs");
	if (s->min_gpus != s->max_gpus)
		return err_set(err, ERR_USAGE,
			"pty: a job on a terminal keeps its size; leave out min_gpus and max_gpus");
	if (s->out || s->err_out)
		return err_set(err, ERR_USAGE,
			"pty: the job writes to the terminal; leave out output and error");
	s->requeue = false;
	return 0;
}

int submission_check(struct submission *s, struct err *err)
{
	int rc = check_texts(s, err);

	settle_gpus(s);
	if (!rc)
		rc = check_command(s, err);
	if (!rc)
		rc = check_gpus(s, err);
	if (!rc)
		rc = check_numbers(s, err);
	if (!rc)
		rc = check_signal(s->stop_signal, err);
	if (!rc)
		rc = check_dependencies(s, err);
	if (!rc)
		rc = check_pty(s, err);
	if (!rc)
		settle_name(s);
	return rc;
}
