/*
 * #SBATCH and #STINT lines: words out of a line, options out of words, and a
 * row for each option of Slurm's that is known here.
 */
#include "live/sbatch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "io/notes.h"

struct reader {
	struct submission *s;
	struct submission_context context;
	struct err *err;
	/* What is counted for each of something that may be said later. */
	int64_t mem_per_gpu, mem_per_cpu; /* 0: not said */
	double tasks, cpus_per_task;
	double gpus_per_task; /* 0: not said */
	bool error_said, output_said;
	bool slurm; /* there is an #SBATCH line */
};

/* ---- values in Slurm's units */

/* Megabytes unless a unit is said. */
static bool slurm_bytes(const char *text, int64_t *out)
{
	double megabytes;

	if (slice_double(slice_of(text), &megabytes)) {
		if (!(megabytes >= 0 && megabytes < 1e12))
			return false;
		*out = (int64_t)(megabytes * 1048576);
		return true;
	}
	return slice_bytes(slice_of(text), out) && *out >= 0;
}

/* Minutes unless it is written as a clock. */
static bool slurm_time(const char *text, double *out)
{
	struct slice s = slice_of(text);
	double minutes;

	if (slice_is_nocase(s, "unlimited") || slice_is_nocase(s, "infinite") || slice_is(s, "-1")) {
		*out = 0;
		return true;
	}
	if (slice_double(s, &minutes)) {
		*out = minutes * 60;
		return minutes >= 0;
	}
	return slice_seconds(s, out) && *out >= 0;
}

static bool whole(const char *text, int64_t *out)
{
	return slice_int(slice_of(text), out) && *out >= 0 && *out <= INT32_MAX;
}

static int refuse(struct reader *r, const char *value, const char *want)
{
	return err_set(r->err, ERR_FORMAT, "'%.80s' is not understood; write %s", value, want);
}

static void note(struct reader *r, const char *option, const char *what)
{
	notes_add(r->context.notes, NOTE_DROPPED, r->context.line, option, NULL, "%s", what);
}

/* ---- a function for each option that means something here */

static int pass(struct reader *r, const char *field, const char *value)
{
	/* The option is named by whoever called us. */
	struct err cause = { 0 };
	size_t n = strlen(field);

	if (!submission_set(r->s, field, value, &r->context, &cause))
		return 0;
	return err_set(r->err, ERR_FORMAT, "%s",
		!strncmp(cause.text, field, n) && cause.text[n] == ':' ? cause.text + n + 2
								       : cause.text);
}

#define PASS(option, field) \
	static int set_##option(struct reader *r, const char *value) \
	{ \
		return pass(r, #field, value); \
	}

PASS(name, name)
PASS(array, array)
PASS(dependency, dependency)
PASS(signal, signal)
PASS(deadline, deadline)
PASS(begin, begin)
PASS(account, tenant)
PASS(comment, comment)
PASS(export, export)
PASS(hold, hold)
PASS(requeue, requeue)
PASS(no_requeue, no_requeue)
PASS(priority, priority)
PASS(chdir, chdir)

static int set_output(struct reader *r, const char *value)
{
	r->output_said = true;
	return pass(r, "output", value);
}

static int set_error(struct reader *r, const char *value)
{
	r->error_said = true;
	return pass(r, "error", value);
}

static int set_time(struct reader *r, const char *value)
{
	if (!slurm_time(value, &r->s->time_s))
		return refuse(r, value, "minutes, HH:MM:SS or D-HH:MM:SS");
	return 0;
}

static int set_tasks(struct reader *r, const char *value)
{
	int64_t n;

	if (!whole(value, &n) || n < 1)
		return refuse(r, value, "1");
	r->tasks = (double)n;
	if (n > 1)
		note(r, "ntasks", "the command is started once, with the CPUs of all its tasks");
	return 0;
}

static int set_cpus(struct reader *r, const char *value)
{
	int64_t n;

	if (!whole(value, &n) || n < 1)
		return refuse(r, value, "a whole number");
	r->cpus_per_task = (double)n;
	return 0;
}

static int set_nodes(struct reader *r, const char *value)
{
	return pass(r, "nodes", strcmp(value, "1-1") ? value : "1");
}

static int set_mem(struct reader *r, const char *value)
{
	if (!slurm_bytes(value, &r->s->mem_bytes))
		return refuse(r, value, "megabytes, or a size such as 64G");
	r->mem_per_cpu = r->mem_per_gpu = 0;
	if (!r->s->mem_bytes)
		note(r, "mem", "all memory of a machine cannot be asked for; ignored");
	return 0;
}

static int set_mem_per_gpu(struct reader *r, const char *value)
{
	if (!slurm_bytes(value, &r->mem_per_gpu))
		return refuse(r, value, "megabytes, or a size such as 64G");
	return 0;
}

static int set_mem_per_cpu(struct reader *r, const char *value)
{
	if (!slurm_bytes(value, &r->mem_per_cpu))
		return refuse(r, value, "megabytes, or a size such as 4G");
	return 0;
}

/* "2", "a100", "a100:2": the count is 1 unless it is said. */
static int take_gpus(struct reader *r, const char *value, double *count)
{
	const char *colon = strrchr(value, ':'), *number = colon ? colon + 1 : value;
	bool type_alone = !colon && !(*value >= '0' && *value <= '9');
	size_t type = type_alone ? strlen(value) : colon ? (size_t)(colon - value) : 0;
	int64_t n = 1;

	if (strchr(value, ','))
		return err_set(r->err, ERR_FORMAT,
			"'%.80s': a job's devices are of one kind; say #STINT --type a100,v100 for either",
			value);
	if (!*value || (!type_alone && !whole(number, &n)))
		return refuse(r, value, "a number, or type:number such as a100:2");
	if (type)
		r->s->types = arena_strndup(&r->s->memory, value, type);
	*count = (double)n;
	return 0;
}

static int set_gpus(struct reader *r, const char *value)
{
	double n;
	int rc = take_gpus(r, value, &n);

	if (!rc) {
		r->s->gpus = (int32_t)n;
		r->gpus_per_task = 0;
	}
	return rc;
}

static int set_gpus_per_task(struct reader *r, const char *value)
{
	return take_gpus(r, value, &r->gpus_per_task);
}

/* "gpu", "gpu:2", "gpu:a100:2", and others with commas between them. */
static int set_gres(struct reader *r, const char *value)
{
	struct slice rest = slice_of(value);
	bool seen = false;
	int rc = 0;

	if (!strcmp(value, "none"))
		return 0;
	while (rest.n && !rc) {
		struct slice item = slice_cut(&rest, ','), kind = slice_cut(&item, ':');
		char *gpus = mem_strndup(item.at, item.n);

		if (!slice_is(kind, "gpu"))
			note(r, "gres", "only gpu is known here; others are ignored");
		else if (seen)
			rc = err_set(r->err, ERR_FORMAT, "'%.80s': a job's devices are of one kind",
				value);
		else
			rc = set_gpus(r, item.n ? gpus : "1");
		seen |= slice_is(kind, "gpu");
		free(gpus);
	}
	return rc;
}

/* Nicer jobs go later.  The number may be left out. */
static int set_nice(struct reader *r, const char *value)
{
	int64_t n = 100;

	if (*value && (!slice_int(slice_of(value), &n) || n < -INT32_MAX || n > INT32_MAX))
		return refuse(r, value, "a whole number");
	r->s->priority = (int32_t)-n;
	return 0;
}

static int set_priority_word(struct reader *r, const char *value)
{
	return strcmp(value, "TOP") ? set_priority(r, value) : set_priority(r, "2147483647");
}

static int set_input(struct reader *r, const char *value)
{
	(void)value;
	return err_set(r->err, ERR_FORMAT, "is not supported; read from the file inside the script");
}

/* ---- the table */

enum value { NO_VALUE, VALUE, MAYBE };

struct option {
	const char *name;
	char letter; /* 0: none */
	enum value value;
	int (*set)(struct reader *r, const char *value); /* NULL: Slurm knows it, here it means nothing */
};

static const struct option options[] = {
	{ "job-name", 'J', VALUE, set_name },
	{ "ntasks", 'n', VALUE, set_tasks },
	{ "ntasks-per-node", 0, VALUE, set_tasks },
	{ "cpus-per-task", 'c', VALUE, set_cpus },
	{ "mem", 0, VALUE, set_mem },
	{ "mem-per-gpu", 0, VALUE, set_mem_per_gpu },
	{ "mem-per-cpu", 0, VALUE, set_mem_per_cpu },
	{ "gpus", 'G', VALUE, set_gpus },
	{ "gpus-per-node", 0, VALUE, set_gpus },
	{ "gpus-per-task", 0, VALUE, set_gpus_per_task },
	{ "gres", 0, VALUE, set_gres },
	{ "nodes", 'N', VALUE, set_nodes },
	{ "time", 't', VALUE, set_time },
	{ "output", 'o', VALUE, set_output },
	{ "error", 'e', VALUE, set_error },
	{ "input", 'i', VALUE, set_input },
	{ "chdir", 'D', VALUE, set_chdir },
	{ "workdir", 0, VALUE, set_chdir },
	{ "array", 'a', VALUE, set_array },
	{ "dependency", 'd', VALUE, set_dependency },
	{ "signal", 0, VALUE, set_signal },
	{ "requeue", 0, NO_VALUE, set_requeue },
	{ "no-requeue", 0, NO_VALUE, set_no_requeue },
	{ "deadline", 0, VALUE, set_deadline },
	{ "begin", 'b', VALUE, set_begin },
	{ "account", 'A', VALUE, set_account },
	{ "comment", 0, VALUE, set_comment },
	{ "export", 0, VALUE, set_export },
	{ "hold", 'H', NO_VALUE, set_hold },
	{ "nice", 0, MAYBE, set_nice },
	{ "priority", 0, VALUE, set_priority_word },

	{ "partition", 'p', VALUE, NULL },
	{ "qos", 'q', VALUE, NULL },
	{ "open-mode", 0, VALUE, NULL },
	{ "mail-type", 0, VALUE, NULL },
	{ "mail-user", 0, VALUE, NULL },
	{ "reservation", 0, VALUE, NULL },
	{ "constraint", 'C', VALUE, NULL },
	{ "nodelist", 'w', VALUE, NULL },
	{ "exclude", 'x', VALUE, NULL },
	{ "exclusive", 0, MAYBE, NULL },
	{ "oversubscribe", 's', NO_VALUE, NULL },
	{ "overcommit", 'O', NO_VALUE, NULL },
	{ "licenses", 'L', VALUE, NULL },
	{ "clusters", 'M', VALUE, NULL },
	{ "wckey", 0, VALUE, NULL },
	{ "time-min", 0, VALUE, NULL },
	{ "tmp", 0, VALUE, NULL },
	{ "hint", 0, VALUE, NULL },
	{ "distribution", 'm', VALUE, NULL },
	{ "ntasks-per-core", 0, VALUE, NULL },
	{ "ntasks-per-socket", 0, VALUE, NULL },
	{ "ntasks-per-gpu", 0, VALUE, NULL },
	{ "cpus-per-gpu", 0, VALUE, NULL },
	{ "sockets-per-node", 0, VALUE, NULL },
	{ "cores-per-socket", 0, VALUE, NULL },
	{ "threads-per-core", 0, VALUE, NULL },
	{ "core-spec", 'S', VALUE, NULL },
	{ "extra-node-info", 'B', VALUE, NULL },
	{ "mem-bind", 0, VALUE, NULL },
	{ "gpu-bind", 0, VALUE, NULL },
	{ "gpu-freq", 0, VALUE, NULL },
	{ "cpu-freq", 0, VALUE, NULL },
	{ "gres-flags", 0, VALUE, NULL },
	{ "acctg-freq", 0, VALUE, NULL },
	{ "profile", 0, VALUE, NULL },
	{ "propagate", 0, MAYBE, NULL },
	{ "get-user-env", 0, MAYBE, NULL },
	{ "export-file", 0, VALUE, NULL },
	{ "switches", 0, VALUE, NULL },
	{ "contiguous", 0, NO_VALUE, NULL },
	{ "no-kill", 'k', MAYBE, NULL },
	{ "spread-job", 0, NO_VALUE, NULL },
	{ "use-min-nodes", 0, NO_VALUE, NULL },
	{ "kill-on-invalid-dep", 0, VALUE, NULL },
	{ "parsable", 0, NO_VALUE, NULL },
	{ "quiet", 'Q', NO_VALUE, NULL },
	{ "verbose", 'v', NO_VALUE, NULL },
	{ "wait", 'W', NO_VALUE, NULL },
};

enum { OPTIONS = sizeof(options) / sizeof(*options) };

static const struct option *by_name(struct slice name)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (slice_is(name, options[i].name))
			return &options[i];
	return NULL;
}

static const struct option *by_letter(char letter)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (options[i].letter && options[i].letter == letter)
			return &options[i];
	return NULL;
}

static int unknown(struct reader *r, struct slice name)
{
	const char *known[OPTIONS];
	char *given = mem_strndup(name.at, name.n);
	int near;

	for (size_t i = 0; i < OPTIONS; i++)
		known[i] = options[i].name;
	near = text_nearest(given, known, OPTIONS);
	err_set(r->err, ERR_FORMAT, "there is no option --%.80s%s%s%s", given,
		near >= 0 ? "; did you mean --" : "", near >= 0 ? known[near] : "",
		near >= 0 ? "?" : "");
	free(given);
	return ERR_FORMAT;
}

/* ---- options out of words */

struct words {
	char **at;
	size_t n, cap;
};

static int apply(struct reader *r, const struct option *option, const char *value)
{
	if (!option->set) {
		note(r, option->name, "means nothing here; ignored");
		return 0;
	}
	if (option->set(r, value))
		return err_prefix(r->err, "--%s", option->name);
	return 0;
}

static int needs_value(struct reader *r, const struct option *option)
{
	return err_set(r->err, ERR_FORMAT, "--%s needs a value", option->name);
}

/* The value of an option: what stands behind it, or else the next word. */
static int with_value(struct reader *r, const struct option *option, const char *attached,
	const struct words *words, size_t *at)
{
	if (option->value == NO_VALUE && attached)
		return err_set(r->err, ERR_FORMAT, "--%s takes no value", option->name);
	if (option->value != VALUE || attached)
		return apply(r, option, attached ? attached : "");
	if (*at + 1 >= words->n)
		return needs_value(r, option);
	return apply(r, option, words->at[++*at]);
}

static int long_option(struct reader *r, const struct words *words, size_t *at)
{
	struct slice value = slice_of(words->at[*at] + 2), name = slice_cut(&value, '=');
	bool attached = value.at > name.at + name.n;
	const struct option *option = by_name(name);

	if (!option)
		return unknown(r, name);
	return with_value(r, option, attached ? value.at : NULL, words, at);
}

/* "-n4", "-n 4", "-Hn4". */
static int short_options(struct reader *r, const struct words *words, size_t *at)
{
	for (const char *c = words->at[*at] + 1; *c; c++) {
		const struct option *option = by_letter(*c);
		int rc;

		if (!option)
			return err_set(r->err, ERR_FORMAT, "there is no option -%c", *c);
		if (option->value == VALUE) {
			const char *rest = c[1] == '=' ? c + 2 : c + 1;

			return with_value(r, option, *rest ? rest : NULL, words, at);
		}
		rc = apply(r, option, "");
		if (rc)
			return rc;
	}
	return 0;
}

static int slurm_words(struct reader *r, const struct words *words)
{
	int rc = 0;

	r->slurm = true;
	for (size_t i = 0; i < words->n && !rc; i++) {
		const char *word = words->at[i];

		if (!strncmp(word, "--", 2) && word[2])
			rc = long_option(r, words, &i);
		else if (word[0] == '-' && word[1] && word[1] != '-')
			rc = short_options(r, words, &i);
		else
			rc = err_set(r->err, ERR_FORMAT,
				"'%.80s' is no option; options begin with -", word);
	}
	return rc;
}

/* ---- our own flags */

static const struct submission_field *field_of(const char *word, size_t n)
{
	for (const struct submission_field *f = submission_fields; f->name; f++) {
		size_t i = 0;

		if (word[0] == '-' && word[1] == f->letter && f->letter && n == 2)
			return f;
		if (n != strlen(f->name) + 2 || strncmp(word, "--", 2) != 0)
			continue;
		while (f->name[i] && f->name[i] == (word[i + 2] == '-' ? '_' : word[i + 2]))
			i++;
		if (!f->name[i])
			return f;
	}
	return NULL;
}

static int own_words(struct reader *r, const struct words *words)
{
	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->at[i], *equals = strchr(word, '=');
		size_t n = equals ? (size_t)(equals - word) : strlen(word);
		const struct submission_field *field = field_of(word, n);
		const char *value = equals ? equals + 1 : "";

		if (!field && strncmp(word, "--", 2) != 0)
			return err_set(r->err, ERR_FORMAT, "'%.80s' is no flag of stint submit", word);
		if (!field) {
			char *name = mem_strndup(word + 2, n - 2);

			submission_set(r->s, name, value, &r->context, r->err);
			free(name);
			return r->err->code = ERR_FORMAT;
		}
		if (field->value && !equals) {
			if (i + 1 >= words->n)
				return err_set(r->err, ERR_FORMAT, "%s needs a value: %s %s", word,
					word, field->value);
			value = words->at[++i];
		}
		if (submission_set(r->s, field->name, value, &r->context, r->err))
			return r->err->code = ERR_FORMAT;
		/* What is counted later must not undo what was said here. */
		if (!strcmp(field->name, "mem"))
			r->mem_per_cpu = r->mem_per_gpu = 0;
		if (!strcmp(field->name, "gpus"))
			r->gpus_per_task = 0;
		if (!strcmp(field->name, "cpus_per_task"))
			r->cpus_per_task = r->tasks = 0;
		r->error_said |= !strcmp(field->name, "error");
	}
	return 0;
}

/* ---- words out of a line */

/* One word, with quotes as the shell has them; NULL: a quote is not closed. */
static const char *take_word(const char *c, const char *end, struct buf *out)
{
	char quote = 0;

	for (; c < end && (quote || (*c != ' ' && *c != '\t')); c++) {
		if (quote && *c == quote)
			quote = 0;
		else if (!quote && (*c == '"' || *c == '\''))
			quote = *c;
		else if (*c == '\\' && quote != '\'' && c + 1 < end)
			buf_char(out, *++c);
		else
			buf_char(out, *c);
	}
	return quote ? NULL : c;
}

static int split(struct slice line, struct words *out, struct err *err)
{
	const char *c = line.at, *end = line.at + line.n;

	for (;;) {
		struct buf word = { 0 };

		while (c < end && (*c == ' ' || *c == '\t'))
			c++;
		if (c >= end || *c == '#') /* the rest is a remark */
			return 0;
		c = take_word(c, end, &word);
		if (!c) {
			buf_fini(&word);
			return err_set(err, ERR_FORMAT, "a quote is not closed");
		}
		vec_push(out, mem_strdup(word.n ? word.at : ""));
		buf_fini(&word);
	}
}

static int read_words(struct reader *r, struct slice line,
	int (*read)(struct reader *r, const struct words *words))
{
	struct words words = { 0 };
	int rc = split(line, &words, r->err);

	if (!rc)
		rc = read(r, &words);
	for (size_t i = 0; i < words.n; i++)
		free(words.at[i]);
	vec_fini(&words);
	return rc;
}

/* ---- lines out of a script */

/* What follows `mark` and a blank; false: the line is none of these. */
static bool marked(struct slice line, const char *mark, struct slice *rest)
{
	size_t n = strlen(mark);

	if (line.n < n || memcmp(line.at, mark, n) != 0)
		return false;
	if (line.n > n && line.at[n] != ' ' && line.at[n] != '\t')
		return false;
	*rest = (struct slice){ line.at + n, line.n - n };
	return true;
}

static int read_line(struct reader *r, struct slice line)
{
	struct slice rest;

	if (marked(line, "#SBATCH", &rest))
		return read_words(r, rest, slurm_words);
	if (marked(line, "#STINT", &rest))
		return read_words(r, rest, own_words);
	return 0;
}

/* A line too late is most often a line that somebody relies on. */
static void warn_of_late(struct reader *r, struct slice line)
{
	struct slice rest;

	if (marked(line, "#SBATCH", &rest) || marked(line, "#STINT", &rest))
		notes_add(r->context.notes, NOTE_WARNING, r->context.line, NULL, "move it to the top",
			"this line comes after the first command and does not count");
}

static int read_lines(struct reader *r, const char *where, const char *text, size_t n)
{
	struct lines lines = lines_of(text, n);
	struct slice line;
	bool over = false;

	while (lines_next(&lines, &line)) {
		struct slice trimmed = slice_trim(line);

		r->context.line = lines.number;
		over |= trimmed.n && *trimmed.at != '#';
		if (over)
			warn_of_late(r, line);
		else if (read_line(r, line))
			return err_prefix(r->err, "%s:%zu", where, lines.number);
	}
	return 0;
}

/* What was said of each task, CPU and device, for the whole job. */
static int settle(struct reader *r, const char *where)
{
	struct submission *s = r->s;
	double tasks = r->tasks ? r->tasks : 1, gpus, mem = 0;

	if (r->tasks || r->cpus_per_task)
		s->cpus = tasks * (r->cpus_per_task ? r->cpus_per_task : 1);
	if (r->gpus_per_task) {
		gpus = r->gpus_per_task * tasks;
		if (gpus > INT32_MAX)
			return err_set(r->err, ERR_FORMAT, "%s: %g devices are too many", where, gpus);
		s->gpus = (int32_t)gpus;
	}
	/* Who asks Slurm for no devices gets none. */
	if (r->slurm && s->gpus < 0 && s->min_gpus < 0 && s->max_gpus < 0) {
		notes_add(r->context.notes, NOTE_ASSUMED, 0, "gpus", NULL,
			"no line asks for GPUs, so it gets none");
		s->gpus = 0;
	}
	if (r->mem_per_gpu)
		mem = (double)r->mem_per_gpu * (s->gpus < 0 ? 1 : s->gpus);
	else if (r->mem_per_cpu)
		mem = (double)r->mem_per_cpu * (s->cpus > 1 ? s->cpus : 1);
	if (mem > 1e15)
		return err_set(r->err, ERR_FORMAT, "%s: %g bytes of memory are too much", where, mem);
	if (mem > 0)
		s->mem_bytes = (int64_t)mem;
	/* One file gets both, unless they are told apart. */
	if (r->output_said && !r->error_said)
		s->err_out = s->out;
	return 0;
}

int sbatch_read(struct submission *s, const char *where, const char *text, size_t n,
	const struct submission_context *context, struct err *err)
{
	struct reader r = { .s = s, .context = *context, .err = err };
	int rc = read_lines(&r, where, text, n);

	return rc ? rc : settle(&r, where);
}
