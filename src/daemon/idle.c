/*
 * Watching what running jobs do.
 */
#include "daemon/idle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/daemon_state.h"

#define WARN_S 1800.0
#define CORES 0.05

/* A job that waits for its data or for a fellow now and then is nobody's business. */
#define MENTION_S 60.0
#define LOOK_MOST_S 5.0
#define LOOK_LEAST_S 0.2
/* Between two looks; who was not looked at for so long (a machine that slept) may have done anything. */
#define AWAY_S 120.0

/* What an attempt was last seen to do. */
struct idle_seen {
	uint32_t job, attempt;
	double cpu_s, at_s; /* at the last look */
	double since_s;     /* it has done nothing */
	bool known;         /* cpu_s is */
	bool asked;         /* for its devices */
};

/* A look: what those that are watched have used. */
struct idle_look {
	struct task task;
	struct hands_use *uses; /* by job and attempt */
	size_t n;
	double boot_s; /* when it was */
};

static const char *const thens[IDLE_THENS] = {
	[IDLE_HOLD] = "hold",
	[IDLE_REQUEUE] = "requeue",
	[IDLE_CANCEL] = "cancel",
};

/* ---- the rule */

static bool read_then(struct slice word, enum idle_then *out)
{
	for (int i = 0; i < IDLE_THENS; i++) {
		if (slice_is(word, thens[i])) {
			*out = (enum idle_then)i;
			return true;
		}
	}
	return false;
}

static bool read_part(struct idle_rule *rule, struct slice name, struct slice value)
{
	if (slice_is(name, "warn"))
		return slice_seconds(value, &rule->warn_s) && rule->warn_s > 0;
	if (slice_is(name, "reclaim"))
		return slice_seconds(value, &rule->reclaim_s) && rule->reclaim_s >= 0;
	if (slice_is(name, "cores"))
		return slice_double(value, &rule->cores) && rule->cores > 0;
	return slice_is(name, "then") && read_then(value, &rule->then);
}

int idle_rule_parse(const char *text, struct idle_rule *out, struct err *err)
{
	struct idle_rule rule = { 0, 0, CORES, IDLE_HOLD };
	struct slice left = slice_of(text);

	if (slice_is(left, "off")) {
		*out = (struct idle_rule){ 0 };
		return 0;
	}
	while (left.n) {
		struct slice part = slice_cut(&left, ','), value = part;
		struct slice name = slice_cut(&value, '=');

		if (!read_part(&rule, slice_trim(name), slice_trim(value)))
			return err_set(err, ERR_USAGE,
				"'%.*s' is not understood; write warn=30m,reclaim=2h,then=hold (or requeue, cancel),cores=0.05, or off",
				(int)part.n, part.at);
	}
	if (rule.warn_s == 0)
		rule.warn_s = rule.reclaim_s > 0 ? fmin(WARN_S, rule.reclaim_s / 2) : WARN_S;
	if (rule.reclaim_s > 0 && rule.reclaim_s < rule.warn_s)
		return err_set(err, ERR_USAGE,
			"reclaim=%gs comes before warn=%gs; a job is warned of first",
			rule.reclaim_s, rule.warn_s);
	*out = rule;
	return 0;
}

/* ---- looking */

static double every_s(const struct daemon *d)
{
	return fmin(LOOK_MOST_S, fmax(LOOK_LEAST_S, d->config.idle.warn_s / 4));
}

/* One that is under way says so itself when it is done. */
double daemon_idle_in_s(const struct daemon *d)
{
	if (!(d->config.idle.warn_s > 0) || d->idle_look)
		return INFINITY;
	return d->idle_looked_s + every_s(d) - clock_wall_s();
}

static void destroy_look(struct task *task)
{
	struct idle_look *look = (struct idle_look *)task;

	free(look->uses);
	free(look);
}

void daemon_forget_idle(struct daemon *d)
{
	if (d->idle_look)
		destroy_look(&d->idle_look->task);
	d->idle_look = NULL;
	vec_fini(&d->idle);
}

static int by_attempt(uint32_t job, uint32_t attempt, uint32_t other_job, uint32_t other)
{
	return job != other_job ? (job > other_job) - (job < other_job)
				: (attempt > other) - (attempt < other);
}

static int compare_seen(const void *a, const void *b)
{
	const struct idle_seen *x = a, *y = b;

	return by_attempt(x->job, x->attempt, y->job, y->attempt);
}

static int compare_uses(const void *a, const void *b)
{
	const struct hands_use *x = a, *y = b;

	return by_attempt(x->job, x->attempt, y->job, y->attempt);
}

static struct idle_seen *find_seen(const struct daemon *d, uint32_t job, uint32_t attempt)
{
	struct idle_seen key = { .job = job, .attempt = attempt };

	return d->idle.n ? bsearch(&key, d->idle.at, d->idle.n, sizeof(key), compare_seen) : NULL;
}

static bool is_watched(const struct daemon *d, const struct attempt *a)
{
	const struct live_job *job = core_job(d->core, a->job);

	return job && a->phase == PHASE_RUNNING && !a->stop && !job->allow_idle;
}

/* Some device of the grant computes. */
static bool devices_compute(const struct daemon *d, const struct grant *grant)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		for (uint64_t left = grant->slots[i].devices; left; left &= left - 1) {
			uint32_t at = grant->slots[i].node * NODE_DEVICES_MAX +
				(uint32_t)__builtin_ctzll(left);

			if (hands_busy(d->hands, &d->machine, d->device_of[at]) > 0)
				return true;
		}
	}
	return false;
}

static bool has_moved(const struct daemon *d, const struct idle_seen *seen,
	const struct hands_use *use, double now_s)
{
	double cpu_s = use->cpu_s - seen->cpu_s;

	if (!use->known || !seen->known)
		return !use->known; /* nothing is held against whom nobody can see */
	/* Time that is less than before was of a process that has gone: it did something. */
	return cpu_s < 0 || cpu_s > d->config.idle.cores * (now_s - seen->at_s);
}

static void tell(struct daemon *d, const struct idle_seen *seen, const char *kind, json_t *body)
{
	struct news news = { .kind = kind, .job = seen->job, .attempt = seen->attempt, .body = body };

	vec_push(&d->news, news);
}

static json_t *body_of(const struct idle_seen *seen, const struct attempt *a, double now_s,
	const char *before, const char *behind)
{
	struct buf text = { 0 };
	char lasted[32];
	json_t *body;

	buf_printf(&text, "%s %u device%s for %s %s", before, a->grant->gpus,
		a->grant->gpus == 1 ? "" : "s", text_duration(now_s - seen->since_s, lasted), behind);
	body = json_pack("{s:f,s:f,s:s}", "since_s", seen->since_s, "for_s", now_s - seen->since_s,
		"text", text.at);
	buf_fini(&text);
	return body;
}

static void judge(struct daemon *d, struct idle_seen *seen, const struct attempt *a, double now_s)
{
	const struct idle_rule *rule = &d->config.idle;
	const struct live_job *job = core_job(d->core, seen->job);
	bool warned = !isnan(job->idle_since_s);

	if (warned && now_s == seen->since_s) {
		tell(d, seen, "active", json_object());
	} else if (!warned && now_s - seen->since_s >= rule->warn_s) {
		tell(d, seen, "idle_warned",
			body_of(seen, a, now_s, "it has held", "without any activity"));
	} else if (warned && rule->reclaim_s > 0 && now_s - seen->since_s >= rule->reclaim_s &&
		!seen->asked) {
		json_t *body = body_of(seen, a, now_s, "reclaimed: held", "without any activity");

		json_object_set_new(body, "then", json_string(thens[rule->then]));
		if (rule->then == IDLE_REQUEUE) /* whoever waits comes first */
			json_object_set_new(body, "pause_s", json_real(rule->warn_s));
		tell(d, seen, "reclaim", body);
		seen->asked = true;
	}
}

static struct idle_seen look_at(struct daemon *d, const struct attempt *a,
	const struct hands_use *use, double now_s)
{
	const struct live_job *job = core_job(d->core, a->job);
	const struct idle_seen *before = find_seen(d, a->job, a->number);
	struct idle_seen seen = { a->job, a->number, use->cpu_s, now_s, now_s, use->known, false };

	if (!before)
		return seen;
	seen.since_s = before->since_s;
	seen.asked = before->asked;
	if (now_s - before->at_s > AWAY_S)
		seen.since_s += now_s - before->at_s;
	if (has_moved(d, before, use, now_s) || devices_compute(d, a->grant)) {
		seen.since_s = now_s;
		seen.asked = false;
	}
	if (job->progress.at_s > seen.since_s)
		seen.since_s = job->progress.at_s;
	judge(d, &seen, a, now_s);
	return seen;
}

/* In the worker's thread. */
static void measure(struct task *task)
{
	struct idle_look *look = (struct idle_look *)task;

	look->boot_s = clock_boot_s();
	hands_measure(look->uses, look->n);
}

/* Of all processes there are, which takes longer than a decision may wait. */
static void begin_look(struct daemon *d)
{
	size_t n;
	const struct attempt *const *attempts = core_attempts(d->core, &n);
	struct idle_look *look = mem_alloc(sizeof(*look));

	look->task.run = measure;
	look->task.destroy = destroy_look;
	look->uses = mem_alloc(mem_array_size(n + 1, sizeof(*look->uses)));
	for (size_t i = 0; i < n; i++) {
		if (is_watched(d, attempts[i]))
			look->uses[look->n++] = (struct hands_use){ .job = attempts[i]->job,
				.attempt = attempts[i]->number };
	}
	if (!look->n) {
		d->idle.n = 0;
		destroy_look(&look->task);
		return;
	}
	qsort(look->uses, look->n, sizeof(*look->uses), compare_uses);
	hands_find_guards(d->hands, look->uses, look->n);
	d->idle_look = look;
	daemon_give_beside(d, &d->watcher, &look->task);
}

/* Who came meanwhile is looked at next time; who went is forgotten. */
static void end_look(struct daemon *d)
{
	struct idle_look *look = d->idle_look;
	size_t n, seen = 0;
	const struct attempt *const *attempts = core_attempts(d->core, &n);
	struct idle_seen *all = mem_alloc(mem_array_size(n + 1, sizeof(*all)));

	for (size_t i = 0; i < n; i++) {
		struct hands_use key = { .job = attempts[i]->job, .attempt = attempts[i]->number };
		const struct hands_use *use = bsearch(&key, look->uses, look->n, sizeof(key),
			compare_uses);

		if (use && is_watched(d, attempts[i]))
			all[seen++] = look_at(d, attempts[i], use, d->clock.boot_s + look->boot_s);
	}
	qsort(all, seen, sizeof(*all), compare_seen);
	d->idle.n = 0;
	for (size_t i = 0; i < seen; i++)
		vec_push(&d->idle, all[i]);
	free(all);
	destroy_look(&look->task);
	d->idle_look = NULL;
}

void daemon_look_idle(struct daemon *d)
{
	if (d->idle_look && task_done(&d->idle_look->task))
		end_look(d);
	if (daemon_idle_in_s(d) > 0)
		return;
	d->idle_looked_s = clock_wall_s();
	begin_look(d);
}

bool daemon_is_idle(const struct daemon *d, const struct live_job *job, double now_s,
	struct idle_state *out)
{
	const struct idle_seen *seen = find_seen(d, job->id, job->attempt);
	bool warned = !isnan(job->idle_since_s);

	if (!(d->config.idle.warn_s > 0) || (!warned && !seen))
		return false;
	*out = (struct idle_state){ warned ? job->idle_since_s : seen->since_s, warned };
	return warned || now_s - seen->since_s >= fmin(MENTION_S, d->config.idle.warn_s);
}
