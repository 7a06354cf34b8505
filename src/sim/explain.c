/*
 * Causes and changes, by trials.
 */
#include "sim/explain.h"

#include <math.h>
#include <stdlib.h>

const double explain_ladder_s[] = { 1, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800,
	14400, 21600, 28800, 43200, 86400, 172800, 259200, 432000, 604800, 1209600, 2592000, 0 };

struct search {
	struct explanation *e;
	struct trial trial;
	uint32_t limit;
	struct err *err;
	int rc; /* < 0: the policy failed; nothing is tried any more */
};

void explanation_fini(struct explanation *e)
{
	vec_fini(&e->causes);
	vec_fini(&e->changes);
	arena_fini(&e->memory);
	*e = (struct explanation){ 0 };
}

/* Whether the job starts as the trial is now; that the tries are used up is remembered. */
static bool starts(struct search *s)
{
	int rc;

	if (s->rc < 0 || s->trial.tries >= s->limit) {
		s->e->cut |= s->rc >= 0;
		return false;
	}
	rc = trial_run(&s->trial, s->err);
	if (rc < 0)
		s->rc = rc;
	return rc > 0;
}

static bool starts_without(struct search *s, uint32_t constraints)
{
	trial_reset(&s->trial);
	for (int c = 0; c < CONSTRAINTS; c++) {
		if (constraints >> c & 1)
			trial_lift(&s->trial, (enum constraint)c);
	}
	return starts(s);
}

/* ---- causes */

/* What the policy means, if it is one of ours. */
static enum constraint constraint_of(enum why why)
{
	switch (why) {
	case WHY_BUSY:
	case WHY_FRAGMENTED:
	case WHY_OUTRANKED:
	case WHY_RECLAIMED:
		return BY_BUSY;
	case WHY_BEHIND:
	case WHY_RESERVED:
	case WHY_TURN:
		return BY_QUEUE;
	case WHY_SHARE:
		return BY_SHARE;
	case WHY_QUOTA:
		return BY_QUOTA;
	case WHY_ADMISSION:
		return BY_ADMISSION;
	case WHY_DEPENDENCY:
	case WHY_ORPHANED:
		return BY_DEPENDENCY;
	case WHY_DOWN:
		return BY_DOWN;
	case WHY_DRAINED:
		return BY_DRAINED;
	case WHY_AVOIDS:
		return BY_AVOID;
	case WHY_TOO_LARGE:
		return BY_SIZE;
	case WHY_NO_TYPE:
		return BY_TYPES;
	case WHY_NO_HOST:
		return BY_HOST;
	case WHY_DEADLINE:
		return BY_DEADLINE;
	default:
		return CONSTRAINTS;
	}
}

static const char *word_of(enum constraint c)
{
	static const char *const words[CONSTRAINTS] = {
		[BY_HOLD] = "held",
		[BY_BEGIN] = "begin-time",
		[BY_DEPENDENCY] = "dependency",
		[BY_ADMISSION] = "admission",
		[BY_QUOTA] = "quota",
		[BY_DOWN] = "down",
		[BY_DRAINED] = "drained",
		[BY_AVOID] = "avoids",
		[BY_HOST] = "host",
		[BY_TYPES] = "types",
		[BY_DEADLINE] = "deadline",
		[BY_SHARE] = "share",
		[BY_PRIORITY] = "priority",
		[BY_LENGTH] = "time",
		[BY_SIZE] = "size",
		[BY_QUEUE] = "queue",
		[BY_BUSY] = "busy",
	};

	return words[c];
}

/* Puts back one after the other what is not missed. */
static uint32_t put_back(struct search *s, uint32_t lifted)
{
	for (int c = 0; c < CONSTRAINTS; c++) {
		uint32_t less = lifted & ~(UINT32_C(1) << c);

		if (less != lifted && less && starts_without(s, less))
			lifted = less;
	}
	return lifted;
}

/*
 * Of `all`, those that cannot be put back; 0: not even all together start it.  What was missed beside
 * others may not be missed without them, so it is gone over until nothing changes.
 */
static uint32_t find_needed(struct search *s, uint32_t all)
{
	uint32_t before = 0, lifted = all;

	if (!all || !starts_without(s, all))
		return 0;
	while (lifted != before) {
		before = lifted;
		lifted = put_back(s, lifted);
	}
	return lifted;
}

static void add_cause(struct search *s, enum constraint c, uint32_t alone, uint32_t needed, bool said)
{
	struct cause cause = {
		.constraint = c,
		.word = said && s->e->said.why != WHY_NONE ? why_name(s->e->said.why) : NULL,
		.alone = c < CONSTRAINTS && alone >> c & 1,
		.needed = c < CONSTRAINTS && needed >> c & 1,
		.said = said,
	};

	if (!cause.word)
		cause.word = c == BY_HOLD && s->e->config.gate ? s->e->config.gate : word_of(c);
	vec_push(&s->e->causes, cause);
}

static void list_causes(struct search *s, uint32_t alone, uint32_t needed)
{
	enum constraint own = constraint_of(s->e->said.why);

	if (s->e->said.why != WHY_NONE)
		add_cause(s, own, alone, needed, true);
	for (int c = 0; c < CONSTRAINTS; c++) {
		if (alone >> c & 1 && (enum constraint)c != own)
			add_cause(s, (enum constraint)c, alone, needed, false);
	}
	for (int c = 0; c < CONSTRAINTS; c++) {
		if (needed >> c & 1 && !(alone >> c & 1) && (enum constraint)c != own)
			add_cause(s, (enum constraint)c, alone, needed, false);
	}
}

static uint32_t find_causes(struct search *s)
{
	uint32_t all = 0, alone = 0, needed;

	for (int c = 0; c < CONSTRAINTS; c++)
		all |= trial_applies(&s->trial, (enum constraint)c) ? UINT32_C(1) << c : 0;
	for (int c = 0; c < CONSTRAINTS; c++) {
		if (all >> c & 1 && starts_without(s, UINT32_C(1) << c))
			alone |= UINT32_C(1) << c;
	}
	needed = find_needed(s, all);
	s->e->never = !needed && !alone;
	list_causes(s, alone, needed);
	return alone;
}

/* ---- changes */

static void add_change(struct search *s, enum change_kind kind, double value)
{
	vec_push(&s->e->changes, (struct change){ .kind = kind, .value = value });
}

/* One change of its kind, made larger step by step. */
struct steps {
	void (*make)(struct trial *trial, const void *ctx, int step);
	const void *ctx;
};

static bool starts_at(struct search *s, const struct steps *steps, int step)
{
	trial_reset(&s->trial);
	steps->make(&s->trial, steps->ctx, step);
	return starts(s);
}

/*
 * The smallest of steps 1..n that starts it, 0: none.  Few are tried in turn; of many one is found that
 * does while the one before it does not.
 */
static int smallest(struct search *s, const struct steps *steps, int n)
{
	enum { IN_TURN = 8 };
	int low = 0, high = n;

	if (n <= IN_TURN) {
		for (int step = 1; step <= n; step++) {
			if (starts_at(s, steps, step))
				return step;
		}
		return 0;
	}
	if (!starts_at(s, steps, n))
		return 0;
	while (high - low > 1) {
		int middle = low + (high - low) / 2;

		if (starts_at(s, steps, middle))
			high = middle;
		else
			low = middle;
	}
	return s->e->cut ? 0 : high; /* without the tries to know the one before, nothing is said */
}

bool explain_is_elastic(const struct job *job)
{
	return job->min_gpus != job->max_gpus;
}

/* Of an elastic one the least it takes counts: what it would like stays. */
static void make_smaller(struct trial *t, const void *ctx, int step)
{
	struct job *job = trial_job(t);

	(void)ctx;
	if (explain_is_elastic(job))
		job->min_gpus -= step;
	else
		job->gpus = job->min_gpus = job->max_gpus = job->gpus - step;
}

static void try_gpus(struct search *s)
{
	const struct job *job = &s->e->config.from->jobs.at[s->e->config.job].job;
	const struct steps steps = { make_smaller, NULL };
	int step;

	if (job->min_gpus < 2 || job->gpus_by_type)
		return;
	step = smallest(s, &steps, job->min_gpus - 1);
	if (step)
		add_change(s, CHANGE_GPUS, job->min_gpus - step);
}

/* ---- what it needs beside devices; all it asks for, in whole numbers, is step 0 */

enum { MOST_STEPS = 1 << 20 };

static int whole(double amount)
{
	return amount < MOST_STEPS ? (int)ceil(amount) : MOST_STEPS;
}

static void make_fewer_cpus(struct trial *t, const void *ctx, int step)
{
	(void)ctx;
	trial_job(t)->cpus = whole(trial_job(t)->cpus) - step;
}

static void make_less_mem(struct trial *t, const void *ctx, int step)
{
	double gib = whole((double)trial_job(t)->mem_bytes / EXPLAIN_GIB) - step;

	(void)ctx;
	trial_job(t)->mem_bytes = (int64_t)(gib * EXPLAIN_GIB);
}

static void try_host(struct search *s)
{
	const struct job *job = &s->e->config.from->jobs.at[s->e->config.job].job;
	const struct steps fewer = { make_fewer_cpus, NULL }, less = { make_less_mem, NULL };
	int cpus = whole(job->cpus), gib = whole((double)job->mem_bytes / EXPLAIN_GIB), step;

	step = cpus ? smallest(s, &fewer, cpus) : 0;
	if (step)
		add_change(s, CHANGE_CPUS, cpus - step);
	step = gib ? smallest(s, &less, gib) : 0;
	if (step)
		add_change(s, CHANGE_MEM, (gib - step) * EXPLAIN_GIB);
}

static void try_types(struct search *s)
{
	const struct snapshot *from = s->e->config.from;

	for (uint32_t type = 0; type < from->cluster.ntypes; type++) {
		if (!trial_may_add_type(&s->trial, type))
			continue;
		trial_reset(&s->trial);
		trial_job(&s->trial)->types |= UINT32_C(1) << type;
		if (starts(s))
			add_change(s, CHANGE_TYPES, type);
	}
}

/* `ctx` is the rung above which the job is. */
static void make_shorter(struct trial *t, const void *ctx, int step)
{
	struct job *job = trial_job(t);

	job->work_est = job->done + job->nominal_rate * explain_ladder_s[*(const int *)ctx - step];
}

static void try_time(struct search *s)
{
	const struct job *job = &s->e->config.from->jobs.at[s->e->config.job].job;
	double left_s = job->nominal_rate > 0 ? (job->work_est - job->done) / job->nominal_rate : 0;
	int rungs = 0, step;
	const struct steps steps = { make_shorter, &rungs };

	while (explain_ladder_s[rungs] > 0 && explain_ladder_s[rungs] < left_s)
		rungs++;
	step = smallest(s, &steps, rungs);
	if (step)
		add_change(s, CHANGE_TIME, explain_ladder_s[rungs - step]);
}

/* ---- priority */

typedef VEC(int32_t) priorities;

static int by_value(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/* Above its own: those of others, and just above. */
static void list_priorities(const struct search *s, priorities *out)
{
	const struct snapshot *from = s->e->config.from;
	int32_t own = from->jobs.at[s->e->config.job].job.priority;
	size_t kept = 0;

	for (size_t i = 0; i < from->jobs.n; i++) {
		int32_t other = from->jobs.at[i].job.priority;

		if (i == s->e->config.job || other < own || other == INT32_MAX)
			continue;
		if (other > own)
			vec_push(out, other);
		vec_push(out, other + 1);
	}
	if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), by_value);
	for (size_t i = 0; i < out->n; i++) {
		if (!kept || out->at[kept - 1] != out->at[i])
			out->at[kept++] = out->at[i];
	}
	out->n = kept;
}

static void make_prior(struct trial *t, const void *ctx, int step)
{
	trial_job(t)->priority = ((const priorities *)ctx)->at[step - 1];
}

static void try_priority(struct search *s)
{
	priorities above = { 0 };
	const struct steps steps = { make_prior, &above };
	int step;

	list_priorities(s, &above);
	step = smallest(s, &steps, (int)above.n);
	if (step)
		add_change(s, CHANGE_PRIORITY, above.at[step - 1]);
	vec_fini(&above);
}

/* ---- quotas */

/* `ctx` is which of the two numbers; each begins with what it is now. */
static void make_quota(struct trial *t, const void *ctx, int step)
{
	const struct tenant *tenant = trial_tenant(t);
	uint32_t guaranteed = tenant ? tenant->guaranteed : 0, borrow = tenant ? tenant->borrow : 0;

	if (*(const enum change_kind *)ctx == CHANGE_GUARANTEED)
		trial_promise(t, guaranteed + (uint32_t)step, QUOTA_ALL);
	else
		trial_promise(t, QUOTA_ALL, borrow + (uint32_t)step);
}

/* How much more the tenant can be promised. */
static int promisable(struct search *s, uint32_t guaranteed)
{
	int low = 0, high = (int)s->e->config.from->cluster.devices + 1;

	while (high - low > 1) {
		int middle = low + (high - low) / 2;

		if (trial_promise(&s->trial, guaranteed + (uint32_t)middle, QUOTA_ALL))
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void try_quota(struct search *s)
{
	const struct tenant *tenant = trial_tenant(&s->trial);
	enum change_kind kind = CHANGE_GUARANTEED;
	const struct steps steps = { make_quota, &kind };
	int step;

	if (!trial_applies(&s->trial, BY_QUOTA))
		return;
	/* By type there is no one number that could be larger. */
	step = tenant && tenant->nparts
		? 0
		: smallest(s, &steps, promisable(s, tenant ? tenant->guaranteed : 0));
	if (step)
		add_change(s, kind, (tenant ? tenant->guaranteed : 0) + (uint32_t)step);
	kind = CHANGE_BORROW;
	if (!tenant || tenant->borrow == QUOTA_ALL)
		return;
	step = smallest(s, &steps, (int)s->e->config.from->cluster.devices);
	if (step)
		add_change(s, kind, tenant->borrow + (uint32_t)step);
}

/* ---- waiting for others, or putting them aside */

double explain_left_s(const struct snapshot *s, uint32_t i)
{
	struct job job = s->jobs.at[i].job;
	double per_s = job.rate > 0 ? job.rate : job.nominal_rate, left_s;

	job.grant = s->jobs.at[i].grant;
	job.state = job.grant ? JOB_RUNNING : job.state;
	if (isnan(job.counted_s))
		job.counted_s = s->now_s;
	left_s = (job.work_est - job_done(&job, s->now_s)) / per_s;
	return fmin(left_s > 0 ? left_s : 0, s->jobs.at[i].limit_s);
}

struct leaver {
	uint32_t job;
	double left_s;
};

static int by_end(const void *a, const void *b)
{
	const struct leaver *x = a, *y = b;

	if (x->left_s != y->left_s)
		return x->left_s < y->left_s ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

static void make_leave(struct trial *t, const void *ctx, int step)
{
	const struct leaver *leavers = ctx;

	for (int i = 0; i < step; i++)
		trial_end(t, leavers[i].job);
}

static void add_wait(struct search *s, const struct leaver *leavers, uint32_t n)
{
	uint32_t *jobs = arena_array(&s->e->memory, uint32_t, n);

	for (uint32_t i = 0; i < n; i++)
		jobs[i] = leavers[i].job;
	vec_push(&s->e->changes,
		(struct change){ .kind = CHANGE_WAIT, .value = jobs[n - 1], .jobs = jobs, .njobs = n });
}

static void try_wait(struct search *s, bool together)
{
	uint32_t n = s->e->config.from->nrunning;
	struct leaver *leavers = mem_alloc(mem_array_size(n + 1u, sizeof(*leavers)));
	const struct steps steps = { make_leave, leavers };
	bool found = false;
	int step;

	for (uint32_t i = 0; i < n; i++)
		leavers[i] = (struct leaver){ i, explain_left_s(s->e->config.from, i) };
	qsort(leavers, n, sizeof(*leavers), by_end);
	for (uint32_t i = 0; i < n && i < EXPLAIN_SINGLES && !found; i++) {
		trial_reset(&s->trial);
		trial_end(&s->trial, leavers[i].job);
		found = starts(s);
		if (found)
			add_wait(s, &leavers[i], 1);
	}
	if (!found && together && n > 1) {
		step = smallest(s, &steps, (int)n);
		if (step > 1)
			add_wait(s, leavers, (uint32_t)step);
	}
	free(leavers);
}

static bool is_own(const struct explain_config *config, uint32_t i)
{
	const struct snapshot *from = config->from;

	if (i == config->job)
		return false;
	return config->own ? config->own[i]
			   : from->jobs.at[i].job.tenant == from->jobs.at[config->job].job.tenant;
}

static void try_hold(struct search *s)
{
	uint32_t tried = 0;

	for (uint32_t i = 0; i < s->e->config.from->jobs.n && tried < EXPLAIN_SINGLES; i++) {
		if (!is_own(&s->e->config, i))
			continue;
		tried++;
		trial_reset(&s->trial);
		trial_remove(&s->trial, i);
		if (starts(s))
			add_change(s, CHANGE_HOLD, i);
	}
}

/* What lifting a constraint for good does not do, less of it seldom does: not tried. */
static void find_changes(struct search *s, uint32_t alone)
{
	if (alone >> BY_HOLD & 1 && !s->e->config.gate)
		add_change(s, CHANGE_RELEASE, s->e->config.job);
	if (alone >> BY_SIZE & 1)
		try_gpus(s);
	if (alone >> BY_HOST & 1)
		try_host(s);
	if (alone >> BY_TYPES & 1)
		try_types(s);
	if (alone >> BY_LENGTH & 1)
		try_time(s);
	if (alone >> BY_PRIORITY & 1)
		try_priority(s);
	try_quota(s);
	if (s->e->config.from->nrunning)
		try_wait(s, alone >> BY_BUSY & 1);
	try_hold(s);
}

int explain(const struct explain_config *config, struct explanation *out, struct err *err)
{
	struct search s = { .e = out, .limit = config->tries ? config->tries : EXPLAIN_TRIES, .err = err };

	*out = (struct explanation){ .config = *config };
	s.rc = trial_init(&s.trial, config->from, config->job, err);
	s.trial.types = config->types;
	out->decides_s = s.trial.until_s;
	out->starts = starts(&s);
	out->said = s.trial.out[config->job].reason;
	/* That its devices were taken back says more than that they are gone. */
	if (out->said.why == WHY_BUSY &&
		config->from->jobs.at[config->job].job.reason.why == WHY_RECLAIMED)
		out->said = config->from->jobs.at[config->job].job.reason;
	if (out->said.why == WHY_NONE)
		out->said.other = JOB_NONE;
	if (!out->starts && s.rc >= 0)
		find_changes(&s, find_causes(&s));
	out->tries = s.trial.tries;
	trial_fini(&s.trial);
	return s.rc < 0 ? s.rc : 0;
}
