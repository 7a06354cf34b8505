/*
 * What Slurm shows of jobs, told apart into runs.
 */
#include "live/slurm/sight.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/members.h"

/* ---- the table */

static size_t slot_of_name(const struct sights *t, const char *name)
{
	return hash_bytes(HASH_START, name, strlen(name)) & (t->nslots - 1);
}

static size_t slot_of_job(const struct sights *t, uint32_t job)
{
	return hash_u64(HASH_START, job) & (t->nslots - 1);
}

static void link_name(struct sights *t, struct sight *s)
{
	struct sight **slot = &t->by_name[slot_of_name(t, s->name)];

	s->next_name = *slot;
	*slot = s;
}

static void link_job(struct sights *t, struct sight *s)
{
	struct sight **slot = &t->by_job[slot_of_job(t, s->job)];

	s->next_job = *slot;
	*slot = s;
}

static void unlink_name(struct sights *t, const struct sight *s)
{
	struct sight **at = t->nslots ? &t->by_name[slot_of_name(t, s->name)] : NULL;

	while (at && *at && *at != s)
		at = &(*at)->next_name;
	if (at && *at)
		*at = s->next_name;
}

static void unlink_job(struct sights *t, const struct sight *s)
{
	struct sight **at = t->nslots ? &t->by_job[slot_of_job(t, s->job)] : NULL;

	while (at && *at && *at != s)
		at = &(*at)->next_job;
	if (at && *at)
		*at = s->next_job;
}

static bool is_named(const struct sights *t, const struct sight *s)
{
	return sights_find(t, s->name) == s;
}

static void grow(struct sights *t)
{
	size_t before = t->nslots, n = before ? before * 2 : 64;
	bool *named = mem_alloc(t->all.n + 1);

	for (size_t i = 0; i < t->all.n; i++)
		named[i] = is_named(t, t->all.at[i]);
	free(t->by_name);
	free(t->by_job);
	t->nslots = n;
	t->by_name = mem_alloc(mem_array_size(n, sizeof(struct sight *)));
	t->by_job = mem_alloc(mem_array_size(n, sizeof(struct sight *)));
	for (size_t i = 0; i < t->all.n; i++) {
		if (named[i])
			link_name(t, t->all.at[i]);
		if (t->all.at[i]->job)
			link_job(t, t->all.at[i]);
	}
	free(named);
}

struct sight *sights_find(const struct sights *t, const char *name)
{
	struct sight *s = t->nslots ? t->by_name[slot_of_name(t, name)] : NULL;

	while (s && strcmp(s->name, name) != 0)
		s = s->next_name;
	return s;
}

struct sight *sights_find_job(const struct sights *t, uint32_t job)
{
	struct sight *s = t->nslots ? t->by_job[slot_of_job(t, job)] : NULL;

	while (s && s->job != job)
		s = s->next_job;
	return s;
}

static struct sight *add(struct sights *t, const char *name, int64_t submit)
{
	struct sight *s = mem_alloc(sizeof(*s));

	if (t->all.n >= t->nslots)
		grow(t);
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->key_submit = s->submit = submit;
	link_name(t, s);
	vec_push(&t->all, s);
	return s;
}

static void destroy(struct sight *s)
{
	while (s->runs.n)
		sight_drop_run(s);
	vec_fini(&s->runs);
	json_decref(s->shown);
	free(s);
}

void sights_fini(struct sights *t)
{
	for (size_t i = 0; i < t->all.n; i++)
		destroy(t->all.at[i]);
	vec_fini(&t->all);
	vec_fini(&t->large);
	free(t->by_name);
	free(t->by_job);
	*t = (struct sights){ 0 };
}

void sights_bind(struct sights *t, struct sight *s, uint32_t job)
{
	if (s->job)
		unlink_job(t, s);
	s->job = job;
	if (job)
		link_job(t, s);
	s->standing = job ? SIGHT_TAKEN : SIGHT_IGNORED;
	s->dirty = true;
}

/* ---- keys */

static const char key_word[] = "slurm:";

void sight_key(const struct sight *s, char *out, size_t size)
{
	snprintf(out, size, "%s%s@%" PRId64, key_word, s->name, s->key_submit);
}

static bool read_key(const char *key, char name[SIGHT_NAME_MAX], int64_t *submit)
{
	const char *at = key ? strrchr(key, '@') : NULL;
	size_t word = sizeof(key_word) - 1, n;

	if (!at || strncmp(key, key_word, word) != 0)
		return false;
	n = (size_t)(at - key) - word;
	if (at < key + word || n == 0 || n >= SIGHT_NAME_MAX || !slice_int(slice_of(at + 1), submit))
		return false;
	memcpy(name, key + word, n);
	name[n] = '\0';
	return true;
}

struct sight *sights_find_key(const struct sights *t, const char *key)
{
	char name[SIGHT_NAME_MAX];
	struct sight *s;
	int64_t submit;

	if (!read_key(key, name, &submit))
		return NULL;
	s = sights_find(t, name);
	for (size_t i = 0; (!s || s->key_submit != submit) && i < t->all.n; i++) {
		/* One whose number another has by now. */
		if (!strcmp(t->all.at[i]->name, name) && t->all.at[i]->key_submit == submit)
			return t->all.at[i];
	}
	return s && s->key_submit == submit ? s : NULL;
}

struct sight *sights_expect(struct sights *t, const char *key)
{
	struct sight *s = sights_find_key(t, key);
	char name[SIGHT_NAME_MAX];
	int64_t submit;

	if (s || !read_key(key, name, &submit))
		return s;
	s = add(t, name, submit);
	s->array = strchr(name, '_') ? strtoll(name, NULL, 10) : 0;
	return s;
}

/* ---- runs */

struct run *sight_run(struct sight *s)
{
	return s->runs.n ? &s->runs.at[0] : NULL;
}

void sight_drop_run(struct sight *s)
{
	json_decref(s->runs.at[0].on);
	s->runs.n--;
	memmove(s->runs.at, s->runs.at + 1, s->runs.n * sizeof(*s->runs.at));
}

struct run *sight_add_run(struct sight *s, int64_t restarts, double begun_s)
{
	vec_push(&s->runs, (struct run){ .restarts = restarts, .begun_s = begun_s });
	return &s->runs.at[s->runs.n - 1];
}

/* The one that goes on. */
static struct run *open_run(struct sight *s)
{
	struct run *last = s->runs.n ? &s->runs.at[s->runs.n - 1] : NULL;

	return last && last->end.fate == FATE_OPEN ? last : NULL;
}

/* ---- what Slurm shows of one */

enum stage { WAITS, RUNS, CLEARS, OVER };

static enum stage stage_of(const json_t *from)
{
	const char *state = member_text(from, "state");

	if (member_bool(from, "completing", false))
		return CLEARS;
	if (!state || !strcmp(state, "PENDING"))
		return WAITS;
	return !strcmp(state, "RUNNING") || !strcmp(state, "SUSPENDED") ? RUNS : OVER;
}

static bool is_pending(const json_t *from)
{
	const char *state = member_text(from, "state");

	return state && !strcmp(state, "PENDING");
}

static struct slurm_end end_of(const json_t *from, double now_s)
{
	struct slurm_end v = {
		.fate = FATE_OVER,
		.code = (int)member_int(from, "exit", 0),
		.signal = (int)member_int(from, "signal", 0),
		.ended_s = member_number(from, "end", now_s),
	};
	const char *state = member_text(from, "state");

	snprintf(v.state, sizeof(v.state), "%s", state ? state : "");
	return v;
}

/* Slurm sets the time of submission when it puts a job back, and forgets when the run ended. */
static struct slurm_end back_in_queue(const struct sight *s, const json_t *from, double now_s)
{
	double submit_s = member_number(from, "submit", now_s);
	bool told = submit_s > (double)s->submit && submit_s <= now_s;

	return (struct slurm_end){ .fate = FATE_REQUEUED, .code = -1, .ended_s = told ? submit_s : now_s };
}

static void refresh_run(struct run *run, const json_t *from)
{
	json_t *on = json_object_get(from, "on");

	run->restarts = member_int(from, "restarts", 0);
	if (!run->told_begun)
		run->begun_s = member_number(from, "start", run->begun_s);
	if (!run->on && json_array_size(on))
		run->on = json_incref(on);
}

/* A run that went by unseen and left no word of where it was cannot be told as one. */
static bool shows_run(enum stage stage, const json_t *from)
{
	return stage == RUNS ||
		(stage != WAITS && !is_pending(from) && json_array_size(json_object_get(from, "on")) &&
			member_number(from, "start", 0) > 0);
}

static void read_runs(struct sight *s, const json_t *from, double now_s)
{
	enum stage stage = stage_of(from);
	struct run *run = open_run(s);
	int64_t restarts = member_int(from, "restarts", 0);
	bool clears = stage == CLEARS && is_pending(from);

	if (run && (stage == WAITS || (!clears && run->restarts >= 0 && restarts > run->restarts))) {
		run->end = back_in_queue(s, from, now_s);
		run = NULL;
	}
	if (!run && shows_run(stage, from))
		run = sight_add_run(s, restarts, 0);
	if (run && !clears)
		refresh_run(run, from);
	if (stage == OVER) {
		s->end = end_of(from, now_s);
		if (run)
			run->end = s->end;
	} else {
		s->end = (struct slurm_end){ 0 };
	}
}

static void vanish(struct sight *s, double now_s)
{
	struct slurm_end v = { .fate = FATE_VANISHED, .code = -1, .ended_s = now_s };
	struct run *run = open_run(s);

	s->gone = s->dirty = true;
	if (s->end.fate != FATE_OPEN)
		return;
	s->end = v;
	if (run)
		run->end = v;
}

/* ---- whose it is */

static bool is_same(const struct sight *s, int64_t submit, int64_t restarts)
{
	return submit == s->submit || (restarts > 0 && restarts >= s->restarts && submit > s->submit);
}

/* A job that had ended for us and was put back by hand is another one, with a key of its own. */
static bool is_reborn(const struct sight *s, int64_t submit, enum stage stage)
{
	return s->ended_told && submit != s->submit && stage != OVER;
}

/* Who has the name no more keeps its number with us until all is told. */
static void displace(struct sights *t, struct sight *s, double now_s)
{
	vanish(s, now_s);
	unlink_name(t, s);
	s->next_name = NULL;
	s->seen = true;
}

static struct sight *whose(struct sights *t, const char *name, const json_t *from, double now_s)
{
	int64_t submit = member_int(from, "submit", 0), restarts = member_int(from, "restarts", 0);
	struct sight *s = sights_find(t, name);

	if (!s || s->gone || !is_same(s, submit, restarts) || is_reborn(s, submit, stage_of(from))) {
		if (s)
			displace(t, s, now_s);
		s = NULL;
	}
	return s;
}

/* Of jobs that were never seen alive only those count that came and went since the first look. */
static bool is_news(const struct sights *t, const json_t *from)
{
	if (member_int(from, "gpus", 0) <= 0)
		return false;
	return stage_of(from) != OVER || (t->began && member_int(from, "end", 0) > t->since);
}

static void show(struct sight *s, const json_t *from, double now_s)
{
	json_decref(s->shown);
	s->shown = json_incref((json_t *)from);
	s->array = member_int(from, "array", s->array);
	s->seen = s->dirty = true;
	read_runs(s, from, now_s);
	s->submit = member_int(from, "submit", s->submit);
	s->restarts = member_int(from, "restarts", 0);
}

static void read_single(struct sights *t, const json_t *from, double now_s)
{
	const char *name = member_text(from, "job");
	struct sight *s;

	if (!name || !*name || strlen(name) >= SIGHT_NAME_MAX)
		return;
	s = whose(t, name, from, now_s);
	if (!s && !is_news(t, from))
		return;
	if (!s)
		s = add(t, name, member_int(from, "submit", 0));
	s->own = true;
	show(s, from, now_s);
}

/* ---- arrays whose tasks are not told apart */

static bool is_array(const json_t *from)
{
	return json_object_get(from, "tasks") && !json_object_get(from, "task");
}

/* "0-9:2" of "0-9:2,12%3" as numbers; false: there is no more, or nothing that can be read. */
struct span {
	int64_t first, last, step;
};

static bool next_span(struct slice *rest, struct span *out)
{
	struct slice one = slice_cut(rest, ','), first = slice_cut(&one, '-'),
		     last = slice_cut(&one, ':');

	*out = (struct span){ 0, 0, 1 };
	if (!slice_int(first, &out->first))
		return false;
	out->last = out->first;
	if (last.n && !slice_int(last, &out->last))
		return false;
	return (!one.n || slice_int(one, &out->step)) && out->step > 0;
}

/* One task that waits.  Returns whether it is among those shown. */
static bool read_task(struct sights *t, const json_t *from, int64_t task, bool room, double now_s)
{
	int64_t array = member_int(from, "array", 0);
	char name[SIGHT_NAME_MAX];
	struct sight *s;

	snprintf(name, sizeof(name), "%" PRId64 "_%" PRId64, array, task);
	s = sights_find(t, name);
	if (s && s->own && s->seen)
		return false; /* told apart in this very answer */
	s = whose(t, name, from, now_s);
	if (!s && (!room || !is_news(t, from)))
		return false;
	if (!s)
		s = add(t, name, member_int(from, "submit", 0));
	s->own = false;
	show(s, from, now_s);
	return true;
}

static void say_large(struct sights *t, int64_t array, struct buf *say)
{
	for (size_t i = 0; i < t->large.n; i++) {
		if (t->large.at[i] == array)
			return;
	}
	vec_push(&t->large, array);
	buf_printf(say,
		"array %" PRId64
		" has more than %d tasks that wait: the rest is shown as those before it start\n",
		array, SIGHT_TASKS_MAX);
}

/* Tasks that the list does not have any more and that were not told apart. */
static void lose_tasks(struct sights *t, int64_t array, double now_s)
{
	for (size_t i = 0; i < t->all.n; i++) {
		struct sight *s = t->all.at[i];

		if (s->array == array && s->shown && !s->own && !s->seen && !s->gone)
			vanish(s, now_s);
	}
}

static void keep_tasks(struct sights *t, int64_t array)
{
	for (size_t i = 0; i < t->all.n; i++) {
		struct sight *s = t->all.at[i];

		s->seen |= s->array == array && !s->own;
	}
}

static void read_tasks(struct sights *t, const json_t *from, double now_s, struct buf *say)
{
	struct slice all = slice_of(member_text(from, "tasks")), rest = slice_cut(&all, '%');
	int64_t array = member_int(from, "array", 0), shown = 0;
	bool whole = true;
	struct span span;

	while (rest.n && whole) {
		whole = next_span(&rest, &span); /* else Slurm cuts long lists short: "1,3,5,..." */
		for (int64_t i = span.first; whole && i <= span.last; i += span.step) {
			if (read_task(t, from, i, shown < SIGHT_TASKS_MAX, now_s))
				shown++;
			else if (shown >= SIGHT_TASKS_MAX)
				say_large(t, array, say);
		}
	}
	if (whole)
		lose_tasks(t, array, now_s);
	else
		keep_tasks(t, array);
}

/* ---- an answer */

/* An array that is gone takes those of its tasks along that were never told apart. */
static void read_gone(struct sights *t, const char *name, double now_s)
{
	struct sight *s = name ? sights_find(t, name) : NULL;
	int64_t array = name && !strchr(name, '_') ? strtoll(name, NULL, 10) : 0;

	if (s && !s->seen && s->own && !s->gone)
		vanish(s, now_s);
	if (array && !s)
		lose_tasks(t, array, now_s);
	for (size_t i = 0; array && i < t->large.n; i++) {
		if (t->large.at[i] == array)
			t->large.at[i] = t->large.at[--t->large.n];
	}
}

static void lose_unseen(struct sights *t, double now_s)
{
	for (size_t i = 0; i < t->all.n; i++) {
		if (!t->all.at[i]->seen && !t->all.at[i]->gone)
			vanish(t->all.at[i], now_s);
	}
}

void sights_read(struct sights *t, const json_t *answer, double now_s, struct buf *say)
{
	const json_t *jobs = json_object_get(answer, "jobs"), *one;
	size_t i;

	for (i = 0; i < t->all.n; i++)
		t->all.at[i]->seen = false;
	json_array_foreach(jobs, i, one)
	{
		if (!is_array(one))
			read_single(t, one, now_s);
	}
	json_array_foreach(jobs, i, one)
	{
		if (is_array(one))
			read_tasks(t, one, now_s, say);
	}
	json_array_foreach(json_object_get(answer, "gone"), i, one)
	{
		read_gone(t, json_string_value(one), now_s);
	}
	if (member_bool(answer, "full", false))
		lose_unseen(t, now_s);
	if (!t->began)
		t->since = member_int(answer, "stamp", (int64_t)now_s);
	t->began = true;
}

static bool is_finished(const struct sight *s)
{
	return s->gone && !s->dirty && (s->standing == SIGHT_IGNORED || s->standing == SIGHT_NEW);
}

void sights_sweep(struct sights *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->all.n; i++) {
		struct sight *s = t->all.at[i];

		if (!is_finished(s)) {
			t->all.at[kept++] = s;
			continue;
		}
		unlink_name(t, s);
		if (s->job)
			unlink_job(t, s);
		destroy(s);
	}
	t->all.n = kept;
}

const char *sight_reason(const struct sight *s)
{
	const char *reason = s->shown ? member_text(s->shown, "reason") : NULL;

	if (!s->shown || s->gone || stage_of(s->shown) != WAITS || !reason || !*reason ||
		!strcmp(reason, "None"))
		return NULL;
	return reason;
}
