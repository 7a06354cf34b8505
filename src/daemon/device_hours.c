/*
 * Device time by group.
 */
#include "daemon/device_hours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

const char *const hours_words[HOURS_KEYS + 1] = { "user", "tenant", "model", "name", "type", "day",
	"month", NULL };

static const char slot_type[] = "cpu"; /* of devices that are CPU slots */

/* ---- what is asked for */

static enum hours_key key_of(struct slice word)
{
	size_t i = 0;

	while (i < HOURS_KEYS && !slice_is(word, hours_words[i]))
		i++;
	return (enum hours_key)i;
}

static bool is_among(const struct hours *hours, enum hours_key key)
{
	for (size_t i = 0; i < hours->nby; i++) {
		if (hours->by[i] == key)
			return true;
	}
	return false;
}

int hours_set_by(struct hours *hours, const char *text, struct err *err)
{
	struct slice rest = slice_of(text);

	hours->nby = 0;
	while (rest.n) {
		struct slice word = slice_trim(slice_cut(&rest, ','));
		enum hours_key key = key_of(word);

		if (key == HOURS_KEYS)
			return err_set(err, ERR_USAGE,
				"there is no grouping '%.*s'; there are user, tenant, model, name, type, day and month",
				(int)word.n, word.at);
		if (is_among(hours, key))
			return err_set(err, ERR_USAGE, "'%s' is named twice", hours_words[key]);
		hours->by[hours->nby++] = key;
	}
	return hours->nby ? 0
			  : err_set(err, ERR_USAGE,
				    "name a grouping: user, tenant, model, name, type, day or month");
}

int hours_set_prices(struct hours *hours, const char *text, struct err *err)
{
	struct slice rest = slice_of(text);

	while (rest.n) {
		struct slice price = slice_trim(slice_cut(&rest, ',')), all = price;
		struct slice type = slice_trim(slice_cut(&price, '='));
		double per_h;

		if (!type.n || !slice_double(slice_trim(price), &per_h) || !(per_h >= 0) ||
			!isfinite(per_h))
			return err_set(err, ERR_USAGE,
				"the price '%.*s' is not TYPE=PER_HOUR, such as a100=3.0",
				(int)all.n, all.at);
		vec_push(&hours->prices,
			((struct hours_price){ arena_strndup(&hours->words, type.at, type.n), per_h }));
	}
	return 0;
}

/* NAN: none. */
static double price_of(const struct hours *hours, const char *type)
{
	for (size_t i = 0; i < hours->prices.n; i++) {
		if (!strcmp(hours->prices.at[i].type, type))
			return hours->prices.at[i].per_h;
	}
	return NAN;
}

/* ---- calendar time */

/* The first moment of the next day or month; of one that does not move on, for ever. */
static double next_boundary(double at_s, bool month)
{
	time_t at = (time_t)floor(at_s);
	struct tm tm;
	double next;

	if (!localtime_r(&at, &tm))
		return INFINITY;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	if (month) {
		tm.tm_mday = 1;
		tm.tm_mon++;
	} else {
		tm.tm_mday++;
	}
	next = (double)mktime(&tm);
	return next > at_s ? next : INFINITY;
}

/* "2026-11-18" or "2026-11" */
static const char *calendar_word(double at_s, bool month, char out[32])
{
	time_t at = (time_t)floor(at_s);
	struct tm tm;

	if (!localtime_r(&at, &tm) || !strftime(out, 32, month ? "%Y-%m" : "%Y-%m-%d", &tm))
		out[0] = 0;
	return out;
}

/* ---- sums */

struct words_of_span {
	const char *at[HOURS_KEYS]; /* by key */
	char day[32], month[32];
};

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static void find_words(const struct hours_span *span, double at_s, struct words_of_span *out)
{
	out->at[HOURS_USER] = or_empty(span->user);
	out->at[HOURS_TENANT] = or_empty(span->tenant);
	out->at[HOURS_MODEL] = or_empty(span->model);
	out->at[HOURS_NAME] = or_empty(span->name);
	out->at[HOURS_TYPE] = or_empty(span->type);
	out->at[HOURS_DAY] = calendar_word(at_s, false, out->day);
	out->at[HOURS_MONTH] = calendar_word(at_s, true, out->month);
}

static struct hours_row *row_of(struct hours *hours, const struct words_of_span *words)
{
	struct buf key = { 0 };
	uint32_t at;

	for (size_t i = 0; i < hours->nby; i++)
		buf_printf(&key, "%s\x1f", words->at[hours->by[i]]);
	at = names_add(&hours->keys, key.at, key.n);
	buf_fini(&key);
	if (at == hours->rows.n) {
		struct hours_row row = { 0 };

		for (size_t i = 0; i < hours->nby; i++)
			row.words[i] = arena_strdup(&hours->words, words->at[hours->by[i]]);
		vec_push(&hours->rows, row);
	}
	return &hours->rows.at[at];
}

static void add_to(struct hours_row *row, const struct hours_span *span, double device_s, double per_h)
{
	if (row->last_job != span->job)
		row->jobs++;
	row->last_job = span->job;
	if (span->type && !strcmp(span->type, slot_type))
		row->slot_s += device_s;
	else
		row->gpu_s += device_s;
	if (isnan(per_h))
		row->unpriced_s += device_s;
	else
		row->cost += device_s / 3600 * per_h;
}

static void add_piece(struct hours *hours, const struct hours_span *span, double at_s, double device_s)
{
	double per_h = price_of(hours, or_empty(span->type));
	struct words_of_span words;

	find_words(span, at_s, &words);
	add_to(row_of(hours, &words), span, device_s, per_h);
	add_to(&hours->total, span, device_s, per_h);
}

void hours_add(struct hours *hours, const struct hours_span *span)
{
	bool day = is_among(hours, HOURS_DAY), month = is_among(hours, HOURS_MONTH);
	double wall_s = span->to_s - span->from_s, at_s = span->from_s;
	double device_s = span->devices * span->lasted_s;

	if (!(span->lasted_s > 0))
		return;
	if (!(wall_s > 0) || !(day || month)) {
		add_piece(hours, span, at_s, device_s);
		return;
	}
	while (at_s < span->to_s) {
		double next_s = fmin(span->to_s, next_boundary(at_s, !day));

		add_piece(hours, span, at_s, device_s * (next_s - at_s) / wall_s);
		at_s = next_s;
	}
}

/* ---- order */

struct sorted_row {
	const struct hours *hours;
	struct hours_row row;
};

static int by_time_then_use(const void *a, const void *b)
{
	const struct sorted_row *x = a, *y = b;
	const struct hours *hours = x->hours;
	double use_x = x->row.gpu_s + x->row.slot_s, use_y = y->row.gpu_s + y->row.slot_s;
	int c = 0;

	for (size_t i = 0; i < hours->nby && !c; i++) {
		if (hours->by[i] == HOURS_DAY || hours->by[i] == HOURS_MONTH)
			c = strcmp(x->row.words[i], y->row.words[i]);
	}
	if (!c)
		c = use_x < use_y ? 1 : use_x > use_y ? -1 : 0;
	for (size_t i = 0; i < hours->nby && !c; i++)
		c = strcmp(x->row.words[i], y->row.words[i]);
	return c;
}

void hours_sort(struct hours *hours)
{
	VEC(struct sorted_row) rows = { 0 };

	for (size_t i = 0; i < hours->rows.n; i++)
		vec_push(&rows, ((struct sorted_row){ hours, hours->rows.at[i] }));
	if (rows.n)
		qsort(rows.at, rows.n, sizeof(*rows.at), by_time_then_use);
	for (size_t i = 0; i < rows.n; i++)
		hours->rows.at[i] = rows.at[i].row;
	vec_fini(&rows);
}

void hours_fini(struct hours *hours)
{
	vec_fini(&hours->prices);
	vec_fini(&hours->rows);
	names_fini(&hours->keys);
	arena_fini(&hours->words);
	*hours = (struct hours){ 0 };
}
