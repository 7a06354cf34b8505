/*
 * Fields of a submission set by text: one row for each line of
 * submission_fields.def.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "io/notes.h"
#include "live/submission.h"
#include "model/label.h"

const struct submission_field submission_fields[] = {
#define FIELD(name_, letter_, value_, help_) \
	{ .name = #name_, .letter = (letter_), .value = (value_), .help = (help_) },
#define SWITCH(name_, letter_, help_) { .name = #name_, .letter = (letter_), .help = (help_) },
#include "live/submission_fields.def"
#undef FIELD
#undef SWITCH
	{ 0 },
};

/* What a setter gets. */
struct word {
	const char *text;
	const struct submission_context *context;
	struct err *err;
};

/* ---- values */

static int refuse(const struct word *w, const char *want)
{
	return err_set(w->err, ERR_USAGE, "'%.80s' is not understood; write %s", w->text, want);
}

static int read_text(struct submission *s, const char **field, const struct word *w)
{
	*field = arena_strdup(&s->memory, w->text);
	return 0;
}

static int read_int(int32_t *field, int64_t min, const struct word *w)
{
	int64_t x;

	if (!slice_int(slice_of(w->text), &x) || x < min || x > INT32_MAX)
		return refuse(w, min ? "a whole number" : "a whole number, 0 or more");
	*field = (int32_t)x;
	return 0;
}

static int read_number(double *field, const struct word *w)
{
	if (!slice_double(slice_of(w->text), field))
		return refuse(w, "a number");
	return 0;
}

static int read_bool(bool *field, bool yes, const struct word *w)
{
	static const char *const truths[] = { "", "true", "yes", "on", "1" };
	static const char *const lies[] = { "false", "no", "off", "0" };
	struct slice s = slice_of(w->text);

	for (size_t i = 0; i < sizeof(truths) / sizeof(*truths); i++)
		if (slice_is_nocase(s, truths[i])) {
			*field = yes;
			return 0;
		}
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++)
		if (slice_is_nocase(s, lies[i])) {
			*field = !yes;
			return 0;
		}
	return refuse(w, "true or false");
}

/*
 * "60" is minutes to Slurm's users and seconds to others, and "4000" of memory megabytes or bytes:
 * who leaves out the unit is asked for it.
 */
static bool lacks_unit(const char *text)
{
	double x;

	return slice_double(slice_of(text), &x) && x != 0;
}

static int read_bytes(int64_t *field, const struct word *w)
{
	int64_t bytes;

	if (lacks_unit(w->text))
		return err_set(w->err, ERR_USAGE, "'%.40s' of what? write %.40sG, %.40sM or %.40sK",
			w->text, w->text, w->text, w->text);
	if (!slice_bytes(slice_of(w->text), &bytes) || bytes < 0)
		return refuse(w, "a size such as 64G or 512M");
	*field = bytes;
	return 0;
}

static int read_time(double *field, const struct word *w)
{
	double seconds;

	if (slice_is_nocase(slice_of(w->text), "unlimited")) {
		*field = 0;
		return 0;
	}
	if (lacks_unit(w->text))
		return err_set(w->err, ERR_USAGE, "'%.40s' of what? write %.40ss, %.40sm or %.40sh",
			w->text, w->text, w->text, w->text);
	if (!slice_seconds(slice_of(w->text), &seconds) || seconds < 0)
		return refuse(w, "a time such as 90s, 15m, 2h, 1:30:00 or 2-12:00:00");
	*field = seconds;
	return 0;
}

static int read_moment(double *field, const struct word *w)
{
	return submission_moment(w->text, w->context->now_s, field, w->err);
}

/* ---- a setter for each field */

#define SETTER(name) static int set_##name(struct submission *s, const struct word *w)
#define PLAIN(name, call) \
	SETTER(name) \
	{ \
		return call; \
	}

PLAIN(gpus, read_int(&s->gpus, 0, w))
PLAIN(min_gpus, read_int(&s->min_gpus, 0, w))
PLAIN(max_gpus, read_int(&s->max_gpus, 0, w))
PLAIN(type, read_text(s, &s->types, w))
PLAIN(share, read_number(&s->share, w))
PLAIN(gpu_mem, read_bytes(&s->gpu_mem_bytes, w))
PLAIN(cpus_per_task, read_number(&s->cpus, w))
/* "64G", or "auto": what earlier ones had; "auto:3": once three of them have ended. */
SETTER(mem)
{
	struct slice text = slice_trim(slice_of(w->text)), word = slice_cut(&text, ':');
	int64_t n = LABEL_SAMPLES;

	if (!slice_is(word, "auto")) {
		s->mem_auto = 0;
		return read_bytes(&s->mem_bytes, w);
	}
	if (text.n && (!slice_int(text, &n) || n < 1 || n > 10000))
		return refuse(w, "auto, or auto:N with the number of runs to learn from");
	s->mem_auto = (int32_t)n;
	s->mem_bytes = 0;
	return 0;
}
PLAIN(estimate, read_time(&s->estimate_s, w))
PLAIN(deadline, read_moment(&s->deadline_s, w))
PLAIN(begin, read_moment(&s->begin_s, w))
PLAIN(name, read_text(s, &s->name, w))
PLAIN(tenant, read_text(s, &s->tenant, w))
PLAIN(model, read_text(s, &s->model, w))
PLAIN(array, submission_set_array(s, w->text, w->err))
PLAIN(dependency, submission_set_dependency(s, w->text, w->err))
PLAIN(signal, submission_set_signal(s, w->text, w->err))
PLAIN(checkpoint, read_text(s, &s->checkpoint, w))
PLAIN(requeue, read_bool(&s->requeue, true, w))
PLAIN(no_requeue, read_bool(&s->requeue, false, w))
PLAIN(retries, read_int(&s->retries, 0, w))
PLAIN(allow_idle, read_bool(&s->allow_idle, true, w))
PLAIN(hold, read_bool(&s->hold, true, w))
PLAIN(key, read_text(s, &s->key, w))
PLAIN(weight, read_number(&s->weight, w))
PLAIN(priority, read_int(&s->priority, INT32_MIN, w))
PLAIN(opportunistic, read_bool(&s->opportunistic, true, w))
PLAIN(output, read_text(s, &s->out, w))
PLAIN(error, read_text(s, &s->err_out, w))
PLAIN(export, read_text(s, &s->export, w))
PLAIN(comment, read_text(s, &s->comment, w))
PLAIN(time, read_time(&s->time_s, w))

/* The grace may be said in plain seconds, as after the @ of a signal. */
SETTER(grace)
{
	if (slice_double(slice_of(w->text), &s->grace_s))
		return 0;
	return read_time(&s->grace_s, w);
}

SETTER(chdir)
{
	if (!*w->text)
		return refuse(w, "a directory");
	if (*w->text == '/' || !w->context->cwd)
		return read_text(s, &s->cwd, w);
	s->cwd = arena_printf(&s->memory, "%s/%s", w->context->cwd, w->text);
	return 0;
}

static int only_one(const struct word *w, const char *why)
{
	int64_t x;

	if (slice_int(slice_of(w->text), &x) && x == 1)
		return 0;
	return err_set(w->err, ERR_USAGE, "'%.40s': %s", w->text, why);
}

SETTER(ntasks)
{
	(void)s;
	return only_one(w, "a job is one command; ask for CPUs with cpus_per_task, or submit an array");
}

SETTER(nodes)
{
	(void)s;
	return only_one(w, "a job runs on one machine; leave it out");
}

SETTER(partition)
{
	(void)s;
	notes_add(w->context->notes, NOTE_DROPPED, w->context->line, "partition", NULL,
		"there are no partitions; ignored");
	return 0;
}

static int (*const setters[])(struct submission *s, const struct word *w) = {
#define FIELD(name, letter, value, help) set_##name,
#define SWITCH(name, letter, help) set_##name,
#include "live/submission_fields.def"
#undef FIELD
#undef SWITCH
};

/* ---- finding it */

static bool spells(const char *field, const char *name)
{
	for (; *field && *name; field++, name++)
		if (*field != (*name == '-' ? '_' : *name))
			return false;
	return !*field && !*name;
}

static int unknown(const char *name, struct err *err)
{
	const char *known[sizeof(setters) / sizeof(*setters)];
	size_t n = 0;
	int near;

	while (submission_fields[n].name) {
		known[n] = submission_fields[n].name;
		n++;
	}
	near = text_nearest(name, known, n);
	return err_set(err, ERR_USAGE, "%.80s: a job has no such field%s%s%s", name,
		near >= 0 ? "; did you mean " : "", near >= 0 ? known[near] : "",
		near >= 0 ? "?" : "");
}

int submission_set(struct submission *s, const char *name, const char *text,
	const struct submission_context *context, struct err *err)
{
	const struct word word = { text, context, err };

	for (size_t i = 0; submission_fields[i].name; i++) {
		if (!spells(submission_fields[i].name, name))
			continue;
		if (setters[i](s, &word))
			return err_prefix(err, "%s", submission_fields[i].name);
		return 0;
	}
	return unknown(name, err);
}
