/*
 * A list of waiting jobs by number, each with its reasons.
 */
#include "daemon/reasons.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "daemon/launch_retry.h"

struct waiting_for {
	double at_s;
	const char *word; /* static; NULL: it has devices */
	char *text;
	uint32_t about; /* a job; 0: none */
};

/* What makes a reason another one, compared before any text is written. */
struct mark {
	uint32_t engine_id, other, why;
	enum gate gate;
	enum live_state state;
};

struct waiter {
	uint32_t job;
	struct mark mark;
	VEC(struct waiting_for) reasons;
};

struct reasons {
	VEC(struct waiter) waiters; /* by job */
};

struct reasons *reasons_create(void)
{
	return mem_alloc(sizeof(struct reasons));
}

static void waiter_fini(struct waiter *w)
{
	for (size_t i = 0; i < w->reasons.n; i++)
		free(w->reasons.at[i].text);
	vec_fini(&w->reasons);
}

void reasons_destroy(struct reasons *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->waiters.n; i++)
		waiter_fini(&r->waiters.at[i]);
	vec_fini(&r->waiters);
	free(r);
}

static struct mark mark_of(const struct core *core, const struct live_job *job)
{
	const struct job *seen = core_engine_job(core, job);

	return (struct mark){
		.engine_id = job->engine_id,
		.other = seen->reason.other,
		.why = (uint32_t)seen->reason.why,
		.gate = job->held ? GATE_USER : job->gate,
		.state = job->state,
	};
}

static bool same_mark(struct mark a, struct mark b)
{
	return a.engine_id == b.engine_id && a.other == b.other && a.why == b.why &&
		a.gate == b.gate && a.state == b.state;
}

static bool is_news(const struct waiter *w, const char *word, uint32_t about)
{
	const struct waiting_for *last = w->reasons.n ? &w->reasons.at[w->reasons.n - 1] : NULL;

	if (!last || !last->word || !word)
		return word != (last ? last->word : NULL);
	/* Its launch fails: the core goes on to see a job that is about to start. */
	if (!strcmp(last->word, LAUNCH_REASON) && !strcmp(word, "configuring"))
		return false;
	return strcmp(last->word, word) != 0 || last->about != about;
}

static void keep(struct waiter *w, struct waiting_for reason)
{
	if (w->reasons.n == REASONS_KEPT) {
		free(w->reasons.at[0].text);
		memmove(&w->reasons.at[0], &w->reasons.at[1],
			(REASONS_KEPT - 1) * sizeof(w->reasons.at[0]));
		w->reasons.n--;
	}
	vec_push(&w->reasons, reason);
}

static void look(struct waiter *w, const struct core *core, const struct live_job *job, double now_s)
{
	struct mark mark = mark_of(core, job);
	struct buf text = { 0 };
	uint32_t about = 0;
	const char *word;

	if (same_mark(mark, w->mark) && w->reasons.n)
		return;
	w->mark = mark;
	word = core_reason(core, job, now_s, &text, &about);
	if (is_news(w, word, about))
		keep(w, (struct waiting_for){ now_s, word, mem_strdup(text.at ? text.at : ""), about });
	buf_fini(&text);
}

/* Opens a place at `at`; those from there on move by one. */
static void insert(struct reasons *r, size_t at)
{
	vec_push(&r->waiters, (struct waiter){ 0 });
	memmove(&r->waiters.at[at + 1], &r->waiters.at[at],
		(r->waiters.n - 1 - at) * sizeof(r->waiters.at[0]));
}

/*
 * Both lists are by number: what is in one only came, or went.  In place: most of a long queue stays where it is,
 * and a job that comes is nearly always the last.
 */
void reasons_see(struct reasons *r, const struct core *core, double now_s)
{
	size_t n, old = 0;
	const struct live_job *const *jobs = core_jobs(core, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t job = jobs[i]->id;

		for (; old < r->waiters.n && r->waiters.at[old].job < job; old++)
			waiter_fini(&r->waiters.at[old]);
		if (old < r->waiters.n && r->waiters.at[old].job == job) {
			if (old > i)
				r->waiters.at[i] = r->waiters.at[old];
			old++;
		} else {
			if (old == i) {
				insert(r, i);
				old++;
			}
			r->waiters.at[i] = (struct waiter){ .job = job };
		}
		look(&r->waiters.at[i], core, jobs[i], now_s);
	}
	for (; old < r->waiters.n; old++)
		waiter_fini(&r->waiters.at[old]);
	r->waiters.n = n;
}

void reasons_keep(struct reasons *r, uint32_t job, double at_s, const char *word, const char *text)
{
	size_t at = 0;

	while (at < r->waiters.n && r->waiters.at[at].job < job)
		at++;
	if (at == r->waiters.n || r->waiters.at[at].job != job) {
		insert(r, at);
		r->waiters.at[at] = (struct waiter){ .job = job };
	}
	keep(&r->waiters.at[at], (struct waiting_for){ at_s, word, mem_strdup(text), 0 });
}

static const struct waiter *find(const struct reasons *r, uint32_t job)
{
	for (size_t i = 0; i < r->waiters.n; i++) {
		if (r->waiters.at[i].job == job)
			return &r->waiters.at[i];
	}
	return NULL;
}

void reasons_to_json(const struct reasons *r, uint32_t job, const struct wallclock *wall,
	struct json *j)
{
	const struct waiter *w = find(r, job);

	json_begin_array(j, "waits");
	for (size_t i = 0; w && i < w->reasons.n; i++) {
		const struct waiting_for *one = &w->reasons.at[i];

		json_begin_object(j, NULL);
		json_double(j, "at", wallclock_s(wall, one->at_s));
		json_str(j, "reason", one->word);
		json_str(j, "text", one->text);
		if (one->about)
			json_int(j, "job", one->about);
		json_end(j, '}');
	}
	json_end(j, ']');
}
