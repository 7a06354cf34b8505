#include "cli/live_print.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "live/submission.h"

/* ---- members */

const char *live_text(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

double live_number(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

int live_signal(const json_t *object)
{
	const json_t *value = json_object_get(object, "signal");

	if (json_is_integer(value))
		return (int)json_integer_value(value);
	return json_is_string(value) ? signal_of_name(json_string_value(value)) : 0;
}

/* ---- pieces */

const char *live_duration(double seconds, char out[DURATION_SIZE])
{
	return text_lasts(seconds, out);
}

void live_job_name(const json_t *job, struct buf *out)
{
	double array = live_number(job, "array_id"), index = live_number(job, "array_index");

	if (array > 0 && index >= 0)
		buf_printf(out, "%.0f_%.0f", array, index);
	else
		buf_printf(out, "%.0f", live_number(job, json_object_get(job, "id") ? "id" : "job"));
}

static long index_of(const json_t *device)
{
	const char *text = json_string_value(device);
	int64_t x;

	if (json_is_integer(device))
		return (long)json_integer_value(device);
	return text && slice_int(slice_of(text), &x) && x >= 0 && x < 1000000 ? (long)x : -1;
}

void live_devices(const json_t *devices, struct buf *out)
{
	size_t n = json_array_size(devices);

	for (size_t i = 0, last; i < n; i = last + 1) {
		const json_t *device = json_array_get(devices, i);
		long first = index_of(device);

		last = i;
		buf_str(out, i ? "," : "");
		if (first < 0) {
			buf_str(out, json_is_string(device) ? json_string_value(device) : "?");
			continue;
		}
		while (last + 1 < n &&
			index_of(json_array_get(devices, last + 1)) == first + (long)(last + 1 - i))
			last++;
		buf_printf(out, "%ld", first);
		if (last > i)
			buf_printf(out, "%s%ld", last > i + 1 ? "-" : ",", first + (long)(last - i));
	}
}

void live_cut(const char *text, size_t columns, const struct term *term, struct buf *out)
{
	size_t room = columns > 3 && !term->utf8 ? columns - 3 : columns ? columns - 1 : 0, n = 0;

	text = text ? text : "";
	if (!columns || text_columns(text) <= columns) {
		buf_str(out, text);
		return;
	}
	for (; *text; text++) {
		if ((*text & 0xc0) != 0x80 && n++ == room)
			break;
		buf_char(out, *text);
	}
	buf_str(out, term->utf8 ? "…" : "...");
}

const char *live_state_style(const char *state)
{
	static const struct {
		const char *state, *style;
	} styles[] = {
		{ "RUNNING", "32" },
		{ "CONFIGURING", "36" },
		{ "COMPLETING", "36" },
		{ "PENDING", "33" },
		{ "FAILED", "31" },
		{ "TIMEOUT", "31" },
		{ "DEADLINE", "31" },
		{ "NODE_FAIL", "31" },
		{ "REJECTED", "31" },
		{ "CANCELLED", "2" },
		{ "PREEMPTED", "35" },
	};

	for (size_t i = 0; state && i < sizeof(styles) / sizeof(*styles); i++)
		if (!strcmp(state, styles[i].state))
			return styles[i].style;
	return NULL;
}

void live_progress(const json_t *job, struct buf *out)
{
	const json_t *progress = json_object_get(job, "progress");
	double step = live_number(progress, "step"), total = live_number(progress, "total");
	double fraction = live_number(progress, "fraction");

	if (isnan(fraction) && total > 0)
		fraction = step / total;
	if (!isnan(fraction))
		buf_printf(out, "%.0f%%", floor(fraction * 100));
	else if (!isnan(step))
		buf_printf(out, "step %.0f", step);
}

void live_bar(double part, int columns, const struct term *term, struct buf *out)
{
	int inside = columns - 2, filled = (int)floor(part * inside + 0.5);

	buf_char(out, '[');
	for (int i = 0; i < inside; i++)
		buf_str(out, i < filled ? term->utf8 ? "█" : "#" : term->utf8 ? "·" : ".");
	buf_char(out, ']');
}

/* "2h06m" from now, "now". */
static void put_moment(const json_t *moments, const char *key, double now, struct buf *out)
{
	double at = live_number(moments, key);
	char text[DURATION_SIZE];

	if (isnan(at))
		buf_str(out, "more than 30 days");
	else if (at - now < 1)
		buf_str(out, "now");
	else
		buf_str(out, live_duration(at - now, text));
}

void live_interval(const json_t *moments, double now, struct buf *out)
{
	if (!json_is_object(moments)) {
		buf_str(out, "not within 30 days");
		return;
	}
	if (!(live_number(moments, "p50") - now < 1))
		buf_str(out, "in ");
	put_moment(moments, "p50", now, out);
	buf_str(out, " (80 %: ");
	put_moment(moments, "p10", now, out);
	buf_str(out, " to ");
	put_moment(moments, "p90", now, out);
	buf_char(out, ')');
}

void live_bound(const json_t *answer, struct buf *out)
{
	double bound = live_number(answer, "not_before"), rest = live_number(answer, "left_out");
	char lasts[32];

	if (isnan(bound))
		buf_str(out, "  starts    when it is released\n");
	else
		buf_printf(out, "  starts    not before %s from now\n",
			text_lasts(fmax(0, bound - live_number(answer, "at")), lasts));
	if (rest > 0)
		buf_printf(out,
			"            a bound: the futures have the first %.0f jobs of the queue and leave out %.0f\n",
			live_number(answer, "simulated"), rest);
	else
		buf_str(out, "            a bound: its futures take too long to be run to their end\n");
}

void live_few_futures(const json_t *answer, const char *indent, struct buf *out)
{
	double ran = live_number(answer, "futures"), usual = live_number(answer, "futures_wanted");

	if (ran < usual)
		buf_printf(out,
			"%snote: %.0f futures in place of %.0f, for which the time was too short: intervals are less sure\n",
			indent, ran, usual);
}

/* ---- of a job */

void live_who(const json_t *job, struct buf *out)
{
	const char *user = live_text(job, "user"), *tenant = live_text(job, "tenant");

	buf_str(out, user ? user : "?");
	if (tenant && (!user || strcmp(user, tenant) != 0))
		buf_printf(out, "/%s", tenant);
}

void live_gpus(const json_t *job, struct buf *out)
{
	double gpus = live_number(job, "gpus"), held = live_number(job, "held_gpus");
	double min = live_number(job, "min_gpus"), max = live_number(job, "max_gpus");

	if (held > 0 && held != gpus)
		buf_printf(out, "%.0f/%.0f", held, gpus);
	else if (!(held > 0) && gpus > 0 && min < max)
		buf_printf(out, "%.0f-%.0f", min, max);
	else
		buf_printf(out, "%.0f", gpus);
}

void live_guest(const json_t *job, struct buf *out)
{
	const json_t *beside = json_object_get(job, "beside");

	if (!json_is_true(json_object_get(job, "guest")))
		return;
	buf_str(out, "guest");
	for (size_t i = 0; i < json_array_size(beside); i++)
		buf_printf(out, "%s%lld", i ? "," : " beside ",
			(long long)json_integer_value(json_array_get(beside, i)));
}

const char *live_ending(const json_t *job)
{
	const char *text = live_text(job, "ending");

	return text ? text : live_text(job, "end_text");
}

/* ---- lines */

enum { LINE_COLUMN = 14 };

/* What others wrote must not steer the terminal; lines inside it begin below its first. */
static void put_plain(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n' && text[1])
			buf_printf(out, "\n%*s", LINE_COLUMN, "");
		else if (*text != '\n')
			buf_char(out, (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
	}
}

void live_line(struct buf *out, const char *title, const char *text)
{
	if (!text || !*text)
		return;
	buf_printf(out, "%-*s", LINE_COLUMN, title);
	put_plain(out, text);
	buf_char(out, '\n');
}

void live_linef(struct buf *out, const char *title, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	live_line(out, title, text);
}

void live_count(struct buf *out, double n, const char *one)
{
	buf_printf(out, "%.0f %s%s", n, one, n == 1 ? "" : "s");
}

int live_print_json(const json_t *reply, struct err *err)
{
	char *text = json_dumps(reply, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	struct buf out = { 0 };
	int rc;

	buf_str(&out, text ? text : "null");
	rc = ui_print(&out, err);
	buf_fini(&out);
	free(text);
	return rc;
}

int live_look_back(const struct args *args, const char *path,
	void (*put)(json_t *reply, const struct term *term, struct buf *out), struct err *err)
{
	struct term term = term_of_stdout();
	struct buf query = { 0 }, text = { 0 };
	json_t *reply;
	int rc;

	buf_str(&query, path);
	live_query_number(&query, "since_s", args->since);
	rc = live_get(args, query.at, &reply, err);
	buf_fini(&query);
	if (rc)
		return rc;
	if (args->json) {
		rc = live_print_json(reply, err);
	} else {
		put(reply, &term, &text);
		rc = ui_print(&text, err);
	}
	buf_fini(&text);
	json_decref(reply);
	return rc;
}
