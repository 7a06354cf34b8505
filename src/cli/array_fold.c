#include "cli/array_fold.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live_print.h"

/* ---- which go together */

static bool is_waiting_element(const json_t *job)
{
	const char *state = live_text(job, "state");

	return live_number(job, "array_id") > 0 && live_number(job, "array_index") >= 0 && state &&
		!strcmp(state, "PENDING");
}

static bool same_number(const json_t *a, const json_t *b, const char *member)
{
	double x = live_number(a, member), y = live_number(b, member);

	return x == y || (x != x && y != y);
}

static bool same_text(const json_t *a, const json_t *b, const char *member)
{
	const char *x = live_text(a, member), *y = live_text(b, member);

	return x == y || (x && y && !strcmp(x, y));
}

/* Texts of reasons name other jobs and may differ where the reason does not. */
static bool same_reason(const json_t *a, const json_t *b)
{
	const json_t *x = json_object_get(a, "reason"), *y = json_object_get(b, "reason");

	return same_text(x, y, live_text(x, "why") || live_text(y, "why") ? "why" : "text");
}

static bool is_alike(const json_t *a, const json_t *b)
{
	static const char *const numbers[] = { "gpus", "min_gpus", "max_gpus", "cpus", "priority" };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (!same_number(a, b, numbers[i]))
			return false;
	}
	return same_reason(a, b) && same_text(a, b, "name");
}

/* The row it joins; NULL: none.  Elements of an array that wait follow each other in the list. */
static struct fold_row *find_row(struct fold *fold, const json_t *job)
{
	for (size_t i = fold->rows.n; i-- > 0;) {
		struct fold_row *row = &fold->rows.at[i];

		if (!is_waiting_element(row->job) || !same_number(row->job, job, "array_id"))
			return NULL;
		if (is_alike(row->job, job))
			return row;
	}
	return NULL;
}

static void add_element(struct fold_row *row, const json_t *job)
{
	struct fold_element element = {
		.id = (uint32_t)json_integer_value(json_object_get(job, "id")),
		.index = (uint32_t)json_integer_value(json_object_get(job, "array_index")),
	};

	vec_push(&row->elements, element);
}

void fold_init(struct fold *fold, const json_t *jobs, bool expand)
{
	*fold = (struct fold){ 0 };
	for (size_t i = 0; i < json_array_size(jobs); i++) {
		const json_t *job = json_array_get(jobs, i);
		bool folds = !expand && is_waiting_element(job);
		struct fold_row *row = folds ? find_row(fold, job) : NULL;

		if (!row) {
			vec_push(&fold->rows, (struct fold_row){ .job = job });
			row = &fold->rows.at[fold->rows.n - 1];
		}
		if (folds)
			add_element(row, job);
	}
}

void fold_fini(struct fold *fold)
{
	for (size_t i = 0; i < fold->rows.n; i++)
		vec_fini(&fold->rows.at[i].elements);
	vec_fini(&fold->rows);
}

size_t fold_count(const struct fold_row *row)
{
	return row->elements.n ? row->elements.n : 1;
}

/* ---- texts */

/* Slurm, too, cuts a list of indices that is longer. */
enum { INDICES_MAX = 64 };

/* The distance between all of them; 0: it differs. */
static uint32_t step_of(const struct fold_row *row)
{
	const struct fold_element *at = row->elements.at;
	uint32_t step = at[1].index - at[0].index;

	for (size_t i = 2; i < row->elements.n; i++) {
		if (at[i].index - at[i - 1].index != step)
			return 0;
	}
	return step;
}

/* Where the run that begins at `from` ends. */
static size_t run_end(const struct fold_row *row, size_t from)
{
	const struct fold_element *at = row->elements.at;

	while (from + 1 < row->elements.n && at[from + 1].index == at[from].index + 1)
		from++;
	return from;
}

static void put_runs(const struct fold_row *row, struct buf *out)
{
	const struct fold_element *at = row->elements.at;
	size_t began = out->n;

	for (size_t i = 0, last; i < row->elements.n; i = last + 1) {
		if (out->n - began > INDICES_MAX) {
			buf_str(out, ",...");
			return;
		}
		last = run_end(row, i);
		buf_printf(out, "%s%u", i ? "," : "", at[i].index);
		if (last > i)
			buf_printf(out, "-%u", at[last].index);
	}
}

void fold_label(const struct fold_row *row, struct buf *out)
{
	size_t n = row->elements.n;
	double limit = live_number(row->job, "array_limit");
	uint32_t step;

	if (n < 2) {
		live_job_name(row->job, out);
		return;
	}
	buf_printf(out, "%.0f_[", live_number(row->job, "array_id"));
	step = step_of(row);
	if (n > 2 && step > 1)
		buf_printf(out, "%u-%u:%u", row->elements.at[0].index,
			row->elements.at[n - 1].index, step);
	else
		put_runs(row, out);
	if (limit > 0)
		buf_printf(out, "%%%.0f", limit);
	buf_char(out, ']');
}

void fold_ids(const struct fold_row *row, struct buf *out)
{
	const struct fold_element *at = row->elements.at;
	size_t n = row->elements.n;

	for (size_t i = 0, last; i < n; i = last + 1) {
		for (last = i; last + 1 < n && at[last + 1].id == at[last].id + 1;)
			last++;
		buf_printf(out, "%s%u-%u", i ? "," : "", at[i].id, at[last].id);
	}
}

void fold_reason(const struct fold_row *row, struct buf *out)
{
	const char *text = live_text(json_object_get(row->job, "reason"), "text"), *found;
	struct buf name = { 0 };

	live_job_name(row->job, &name);
	text = text ? text : "";
	while (row->elements.n > 1 && (found = strstr(text, name.at))) {
		bool whole = !isdigit((unsigned char)found[name.n]);

		buf_add(out, text, (size_t)(found - text));
		if (whole)
			buf_printf(out, "%.0f", live_number(row->job, "array_id"));
		else
			buf_add(out, name.at, name.n);
		text = found + name.n;
	}
	buf_str(out, text);
	buf_fini(&name);
}
