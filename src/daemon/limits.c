#include "daemon/limits.h"

#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/members.h"
#include "daemon/daemon_state.h"
#include "daemon/kept_use.h"
#include "daemon/verbs_run.h"

/*
 * Before anything is refused by a count it is made anew, unless it is younger than so many times what counting
 * takes: refusals never cost the loop more than a twentieth of its time.
 */
#define RECOUNT 20.0

static const char *const kinds[LIMIT_KINDS] = {
	[LIMIT_OF_QUEUED] = "queued",
	[LIMIT_OF_BYTES] = "bytes",
	[LIMIT_OF_RATE] = "rate",
	[LIMIT_OF_BURST] = "burst",
	[LIMIT_OF_WHATIFS] = "whatifs",
};

/* What is not limited by rules. */
static const double presets[2][LIMIT_KINDS] = {
	{ [LIMIT_OF_QUEUED] = 200000, [LIMIT_OF_BYTES] = 4.0 * (1 << 30), [LIMIT_OF_RATE] = 200, [LIMIT_OF_BURST] = 2000, [LIMIT_OF_WHATIFS] = 1 },
	{ [LIMIT_OF_QUEUED] = 1000000, [LIMIT_OF_BYTES] = 16.0 * (1 << 30), [LIMIT_OF_RATE] = 1000, [LIMIT_OF_BURST] = 10000, [LIMIT_OF_WHATIFS] = LIMIT_NONE },
};

/* ---- the rules */

static struct limit_rule *rule_for(struct limits *limits, bool tenant, struct slice name)
{
	struct limit_rule rule = { .tenant = tenant };

	snprintf(rule.name, sizeof(rule.name), "%.*s", (int)name.n, name.at);
	for (int i = 0; i < LIMIT_KINDS; i++)
		rule.at[i] = NAN;
	for (size_t i = 0; i < limits->rules.n; i++) {
		if (limits->rules.at[i].tenant == tenant && !strcmp(limits->rules.at[i].name, rule.name))
			return &limits->rules.at[i];
	}
	vec_push(&limits->rules, rule);
	return &limits->rules.at[limits->rules.n - 1];
}

static bool read_value(int kind, struct slice text, double *out)
{
	int64_t number;

	if (slice_is(text, "none")) {
		*out = LIMIT_NONE;
		return true;
	}
	if (kind == LIMIT_OF_RATE)
		return slice_double(text, out) && *out >= 0;
	if (!(kind == LIMIT_OF_BYTES ? slice_bytes(text, &number) : slice_int(text, &number)))
		return false;
	*out = (double)number;
	return number >= (kind == LIMIT_OF_BURST) && number <= INT64_C(1) << 50;
}

/* "queued=10", "user:ada:rate=5", "tenant:*:bytes=1G", "admins". */
static bool read_part(struct limits *limits, struct slice part)
{
	struct slice value = part, who = slice_cut(&value, '='), name = { "*", 1 };
	struct limit_rule *rule;
	bool tenant = false;

	if (slice_is(slice_trim(part), "admins")) {
		limits->admins = true;
		return true;
	}
	who = slice_trim(who);
	if (memchr(who.at, ':', who.n)) {
		struct slice of = slice_cut(&who, ':');

		tenant = slice_is(of, "tenant");
		if (!tenant && !slice_is(of, "user"))
			return false;
		name = slice_cut(&who, ':');
	}
	if (!name.n || name.n >= sizeof(rule->name))
		return false;
	for (int i = 0; i < LIMIT_KINDS; i++) {
		double number;

		if (!slice_is(who, kinds[i]) || (tenant && i == LIMIT_OF_WHATIFS))
			continue;
		if (!read_value(i, slice_trim(value), &number))
			return false;
		rule_for(limits, tenant, name)->at[i] = number;
		return true;
	}
	return false;
}

int limits_parse(const char *text, struct limits *out, struct err *err)
{
	struct slice left = slice_of(text ? text : "");
	struct limits limits = { 0 };

	for (int tenant = 0; tenant < 2; tenant++) {
		struct limit_rule *rule = rule_for(&limits, tenant, (struct slice){ "*", 1 });

		for (int i = 0; i < LIMIT_KINDS; i++)
			rule->at[i] = slice_is(left, "off") ? LIMIT_NONE : presets[tenant][i];
	}
	if (slice_is(left, "off"))
		left.n = 0;
	while (left.n) {
		struct slice part = slice_cut(&left, ',');

		if (!read_part(&limits, part)) {
			limits_fini(&limits);
			return err_set(err, ERR_USAGE,
				"'%.*s' is not understood; write queued=N, bytes=SIZE, rate=N (a second), burst=N or whatifs=N, each a number or none; user:NAME: or tenant:NAME: before it for one of them, tenant:*: for each tenant; admins; or off",
				(int)part.n, part.at);
		}
	}
	*out = limits;
	return 0;
}

void limits_warn(const struct limits *limits, struct log *log)
{
	for (size_t i = 0; i < limits->rules.n; i++) {
		const struct limit_rule *rule = &limits->rules.at[i];
		char words[16384];
		struct passwd entry, *found = NULL;
		int64_t number;

		/* A user without a name is called by the number. */
		if (rule->tenant || !strcmp(rule->name, "*") ||
			slice_int(slice_of(rule->name), &number))
			continue;
		if (getpwnam_r(rule->name, &entry, words, sizeof(words), &found) == 0 && !found)
			log_warning(log,
				"--limits: this system has no user '%s'; the rule holds once there is one",
				rule->name);
	}
}

void limits_fini(struct limits *limits)
{
	vec_fini(&limits->rules);
}

static double limit_of(const struct limits *limits, bool tenant, const char *name, enum limit_kind kind)
{
	double each = LIMIT_NONE, own = NAN;

	for (size_t i = 0; i < limits->rules.n; i++) {
		const struct limit_rule *rule = &limits->rules.at[i];

		if (rule->tenant != tenant || isnan(rule->at[kind]))
			continue;
		if (!strcmp(rule->name, "*"))
			each = rule->at[kind];
		else if (!strcmp(rule->name, name))
			own = rule->at[kind];
	}
	return isnan(own) ? each : own;
}

/* ---- counting */

void tally_fini(struct tally *tally)
{
	names_fini(&tally->names);
	vec_fini(&tally->rows);
	*tally = (struct tally){ 0 };
}

static struct tally_row *row_of(struct tally *tally, const char *key)
{
	uint32_t at = names_add(&tally->names, key, strlen(key));

	while (tally->rows.n <= at)
		vec_push(&tally->rows, (struct tally_row){ .tokens = INFINITY });
	return &tally->rows.at[at];
}

static struct tally_row *user_row(struct tally *tally, uint32_t uid)
{
	char key[16];

	snprintf(key, sizeof(key), "u%u", uid);
	return row_of(tally, key);
}

static struct tally_row *tenant_row(struct tally *tally, const char *name)
{
	char key[256];

	snprintf(key, sizeof(key), "t%s", name ? name : "");
	return row_of(tally, key);
}

static bool same_tenant(const struct live_job *a, const struct live_job *b)
{
	return a->tenant && b->tenant && !strcmp(a->tenant, b->tenant);
}

static void add(struct tally_row *row, const struct live_job *job)
{
	row->queued += job->state == LIVE_PENDING;
	row->bytes += job->submitted_bytes;
}

static void count(struct daemon *d)
{
	struct tally *t = &d->tally;
	double began_s = clock_boot_s();
	size_t n, user = 0, tenant = 0;
	const struct live_job *const *jobs = core_jobs(d->core, &n), *last = NULL;

	for (size_t i = 0; i < t->rows.n; i++)
		t->rows.at[i].queued = t->rows.at[i].bytes = 0;
	for (size_t i = 0; i < n; i++) {
		const struct live_job *job = jobs[i];

		if (live_ended(job))
			continue;
		/* Those of one user stand together, mostly. */
		if (!last || last->uid != job->uid || !same_tenant(last, job)) {
			user = (size_t)(user_row(t, job->uid) - t->rows.at);
			tenant = (size_t)(tenant_row(t, job->tenant) - t->rows.at);
			last = job;
		}
		add(&t->rows.at[user], job);
		add(&t->rows.at[tenant], job);
	}
	t->counted_s = clock_boot_s();
	t->cost_s = t->counted_s - began_s;
}

static bool is_stale(const struct daemon *d)
{
	return d->tally.counted_s == 0 ||
		clock_boot_s() - d->tally.counted_s > RECOUNT * d->tally.cost_s;
}

/* ---- who is limited */

static bool is_exempt(const struct daemon *d, const struct caller *caller)
{
	return caller->outside || (caller->admin && !d->limits.admins);
}

/* "user ada", "tenant vision", and what it has and may. */
struct subject {
	bool tenant;
	uint32_t uid;
	const char *name;
};

static struct tally_row *subject_row(struct daemon *d, const struct subject *who)
{
	return who->tenant ? tenant_row(&d->tally, who->name) : user_row(&d->tally, who->uid);
}

static double subject_limit(const struct daemon *d, const struct subject *who, enum limit_kind kind)
{
	return limit_of(&d->limits, who->tenant, who->name, kind);
}

/* ---- submissions a second */

/* As many tokens as came back since, at most the burst. */
static double tokens_now(struct tally_row *row, double rate, double burst)
{
	double now_s = clock_boot_s();

	row->tokens = fmin(burst, row->tokens + (isinf(row->tokens) ? 0 : (now_s - row->at_s) * rate));
	row->at_s = now_s;
	return row->tokens;
}

static double submissions_of(const struct call *call)
{
	const json_t *many = json_object_get(call->args, "jobs");

	return many ? fmax(1, (double)json_array_size(many)) : 1;
}

static int check_rate(struct daemon *d, const struct subject *who, double n, double *retry_s,
	struct err *err)
{
	double rate = subject_limit(d, who, LIMIT_OF_RATE),
	       burst = subject_limit(d, who, LIMIT_OF_BURST);
	struct tally_row *row = subject_row(d, who);
	double tokens;

	if (rate == LIMIT_NONE)
		return 0;
	if (rate == 0) {
		*retry_s = -1;
		return err_set(err, LIMIT_RATE, "%s %s may submit nothing here (limit rate=0)",
			who->tenant ? "tenant" : "user", who->name);
	}
	burst = burst == LIMIT_NONE ? fmax(rate, 1) : burst;
	tokens = tokens_now(row, rate, burst);
	n = fmin(n, burst); /* a list longer than that waits for all of it */
	if (tokens < n) {
		*retry_s = fmax(0.1, (n - tokens) / rate);
		return err_set(err, LIMIT_RATE,
			"%s %s submits faster than %g a second (limit rate, after %g at once): try again in %.1f s, or submit many with one call (--batch, --array)",
			who->tenant ? "tenant" : "user", who->name, rate, burst, *retry_s);
	}
	return 0;
}

int limits_check_rate(struct daemon *d, struct call *call, struct err *err)
{
	struct subject who = { .uid = call->caller.uid };
	const char *tenant = member_text(call->args, "tenant");
	struct subject as = { .tenant = true };
	double n = submissions_of(call);
	int rc;

	if (is_exempt(d, &call->caller))
		return 0;
	who.name = verb_user_name(d, call->caller.uid);
	as.name = tenant ? tenant : who.name;
	rc = check_rate(d, &who, n, &call->retry_s, err);
	if (rc == 0)
		rc = check_rate(d, &as, n, &call->retry_s, err);
	if (rc < 0)
		return rc;
	subject_row(d, &who)->tokens -= n;
	subject_row(d, &as)->tokens -= n;
	return 0;
}

/* ---- what is queued and held */

static bool is_over(double have, double more, double limit)
{
	return limit != LIMIT_NONE && have + more > limit;
}

static int check_one(struct daemon *d, const struct subject *who, int64_t jobs, int64_t bytes,
	struct err *err)
{
	double queued = subject_limit(d, who, LIMIT_OF_QUEUED),
	       held = subject_limit(d, who, LIMIT_OF_BYTES);
	const struct tally_row *row = subject_row(d, who);
	const char *what = who->tenant ? "tenant" : "user";
	char is[32], more[32], most[32];

	if (is_over((double)row->queued, (double)jobs, queued))
		return err_set(err, LIMIT_QUEUED,
			"%s %s has %lld job%s queued, and %lld more would be above the limit of %.0f (queued): wait until some have started, or cancel some; 'stint quota limits' shows what is left",
			what, who->name, (long long)row->queued, row->queued == 1 ? "" : "s",
			(long long)jobs, queued);
	if (is_over((double)row->bytes, (double)bytes, held))
		return err_set(err, LIMIT_BYTES,
			"the submissions of %s %s hold %s, and %s more would be above the limit of %s (bytes): export fewer variables (--export), keep data in files, or wait until some jobs have ended",
			what, who->name, text_size((double)row->bytes, is),
			text_size((double)bytes, more), text_size(held, most));
	return 0;
}

/* Of the jobs that the call has made, those of one tenant (NULL: all). */
static void sum_made(const struct call *call, const char *tenant, int64_t *jobs, int64_t *bytes)
{
	*jobs = *bytes = 0;
	for (size_t i = 0; i < call->made.n; i++) {
		const struct live_job *job = call->made.at[i].job;

		if (!job || (tenant && strcmp(tenant, job->tenant ? job->tenant : "") != 0))
			continue;
		*jobs += 1;
		*bytes += job->submitted_bytes;
	}
}

/* Whether the job is the first of its tenant in the call. */
static bool is_first(const struct call *call, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (call->made.at[i].job &&
			!strcmp(call->made.at[i].job->tenant, call->made.at[at].job->tenant))
			return false;
	}
	return true;
}

/* Checks all that the call is counted for; with `take` it counts from then on. */
static int check_made(struct daemon *d, const struct call *call, bool take, struct err *err)
{
	struct subject who = { .uid = call->caller.uid, .name = verb_user_name(d, call->caller.uid) };
	const char *last = NULL;
	int64_t jobs, bytes;
	int rc;

	sum_made(call, NULL, &jobs, &bytes);
	rc = take ? 0 : check_one(d, &who, jobs, bytes, err);
	if (take) {
		subject_row(d, &who)->queued += jobs;
		subject_row(d, &who)->bytes += bytes;
	}
	for (size_t i = 0; rc == 0 && i < call->made.n; i++) {
		const struct live_job *job = call->made.at[i].job;
		struct subject as = { .tenant = true };

		if (!job || (last && !strcmp(last, job->tenant)) || !is_first(call, i))
			continue;
		as.name = last = job->tenant;
		sum_made(call, as.name, &jobs, &bytes);
		if (take) {
			subject_row(d, &as)->queued += jobs;
			subject_row(d, &as)->bytes += bytes;
		} else {
			rc = check_one(d, &as, jobs, bytes, err);
		}
	}
	return rc;
}

void limits_count_made(struct daemon *d, const struct call *call)
{
	struct err ignored = { 0 };

	if (!is_exempt(d, &call->caller))
		check_made(d, call, true, &ignored);
}

int limits_check_made(struct daemon *d, const struct call *call, struct err *err)
{
	struct err ignored = { 0 };

	if (is_exempt(d, &call->caller))
		return 0;
	if (d->tally.counted_s == 0)
		count(d);
	/* Jobs have started and ended since they were counted. */
	if (check_made(d, call, false, &ignored) < 0 && is_stale(d))
		count(d);
	return check_made(d, call, false, err);
}

int limits_check_again(struct daemon *d, const struct call *call, size_t jobs, struct err *err)
{
	struct subject who = { .uid = call->caller.uid, .name = verb_user_name(d, call->caller.uid) };

	if (is_exempt(d, &call->caller) || !jobs)
		return 0;
	if (is_stale(d))
		count(d);
	if (check_one(d, &who, (int64_t)jobs, 0, err) < 0)
		return err->code;
	subject_row(d, &who)->queued += (int64_t)jobs;
	return 0;
}

int limits_check_whatifs(struct daemon *d, const struct call *call, size_t running, struct err *err)
{
	const char *name = verb_user_name(d, call->caller.uid);
	double most = limit_of(&d->limits, false, name, LIMIT_OF_WHATIFS);

	/* Where there is one user only, the rule of all what-ifs will do. */
	if ((!d->config.system && !d->limits.admins) || !is_over((double)running, 1, most))
		return 0;
	return err_set(err, LIMIT_RATE,
		"user %s has %zu what-if%s being worked out, and the limit is %.0f (whatifs); ask again in a while",
		name, running, running == 1 ? "" : "s", most);
}

/* ---- telling */

static void put_limit(struct json *j, const char *key, double limit)
{
	json_double(j, key, limit == LIMIT_NONE ? INFINITY : limit); /* no limit is null */
}

static void put_subject(struct daemon *d, const struct subject *who, struct json *j)
{
	struct tally_row *row = subject_row(d, who);

	json_begin_object(j, NULL);
	json_str(j, "of", who->tenant ? "tenant" : "user");
	json_str(j, "name", who->name);
	json_int(j, "queued", row->queued);
	put_limit(j, "queued_limit", subject_limit(d, who, LIMIT_OF_QUEUED));
	json_int(j, "bytes", row->bytes);
	put_limit(j, "bytes_limit", subject_limit(d, who, LIMIT_OF_BYTES));
	put_limit(j, "rate_limit", subject_limit(d, who, LIMIT_OF_RATE));
	put_limit(j, "burst_limit", subject_limit(d, who, LIMIT_OF_BURST));
	if (who->tenant) {
		int64_t limit, kept = kept_use_of(d, who->name, &limit);

		json_int(j, "kept_bytes", kept);
		put_limit(j, "kept_limit", limit > 0 ? (double)limit : LIMIT_NONE);
	}
	if (!who->tenant)
		put_limit(j, "whatifs_limit", subject_limit(d, who, LIMIT_OF_WHATIFS));
	json_end(j, '}');
}

/* Users and tenants that have jobs or kept output, but the caller. */
static void put_all(struct daemon *d, uint32_t but, struct json *j)
{
	const char *tenant;

	for (uint32_t i = 0; (tenant = kept_use_tenant(d, i)); i++)
		subject_row(d, &(struct subject){ .tenant = true, .name = tenant });
	for (uint32_t i = 0; i < d->tally.names.n; i++) {
		const char *key = d->tally.names.at[i];
		struct subject who = { .tenant = key[0] == 't', .name = key + 1 };
		int64_t ignored;

		if (!who.tenant)
			who.uid = (uint32_t)strtoul(key + 1, NULL, 10);
		if ((!who.tenant && who.uid == but) ||
			(!d->tally.rows.at[i].queued && !d->tally.rows.at[i].bytes &&
				!(who.tenant && kept_use_of(d, who.name, &ignored))))
			continue;
		if (!who.tenant)
			who.name = verb_user_name(d, who.uid);
		put_subject(d, &who, j);
	}
}

void limits_put(struct daemon *d, const struct call *call, struct json *j)
{
	struct subject who = { .uid = call->caller.uid, .name = verb_user_name(d, call->caller.uid) };
	char *name = mem_strdup(who.name);

	if (is_stale(d))
		count(d);
	json_begin_object(j, NULL);
	json_bool(j, "exempt", is_exempt(d, &call->caller));
	json_begin_array(j, "of");
	who.name = name;
	put_subject(d, &who, j);
	if (call->caller.admin)
		put_all(d, who.uid, j);
	else
		put_subject(d, &(struct subject){ .tenant = true, .name = name }, j);
	json_end(j, ']');
	json_end(j, '}');
	free(name);
}
