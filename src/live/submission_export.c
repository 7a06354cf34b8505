/*
 * Which variables go along with a job.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "io/notes.h"
#include "live/submission.h"

/* Without these hardly a command finds anything: they always go along. */
static const char *const basics[] = { "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ",
	"USER" };

/* What the daemon tells a job is about that job, not about those it submits. */
static const char *const own[] = { "STINT", "SLURM_JOB_ID", "SLURM_ARRAY_TASK_ID",
	"CUDA_VISIBLE_DEVICES", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
	"MASTER_ADDR", "MASTER_PORT" };

struct pairs {
	const char **at;
	size_t n, cap;
};

static struct slice name_of(const char *pair)
{
	return (struct slice){ pair, strcspn(pair, "=") };
}

static bool is_among(struct slice name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(name, list[i]))
			return true;
	return false;
}

/* Whether `name` is in the list of names and settings that `export` is. */
static bool is_named(struct slice name, const char *export)
{
	struct slice rest = slice_of(export);

	while (rest.n) {
		struct slice item = slice_trim(slice_cut(&rest, ','));

		if (item.n == name.n && !memcmp(item.at, name.at, name.n))
			return true;
	}
	return false;
}

static bool has_word(const char *export, const char *word)
{
	struct slice rest = slice_of(export);

	while (rest.n)
		if (slice_is_nocase(slice_trim(slice_cut(&rest, ',')), word))
			return true;
	return false;
}

static const char *find(const struct pairs *pairs, struct slice name)
{
	for (size_t i = 0; i < pairs->n; i++) {
		struct slice other = name_of(pairs->at[i]);

		if (other.n == name.n && !memcmp(other.at, name.at, name.n))
			return pairs->at[i];
	}
	return NULL;
}

/* The first that says a name counts: what is said last is put first. */
static void put(struct submission *s, struct pairs *pairs, const char *pair, size_t n)
{
	struct slice name = name_of(pair);

	if (!find(pairs, name))
		vec_push(pairs, arena_strndup(&s->memory, pair, n));
}

static void put_settings(struct submission *s, struct pairs *pairs, const char *export)
{
	struct slice rest = slice_of(export);

	while (rest.n) {
		struct slice item = slice_cut(&rest, ',');
		const char *equals = memchr(item.at, '=', item.n);

		if (equals && equals > item.at)
			put(s, pairs, arena_strndup(&s->memory, item.at, item.n), item.n);
	}
}

static bool goes_along(const char *pair, const char *export, bool all, bool inside)
{
	struct slice name = name_of(pair);

	if (!name.n || !pair[name.n] || !strncmp(pair, "STINT_", 6))
		return false;
	if (inside && is_among(name, own, sizeof(own) / sizeof(*own)))
		return false;
	return all || is_among(name, basics, sizeof(basics) / sizeof(*basics)) ||
		(export && is_named(name, export));
}

void submission_export(struct submission *s, const char *const *environment, struct notes *notes)
{
	const char *export = s->export;
	bool all = !export || has_word(export, "ALL"), inside = false;
	struct pairs pairs = { 0 };
	const char **kept;

	if (export)
		put_settings(s, &pairs, export);
	for (const char *const *pair = s->env; pair && *pair; pair++)
		put(s, &pairs, *pair, strlen(*pair));
	for (const char *const *pair = environment; pair && *pair; pair++)
		inside |= !strcmp(*pair, "STINT=1");
	for (const char *const *pair = environment; pair && *pair; pair++) {
		if (!goes_along(*pair, export, all, inside))
			continue;
		if (submission_travels(*pair))
			put(s, &pairs, *pair, strlen(*pair));
		else
			notes_add(notes, NOTE_DROPPED, 0, NULL, NULL,
				"variable %.*s is not UTF-8 and does not go along",
				(int)name_of(*pair).n, *pair);
	}
	kept = arena_array(&s->memory, const char *, pairs.n + 1);
	if (pairs.n)
		memcpy(kept, pairs.at, pairs.n * sizeof(*kept));
	s->env = kept;
	s->export = NULL;
	vec_fini(&pairs);
}
