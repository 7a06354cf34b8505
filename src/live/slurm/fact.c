/*
 * What Slurm says of a job, and the words by which ours are known.
 */
#include "live/slurm/fact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/members.h"
#include "base/text.h"

void fact_fini(struct fact *fact)
{
	vec_fini(&fact->on);
	free(fact->out);
	free(fact->err_out);
	*fact = (struct fact){ 0 };
}

/* ---- reading */

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

static enum fact_state state_of(const char *word)
{
	static const char *const running[] = { "RUNNING", "SUSPENDED" };
	static const char *const ended[] = { "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT",
		"NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY" };

	for (size_t i = 0; i < sizeof(running) / sizeof(*running); i++) {
		if (!strcmp(word, running[i]))
			return FACT_RUNNING;
	}
	for (size_t i = 0; i < sizeof(ended) / sizeof(*ended); i++) {
		if (!strcmp(word, ended[i]))
			return FACT_ENDED;
	}
	return FACT_PENDING;
}

static void read_parts(struct fact *fact, const json_t *on)
{
	const json_t *pair;
	size_t i;

	json_array_foreach(on, i, pair)
	{
		const char *node = json_string_value(json_array_get(pair, 0));
		json_int_t gpus = json_integer_value(json_array_get(pair, 1));
		struct fact_part part = { .gpus = gpus > 0 && gpus < 1 << 16 ? (uint32_t)gpus : 0 };

		if (!node)
			continue;
		copy_text(part.node, sizeof(part.node), node);
		vec_push(&fact->on, part);
	}
}

static char *path_or_null(const json_t *job, const char *name)
{
	const char *path = member_text(job, name);

	return path && *path ? mem_strdup(path) : NULL;
}

bool comment_holds(const char *comment)
{
	static const char word[] = "stint:held";
	size_t n = comment ? strlen(comment) : 0, length = sizeof(word) - 1;

	return n >= length && !strcmp(comment + n - length, word);
}

void fact_read(struct fact *fact, const json_t *job)
{
	const char *word = member_text(job, "state");
	int64_t restarts = member_int(job, "restarts", 0);

	fact_fini(fact);
	fact->state = state_of(word ? word : "");
	copy_text(fact->word, sizeof(fact->word), word);
	copy_text(fact->reason, sizeof(fact->reason), member_text(job, "reason"));
	fact->held = member_bool(job, "held", false);
	fact->wanted_held = comment_holds(member_text(job, "comment"));
	fact->completing = member_bool(job, "completing", false);
	fact->of_array = !json_is_integer(json_object_get(job, "task")) &&
		json_is_integer(json_object_get(job, "array"));
	fact->restarts = restarts > 0 ? (uint32_t)restarts : 0;
	copy_text(fact->mark, sizeof(fact->mark), member_text(job, "admin_comment"));
	copy_text(fact->user, sizeof(fact->user), member_text(job, "user"));
	fact->submit_s = member_number(job, "submit", 0);
	fact->start_s = member_number(job, "start", 0);
	fact->end_s = member_number(job, "end", 0);
	fact->limit_s = member_number(job, "limit_s", 0);
	fact->exit = (int)member_int(job, "exit", 0);
	fact->signal = (int)member_int(job, "signal", 0);
	read_parts(fact, json_object_get(job, "on"));
	fact->out = path_or_null(job, "out");
	fact->err_out = path_or_null(job, "err");
}

/* ---- arrays */

uint32_t name_array(const char *name)
{
	return strchr(name, '_') ? (uint32_t)strtoul(name, NULL, 10) : 0;
}

static void add_range(struct slice range, slurm_tasks *out)
{
	struct slice ends = slice_cut(&range, ':');
	struct slice first = slice_cut(&ends, '-');
	int64_t from, to, step = 1;

	if (!slice_int(first, &from) || from < 0)
		return;
	to = from;
	if ((ends.n && !slice_int(ends, &to)) || (range.n && !slice_int(range, &step)) || step < 1)
		return;
	for (; from <= to && from < UINT32_MAX && out->n < SLURM_TASKS_MAX; from += step)
		vec_push(out, (uint32_t)from);
}

uint32_t tasks_read(const char *text, slurm_tasks *out)
{
	struct slice limit = slice_of(text), list = slice_cut(&limit, '%');
	int64_t most = 0;

	while (list.n)
		add_range(slice_cut(&list, ','), out);
	return slice_int(limit, &most) && most > 0 && most < UINT32_MAX ? (uint32_t)most : 0;
}

/* ---- keys and marks */

static const char ours[] = "stint:";

/* The numbers after "stint:SITE:", each before the next colon. */
static bool numbers_of(const char *text, const char *site, uint32_t *out, int n)
{
	size_t length = strlen(site);
	struct slice rest, all;

	if (strncmp(text, ours, sizeof(ours) - 1) != 0)
		return false;
	text += sizeof(ours) - 1;
	if (strncmp(text, site, length) != 0 || text[length] != ':')
		return false;
	all = slice_of(text + length + 1);
	rest = slice_cut(&all, ' '); /* the hook may have added a word */
	for (int i = 0; i < n; i++) {
		int64_t number;

		if (!slice_int(slice_cut(&rest, ':'), &number) || number < 0 || number > UINT32_MAX)
			return false;
		out[i] = (uint32_t)number;
	}
	return rest.n == 0;
}

bool key_read(const char *text, const char *site, struct slurm_key *out)
{
	uint32_t numbers[2];

	if (!numbers_of(text, site, numbers, 2))
		return false;
	*out = (struct slurm_key){ numbers[0], numbers[1] };
	return true;
}

bool mark_read(const char *text, const char *site, struct slurm_mark *out)
{
	uint32_t numbers[3];

	if (!numbers_of(text, site, numbers, 3))
		return false;
	*out = (struct slurm_mark){ numbers[0], numbers[1], numbers[2] };
	return true;
}

void key_write(char *to, size_t size, const char *site, struct slurm_key key)
{
	snprintf(to, size, "%s%s:%u:%u", ours, site, key.job, key.generation);
}

void mark_write(char *to, size_t size, const char *site, struct slurm_mark mark)
{
	snprintf(to, size, "%s%s:%u:%u:%u", ours, site, mark.job, mark.attempt, mark.restarts);
}

bool outside_key_read(const char *text, char name[SLURM_NAME_MAX], double *submit_s)
{
	struct slice rest = slice_of(text), id;

	if (!slice_is(slice_cut(&rest, ':'), "slurm"))
		return false;
	id = slice_cut(&rest, '@');
	if (id.n == 0 || id.n >= SLURM_NAME_MAX || !slice_double(rest, submit_s))
		return false;
	snprintf(name, SLURM_NAME_MAX, "%.*s", (int)id.n, id.at);
	return true;
}

void outside_key_write(char *to, size_t size, const char *name, double submit_s)
{
	snprintf(to, size, "slurm:%s@%.0f", name, submit_s);
}
