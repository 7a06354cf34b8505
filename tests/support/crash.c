#include "support/crash.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/client.h"
#include "base/mem.h"
#include "live/live_job.h"
#include "live/replay.h"
#include "store/record.h"

enum { PATIENCE_MS = 240000, POLL_MS = 10 };

static void nap_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* ---- a job */

static volatile sig_atomic_t asked_to_stop;

static void hear(int number)
{
	(void)number;
	asked_to_stop = 1;
}

static double monotonic_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void say(const char *file, const char *what)
{
	int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	char line[128];
	int n = snprintf(line, sizeof(line), "%s %s %s %d %.6f\n", getenv("STINT_JOB_ID"),
		getenv("STINT_ATTEMPT"), what, (int)getpid(), monotonic_s());

	if (fd < 0 || write(fd, line, (size_t)n) != n)
		_exit(99);
	close(fd);
}

/* The signal is let in only while it sleeps, so that a stop is never missed. */
int crash_job(char **argv)
{
	double until_s = monotonic_s() + atof(argv[1]), left_s;
	sigset_t term, before;
	struct timespec t;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	sigdelset(&before, SIGTERM);
	signal(SIGTERM, hear);
	say(argv[0], "start");
	while (!asked_to_stop && (left_s = until_s - monotonic_s()) > 0) {
		t = (struct timespec){ (time_t)left_s, (long)((left_s - floor(left_s)) * 1e9) };
		ppoll(NULL, 0, &t, &before);
	}
	say(argv[0], asked_to_stop ? "stop" : "end");
	_exit(asked_to_stop ? 85 : atoi(argv[2]));
}

/* ---- life */

static const char *stint(void)
{
	const char *given = getenv("STINT");

	return given ? given : "build/stint";
}

/* Beside this program: BUILD/tests/daemon/crash_test and BUILD/tests/fake/libfaults.so. */
static char *faults_library(void)
{
	char exe[4096], *slash;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = 0;
	for (int i = 0; i < 2; i++) {
		slash = strrchr(exe, '/');
		if (slash)
			*slash = 0;
	}
	return mem_printf("%s/fake/libfaults.so", exe);
}

void yard_open(struct yard *y, const char *label)
{
	const char *tmp = getenv("TMPDIR");

	*y = (struct yard){ 0 };
	snprintf(y->label, sizeof(y->label), "%s", label);
	y->dir = mem_printf("%s/crash.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(y->dir)) {
		printf("cannot make %s: %s\n", y->dir, strerror(errno));
		abort();
	}
	y->state = mem_printf("%s/state", y->dir);
	y->socket = mem_printf("%s/socket", y->dir);
	y->lines = mem_printf("%s/lines", y->dir);
	y->log = mem_printf("%s/log", y->dir);
	y->mended = mem_printf("%s/mended", y->dir);
	y->count = mem_printf("%s/count", y->dir);
	mkdir(y->state, 0700);
	y->client = yard_client(y);
}

static void reap(struct yard *y)
{
	while (y->daemon && waitpid(y->daemon, NULL, 0) < 0 && errno == EINTR)
		;
	y->daemon = 0;
}

void yard_close(struct yard *y)
{
	char *rm = mem_printf("rm -rf '%s'", y->dir);

	if (y->daemon) {
		kill(y->daemon, SIGKILL);
		reap(y);
	}
	client_close(y->client);
	if (y->wrong || getenv("KEEP"))
		printf("%s: see %s\n", y->label, y->dir);
	else if (system(rm) != 0)
		printf("%s is not removed\n", y->dir);
	free(rm);
	free(y->dir);
	free(y->state);
	free(y->socket);
	free(y->lines);
	free(y->log);
	free(y->mended);
	free(y->count);
	vec_fini(&y->promises);
}

void yard_wrong(struct yard *y, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	__atomic_fetch_add(&y->wrong, 1, __ATOMIC_SEQ_CST); /* submitters are threads */
	printf("%s: %s\n", y->label, text);
	fflush(stdout);
}

static void set_faults(const struct yard *y, struct fault fault)
{
	char at[32], *library = faults_library();

	snprintf(at, sizeof(at), "%llu", (unsigned long long)fault.at);
	setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
	setenv("LD_PRELOAD", library, 1);
	setenv("FAULTS_PROGRAM", "stint", 1);
	setenv("FAULTS_DIR", y->state, 1);
	setenv("FAULTS_NOSYNC", "1", 1);
	setenv("FAULTS_COUNT", y->count, 1);
	setenv("FAULTS_OFF", y->mended, 1);
	setenv("FAULTS_AT", at, 1);
	setenv("FAULTS_WHAT", fault.what ? fault.what : "", 1);
	free(library);
}

static void become_daemon(const struct yard *y, struct fault fault)
{
	const char *argv[16] = { stint(), "daemon", "--state", y->state, "--socket", y->socket,
		"--no-http", "--no-gpus", "--slots", "4", "--no-cgroups" };
	int log = open(y->log, O_WRONLY | O_APPEND | O_CREAT, 0600), none = open("/dev/null", O_RDWR);

	if (y->policy) {
		argv[11] = "--policy";
		argv[12] = y->policy;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(none, 0);
	dup2(log, 1);
	dup2(log, 2);
	set_faults(y, fault);
	execv(argv[0], (char **)argv);
	_exit(127);
}

/* Killed it may be, and end with an error on its way up; anything else is a fault of its own. */
static void see_death(struct yard *y, int status)
{
	bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;

	if (!killed && (y->up || WIFSIGNALED(status)))
		yard_wrong(y, "the daemon died of itself, with status %d", status);
	y->daemon = 0;
}

static bool is_dead(struct yard *y)
{
	int status;

	if (y->daemon && waitpid(y->daemon, &status, WNOHANG) == y->daemon)
		see_death(y, status);
	return !y->daemon;
}

int client_once(struct client *client, const char *method, const char *path, const json_t *body,
	json_t **out)
{
	struct client_ask ask = { .method = method, .path = path, .body = body };
	struct client_answer answer = { 0 };
	struct err err = { 0 };
	int status = client_request(client, &ask, &answer, &err) == 0 ? answer.status : 0;

	if (out)
		*out = json_incref(answer.json);
	client_answer_fini(&answer);
	return status;
}

struct client *yard_client(const struct yard *y)
{
	struct client_where where = { .socket = y->socket };
	struct client *client = NULL;
	struct err err = { 0 };

	if (client_open(&where, &client, &err) < 0)
		abort();
	return client;
}

bool yard_start(struct yard *y, struct fault fault)
{
	y->starts++;
	y->up = false;
	y->daemon = fork();
	if (y->daemon == 0)
		become_daemon(y, fault);
	for (int ms = 0; ms < PATIENCE_MS; ms += POLL_MS) {
		y->up = client_once(y->client, "GET", "/healthz", NULL, NULL) != 0;
		if (y->up)
			return true;
		if (is_dead(y))
			return false;
		nap_ms(POLL_MS);
	}
	yard_wrong(y, "the daemon does not come up");
	return false;
}

void yard_restart(struct yard *y)
{
	struct fault fault = y->again;

	y->kills++;
	y->again = (struct fault){ 0 };
	if (!yard_start(y, fault) && fault.at)
		yard_restart(y);
}

void yard_kill(struct yard *y)
{
	if (!y->daemon)
		return;
	y->kills++;
	kill(y->daemon, SIGKILL);
	reap(y);
}

void yard_stop(struct yard *y)
{
	int status = -1;

	if (is_dead(y)) {
		yard_wrong(y, "the daemon is dead where it should be stopped");
		return;
	}
	kill(y->daemon, SIGTERM);
	while (waitpid(y->daemon, &status, 0) < 0 && errno == EINTR)
		;
	y->daemon = 0;
	if (status != 0)
		yard_wrong(y, "the daemon stopped with status %d", status);
}

/* ---- asking */

static bool not_now(int status)
{
	return status == 0 || status >= 500;
}

int yard_ask(struct yard *y, const char *method, const char *path, const json_t *body, json_t **out)
{
	int status = 0;

	for (int ms = 0; ms < PATIENCE_MS; ms += POLL_MS) {
		json_t *json = NULL;

		status = client_once(y->client, method, path, body, &json);
		if (!not_now(status)) {
			if (out)
				*out = json;
			else
				json_decref(json);
			return status;
		}
		json_decref(json);
		if (is_dead(y))
			yard_restart(y);
		else
			nap_ms(POLL_MS);
	}
	yard_wrong(y, "%s %s: no answer but %d", method, path, status);
	return 0;
}

json_t *yard_job(const struct yard *y, const char *name, double seconds, int code)
{
	char exe[4096], took[32], ends[16];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = 0;
	snprintf(took, sizeof(took), "%g", seconds);
	snprintf(ends, sizeof(ends), "%d", code);
	return json_pack("{s:s, s:s, s:s, s:[s,s,s,s,s]}", "name", name, "key", name, "cwd", "/",
		"command", exe, "job", y->lines, took, ends);
}

uint32_t yard_submit(struct yard *y, json_t *job, uint32_t n, const char *state, int code)
{
	struct promise p = { .n = n, .state = state, .code = code, .certain = true };
	json_t *answer = NULL;
	const json_t *jobs;
	int status;

	snprintf(p.name, sizeof(p.name), "%s", member_text(job, "name"));
	status = yard_ask(y, "POST", "/v1/jobs", job, &answer);
	jobs = json_object_get(answer, "jobs");
	p.id = (uint32_t)member_int(json_array_get(jobs, 0), "id", 0);
	if ((status != 200 && status != 201) || !p.id) {
		char *text = json_dumps(answer, JSON_COMPACT);

		yard_wrong(y, "%s is refused with %d: %s", p.name, status, text ? text : "");
		free(text);
	} else {
		vec_push(&y->promises, p);
	}
	json_decref(answer);
	json_decref(job);
	return p.id;
}

struct promise *yard_promise(struct yard *y, uint32_t id)
{
	for (size_t i = 0; i < y->promises.n; i++) {
		if (y->promises.at[i].id == id)
			return &y->promises.at[i];
	}
	return NULL;
}

/* It says so itself: the daemon may know before the command can hear a stop. */
static bool has_started(const struct yard *y, uint32_t id)
{
	FILE *in = fopen(y->lines, "r");
	char line[256];
	uint32_t job;
	bool found = false;

	while (in && !found && fgets(line, sizeof(line), in))
		found = sscanf(line, "%u", &job) == 1 && job == id;
	if (in)
		fclose(in);
	return found;
}

void yard_wait_started(struct yard *y, uint32_t id)
{
	for (int ms = 0; ms < PATIENCE_MS; ms += POLL_MS) {
		if (has_started(y, id))
			return;
		yard_ask(y, "GET", "/healthz", NULL, NULL); /* it must be alive for that */
		nap_ms(POLL_MS);
	}
	yard_wrong(y, "job %u does not start", id);
}

void yard_wait_all(struct yard *y)
{
	json_t *jobs = NULL;
	char *text;

	for (int ms = 0; ms < PATIENCE_MS; ms += POLL_MS) {
		json_decref(jobs);
		jobs = NULL;
		if (yard_ask(y, "GET", "/v1/jobs?limit=3", NULL, &jobs) == 200 &&
			member_int(jobs, "total", -1) == 0) {
			json_decref(jobs);
			return;
		}
		nap_ms(POLL_MS);
	}
	text = json_dumps(jobs, JSON_COMPACT);
	yard_wrong(y, "not everything ends: %.900s", text ? text : "");
	free(text);
	json_decref(jobs);
}

/* ---- what is left: the jobs' lines */

struct run {
	uint32_t job, attempt;
	int pid;
	double start_s, end_s;
	bool stopped, recorded;
};

struct runs {
	VEC(struct run) at;
};

static int by_job(const void *x, const void *y)
{
	const struct run *a = x, *b = y;

	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	return a->attempt < b->attempt ? -1 : a->attempt > b->attempt;
}

/* Newest first: ends come soon after starts. */
static struct run *find_open(struct runs *runs, uint32_t job, uint32_t attempt)
{
	for (size_t i = runs->at.n; i-- > 0;) {
		if (runs->at.at[i].job == job && runs->at.at[i].attempt == attempt)
			return &runs->at.at[i];
	}
	return NULL;
}

static void take_line(struct yard *y, struct runs *runs, const char *line)
{
	struct run run = { .end_s = NAN }, *before;
	char what[8];
	double at_s;

	if (sscanf(line, "%u %u %7s %d %lf", &run.job, &run.attempt, what, &run.pid, &at_s) != 5) {
		yard_wrong(y, "a line that is none: %s", line);
		return;
	}
	before = find_open(runs, run.job, run.attempt);
	if (!strcmp(what, "start")) {
		run.start_s = at_s;
		if (before)
			yard_wrong(y, "attempt %u of job %u starts twice: pid %d and pid %d",
				run.attempt, run.job, before->pid, run.pid);
		vec_push(&runs->at, run);
	} else if (!before || before->pid != run.pid || !isnan(before->end_s)) {
		yard_wrong(y, "an end without a start: %s", line);
	} else {
		before->end_s = at_s;
		before->stopped = !strcmp(what, "stop");
	}
}

static void read_lines(struct yard *y, struct runs *runs)
{
	FILE *in = fopen(y->lines, "r");
	char line[256];

	while (in && fgets(line, sizeof(line), in))
		take_line(y, runs, line);
	if (in)
		fclose(in);
	if (runs->at.n)
		qsort(runs->at.at, runs->at.n, sizeof(runs->at.at[0]), by_job);
	for (size_t i = 0; i < runs->at.n; i++) {
		const struct run *run = &runs->at.at[i], *last = i ? run - 1 : NULL;

		if (isnan(run->end_s))
			yard_wrong(y, "attempt %u of job %u was killed", run->attempt, run->job);
		if (last && last->job == run->job && !(last->end_s <= run->start_s))
			yard_wrong(y, "attempts %u and %u of job %u ran at the same time",
				last->attempt, run->attempt, run->job);
	}
}

static struct run *find_run(struct runs *runs, uint32_t job, uint32_t attempt)
{
	struct run key = { .job = job, .attempt = attempt };

	return runs->at.n ? bsearch(&key, runs->at.at, runs->at.n, sizeof(key), by_job) : NULL;
}

/* ---- what is left: the record */

struct verifying {
	struct yard *yard;
	struct tally *tally;
	struct record *record;
	struct runs runs;
	struct replay *replay;
	uint32_t job; /* looked at */
	int code;     /* it shall have */
	uint32_t ends;
	char state[32];
	VEC(bool) known; /* jobs by number */
};

/* An attempt that nobody stopped ran to its end; one that was stopped may not even have begun. */
static int check_attempt(void *ctx, const struct record_attempt *a)
{
	struct verifying *v = ctx;
	json_t *status = json_loads(a->status, 0, NULL);
	struct run *run = find_run(&v->runs, a->job, a->attempt);
	bool launched = json_object_get(status, "launched_s"),
	     stopped = json_object_get(status, "stop");
	int code = (int)member_int(status, "code", -1);

	if (!a->over)
		yard_wrong(v->yard, "attempt %u of job %u is not over", a->attempt, a->job);
	if (run)
		run->recorded = true;
	if (!run && launched && !stopped)
		yard_wrong(v->yard, "attempt %u of job %u never ran: %s", a->attempt, a->job,
			a->status);
	if (run && !launched)
		yard_wrong(v->yard, "attempt %u of job %u ran before it was recorded: %s",
			a->attempt, a->job, a->status);
	if (run && run->stopped && !stopped)
		yard_wrong(v->yard, "attempt %u of job %u was stopped, and nobody wanted that: %s",
			a->attempt, a->job, a->status);
	if (run && code != (run->stopped ? 85 : v->code))
		yard_wrong(v->yard, "attempt %u of job %u is recorded with another end: %s",
			a->attempt, a->job, a->status);
	v->tally->attempts++;
	v->tally->stops += run && run->stopped;
	v->ends += run && !run->stopped && (v->code == 0 || !stopped);
	json_decref(status);
	return 0;
}

static int see_job(void *ctx, const struct record_job *job)
{
	struct verifying *v = ctx;

	snprintf(v->state, sizeof(v->state), "%s", job->state);
	while (v->known.n <= job->id)
		vec_push(&v->known, false);
	v->known.at[job->id] = true;
	return 0;
}

static void check_state(struct verifying *v, const struct promise *p, uint32_t id)
{
	bool completed = !strcmp(v->state, "COMPLETED");
	uint32_t ends = completed ? 1 : !strcmp(p->state, "FAILED") ? 2 : 0;

	if (strcmp(v->state, p->state) != 0 && !(p->or_completed && completed))
		yard_wrong(v->yard, "job %u (%s) ended as %s, not as %s", id, p->name, v->state,
			p->state);
	else if (strcmp(v->state, "CANCELLED") != 0 && v->ends != ends)
		yard_wrong(v->yard, "job %u (%s) ran to its end %u times, not %u", id, p->name,
			v->ends, ends);
}

static void check_job(struct verifying *v, const struct promise *p, uint32_t id)
{
	struct err err = { 0 };

	v->ends = 0;
	v->code = p->code;
	if (record_job(v->record, id, see_job, v, &err) < 0) {
		yard_wrong(v->yard, "job %u (%s) is lost", id, p->name);
		return;
	}
	v->tally->jobs++;
	record_attempts(v->record, id, check_attempt, v, &err);
	check_state(v, p, id);
}

static double first_start_s(struct verifying *v, uint32_t job)
{
	for (size_t i = 0; i < v->runs.at.n; i++) {
		if (v->runs.at.at[i].job == job)
			return v->runs.at.at[i].start_s;
	}
	return NAN;
}

static double last_end_s(struct verifying *v, uint32_t job)
{
	double end_s = NAN;

	for (size_t i = 0; i < v->runs.at.n; i++) {
		if (v->runs.at.at[i].job == job)
			end_s = v->runs.at.at[i].end_s;
	}
	return end_s;
}

/* One that was not acknowledged has a name that no other has, if it is there. */
struct searching {
	const char *name;
	uint32_t found, id;
};

static int see_name(void *ctx, const struct record_job *job)
{
	struct searching *s = ctx;

	if (!strcmp(job->name, s->name)) {
		s->id = s->found++ ? s->id < job->id ? s->id : job->id : job->id;
	}
	return 0;
}

static void check_promise(struct verifying *v, struct promise *p)
{
	struct record_filter filter = { .name = p->name,
		.uid = UINT32_MAX,
		.limit = 1000,
		.ended_since_s = NAN };
	struct searching s = { .name = p->name };
	struct err err = { 0 };

	record_ended_jobs(v->record, &filter, see_name, &s, &err);
	if (s.found != p->n && (p->certain || s.found))
		yard_wrong(v->yard, "%s was asked for once and is there %u times", p->name,
			s.found / p->n);
	if (p->certain && s.id != p->id)
		yard_wrong(v->yard, "%s is job %u, which was told to be %u", p->name, s.id, p->id);
	for (uint32_t i = 0; i < s.found; i++)
		check_job(v, p, s.id + i);
	if (p->after && !(last_end_s(v, p->after) <= first_start_s(v, p->id)))
		yard_wrong(v->yard, "job %u did not wait for job %u", p->id, p->after);
}

static int see_stranger(void *ctx, const struct record_job *job)
{
	struct verifying *v = ctx;

	if (job->live)
		yard_wrong(v->yard, "job %u (%s) has not ended but is %s", job->id, job->name,
			job->state);
	else if (job->id >= v->known.n || !v->known.at[job->id])
		yard_wrong(v->yard, "job %u (%s) was never asked for", job->id, job->name);
	return 0;
}

static void check_strangers(struct verifying *v)
{
	struct record_filter all = { .uid = UINT32_MAX, .limit = 10000000, .ended_since_s = NAN };
	struct err err = { 0 };

	record_live_jobs(v->record, see_stranger, v, &err);
	record_ended_jobs(v->record, &all, see_stranger, v, &err);
	for (size_t i = 0; i < v->runs.at.n; i++) {
		if (!v->runs.at.at[i].recorded)
			yard_wrong(v->yard, "attempt %u of job %u ran and is not in the record",
				v->runs.at.at[i].attempt, v->runs.at.at[i].job);
	}
}

static void check_tables(struct verifying *v)
{
	struct buf text = { 0 };
	struct err err = { 0 };
	int n = record_check(v->record, &text, &err);

	if (n != 0)
		yard_wrong(v->yard, "the record: %d: %s%.900s", n, n < 0 ? err.text : "",
			text.at ? text.at : "");
	buf_fini(&text);
}

static int see_event(void *ctx, const struct record_event *e)
{
	struct verifying *v = ctx;
	struct replay_row row = {
		.seq = e->seq,
		.at_s = e->at_s,
		.kind = e->kind,
		.job = e->job,
		.attempt = e->attempt,
		.body = e->body,
		.job_after = e->job_after,
		.attempt_after = e->attempt_after,
		.job_live = e->job_live,
		.attempt_over = e->attempt_over,
	};
	struct err err = { 0 };

	if (replay_row(v->replay, &row, &err) == 0)
		return 0;
	yard_wrong(v->yard, "replay: %s", err.text);
	return 1;
}

static void check_replay(struct verifying *v)
{
	struct replay_result result;
	struct err err = { 0 };

	v->replay = replay_create();
	if (record_events(v->record, 0, 0, 0, see_event, v, &err) == 0 &&
		replay_finish(v->replay, &result, &err) < 0)
		yard_wrong(v->yard, "replay: %s", err.text);
	replay_destroy(v->replay);
}

void yard_verify(struct yard *y, struct tally *tally)
{
	struct verifying v = { .yard = y, .tally = tally };
	char *path = mem_printf("%s/stint.db", y->state);
	struct err err = { 0 };

	read_lines(y, &v.runs);
	if (record_open(path, true, &v.record, &err) < 0) {
		yard_wrong(y, "%s", err.text);
	} else {
		for (size_t i = 0; i < y->promises.n; i++)
			check_promise(&v, &y->promises.at[i]);
		check_strangers(&v);
		check_tables(&v);
		check_replay(&v);
	}
	record_close(v.record);
	vec_fini(&v.runs.at);
	vec_fini(&v.known);
	free(path);
}
