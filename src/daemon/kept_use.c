#include "daemon/kept_use.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/members.h"
#include "daemon/daemon_state.h"
#include "daemon/output_caps.h"
#include "daemon/worker.h"
#include "live/job_dirs.h"

/* Attempts are looked at often enough for a writer of that speed, and with these pauses at least and at most. */
static const double fast_Bps = 1e9, least_pause_s = 0.25, most_pause_s = 60;
static const double save_every_s = 60, fresh_s = 1;

/* An attempt that may write. */
struct kept_attempt {
	uint32_t job, attempt;
	uint32_t tenant; /* its number in the sum */
	int64_t bytes;   /* counted so far */
	int held;        /* what its guard was told; -1: not known */
};

/* Counting all directories beside the loop. */
struct kept_count {
	struct task task;
	char *state_dir;
	const atomic_bool *stop;
	struct record *record;
	uint32_t next_job;      /* this and later ones began after the count */
	struct kept_live *live; /* by job */
	size_t nlive;
	uint32_t job; /* looked up last, and whose it is; tenant NULL: not in the record */
	char *tenant;
	struct kept_sum sum;
	int rc;
	struct err err;
};

/* A job that is alive when the count begins. */
struct kept_live {
	uint32_t job;
	uint32_t last; /* attempt; later ones are watched */
	uint32_t open; /* attempt that is watched; 0: none */
};

struct kept_use {
	struct kept_sum sum; /* of attempts that are watched, too */
	VEC(bool) over;      /* by tenant */
	VEC(struct kept_attempt) watched;
	struct kept_count *count; /* under way */
	struct worker *worker;
	double look_s, looked_s, save_s;
	double disk_bytes;
	bool changed; /* since it was written down */
	bool sound;   /* everything was counted */
};

/* ---- sums */

static uint32_t tenant_in(struct kept_sum *sum, const char *tenant)
{
	const char *name = tenant ? tenant : "";
	uint32_t i = names_add(&sum->tenants, name, strlen(name));

	while (sum->bytes.n <= i)
		vec_push(&sum->bytes, 0);
	return i;
}

void kept_sum_add(struct kept_sum *sum, const char *tenant, int64_t bytes)
{
	uint32_t i = tenant_in(sum, tenant);

	sum->bytes.at[i] += bytes;
}

void kept_sum_fini(struct kept_sum *sum)
{
	names_fini(&sum->tenants);
	vec_fini(&sum->bytes);
	*sum = (struct kept_sum){ 0 };
}

static void merge(struct kept_use *u, const struct kept_sum *from, int sign)
{
	for (uint32_t i = 0; i < from->bytes.n; i++) {
		uint32_t to = tenant_in(&u->sum, from->tenants.at[i]);

		u->sum.bytes.at[to] += sign * from->bytes.at[i];
		if (u->sum.bytes.at[to] < 0)
			u->sum.bytes.at[to] = 0;
	}
	u->changed |= from->bytes.n > 0;
	u->look_s = u->save_s = 0;
}

/* ---- all directories */

static int see_tenant(void *ctx, const struct record_job *job)
{
	struct kept_count *c = ctx;

	c->tenant = mem_strdup(job->tenant ? job->tenant : "");
	return 0;
}

static int by_job(const void *a, const void *b)
{
	const struct kept_live *x = a, *y = b;

	return (x->job > y->job) - (x->job < y->job);
}

/* Attempts that are watched are counted there. */
static bool is_watched(const struct kept_count *c, uint32_t job, uint32_t attempt)
{
	struct kept_live key = { .job = job };
	const struct kept_live *live = c->nlive
		? bsearch(&key, c->live, c->nlive, sizeof(key), by_job)
		: NULL;

	return job >= c->next_job || (live && (attempt > live->last || attempt == live->open));
}

static void count_attempt(void *ctx, uint32_t job, uint32_t attempt, int64_t output_bytes)
{
	struct kept_count *c = ctx;
	struct err ignored;

	if (!output_bytes || is_watched(c, job, attempt))
		return;
	if (c->job != job) {
		free(c->tenant);
		c->tenant = NULL;
		c->job = job;
		record_job(c->record, job, see_tenant, c, &ignored);
	}
	if (c->tenant)
		kept_sum_add(&c->sum, c->tenant, output_bytes);
}

static void run_count(struct task *task)
{
	struct kept_count *c = (struct kept_count *)task;
	char *path = mem_printf("%s/stint.db", c->state_dir);

	c->rc = record_open(path, true, &c->record, &c->err);
	if (c->rc == 0)
		c->rc = job_dirs_walk(c->state_dir, count_attempt, c, c->stop, &c->err);
	record_close(c->record);
	free(path);
}

static void destroy_count(struct task *task)
{
	struct kept_count *c = (struct kept_count *)task;

	free(c->state_dir);
	free(c->live);
	free(c->tenant);
	kept_sum_fini(&c->sum);
	free(c);
}

static void list_live(const struct daemon *d, struct kept_count *c)
{
	size_t n, nattempts, out = 0;
	const struct live_job *const *jobs = core_jobs(d->core, &n);
	const struct attempt *const *attempts = core_attempts(d->core, &nattempts);

	c->live = mem_alloc(mem_array_size(n + 1, sizeof(*c->live)));
	for (size_t i = 0; i < n; i++) {
		if (jobs[i]->attempt)
			c->live[out++] = (struct kept_live){ jobs[i]->id, jobs[i]->attempt, 0 };
	}
	c->nlive = out;
	qsort(c->live, out, sizeof(*c->live), by_job);
	for (size_t i = 0; i < nattempts; i++) {
		struct kept_live key = { .job = attempts[i]->job }, *live;

		live = out ? bsearch(&key, c->live, out, sizeof(key), by_job) : NULL;
		if (live)
			live->open = attempts[i]->number;
	}
}

static void begin_count(struct daemon *d)
{
	struct kept_use *u = d->kept;
	struct kept_count *c = mem_alloc(sizeof(*c));

	c->task.run = run_count;
	c->task.destroy = destroy_count;
	c->state_dir = mem_strdup(d->config.state_dir);
	c->stop = &d->closing;
	c->next_job = d->next_job;
	list_live(d, c);
	u->count = c;
	daemon_give_beside(d, &u->worker, &c->task);
}

static void end_count(struct daemon *d)
{
	struct kept_use *u = d->kept;

	if (u->count->rc < 0)
		log_warning(d->log, "kept output of earlier jobs is not counted: %s",
			u->count->err.text);
	u->sound = u->count->rc == 0;
	merge(u, &u->count->sum, 1);
	destroy_count(&u->count->task);
	u->count = NULL;
}

bool kept_use_is_counting(const struct daemon *d)
{
	return d->kept && d->kept->count;
}

/* ---- across restarts */

static void put_sum(struct json *j, const char *key, const struct kept_sum *sum)
{
	json_begin_object(j, key);
	for (uint32_t i = 0; i < sum->bytes.n; i++) {
		if (sum->bytes.at[i])
			json_int(j, sum->tenants.at[i], sum->bytes.at[i]);
	}
	json_end(j, '}');
}

static int save(struct daemon *d, bool clean, struct err *err)
{
	struct kept_use *u = d->kept;
	struct kept_sum running = { 0 };
	struct buf text = { 0 };
	struct json j;
	int rc;

	for (size_t i = 0; i < u->watched.n; i++)
		kept_sum_add(&running, u->sum.tenants.at[u->watched.at[i].tenant],
			u->watched.at[i].bytes);
	json_init(&j, &text, false);
	json_begin_object(&j, NULL);
	json_bool(&j, "clean", clean);
	json_int(&j, "generation", (int64_t)record_identity(d->record)->generation);
	put_sum(&j, "of", &u->sum);
	put_sum(&j, "running", &running);
	json_end(&j, '}');
	rc = record_set_meta(d->record, KEPT_META, text.at, err);
	u->save_s = clock_wall_s() + save_every_s;
	u->changed = false;
	buf_fini(&text);
	kept_sum_fini(&running);
	return rc;
}

/* What a daemon that stopped in order wrote down, without attempts that ran; false: it is to be counted. */
static bool load(struct daemon *d)
{
	struct kept_use *u = d->kept;
	struct buf text = { 0 };
	json_t *json = record_meta(d->record, KEPT_META, &text) ? json_loads(text.at, 0, NULL) : NULL;
	bool clean = member_bool(json, "clean", false) &&
		member_int(json, "generation", -1) == (int64_t)record_identity(d->record)->generation;
	json_t *running = json_object_get(json, "running"), *bytes;
	const char *tenant;

	json_object_foreach(clean ? json_object_get(json, "of") : NULL, tenant, bytes)
	{
		kept_sum_add(&u->sum, tenant,
			json_integer_value(bytes) - member_int(running, tenant, 0));
	}
	json_decref(json);
	buf_fini(&text);
	return clean;
}

static struct kept_attempt *watch(struct daemon *d, uint32_t job, uint32_t attempt, int held)
{
	struct kept_use *u = d->kept;
	const struct live_job *of = core_job(d->core, job);
	struct kept_attempt a = {
		.job = job,
		.attempt = attempt,
		.tenant = tenant_in(&u->sum, of ? of->tenant : NULL),
		.held = held,
	};

	vec_push(&u->watched, a);
	return &u->watched.at[u->watched.n - 1];
}

static struct kept_attempt *find_watched(struct kept_use *u, uint32_t job, uint32_t attempt)
{
	for (size_t i = 0; i < u->watched.n; i++) {
		if (u->watched.at[i].job == job && u->watched.at[i].attempt == attempt)
			return &u->watched.at[i];
	}
	return NULL;
}

int kept_use_open(struct daemon *d, struct err *err)
{
	size_t n;
	const struct attempt *const *attempts = core_attempts(d->core, &n);

	if (!d->config.output || !hands_can_hold_output(d->hands))
		return 0;
	d->kept = mem_alloc(sizeof(*d->kept));
	d->kept->sound = load(d);
	for (size_t i = 0; i < n; i++)
		watch(d, attempts[i]->job, attempts[i]->number, -1);
	if (!d->kept->sound && d->next_job > 1)
		begin_count(d);
	else
		d->kept->sound = true;
	return save(d, false, err);
}

/* ---- looking */

static const struct attempt *find_open(const struct daemon *d, uint32_t job, uint32_t number)
{
	size_t n;
	const struct attempt *const *attempts = core_attempts(d->core, &n);

	for (size_t i = 0; i < n; i++) {
		if (attempts[i]->job == job && attempts[i]->number == number)
			return attempts[i];
	}
	return NULL;
}

static int64_t limit_of(const struct daemon *d, uint32_t tenant)
{
	const struct kept_use *u = d->kept;

	return output_total_of(d->config.output, u->sum.tenants.at[tenant], u->disk_bytes);
}

static void count_watched(struct daemon *d)
{
	struct kept_use *u = d->kept;
	size_t left = 0;

	for (size_t i = 0; i < u->watched.n; i++) {
		struct kept_attempt a = u->watched.at[i];
		bool open = find_open(d, a.job, a.attempt) != NULL; /* before it is looked at last */
		int64_t now = job_dirs_output(d->config.state_dir, a.job, a.attempt);

		u->changed |= now != a.bytes;
		u->sum.bytes.at[a.tenant] += now - a.bytes;
		a.bytes = now;
		if (open)
			u->watched.at[left++] = a;
	}
	u->watched.n = left;
}

/* A tenant that is beyond its limit stays so until a sixteenth of it is free. */
static void see_over(struct daemon *d, uint32_t tenant)
{
	struct kept_use *u = d->kept;
	int64_t bytes = u->sum.bytes.at[tenant], limit = limit_of(d, tenant);
	bool was = u->over.at[tenant], *over = &u->over.at[tenant];
	char is[32], most[32];

	*over = limit > 0 && bytes > (was ? limit - limit / 16 : limit);
	if (*over && !was)
		log_warning(d->log,
			"jobs of tenant %s keep %s of output and may keep %s together (--output-total): more is cut; 'stint db prune' makes room",
			u->sum.tenants.at[tenant], text_size((double)bytes, is),
			text_size((double)limit, most));
	else if (was && !*over)
		log_notice(d->log, "jobs of tenant %s may keep output again",
			u->sum.tenants.at[tenant]);
}

static void tell_guards(struct daemon *d)
{
	struct kept_use *u = d->kept;

	for (size_t i = 0; i < u->watched.n; i++) {
		struct kept_attempt *a = &u->watched.at[i];
		int hold = u->over.at[a->tenant];
		struct err ignored;

		if (a->held != hold &&
			hands_hold_output(d->hands, a->job, a->attempt, hold, &ignored) == 0)
			a->held = hold;
	}
}

/* Seconds in which no tenant can go far beyond its limit. */
static double pause_s(const struct daemon *d)
{
	const struct kept_use *u = d->kept;
	double pause = most_pause_s;

	for (size_t i = 0; i < u->watched.n; i++) {
		const struct kept_attempt *a = &u->watched.at[i];
		int64_t limit = limit_of(d, a->tenant), bytes = u->sum.bytes.at[a->tenant];

		if (a->held != (int)u->over.at[a->tenant])
			pause = least_pause_s; /* its guard is not known yet */
		else if (limit > 0 && !u->over.at[a->tenant])
			pause = fmin(pause, (double)(limit - bytes) / fast_Bps / (double)u->watched.n);
		else if (limit > 0)
			pause = fmin(pause, 5);
	}
	return fmax(pause, least_pause_s);
}

static void look(struct daemon *d)
{
	struct kept_use *u = d->kept;
	struct statvfs disk;

	if (statvfs(d->config.state_dir, &disk) == 0)
		u->disk_bytes = (double)disk.f_blocks * (double)disk.f_frsize;
	count_watched(d);
	while (u->over.n < u->sum.bytes.n)
		vec_push(&u->over, false);
	for (uint32_t i = 0; i < u->sum.bytes.n; i++)
		see_over(d, i);
	tell_guards(d);
	u->looked_s = clock_wall_s();
	u->look_s = u->watched.n ? u->looked_s + pause_s(d) : INFINITY;
}

void kept_use_watch(struct daemon *d, uint32_t job, uint32_t attempt)
{
	struct kept_attempt *a;

	if (!d->kept)
		return;
	a = find_watched(d->kept, job, attempt); /* a launch before this one may have failed */
	if (!a)
		a = watch(d, job, attempt, 0);
	a->held = 0;
	d->kept->look_s = 0;
}

void kept_use_drop(struct daemon *d, const struct kept_sum *gone)
{
	if (d->kept)
		merge(d->kept, gone, -1);
}

void kept_use_turn(struct daemon *d)
{
	struct kept_use *u = d->kept;
	double wall_s = clock_wall_s();
	struct err err = { 0 };

	if (!u)
		return;
	if (u->count && task_done(&u->count->task))
		end_count(d);
	if (wall_s >= u->look_s)
		look(d);
	if (u->changed && wall_s >= u->save_s && !d->trouble[0] && save(d, false, &err) < 0)
		log_warning(d->log, "what output tenants keep is not written down: %s", err.text);
}

double kept_use_next_s(const struct daemon *d)
{
	return d->kept ? d->kept->look_s : INFINITY;
}

void kept_use_close(struct daemon *d)
{
	struct kept_use *u = d->kept;
	struct err err = { 0 };

	if (!u)
		return;
	worker_destroy(u->worker);
	if (u->count)
		destroy_count(&u->count->task);
	else if (u->sound && !d->trouble[0]) {
		count_watched(d);
		if (save(d, true, &err) < 0)
			log_warning(d->log, "what output tenants keep is not written down: %s",
				err.text);
	}
	kept_sum_fini(&u->sum);
	vec_fini(&u->over);
	vec_fini(&u->watched);
	free(u);
	d->kept = NULL;
}

/* ---- telling */

/* For those who ask it is at most a second old. */
static void refresh(struct daemon *d)
{
	if (clock_wall_s() >= d->kept->looked_s + fresh_s)
		look(d);
}

int64_t kept_use_of(struct daemon *d, const char *tenant, int64_t *limit)
{
	uint32_t i;

	*limit = 0;
	if (!d->kept)
		return 0;
	refresh(d);
	*limit = output_total_of(d->config.output, tenant, d->kept->disk_bytes);
	i = names_find(&d->kept->sum.tenants, tenant, strlen(tenant));
	return i == NAME_NONE ? 0 : d->kept->sum.bytes.at[i];
}

const char *kept_use_tenant(const struct daemon *d, uint32_t i)
{
	return d->kept && i < d->kept->sum.bytes.n ? d->kept->sum.tenants.at[i] : NULL;
}

static void put_tenant(const struct daemon *d, uint32_t i, struct json *j)
{
	const struct kept_use *u = d->kept;
	int64_t limit = limit_of(d, i);

	json_begin_object(j, NULL);
	json_str(j, "tenant", u->sum.tenants.at[i]);
	json_int(j, "bytes", u->sum.bytes.at[i]);
	json_double(j, "limit", limit > 0 ? (double)limit : INFINITY); /* no limit is null */
	json_bool(j, "cut", i < u->over.n && u->over.at[i]);
	json_end(j, '}');
}

void kept_use_put(struct daemon *d, const char *only, struct json *j)
{
	const struct kept_use *u = d->kept;
	int64_t bytes = 0, tenants = 0;

	if (!u)
		return;
	refresh(d);
	json_begin_array(j, "kept_output");
	for (uint32_t i = 0; i < u->sum.bytes.n; i++) {
		if (!u->sum.bytes.at[i])
			continue;
		bytes += u->sum.bytes.at[i];
		tenants++;
		if (!only || !strcmp(only, u->sum.tenants.at[i]))
			put_tenant(d, i, j);
	}
	json_end(j, ']');
	json_int(j, "kept_output_bytes", bytes);
	json_int(j, "kept_output_tenants", tenants);
	json_bool(j, "kept_output_counting", u->count != NULL);
}
