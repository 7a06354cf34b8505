/*
 * Running text cases, and showing where they differ.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "support/case.h"
#include "support/diary.h"

enum { SPEED_GPUS_MAX = 64 };

struct run {
	const struct text_case *c;
	const struct outcome *outcome;
	struct diary *diary;
	struct buf *out;
	bool differs;
};

static bool same(double a, double b)
{
	return a == b || fabs(a - b) <= 1e-6 * fmax(1, fabs(a));
}

/* Jobs are numbered by arrival; the text names them. */
static const struct job *job_at(const struct run *r, uint32_t position)
{
	const char *label = r->c->labels.at[position];

	for (uint32_t i = 0; i < r->outcome->njobs; i++) {
		if (strcmp(r->outcome->jobs[i].label, label) == 0)
			return &r->outcome->jobs[i];
	}
	return NULL;
}

static void differ(struct run *r, uint32_t job, const char *expected, const char *got)
{
	r->differs = true;
	buf_printf(r->out, "  %-6s expected %-24s got %s\n", r->c->labels.at[job], expected, got);
}

/* ---- times */

static void add_stay(struct buf *out, double from_s, double to_s)
{
	buf_printf(out, "%s%g-", out->n ? " " : "", from_s);
	if (isfinite(to_s))
		buf_printf(out, "%g", to_s);
}

/* Compares the stays of one job; the texts are for people. */
static bool same_stays(const struct run *r, uint32_t position, struct buf *want, struct buf *got)
{
	const struct job *job = job_at(r, position);
	bool equal = true, some = false;
	const struct stay *stay;
	size_t at = 0;

	for (size_t i = 0; i < r->c->expected.n; i++) {
		const struct expectation *e = &r->c->expected.at[i];

		if (e->job != position || e->what != EXPECT_STAY)
			continue;
		some = true;
		stay = job ? diary_next(r->diary, job->id, &at) : NULL;
		equal &= stay && same(stay->from_s, e->from_s) &&
			(isnan(stay->to_s) ? isinf(e->to_s) : same(stay->to_s, e->to_s));
		add_stay(want, e->from_s, e->to_s);
	}
	equal &= !some || !job || !diary_next(r->diary, job->id, &at);
	for (at = 0; job && (stay = diary_next(r->diary, job->id, &at));)
		add_stay(got, stay->from_s, stay->to_s);
	return equal;
}

static void compare_stays(struct run *r)
{
	struct buf table = { 0 };
	bool equal = true;

	for (uint32_t job = 0; job < r->c->trace.njobs; job++) {
		struct buf want = { 0 }, got = { 0 };
		bool row = same_stays(r, job, &want, &got);

		buf_printf(&table, "%s %-6s %-32s %s\n", row ? " " : ">", r->c->labels.at[job],
			want.n ? want.at : "-", got.n ? got.at : "-");
		equal &= row;
		buf_fini(&want);
		buf_fini(&got);
	}
	if (!equal) {
		r->differs = true;
		buf_printf(r->out, "  %-6s %-32s %s\n%s", "job", "expected", "got", table.at);
	}
	buf_fini(&table);
}

/* ---- the rest */

static void compare_state(struct run *r, const struct expectation *e, const struct job *job,
	enum job_state want)
{
	enum job_state state = job ? job->state : JOB_FUTURE;

	if (state != want)
		differ(r, e->job, job_state_name(want), job_state_name(state));
	else if (e->word && strcmp(why_name(job->reason.why), e->word) != 0)
		differ(r, e->job, e->word, why_name(job->reason.why));
}

static void compare_waits(struct run *r, const struct expectation *e, const struct job *job)
{
	struct buf got = { 0 };
	bool found = false;

	for (size_t i = 0; i < r->diary->excuses.n; i++) {
		const struct excuse *x = &r->diary->excuses.at[i];

		if (x->job != job->id)
			continue;
		found |= strcmp(why_name(x->reason.why), e->word) == 0;
		buf_printf(&got, "%s at %g, ", why_name(x->reason.why), x->at_s);
	}
	if (!found)
		differ(r, e->job, e->word, got.n ? got.at : "no reason");
	buf_fini(&got);
}

/* Nodes in the order of their numbers, as "n0+n1". */
static void compare_nodes(struct run *r, const struct expectation *e, const struct job *job)
{
	struct buf got = { 0 };

	for (uint32_t node = 0; node < r->c->cluster.nnodes; node++) {
		if (diary_visited(r->diary, job->id, node))
			buf_printf(&got, "%s%s", got.n ? "+" : "", r->c->cluster.nodes[node].name);
	}
	if (!got.n || strcmp(got.at, e->word) != 0)
		differ(r, e->job, e->word, got.n ? got.at : "nowhere");
	buf_fini(&got);
}

static void compare_number(struct run *r, const struct expectation *e, const char *what, double got)
{
	char want_text[48], got_text[48];

	if (same(e->from_s, got))
		return;
	snprintf(want_text, sizeof(want_text), "%s %g", what, e->from_s);
	snprintf(got_text, sizeof(got_text), "%g", got);
	differ(r, e->job, want_text, got_text);
}

static void compare(struct run *r, const struct expectation *e)
{
	const struct job *job = job_at(r, e->job);

	if (!job) {
		differ(r, e->job, "to be submitted", "not submitted");
		return;
	}
	switch (e->what) {
	case EXPECT_STAY:
		break; /* all of them together */
	case EXPECT_ON:
		compare_nodes(r, e, job);
		break;
	case EXPECT_WAITS:
		compare_waits(r, e, job);
		break;
	case EXPECT_REJECTED:
		compare_state(r, e, job, JOB_REJECTED);
		break;
	case EXPECT_UNFINISHED:
		compare_state(r, e, job, JOB_UNFINISHED);
		break;
	case EXPECT_PREEMPTED:
		compare_number(r, e, "preempted", job->preemptions);
		break;
	case EXPECT_MOVES:
		compare_number(r, e, "moves", job->migrations);
		break;
	case EXPECT_RESIZES:
		compare_number(r, e, "resizes", job->resizes);
		break;
	case EXPECT_FAILS:
		compare_number(r, e, "fails", job->failures);
		break;
	case EXPECT_LOSES:
		compare_number(r, e, "loses", job->lost_s);
		break;
	case EXPECT_PAYS:
		compare_number(r, e, "pays", job->overhead_s);
		break;
	}
}

/* ---- running */

/* A profile with what was said of truth or belief; NULL if no job has a model. */
static struct profile *profile_of(const struct text_case *c, bool belief)
{
	struct profile *profile;

	if (c->trace.models.n == 0)
		return NULL;
	profile = profile_create(&c->cluster, &c->trace.models);
	for (size_t i = 0; i < c->speeds.n; i++) {
		const struct speed *s = &c->speeds.at[i];

		for (uint32_t gpus = 1; s->belief == belief && gpus <= SPEED_GPUS_MAX; gpus++)
			profile_add(profile, s->model, s->type, gpus, 0, s->rate * gpus);
	}
	return profile;
}

static bool has_belief(const struct text_case *c)
{
	for (size_t i = 0; i < c->speeds.n; i++) {
		if (c->speeds.at[i].belief)
			return true;
	}
	return false;
}

/* The failures as the file the simulator reads; NULL if there are none. */
static char *write_failures(const struct text_case *c, struct err *err)
{
	const char *dir = getenv("TMPDIR");
	struct buf text = { 0 };
	char *path;

	if (c->failures.n == 0)
		return NULL;
	path = mem_printf("%s/stint-case-%ld.csv", dir ? dir : "/tmp", (long)getpid());
	for (size_t i = 0; i < c->failures.n; i++) {
		const struct node_failure *f = &c->failures.at[i];

		buf_printf(&text, "%.17g,%u,down\n", f->at_s, f->node);
		if (isfinite(f->up_s))
			buf_printf(&text, "%.17g,%u,up\n", f->up_s, f->node);
	}
	file_write(path, text.at, text.n, err);
	buf_fini(&text);
	return path;
}

static int simulate(struct text_case *c, struct diary *diary, struct outcome *out, struct err *err)
{
	struct observer observer = diary_observer(diary);
	struct profile *truth = profile_of(c, false);
	struct profile *belief = has_belief(c) ? profile_of(c, true) : NULL;
	char *failures = write_failures(c, err);
	int rc = err->code;

	c->config.trace = &c->trace;
	c->config.cluster = &c->cluster;
	c->config.tenants = c->tenants.n ? &c->tenants : NULL;
	c->config.truth = truth;
	c->config.belief = belief;
	c->config.failures.file = failures;
	c->config.observers = &observer;
	c->config.nobservers = 1;
	trace_finish(&c->trace, NAN);
	if (rc == 0)
		rc = sim_run(&c->config, out, err);
	if (failures)
		unlink(failures);
	free(failures);
	profile_destroy(truth);
	profile_destroy(belief);
	return rc;
}

bool case_run(struct text_case *c, struct buf *out)
{
	struct diary diary = { 0 };
	struct outcome outcome = { 0 };
	struct err err = { 0 };
	struct run run = { .c = c, .outcome = &outcome, .diary = &diary, .out = out };

	if (c->err.code != 0) {
		buf_printf(out, "%s\n", c->err.text);
		return false;
	}
	buf_printf(out, "%s:%zu: %s\n", c->path, c->line, c->title);
	if (simulate(c, &diary, &outcome, &err) < 0) {
		buf_printf(out, "  %s\n", err.text);
		run.differs = true;
	} else {
		compare_stays(&run);
		for (size_t i = 0; i < c->expected.n; i++)
			compare(&run, &c->expected.at[i]);
	}
	diary_fini(&diary);
	outcome_fini(&outcome);
	return !run.differs;
}
