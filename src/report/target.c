#include "report/target.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/stats.h"

static const char *const op_words[] = { "<", "<=", ">", ">=" };

/* What people call a figure; "" as statistic: where none is said. */
static const struct said {
	const char *noun, *statistic, *key;
} said[] = {
	{ "wait", "", "wait_mean_s" },
	{ "wait", "p50", "wait_p50_s" },
	{ "wait", "p90", "wait_p90_s" },
	{ "wait", "p95", "wait_p95_s" },
	{ "wait", "p99", "wait_p99_s" },
	{ "jct", "", "jct_mean_s" },
	{ "jct", "p50", "jct_p50_s" },
	{ "jct", "p90", "jct_p90_s" },
	{ "jct", "p95", "jct_p95_s" },
	{ "jct", "p99", "jct_p99_s" },
	{ "jct", "max", "jct_max_s" },
	{ "ftf", "", "ftf_mean" },
	{ "ftf", "max", "ftf_max" },
	{ "makespan", "", "makespan_s" },
	{ "utilisation", "", "utilisation" },
	{ "useful", "", "useful" },
	{ "goodput", "", "goodput" },
	{ "deadline", "", "deadline_met" },
	{ "jain", "", "jain" },
};

/* Other words for the same. */
static const char *const synonyms[][2] = {
	{ "waiting", "wait" },
	{ "waits", "wait" },
	{ "completion", "jct" },
	{ "turnaround", "jct" },
	{ "fairness", "ftf" },
	{ "utilization", "utilisation" },
	{ "util", "utilisation" },
	{ "deadlines", "deadline" },
	{ "median", "p50" },
	{ "worst", "max" },
	{ "mean", "" },
	{ "average", "" },
	{ "avg", "" },
};

static const char HOW[] =
	"say it as in \"p90 wait < 2h\": mean, p50, p90, p95 or p99 of wait or jct, or makespan, ftf, "
	"utilisation, goodput, deadline, or a name of summary.json; < <= > or >=; s, min, h, d or %";

/* ---- words */

static const char *usual(const char *word)
{
	for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++) {
		if (!strcmp(word, synonyms[i][0]))
			return synonyms[i][1];
	}
	return word;
}

static bool is_noun(const char *word)
{
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		if (!strcmp(word, said[i].noun))
			return true;
	}
	return false;
}

static const char *key_of(const char *noun, const char *statistic)
{
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		if (!strcmp(said[i].noun, noun) && !strcmp(said[i].statistic, statistic))
			return said[i].key;
	}
	return NULL;
}

static int no_such_statistic(const char *noun, const char *statistic, struct err *err)
{
	struct buf list = { 0 };

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		if (!strcmp(said[i].noun, noun))
			buf_printf(&list, "%s%s", list.n ? ", " : "",
				*said[i].statistic ? said[i].statistic : "mean");
	}
	err_set(err, ERR_USAGE, "there is no %s of %s; there is %s", statistic, noun, list.at);
	buf_fini(&list);
	return ERR_USAGE;
}

/* "p90 wait", "wait p90", "wait", "wait_p90_s". */
static int parse_figure(struct slice text, size_t *out, struct err *err)
{
	char noun[32] = "", statistic[32] = "", word[32];
	const char *key;
	struct slice rest = slice_trim(text);

	while (rest.n) {
		struct slice piece = slice_trim(slice_cut(&rest, ' '));
		const char *plain;

		if (!piece.n)
			continue;
		snprintf(word, sizeof(word), "%.*s", piece.n > 31 ? 31 : (int)piece.n, piece.at);
		for (char *c = word; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		plain = usual(word);
		if (metric_find(word) || is_noun(plain))
			snprintf(noun, sizeof(noun), "%s", metric_find(word) ? word : plain);
		else if (!*plain || *plain == 'p' || !strcmp(plain, "max"))
			snprintf(statistic, sizeof(statistic), "%s", plain);
		else if (strcmp(plain, "time") != 0 && strcmp(plain, "of") != 0)
			return err_set(err, ERR_USAGE, "'%s' is not understood; %s", word, HOW);
		rest = slice_trim(rest);
	}
	if (!*noun)
		return err_set(err, ERR_USAGE, "no figure is named; %s", HOW);
	key = !*statistic && metric_find(noun) ? noun : key_of(noun, statistic);
	if (!key)
		return no_such_statistic(noun, statistic, err);
	*out = metric_index(key);
	return 0;
}

/* ---- value */

static int parse_share(struct slice text, double *out, struct err *err)
{
	bool percent = text.n && text.at[text.n - 1] == '%';
	struct slice number = percent ? (struct slice){ text.at, text.n - 1 } : text;

	if (!slice_double(number, out))
		return err_set(err, ERR_USAGE, "'%.*s' is not a part such as 60%% or 0.6",
			(int)text.n, text.at);
	if (percent)
		*out /= 100;
	if (*out < 0 || *out > 1)
		return err_set(err, ERR_USAGE, "'%.*s' is not between 0 and 100 %%%s", (int)text.n,
			text.at, percent ? "" : "; did you leave out the %?");
	return 0;
}

static int parse_value(struct slice text, enum unit unit, double *out, struct err *err)
{
	if (!text.n)
		return err_set(err, ERR_USAGE, "the value is missing; %s", HOW);
	if (unit == UNIT_SHARE)
		return parse_share(text, out, err);
	if (unit == UNIT_SECONDS && !slice_seconds(text, out))
		return err_set(err, ERR_USAGE, "'%.*s' is not a time such as 90s, 15min, 2h or 1d",
			(int)text.n, text.at);
	if (unit != UNIT_SECONDS && !slice_double(text, out))
		return err_set(err, ERR_USAGE, "'%.*s' is not a number", (int)text.n, text.at);
	if (*out < 0)
		return err_set(err, ERR_USAGE, "'%.*s' is below 0", (int)text.n, text.at);
	return 0;
}

/* ---- the whole */

/* "p90 wait", "mean JCT", "utilisation". */
static void name_it(struct target *t)
{
	const char *key = metrics[t->metric].key;

	snprintf(t->name, sizeof(t->name), "%s", metrics[t->metric].title);
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		const char *statistic = said[i].statistic;
		bool several = i + 1 < sizeof(said) / sizeof(said[0]) &&
			!strcmp(said[i].noun, said[i + 1].noun);
		const char *noun = !strcmp(said[i].noun, "jct") ? "JCT" : said[i].noun;

		if (strcmp(said[i].key, key) != 0)
			continue;
		if (!*statistic && several)
			statistic = "mean";
		snprintf(t->name, sizeof(t->name), "%s%s%s", statistic, *statistic ? " " : "", noun);
	}
}

static void say(struct target *t)
{
	enum unit unit = metrics[t->metric].unit;
	char value[32];

	name_it(t);
	if (unit == UNIT_SECONDS)
		text_duration(t->value, value);
	else
		snprintf(value, sizeof(value), unit == UNIT_SHARE ? "%g %%" : "%g",
			unit == UNIT_SHARE ? 100 * t->value : t->value);
	snprintf(t->text, sizeof(t->text), "%s %s %s", t->name, op_words[t->op], value);
}

int target_parse(const char *text, struct target *out, struct err *err)
{
	size_t at = strcspn(text, "<>=");
	bool equal, less = text[at] == '<';
	struct target t = { 0 };
	int rc;

	if (!text[at] || text[at] == '=')
		return err_set(err, ERR_USAGE, "target '%s': < <= > or >= is missing; %s", text, HOW);
	equal = text[at + 1] == '=';
	t.op = less     ? (equal ? TARGET_AT_MOST : TARGET_LESS)
		: equal ? TARGET_AT_LEAST
			: TARGET_MORE;
	rc = parse_figure((struct slice){ text, at }, &t.metric, err);
	if (!rc)
		rc = parse_value(slice_trim(slice_of(text + at + 1 + equal)),
			metrics[t.metric].unit, &t.value, err);
	if (rc)
		return err_prefix(err, "target '%s'", text);
	say(&t);
	*out = t;
	return 0;
}

bool target_met(const struct target *t, double value)
{
	switch (t->op) {
	case TARGET_LESS:
		return value < t->value;
	case TARGET_AT_MOST:
		return value <= t->value;
	case TARGET_MORE:
		return value > t->value;
	case TARGET_AT_LEAST:
		return value >= t->value;
	}
	return false;
}

double target_counts(const struct target *t, const double *values, size_t n)
{
	bool less = t->op == TARGET_LESS || t->op == TARGET_AT_MOST;
	double *sorted = mem_alloc(mem_array_size(n + 1, sizeof(*sorted))), counts;

	if (n)
		memcpy(sorted, values, n * sizeof(*sorted));
	counts = stats_percentile(sorted, stats_sort(sorted, n), less ? 90 : 10);
	free(sorted);
	return counts;
}

bool target_grows(const struct target *t)
{
	bool less = t->op == TARGET_LESS || t->op == TARGET_AT_MOST;
	const char *key = metrics[t->metric].key;

	if (!strcmp(key, "utilisation") || !strcmp(key, "useful") || !strcmp(key, "goodput"))
		return less;
	return metrics[t->metric].better == (less ? BETTER_LOW : BETTER_HIGH);
}
