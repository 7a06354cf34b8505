/*
 * Array indices and dependencies, as Slurm writes them.
 */
#include "live/submission.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* ---- arrays */

struct indices {
	int32_t *at;
	size_t n, cap;
};

static bool small(struct slice s, int64_t max, int64_t *out)
{
	if (!s.n)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (s.at[i] < '0' || s.at[i] > '9')
			return false;
	return slice_int(s, out) && *out <= max;
}

/* "5", "0-9" or "0-9:3". */
static bool read_range(struct slice s, struct indices *out)
{
	struct slice first = slice_cut(&s, '-'), last;
	int64_t from, to, step = 1;
	bool ranged = s.at > first.at + first.n;

	if (!small(first, INT32_MAX - 1, &from))
		return false;
	if (!ranged) {
		vec_push(out, (int32_t)from);
		return true;
	}
	last = slice_cut(&s, ':');
	if (!small(last, INT32_MAX - 1, &to) || to < from)
		return false;
	if (s.at > last.at + last.n && (!small(s, INT32_MAX, &step) || step < 1))
		return false;
	/* One more than allowed is enough to know. */
	for (; from <= to && out->n <= SUBMISSION_ARRAY_MAX; from += step)
		vec_push(out, (int32_t)from);
	return true;
}

static int by_value(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static bool read_indices(struct slice s, struct indices *out)
{
	const char *end = s.at + s.n;

	while (s.n && out->n <= SUBMISSION_ARRAY_MAX)
		if (!read_range(slice_cut(&s, ','), out))
			return false;
	return out->n > 0 && end[-1] != ',';
}

static void keep_indices(struct submission *s, const struct indices *all, uint32_t limit)
{
	int32_t *kept = arena_array(&s->memory, int32_t, all->n);
	uint32_t n = 0;

	qsort(all->at, all->n, sizeof(*all->at), by_value);
	for (size_t i = 0; i < all->n; i++)
		if (!n || kept[n - 1] != all->at[i])
			kept[n++] = all->at[i];
	s->array = kept;
	s->narray = n;
	s->array_limit = limit;
}

int submission_set_array(struct submission *s, const char *text, struct err *err)
{
	struct slice rest = slice_trim(slice_of(text)), list = slice_cut(&rest, '%');
	struct indices all = { 0 };
	int64_t limit = 0;
	int rc = 0;

	if ((rest.at > list.at + list.n && (!small(rest, UINT32_MAX, &limit) || !limit)) ||
		!read_indices(list, &all))
		rc = err_set(err, ERR_USAGE,
			"'%.80s' is no list of indices; write 0-9, 1,3,5-7, 0-8:2, or 0-99%%4 for four "
			"at once",
			text);
	else if (all.n > SUBMISSION_ARRAY_MAX)
		rc = err_set(err, ERR_USAGE, "'%.80s' has more than %d indices; submit several arrays",
			text, SUBMISSION_ARRAY_MAX);
	else
		keep_indices(s, &all, (uint32_t)limit);
	vec_fini(&all);
	return rc;
}

/* How many indices from `i` on have the same distance from each other. */
static uint32_t run_length(const struct submission *s, uint32_t i)
{
	uint32_t n = 1;

	while (i + n < s->narray &&
		s->array[i + n] - s->array[i + n - 1] == s->array[i + 1] - s->array[i])
		n++;
	return n;
}

void submission_array_text(const struct submission *s, struct buf *out)
{
	for (uint32_t i = 0, n; i < s->narray; i += n) {
		int32_t step;

		n = run_length(s, i);
		if (n == 2)
			n = 1;
		step = n > 1 ? s->array[i + 1] - s->array[i] : 0;
		buf_printf(out, "%s%d", i ? "," : "", s->array[i]);
		if (n > 1)
			buf_printf(out, "-%d", s->array[i + n - 1]);
		if (step > 1)
			buf_printf(out, ":%d", step);
	}
	if (s->array_limit)
		buf_printf(out, "%%%u", s->array_limit);
}

/* ---- dependencies */

static const char *const kinds[] = {
	[AFTER_OK] = "afterok",
	[AFTER_ANY] = "afterany",
	[AFTER_NOT_OK] = "afternotok",
	[AFTER_START] = "after",
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

const char *dependency_name(enum dependency_kind kind)
{
	return kinds[kind];
}

struct dependencies {
	struct dependency *at;
	size_t n, cap;
};

static int no_job(struct slice word, struct err *err)
{
	if (memchr(word.at, '_', word.n))
		return err_set(err, ERR_USAGE,
			"'%.*s': name an element of an array by its own number, which 'stint queue' shows",
			(int)word.n, word.at);
	if (memchr(word.at, '+', word.n))
		return err_set(err, ERR_USAGE,
			"'%.*s': a delay after the start is not supported; leave out what follows +",
			(int)word.n, word.at);
	return err_set(err, ERR_USAGE, "'%.*s' is no job's number", word.n > 40 ? 40 : (int)word.n,
		word.at);
}

static int no_kind(struct slice word, struct err *err)
{
	char *given = mem_strndup(word.at, word.n);
	int near = text_nearest(given, kinds, KINDS), rc;

	if (slice_is(word, "singleton") || slice_is(word, "aftercorr"))
		rc = err_set(err, ERR_USAGE, "'%s' is not supported; write afterok:7 or the like",
			given);
	else if (near >= 0)
		rc = err_set(err, ERR_USAGE, "there is no '%.40s'; did you mean %s:7?", given,
			kinds[near]);
	else
		rc = err_set(err, ERR_USAGE,
			"'%.40s' says not what to wait for; write afterok:7, afterany:7, afternotok:7 or "
			"after:7",
			given);
	free(given);
	return rc;
}

/* "afterok:7:8" */
static int read_dependency(struct slice item, struct dependencies *out, struct err *err)
{
	struct slice word = slice_cut(&item, ':');
	int kind = 0;

	while (kind < KINDS && !slice_is(word, kinds[kind]))
		kind++;
	if (kind == KINDS)
		return no_kind(word, err);
	if (!item.n)
		return err_set(err, ERR_USAGE, "%s: of which job? write %s:7", kinds[kind],
			kinds[kind]);
	while (item.n) {
		struct slice job = slice_cut(&item, ':');
		int64_t number;

		if (!small(job, UINT32_MAX - 1, &number) || !number)
			return no_job(job, err);
		vec_push(out, (struct dependency){ (enum dependency_kind)kind, (uint32_t)number });
	}
	return 0;
}

int submission_set_dependency(struct submission *s, const char *text, struct err *err)
{
	struct slice rest = slice_trim(slice_of(text));
	struct dependencies all = { 0 };
	int rc = 0;

	if (!rest.n)
		rc = err_set(err, ERR_USAGE, "is empty; write afterok:7 or the like");
	if (memchr(rest.at, '?', rest.n))
		rc = err_set(err, ERR_USAGE,
			"'%.80s': all must hold; separate them by commas, not by ?", text);
	while (!rc && rest.n)
		rc = read_dependency(slice_cut(&rest, ','), &all, err);
	if (!rc) {
		struct dependency *kept = arena_array(&s->memory, struct dependency, all.n);

		memcpy(kept, all.at, all.n * sizeof(*kept));
		s->after = kept;
		s->nafter = (uint32_t)all.n;
	}
	vec_fini(&all);
	return rc;
}
