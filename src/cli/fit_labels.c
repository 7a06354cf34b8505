/*
 * stint fit --labels: how much of each resource runs of a category should get,
 * from what earlier ones used (model/label.h).
 */
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "cli/fit.h"
#include "cli/setup.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "io/usage_io.h"
#include "model/label.h"
#include "report/table.h"

struct labels_call {
	const struct args *args;
	struct usage usage;
	double worker[USAGE_RESOURCES], guess[USAGE_RESOURCES]; /* NAN: not said */
	enum label_rule rule;
};

/* One resource of one category. */
struct label_row {
	const char *category;
	enum usage_resource resource;
	uint32_t n;
	double most; /* what a second try gets */
	double first, retries;
	struct label_course course; /* learnt run by run */
	/* Part of the resource-time that is taken that was used. */
	double learnt, hindsight, oracle, guess, whole;
};

static double used_of(const struct label_sample *s, uint32_t n, double first, double most)
{
	double used = 0;

	for (uint32_t i = 0; i < n; i++)
		used += s[i].peak * s[i].time_s / n;
	return used / label_taken(s, n, first, most);
}

static void judge(const struct labels_call *call, struct label_sample *s, struct label_row *row)
{
	const struct args *args = call->args;
	double worker = call->worker[row->resource], guess = call->guess[row->resource], top = 0;

	for (uint32_t i = 0; i < row->n; i++)
		top = fmax(top, s[i].peak);
	row->most = isnan(worker) ? top : fmax(worker, top);
	row->course = label_replay(s, row->n, row->most, call->rule, args->quantile,
		(uint32_t)args->learn);
	row->learnt = row->course.used / row->course.taken;
	label_sort(s, row->n);
	row->first = label_first(s, row->n, row->most, call->rule, args->quantile);
	row->retries = label_retries(s, row->n, row->first);
	row->hindsight = used_of(s, row->n, row->first, row->most);
	row->oracle = used_of(s, row->n, top, row->most);
	row->guess = isnan(guess) ? NAN : used_of(s, row->n, guess, fmax(guess, row->most));
	row->whole = isnan(worker) ? NAN : used_of(s, row->n, row->most, row->most);
}

/* False: no run of the category says what it used of it. */
static bool make_row(const struct labels_call *call, uint32_t category, enum usage_resource r,
	struct label_sample *samples, struct label_row *out)
{
	*out = (struct label_row){ .category = call->usage.categories.at[category], .resource = r };
	for (size_t i = 0; i < call->usage.rows.n; i++) {
		const struct usage_row *row = &call->usage.rows.at[i];

		if (row->category == category && row->peak[r] > 0)
			samples[out->n++] = (struct label_sample){ row->peak[r], row->time_s };
	}
	if (out->n)
		judge(call, samples, out);
	return out->n > 0;
}

/* ---- telling */

static void put_amount(struct table *t, enum usage_resource r, double x)
{
	char text[32];

	if (r == USAGE_CPUS)
		table_cellf(t, "%.6g", ceil(x));
	else
		table_cell(t, text_size(x, text));
}

static void put_share(struct table *t, double x)
{
	if (isnan(x))
		table_cell(t, "-");
	else
		table_cellf(t, "%.1f", 100 * x);
}

static void put_columns(struct table *t)
{
	static const char *const shares[] = { "retries", "learnt", "label", "oracle", "guess", "whole" };

	table_column(t, "category", ALIGN_LEFT, 0);
	table_column(t, "resource", ALIGN_LEFT, 0);
	table_column(t, "runs", ALIGN_RIGHT, 0);
	table_column(t, "first", ALIGN_RIGHT, 0);
	table_column(t, "then", ALIGN_RIGHT, 0);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		table_column(t, shares[i], ALIGN_RIGHT, i < 2 ? 0 : (int)i);
		table_unit(t, "%");
	}
}

static void put_row(struct table *t, const struct label_row *row)
{
	table_cell(t, row->category);
	table_cell(t, usage_resource_names[row->resource]);
	table_cellf(t, "%u", row->n);
	put_amount(t, row->resource, row->first);
	put_amount(t, row->resource, row->most);
	put_share(t, row->retries);
	put_share(t, row->learnt);
	put_share(t, row->hindsight);
	put_share(t, row->oracle);
	put_share(t, row->guess);
	put_share(t, row->whole);
}

static void put_json(struct json *j, const struct label_row *row)
{
	json_begin_object(j, NULL);
	json_str(j, "category", row->category);
	json_str(j, "resource", usage_resource_names[row->resource]);
	json_int(j, "runs", row->n);
	json_double(j, "first", row->first);
	json_double(j, "then", row->most);
	json_double(j, "retries", row->retries);
	json_int(j, "replayed_retries", row->course.retries);
	json_double(j, "used_of_learnt", row->learnt);
	json_double(j, "used_of_label", row->hindsight);
	json_double(j, "used_of_oracle", row->oracle);
	json_double(j, "used_of_guess", row->guess);
	json_double(j, "used_of_whole", row->whole);
	json_end(j, '}');
}

static void begin_text(const struct labels_call *call, struct buf *out)
{
	buf_printf(out,
		"%zu runs of %u categor%s; rule %s; first: what a run should get, then: what it gets if that was "
		"too little.\nOf what is taken, used: learnt run by run, with the label from the start, with the "
		"category's largest, as guessed, whole workers.\n",
		call->usage.rows.n, call->usage.categories.n,
		call->usage.categories.n == 1 ? "y" : "ies", label_rule_names[call->rule]);
	if (call->usage.exhausted)
		buf_printf(out, "%u runs that were stopped at a limit do not count.\n",
			call->usage.exhausted);
	buf_char(out, '\n');
}

/* How many of a category a worker holds at a time, by their first allocations; 0: nobody said how large it is. */
static uint32_t at_a_time(const struct labels_call *call, const double first[USAGE_RESOURCES])
{
	double each[USAGE_RESOURCES], size[USAGE_RESOURCES];
	uint32_t n = 0;

	for (int r = 0; r < USAGE_RESOURCES; r++) {
		if (isnan(call->worker[r]) || isnan(first[r]))
			continue;
		each[n] = r == USAGE_CPUS ? ceil(first[r]) : first[r];
		size[n++] = call->worker[r];
	}
	return n ? label_pack(each, size, n) : 0;
}

static void put_packing(const struct labels_call *call, uint32_t category,
	const double first[USAGE_RESOURCES], struct buf *out)
{
	uint32_t n = at_a_time(call, first);

	if (n)
		buf_printf(out, "%s%s %u at a time", out->n ? ", " : "a worker holds ",
			call->usage.categories.at[category], n);
}

static int tell(const struct labels_call *call, struct err *err)
{
	struct label_sample *samples = mem_alloc(mem_array_size(call->usage.rows.n, sizeof(*samples)));
	struct term term = term_of_stdout();
	struct table table = { 0 };
	struct buf text = { 0 }, packing = { 0 };
	struct json j;
	int rc;

	json_init(&j, &text, true);
	if (call->args->json) {
		json_begin_object(&j, NULL);
		json_str(&j, "schema", "labels/1");
		json_str(&j, "rule", label_rule_names[call->rule]);
		json_begin_array(&j, "labels");
	} else {
		begin_text(call, &text);
		put_columns(&table);
	}
	for (uint32_t c = 0; c < call->usage.categories.n; c++) {
		double first[USAGE_RESOURCES] = { NAN, NAN, NAN };

		for (int r = 0; r < USAGE_RESOURCES; r++) {
			struct label_row row;

			if (!make_row(call, c, (enum usage_resource)r, samples, &row))
				continue;
			first[r] = row.first;
			if (call->args->json)
				put_json(&j, &row);
			else
				put_row(&table, &row);
		}
		put_packing(call, c, first, &packing);
	}
	if (call->args->json) {
		json_end(&j, ']');
		json_end(&j, '}');
	} else {
		table_write(&table, TABLE_TEXT, &term, &text, NULL);
		if (packing.n)
			buf_printf(&text, "\nBy these labels %s.\n", packing.at);
	}
	rc = ui_print(&text, err);
	table_fini(&table);
	buf_fini(&text);
	buf_fini(&packing);
	free(samples);
	return rc;
}

static int read_rule(const char *word, enum label_rule *out, struct err *err)
{
	*out = LABEL_WASTE;
	for (int i = 0; word && label_rule_names[i]; i++) {
		if (!slice_is(slice_of(word), label_rule_names[i]))
			continue;
		*out = (enum label_rule)i;
		return 0;
	}
	return word
		? err_set(err, ERR_USAGE,
			  "--label-rule '%s' is none; there are waste, throughput and quantile", word)
		: 0;
}

int fit_labels_run(const struct args *args, struct err *err)
{
	struct labels_call call = { .args = args };
	int rc = read_rule(args->label_rule, &call.rule, err);

	if (!rc)
		rc = usage_amounts("--worker", args->worker ? args->worker : "", call.worker, err);
	if (!rc)
		rc = usage_amounts("--guess", args->guess ? args->guess : "", call.guess, err);
	if (!rc && args->operands.n)
		rc = err_set(err, ERR_USAGE, "'%s' was not expected: --labels reads one file",
			args->operands.at[0]);
	if (!rc)
		rc = input_exists("usage", args->labels, err);
	if (!rc)
		rc = usage_read(args->labels, &call.usage, err);
	if (!rc)
		rc = tell(&call, err);
	usage_fini(&call.usage);
	return rc;
}
