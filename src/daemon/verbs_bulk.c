/*
 * Changing many jobs by one request: all that a filter chooses, in one cycle of the loop and one transaction
 * of the record.
 *
 * Every job has its own row in the record, as if it had been named alone, so a replay knows nothing of
 * filters.  A job that cannot be changed is skipped and counted with the reason; the others are changed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "daemon/audit.h"
#include "daemon/job_choice.h"
#include "daemon/verbs_run.h"

enum {
	TOLD = 1000,   /* jobs that the answer names */
	WORD_MAX = 64, /* of a job's name */
};

/* Why jobs are left as they are. */
enum skip {
	SKIP_NONE,
	SKIP_FOREIGN,
	SKIP_ENDED,
	SKIP_MISSING,
	SKIP_HELD,
	SKIP_NOT_HELD,
	SKIP_RUNS,
	SKIP_REFUSED,
	SKIPS
};

static const char *const skip_texts[SKIPS] = {
	[SKIP_FOREIGN] = "belongs to another user",
	[SKIP_ENDED] = "has ended",
	[SKIP_MISSING] = "does not exist",
	[SKIP_HELD] = "is held already",
	[SKIP_NOT_HELD] = "is not held",
	[SKIP_RUNS] = "is running",
	[SKIP_REFUSED] = "cannot be changed now",
};

/* Jobs that were changed, by their user. */
struct bulk_owner {
	uid_t uid;
	uint32_t first;
	size_t n;
};

struct bulk {
	struct daemon *d;
	struct call *call;
	const char *input;
	json_t *body;
	char *text; /* of the body */
	size_t matched, changed;
	struct {
		size_t n;
		char first[WORD_MAX];
	} skipped[SKIPS];
	size_t states[LIVE_STATES]; /* changed ones, as they are now */
	VEC(uint32_t) told;         /* changed, the first */
	VEC(struct bulk_owner) owners;
};

static void skip(struct bulk *b, enum skip why, const char *job)
{
	if (!b->skipped[why].n++)
		snprintf(b->skipped[why].first, sizeof(b->skipped[why].first), "%s", job);
}

static void count_owner(struct bulk *b, const struct live_job *job)
{
	for (size_t i = b->owners.n; i-- > 0;) {
		if (b->owners.at[i].uid == job->uid) {
			b->owners.at[i].n++;
			return;
		}
	}
	vec_push(&b->owners, (struct bulk_owner){ job->uid, job->id, 1 });
}

static enum skip obstacle(const struct bulk *b, const struct live_job *job)
{
	if (!verb_allows_job(b->call->verb, &b->call->caller, job->uid))
		return SKIP_FOREIGN;
	if (live_ended(job))
		return SKIP_ENDED;
	if (!strcmp(b->input, "hold") && job->held)
		return SKIP_HELD;
	if (!strcmp(b->input, "hold") && verb_job_runs(b->d, job) &&
		!member_bool(b->call->args, "stop", false))
		return SKIP_RUNS;
	return !strcmp(b->input, "release") && !job->held ? SKIP_NOT_HELD : SKIP_NONE;
}

static void change(struct bulk *b, const struct live_job *job)
{
	enum skip why = obstacle(b, job);
	struct err err = { 0 };
	uint32_t id = job->id;
	char name[LIVE_NAME_SIZE];

	b->matched++;
	if (why == SKIP_NONE && core_apply(b->d->core, b->input, id, 0, b->d->last_s, b->body, &err) < 0)
		why = SKIP_REFUSED;
	if (why != SKIP_NONE) {
		skip(b, why, live_name(job, name));
		return;
	}
	daemon_row(b->d, b->input, id, 0, b->d->last_s, b->text, false);
	count_owner(b, job);
	b->changed++;
	b->states[job->state]++;
	if (b->told.n < TOLD)
		vec_push(&b->told, id);
}

/* ---- by filter */

/* Jobs that end stay listed until their notes are taken, so the list does not move. */
static void change_chosen(struct bulk *b, const struct job_choice *choice)
{
	size_t n;
	const struct live_job *const *jobs = core_jobs(b->d->core, &n);

	for (size_t i = 0; i < n; i++) {
		if (job_choice_has(choice, jobs[i]))
			change(b, jobs[i]);
	}
}

/* ---- by numbers */

static void change_number(struct bulk *b, const struct job_choice *choice, uint32_t id, const char *word)
{
	const struct live_job *job = core_job(b->d->core, id);

	if (!job) {
		b->matched++;
		skip(b, id < b->d->next_job ? SKIP_ENDED : SKIP_MISSING, word);
	} else if (job_choice_has(choice, job)) {
		change(b, job);
	}
}

/* "100-200": those that are alive. */
static bool change_range(struct bulk *b, const struct job_choice *choice, struct slice word)
{
	struct slice last = word, first = slice_cut(&last, '-');
	int64_t from, to;
	size_t n;
	const struct live_job *const *jobs = core_jobs(b->d->core, &n);

	if (!slice_int(first, &from) || !slice_int(last, &to) || from < 1 || to < from)
		return false;
	if (from > UINT32_MAX)
		return true;
	for (size_t i = verb_jobs_from(jobs, n, (uint32_t)from); i < n && jobs[i]->id <= to; i++) {
		if (job_choice_has(choice, jobs[i]))
			change(b, jobs[i]);
	}
	return true;
}

static bool change_word(struct bulk *b, const struct job_choice *choice, struct slice word)
{
	char text[WORD_MAX];
	uint32_t *jobs;
	size_t n;

	if (word.n >= sizeof(text))
		return false;
	memcpy(text, word.at, word.n);
	text[word.n] = '\0';
	if (memchr(word.at, '-', word.n))
		return change_range(b, choice, word);
	if (!daemon_jobs_named(b->d, text, &jobs, &n))
		return false;
	if (!n) {
		b->matched++;
		skip(b, SKIP_MISSING, text);
	}
	for (size_t i = 0; i < n; i++)
		change_number(b, choice, jobs[i], text);
	free(jobs);
	return true;
}

/* All are read before the first is changed: a word that is none changes nothing. */
static bool check_words(struct bulk *b, const char *words)
{
	struct slice left = slice_of(words);

	while (left.n) {
		struct slice word = slice_trim(slice_cut(&left, ',')), last = word, first;
		int64_t number, to;
		bool fine;

		first = slice_cut(&last, memchr(word.at, '-', word.n) ? '-' : '_');
		fine = word.n && word.n < WORD_MAX &&
			((word.n > strlen(WORLD_KEY) &&
				 !strncmp(word.at, WORLD_KEY, strlen(WORLD_KEY))) ||
				(slice_int(first, &number) && number > 0 && number < UINT32_MAX &&
					(first.n == word.n || slice_int(last, &number))));
		if (fine && memchr(word.at, '-', word.n) && slice_int(first, &number) &&
			slice_int(last, &to) && to < number) {
			call_problem(b->call, 400, 2, "ids: '%.*s' runs downward; write %lld-%lld",
				(int)word.n, word.at, (long long)to, (long long)number);
			return false;
		}
		if (fine)
			continue;
		call_problem(b->call, 400, 2,
			"ids: '%.*s' is no job; write numbers, ranges and elements of arrays such as 7,10-20,30_3",
			(int)(word.n < WORD_MAX ? word.n : WORD_MAX), word.at);
		return false;
	}
	return true;
}

static void change_named(struct bulk *b, const struct job_choice *choice, const char *words)
{
	struct slice left = slice_of(words);

	while (left.n) {
		struct slice word = slice_trim(slice_cut(&left, ','));

		if (!change_word(b, choice, word))
			skip(b, SKIP_MISSING, "");
	}
}

/* ---- the answer */

static void put_skipped(const struct bulk *b, struct json *j)
{
	size_t all = 0;

	for (int i = 0; i < SKIPS; i++)
		all += b->skipped[i].n;
	json_int(j, "skipped", (int64_t)all);
	json_begin_array(j, "reasons");
	for (int i = 0; i < SKIPS; i++) {
		if (!b->skipped[i].n)
			continue;
		json_begin_object(j, NULL);
		json_str(j, "reason", skip_texts[i]);
		json_int(j, "jobs", (int64_t)b->skipped[i].n);
		json_str(j, "first", b->skipped[i].first);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_states(const struct bulk *b, struct json *j)
{
	json_begin_object(j, "states");
	for (int i = 0; i < LIVE_STATES; i++) {
		if (b->states[i])
			json_int(j, live_state_name((enum live_state)i), (int64_t)b->states[i]);
	}
	json_end(j, '}');
}

static void answer(struct bulk *b)
{
	struct json j;

	call_begin(b->call, &j);
	json_int(&j, "matched", (int64_t)b->matched);
	json_int(&j, "changed", (int64_t)b->changed);
	put_states(b, &j);
	put_skipped(b, &j);
	json_begin_array(&j, "jobs");
	for (size_t i = 0; i < b->told.n; i++)
		job_put_changed(b->d, b->told.at[i], &j);
	json_end(&j, ']');
	json_bool(&j, "more", b->changed > b->told.n);
	json_end(&j, '}');
}

/* ---- the verbs */

static bool says_which(struct call *call)
{
	static const char *const filters[] = { "ids", "state", "user", "tenant", "name" };

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		if (json_object_get(call->args, filters[i]))
			return true;
	}
	if (member_bool(call->args, "all", false))
		return true;
	call_problem(call, 400, 2,
		"which jobs? say ids, state, user, tenant or name; all jobs that you may change: all");
	return false;
}

static bool read_filter(struct daemon *d, struct call *call, struct job_choice *out)
{
	if (!says_which(call) || !job_choice_read(d, call, out))
		return false;
	if (!out->ended)
		return true;
	call_problem(call, 400, 2, "state: only jobs that have not ended can be changed");
	return false;
}

/* Jobs of others that were asked for: by `all` alone only the caller's own are meant. */
static void audit_skipped(const struct bulk *b)
{
	const struct caller *caller = &b->call->caller;
	char detail[WORD_MAX + 64];

	if (!b->skipped[SKIP_FOREIGN].n ||
		(member_bool(b->call->args, "all", false) && !json_object_get(b->call->args, "user")))
		return;
	snprintf(detail, sizeof(detail), "%zu jobs of others, job %s first",
		b->skipped[SKIP_FOREIGN].n, b->skipped[SKIP_FOREIGN].first);
	daemon_audit(b->d,
		&(struct audit_entry){ .what = "denied",
			.by = caller->by,
			.from = caller->from[0] ? caller->from : NULL,
			.verb = b->call->verb->name,
			.detail = detail,
			.caller = *caller,
			.status = 403 });
}

static void change_all(struct daemon *d, struct call *call, const char *input)
{
	const char *words = member_text(call->args, "ids");
	struct bulk b = { .d = d, .call = call, .input = input };
	struct job_choice choice;

	if (!read_filter(d, call, &choice) || (words && !check_words(&b, words)))
		return;
	b.body = call_reason(call);
	b.text = json_dumps(b.body, JSON_COMPACT);
	if (words)
		change_named(&b, &choice, words);
	else
		change_chosen(&b, &choice);
	for (size_t i = 0; i < b.owners.n; i++)
		audit_jobs(d, call, b.owners.at[i].uid, b.owners.at[i].first, b.owners.at[i].n);
	audit_skipped(&b);
	answer(&b);
	vec_fini(&b.owners);
	json_decref(b.body);
	free(b.text);
	vec_fini(&b.told);
}

void verb_cancel_many(struct daemon *d, struct call *call)
{
	change_all(d, call, "cancel");
}

void verb_hold_many(struct daemon *d, struct call *call)
{
	change_all(d, call, "hold");
}

void verb_release_many(struct daemon *d, struct call *call)
{
	change_all(d, call, "release");
}
