/*
 * live_load WHAT STATE ...: load for the daemon whose state directory is STATE, and figures.
 *
 *	batches STATE JOBS BATCH CONNECTIONS   submits as fast as they are durable, in batches; beside
 *	                                       them, in turns, what SQLite does with as many bytes
 *	single STATE RATE SECONDS CONNECTIONS unix|tcp
 *	                                       single submits at times fixed before (an open loop): a
 *	                                       late answer makes no later request come later
 *	fill STATE JOBS                        jobs that wait
 *	churn STATE SECONDS                    with a full queue: single submits, cancels of what runs
 *	flow STATE RATE SECONDS                jobs of `true` at that rate, and how many are in the system
 *	burst STATE JOBS                       that many at once, until the last has ended
 *	past STATE JOBS SECONDS                while no daemon is there: so many of the jobs that wait have run,
 *	                                       one after the other on each of its devices, in the last SECONDS
 *	looks STATE TIMES                      what each question costs the loop, on which decisions wait, and
 *	                                       the daemon as a whole: milliseconds of CPU, the best of so many
 *	times STATE NAME                       a histogram of /metrics: number, mean, 50th, 99th, most
 *
 * CPU and memory are the daemon's, from /proc.
 */
#include <math.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "api/client.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"

enum { TURNS = 4, TENANTS = 16 };

static void must(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "live_load: %s\n", err->text);
	exit(1);
}

static void check(bool fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "live_load: %s\n", what);
	exit(1);
}

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

static void sleep_until(double at_s)
{
	double left_s = at_s - clock_wall_s();
	struct timespec t;

	if (left_s <= 0)
		return;
	t.tv_sec = (time_t)left_s;
	t.tv_nsec = (long)((left_s - floor(left_s)) * 1e9);
	nanosleep(&t, NULL);
}

/* ---- the daemon */

static char *line_of(const char *dir, const char *name)
{
	char *path = path_join(dir, name), text[256];
	FILE *in = fopen(path, "r");

	check(in && fgets(text, sizeof(text), in), path);
	fclose(in);
	free(path);
	text[strcspn(text, "\n")] = 0;
	return mem_strdup(text);
}

static struct client *connect_to(const char *state, bool tcp)
{
	char *socket = path_join(state, "socket"), *url = NULL, *token = NULL;
	struct client_where where = { .socket = socket };
	struct client *client;
	struct err err = { 0 };

	if (tcp) {
		url = line_of(state, "address");
		token = line_of(state, "token");
		where = (struct client_where){ .url = url, .token = token };
	}
	must(client_open(&where, &client, &err), &err);
	free(socket);
	free(url);
	free(token);
	return client;
}

static pid_t daemon_pid(const char *state)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct ucred peer = { 0 };
	socklen_t n = sizeof(peer);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s/socket", state);
	check(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0, "no daemon there");
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n);
	close(fd);
	return peer.pid;
}

/* Seconds of CPU of the daemon so far; with `children` those of guards and jobs that have ended, too. */
static double daemon_cpu_s(pid_t pid, bool children)
{
	unsigned long user = 0, system = 0, cuser = 0, csystem = 0;
	char path[64], text[1024] = "", *at;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	in = fopen(path, "r");
	check(in && fgets(text, sizeof(text), in), "the daemon is gone");
	fclose(in);
	at = strrchr(text, ')');
	sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &user,
		&system, &cuser, &csystem);
	return (double)(user + system + (children ? cuser + csystem : 0)) /
		(double)sysconf(_SC_CLK_TCK);
}

static double daemon_mib(pid_t pid)
{
	char path[64], text[256];
	double kib = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	in = fopen(path, "r");
	check(in, "the daemon is gone");
	while (fgets(text, sizeof(text), in))
		sscanf(text, "VmRSS: %lf", &kib);
	fclose(in);
	return kib / 1024;
}

/* ---- submissions */

/*
 * What people submit, but for their whole environment.  The one that runs stays, so that the others
 * wait.
 */
static json_t *training(uint32_t i)
{
	char tenant[16];

	snprintf(tenant, sizeof(tenant), "team%u", i % TENANTS);
	return json_pack(
		"{s:s,s:s,s:[s,s,s,s,s,s,s,s,s],s:s,s:{s:s,s:s,s:s,s:s,s:s,s:s},s:s,s:s,s:i,s:i,s:i}",
		"schema", "submission/1", "name", "resnet50-lr3e-4", "command", "sh", "-c",
		"sleep 100000", "train.py", "--epochs", "90", "--batch", "256", "--lr=3e-4", "cwd",
		"/tmp", "env", "PATH", "/usr/local/bin:/usr/bin:/bin", "HOME", "/home/ana", "USER",
		"ana", "LANG", "C.UTF-8", "DATA", "/data/imagenet", "PYTHONPATH", "/home/ana/lib",
		"tenant", tenant, "model", "resnet50", "gpus", 1, "time_s",
		(int)(360000 + i % 7919), "retries", 2);
}

static json_t *many(uint32_t n, json_t *(*make)(uint32_t i), uint32_t from)
{
	json_t *jobs = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(jobs, make(from + i));
	return json_pack("{s:o}", "jobs", jobs);
}

static json_t *nothing(uint32_t i)
{
	(void)i;
	return json_pack("{s:s,s:[s],s:s,s:{s:s},s:i}", "schema", "submission/1", "command", "true",
		"cwd", "/", "env", "PATH", "/usr/bin:/bin", "gpus", 1);
}

static void submit(struct client *client, const json_t *body)
{
	struct client_ask ask = {
		.method = "POST",
		.path = "/v1/jobs",
		.body = body,
		.timeout_s = 600,
	};
	struct client_answer answer = { 0 };
	struct err err = { 0 };

	must(client_request(client, &ask, &answer, &err), &err);
	must(client_check(&answer, &err), &err);
	client_answer_fini(&answer);
}

/* ---- figures */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct sample {
	VEC(double) s;
};

static double quantile(struct sample *sample, double q)
{
	size_t i = (size_t)(q * (double)sample->s.n);

	qsort(sample->s.at, sample->s.n, sizeof(double), by_size);
	return sample->s.n ? sample->s.at[i < sample->s.n ? i : sample->s.n - 1] : NAN;
}

struct histogram {
	double bounds[64], below[64];
	size_t n;
	double sum, count;
};

static struct histogram read_histogram(struct client *client, const char *name)
{
	struct client_ask ask = { .method = "GET", .path = "/metrics" };
	struct client_answer answer = { 0 };
	struct histogram h = { 0 };
	struct err err = { 0 };
	size_t length = strlen(name);

	must(client_request(client, &ask, &answer, &err), &err);
	for (char *line = strtok(answer.body.at, "\n"); line; line = strtok(NULL, "\n")) {
		char bound[32];
		double value;

		if (strncmp(line, name, length) != 0)
			continue;
		if (sscanf(line + length, "_bucket{le=\"%31[^\"]\"} %lf", bound, &value) == 2 &&
			h.n < 64) {
			h.bounds[h.n] = strtod(bound, NULL);
			h.below[h.n++] = value;
		} else if (sscanf(line + length, "_sum %lf", &value) == 1) {
			h.sum = value;
		} else if (sscanf(line + length, "_count %lf", &value) == 1) {
			h.count = value;
		}
	}
	client_answer_fini(&answer);
	return h;
}

/* The bound of the bucket that has it. */
static double bound_of(const struct histogram *h, double q)
{
	for (size_t i = 0; i < h->n; i++) {
		if (h->below[i] >= q * h->count)
			return h->bounds[i];
	}
	return INFINITY;
}

static void tell_times(struct client *client, const char *name)
{
	struct histogram h = read_histogram(client, name);

	printf("%-24s n %7.0f  mean %9.3f ms  50th <= %g ms  99th <= %g ms  most <= %g ms\n", name,
		h.count, h.count > 0 ? h.sum / h.count * 1e3 : 0, bound_of(&h, 0.5) * 1e3,
		bound_of(&h, 0.99) * 1e3, bound_of(&h, 1) * 1e3);
}

/* ---- SQLite itself: rows of as many bytes in a table without any index */

struct raw {
	sqlite3 *db;
	sqlite3_stmt *add;
	char *path, *row;
	int bytes;
};

static void do_sql(sqlite3 *db, const char *sql)
{
	check(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, sql);
}

static struct raw raw_open(const char *state, int bytes)
{
	struct raw raw = {
		.path = path_join(state, "raw.db"),
		.row = mem_alloc((size_t)bytes + 1),
		.bytes = bytes,
	};

	memset(raw.row, 'x', (size_t)bytes);
	unlink(raw.path);
	check(sqlite3_open(raw.path, &raw.db) == SQLITE_OK, raw.path);
	do_sql(raw.db, "PRAGMA journal_mode = WAL");
	do_sql(raw.db, "PRAGMA synchronous = FULL");
	do_sql(raw.db, "CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB)");
	sqlite3_prepare_v2(raw.db, "INSERT INTO t(body) VALUES(?1)", -1, &raw.add, NULL);
	return raw;
}

static void raw_commit(struct raw *raw, uint32_t rows)
{
	do_sql(raw->db, "BEGIN IMMEDIATE");
	for (uint32_t i = 0; i < rows; i++) {
		sqlite3_bind_blob(raw->add, 1, raw->row, raw->bytes, SQLITE_STATIC);
		check(sqlite3_step(raw->add) == SQLITE_DONE, "SQLite cannot write");
		sqlite3_reset(raw->add);
	}
	do_sql(raw->db, "COMMIT");
}

static void raw_close(struct raw *raw)
{
	char *log = mem_printf("%s-wal", raw->path);

	sqlite3_finalize(raw->add);
	sqlite3_close(raw->db);
	unlink(raw->path);
	unlink(log);
	free(log);
	free(raw->path);
	free(raw->row);
}

/* Of the record's submissions: what each is, written once. */
static int bytes_of_submit(const char *state)
{
	char *path = path_join(state, "stint.db");
	sqlite3_stmt *st = NULL;
	sqlite3 *db;
	int bytes;

	check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
			sqlite3_prepare_v2(db,
				"SELECT avg(length(body)) FROM (SELECT body FROM event"
				" WHERE kind = 'submit' ORDER BY seq DESC LIMIT 100)",
				-1, &st, NULL) == SQLITE_OK &&
			sqlite3_step(st) == SQLITE_ROW,
		path);
	bytes = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	free(path);
	return bytes;
}

/* ---- batches */

struct sender {
	pthread_t thread;
	const char *state;
	json_t *body; /* the same each time: making it is not the daemon's work */
	uint32_t times;
	struct sample took;
};

static void *send_batches(void *ctx)
{
	struct sender *s = ctx;
	struct client *client = connect_to(s->state, false);

	for (uint32_t i = 0; i < s->times; i++) {
		double began_s = clock_wall_s();

		submit(client, s->body);
		vec_push(&s->took.s, clock_wall_s() - began_s);
	}
	client_close(client);
	return NULL;
}

static void send_all(const char *state, uint32_t jobs, uint32_t batch, uint32_t connections,
	struct sample *took)
{
	struct sender *senders = mem_alloc(mem_array_size(connections, sizeof(*senders)));
	uint32_t batches = (jobs + batch - 1) / batch;

	for (uint32_t i = 0; i < connections; i++) {
		senders[i].state = state;
		senders[i].body = many(batch, training, i * batch);
		senders[i].times = batches / connections + (i < batches % connections);
		pthread_create(&senders[i].thread, NULL, send_batches, &senders[i]);
	}
	for (uint32_t i = 0; i < connections; i++) {
		pthread_join(senders[i].thread, NULL);
		for (size_t k = 0; took && k < senders[i].took.s.n; k++)
			vec_push(&took->s, senders[i].took.s.at[k]);
		vec_fini(&senders[i].took.s);
		json_decref(senders[i].body);
	}
	free(senders);
}

struct cost {
	double wall_s, cpu_s, jobs;
};

static struct cost raw_turn(struct raw *raw, uint32_t jobs, uint32_t batch)
{
	struct cost c = { -clock_wall_s(), -clock_cpu_s(), jobs };

	for (uint32_t done = 0; done < jobs; done += batch)
		raw_commit(raw, batch);
	c.wall_s += clock_wall_s();
	c.cpu_s += clock_cpu_s();
	return c;
}

static void tell_cost(const char *what, const struct cost *c)
{
	printf("  %-8s %8.0f jobs/s  wall %6.2f s  cpu %6.2f s  %6.1f us of CPU a job\n", what,
		c->jobs / c->wall_s, c->wall_s, c->cpu_s, c->cpu_s / c->jobs * 1e6);
}

static void add(struct cost *to, struct cost c)
{
	to->wall_s += c.wall_s;
	to->cpu_s += c.cpu_s;
	to->jobs += c.jobs;
}

static int batches(char **arg)
{
	const char *state = arg[0];
	uint32_t each = number(arg[1]) / TURNS, batch = number(arg[2]), connections = number(arg[3]);
	struct cost ours = { 0 }, theirs = { 0 };
	struct sample took = { 0 };
	pid_t pid = daemon_pid(state);
	struct raw raw;

	send_all(state, batch, batch, 1, NULL); /* for their size */
	raw = raw_open(state, bytes_of_submit(state));
	for (int turn = 0; turn < TURNS; turn++) {
		struct cost c;

		add(&theirs, raw_turn(&raw, each, batch));
		c = (struct cost){ -clock_wall_s(), -daemon_cpu_s(pid, false), each };
		send_all(state, each, batch, connections, &took);
		c.wall_s += clock_wall_s();
		c.cpu_s += daemon_cpu_s(pid, false);
		add(&ours, c);
	}
	printf("submits in batches of %u over %u connections, %d bytes each\n", batch, connections,
		raw.bytes);
	tell_cost("daemon", &ours);
	tell_cost("SQLite", &theirs);
	printf("  ratio    %8.2f of SQLite's rate, %.1f of its CPU;  a batch: 50th %.1f ms, 99th %.1f ms\n",
		theirs.wall_s / ours.wall_s, ours.cpu_s / theirs.cpu_s, quantile(&took, 0.5) * 1e3,
		quantile(&took, 0.99) * 1e3);
	raw_close(&raw);
	vec_fini(&took.s);
	return 0;
}

/* ---- single submits in an open loop */

struct lane {
	pthread_t thread;
	const char *state;
	bool tcp;
	double begin_s, every_s;
	uint32_t times;
	struct sample took;
	struct client *client;
	json_t *body;
};

static void *send_singles(void *ctx)
{
	struct lane *lane = ctx;

	for (uint32_t i = 0; i < lane->times; i++) {
		double due_s = lane->begin_s + i * lane->every_s;

		sleep_until(due_s);
		submit(lane->client, lane->body);
		vec_push(&lane->took.s, clock_wall_s() - due_s);
	}
	return NULL;
}

static void tell_latency(const char *what, struct sample *took, double wall_s, double cpu_s)
{
	printf("  %-8s %8.0f a second  50th %6.2f ms  90th %6.2f ms  99th %6.2f ms  99.9th %6.2f ms  most %6.2f ms  %6.1f us of CPU each\n",
		what, (double)took->s.n / wall_s, quantile(took, 0.5) * 1e3,
		quantile(took, 0.9) * 1e3, quantile(took, 0.99) * 1e3, quantile(took, 0.999) * 1e3,
		quantile(took, 1) * 1e3, cpu_s / (double)took->s.n * 1e6);
}

/* One row a commit at the same rate, if the disk can: each is due at its time, too. */
static void raw_singles(const char *state, double rate, double seconds)
{
	struct raw raw = raw_open(state, bytes_of_submit(state));
	double begin_s = clock_wall_s(), cpu_s = -clock_cpu_s();
	struct sample took = { 0 }, open = { 0 };

	for (uint32_t i = 0; i < rate * seconds && clock_wall_s() < begin_s + 2 * seconds; i++) {
		double began_s;

		sleep_until(begin_s + i / rate);
		began_s = clock_wall_s();
		raw_commit(&raw, 1);
		vec_push(&took.s, clock_wall_s() - began_s);
		vec_push(&open.s, clock_wall_s() - (begin_s + i / rate));
	}
	cpu_s += clock_cpu_s();
	tell_latency("SQLite", &open, clock_wall_s() - begin_s, cpu_s);
	printf("  %-8s a commit alone: 50th %.2f ms  99th %.2f ms  most %.2f ms\n", "",
		quantile(&took, 0.5) * 1e3, quantile(&took, 0.99) * 1e3, quantile(&took, 1) * 1e3);
	raw_close(&raw);
	vec_fini(&took.s);
	vec_fini(&open.s);
}

static int single(char **arg)
{
	const char *state = arg[0];
	double rate = number(arg[1]), seconds = number(arg[2]), cpu_s, began_s;
	uint32_t n = number(arg[3]);
	bool tcp = !strcmp(arg[4], "tcp");
	struct lane *lanes = mem_alloc(mem_array_size(n, sizeof(*lanes)));
	struct sample took = { 0 };
	pid_t pid = daemon_pid(state);

	for (uint32_t i = 0; i < n; i++) {
		lanes[i] = (struct lane){ .every_s = n / rate, .body = training(i) };
		lanes[i].client = connect_to(state, tcp);
		lanes[i].times = (uint32_t)(rate * seconds / n);
		submit(lanes[i].client, lanes[i].body); /* connected before it counts */
	}
	cpu_s = -daemon_cpu_s(pid, false);
	began_s = clock_wall_s() + 0.1;
	for (uint32_t i = 0; i < n; i++) {
		lanes[i].begin_s = began_s + i / rate;
		pthread_create(&lanes[i].thread, NULL, send_singles, &lanes[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		pthread_join(lanes[i].thread, NULL);
		for (size_t k = 0; k < lanes[i].took.s.n; k++)
			vec_push(&took.s, lanes[i].took.s.at[k]);
		vec_fini(&lanes[i].took.s);
		client_close(lanes[i].client);
		json_decref(lanes[i].body);
	}
	cpu_s += daemon_cpu_s(pid, false);
	printf("single submits, %g a second over %u connections (%s)\n", rate, n, arg[4]);
	tell_latency("daemon", &took, clock_wall_s() - began_s, cpu_s);
	raw_singles(state, rate, fmin(seconds, 10));
	vec_fini(&took.s);
	free(lanes);
	return 0;
}

/* ---- a full queue */

static int fill(char **arg)
{
	double began_s = clock_wall_s();
	pid_t pid = daemon_pid(arg[0]);

	send_all(arg[0], number(arg[1]), 1000, 2, NULL);
	printf("%s jobs in %.1f s, the daemon has %.0f MiB\n", arg[1], clock_wall_s() - began_s,
		daemon_mib(pid));
	return 0;
}

/* The first job of the list, which is one with devices if there is one; 0: none. */
static int64_t first_job(struct client *client, const char *path, json_int_t *total)
{
	struct err err = { 0 };
	json_t *answer = NULL;
	int64_t id;

	must(client_do(client, "GET", path, NULL, &answer, &err), &err);
	id = json_integer_value(
		json_object_get(json_array_get(json_object_get(answer, "jobs"), 0), "id"));
	if (total)
		*total = json_integer_value(json_object_get(answer, "total"));
	json_decref(answer);
	return id;
}

static void cancel_running(struct client *client)
{
	int64_t id = first_job(client, "/v1/jobs?state=running,configuring&limit=1", NULL);
	char *path = mem_printf("/v1/jobs/%ld/cancel", (long)id);
	struct err err = { 0 };
	json_t *answer = NULL;

	if (id && client_do(client, "POST", path, NULL, &answer, &err) == 0)
		json_decref(answer);
	free(path);
}

/* Ten times a second something that must be decided upon: nine submits and a cancel of what runs. */
static int churn(char **arg)
{
	double seconds = number(arg[1]), began_s = clock_wall_s(), cpu_s;
	struct client *client = connect_to(arg[0], false);
	pid_t pid = daemon_pid(arg[0]);
	struct sample took = { 0 };

	cpu_s = -daemon_cpu_s(pid, false);
	for (uint32_t i = 0; i < 10 * seconds; i++) {
		json_t *body = training(i);

		sleep_until(began_s + i * 0.1);
		if (i % 10 == 9) {
			cancel_running(client);
		} else {
			double at_s = clock_wall_s();

			submit(client, body);
			vec_push(&took.s, clock_wall_s() - at_s);
		}
		json_decref(body);
	}
	cpu_s += daemon_cpu_s(pid, false);
	tell_times(client, "stint_decision_seconds");
	printf("  submits: 50th %.1f ms  99th %.1f ms;  CPU %.2f of a core, %.0f MiB\n",
		quantile(&took, 0.5) * 1e3, quantile(&took, 0.99) * 1e3,
		cpu_s / (clock_wall_s() - began_s), daemon_mib(pid));
	vec_fini(&took.s);
	client_close(client);
	return 0;
}

/* ---- jobs that run */

static json_int_t in_system(struct client *client)
{
	json_int_t total = 0;

	first_job(client, "/v1/jobs?limit=1", &total);
	return total;
}

static void tell_flow(pid_t pid, double jobs, double wall_s, double cpu_s, double all_s)
{
	printf("  %.0f jobs in %.1f s: %.1f a second;  CPU a job: daemon %.2f ms, guards and commands %.2f ms;  %.0f MiB\n",
		jobs, wall_s, jobs / wall_s, cpu_s / jobs * 1e3, (all_s - cpu_s) / jobs * 1e3,
		daemon_mib(pid));
}

static void drain(struct client *client, json_int_t until)
{
	while (in_system(client) > until)
		sleep_until(clock_wall_s() + 0.02);
}

static int flow(char **arg)
{
	double rate = number(arg[1]) / 60.0, seconds = number(arg[2]), began_s, cpu_s, all_s;
	struct client *client = connect_to(arg[0], false);
	json_int_t before = in_system(client), most = 0;
	json_t *body = nothing(0);
	uint32_t sent = 0;
	pid_t pid = daemon_pid(arg[0]);

	began_s = clock_wall_s();
	cpu_s = -daemon_cpu_s(pid, false);
	all_s = -daemon_cpu_s(pid, true);
	printf("jobs of `true`, %s a minute; in the system at the end of each 10 s:", arg[1]);
	for (double next_s = 10; sent < rate * seconds; sent++) {
		sleep_until(began_s + sent / rate);
		submit(client, body);
		if (clock_wall_s() < began_s + next_s)
			continue;
		next_s += 10;
		most = in_system(client) - before > most ? in_system(client) - before : most;
		printf(" %ld", (long)(in_system(client) - before));
		fflush(stdout);
	}
	drain(client, before);
	printf("; most %ld\n", (long)most);
	cpu_s += daemon_cpu_s(pid, false);
	all_s += daemon_cpu_s(pid, true);
	tell_flow(pid, sent, clock_wall_s() - began_s, cpu_s, all_s);
	tell_times(client, "stint_submit_seconds");
	json_decref(body);
	client_close(client);
	return 0;
}

static int burst(char **arg)
{
	struct client *client = connect_to(arg[0], false);
	json_t *body = many(number(arg[1]), nothing, 0);
	json_int_t before = in_system(client);
	pid_t pid = daemon_pid(arg[0]);
	double began_s = clock_wall_s(), cpu_s = -daemon_cpu_s(pid, false),
	       all_s = -daemon_cpu_s(pid, true);

	submit(client, body);
	drain(client, before);
	cpu_s += daemon_cpu_s(pid, false);
	all_s += daemon_cpu_s(pid, true);
	printf("jobs of `true`, %s at once\n", arg[1]);
	tell_flow(pid, number(arg[1]), clock_wall_s() - began_s, cpu_s, all_s);
	tell_times(client, "stint_decision_seconds");
	tell_times(client, "stint_commit_seconds");
	json_decref(body);
	client_close(client);
	return 0;
}

static int times(char **arg)
{
	struct client *client = connect_to(arg[0], false);

	tell_times(client, arg[1]);
	client_close(client);
	return 0;
}

/* ---- a past that nobody has to wait for */

static int past(char **argv)
{
	char *path = path_join(argv[0], "stint.db"), *sql;
	sqlite3 *db;

	check(sqlite3_open(path, &db) == SQLITE_OK, path);
	/* The record began so long ago, then. */
	sql = mem_printf(
		"BEGIN; CREATE TEMP TABLE p AS SELECT id, (row_number() OVER (ORDER BY id) - 1) AS i"
		" FROM job WHERE live = 1 AND state = 'PENDING' ORDER BY id LIMIT %s;"
		" CREATE TEMP TABLE t AS SELECT id, i %% 64 AS device, (i / 64) * %s.0 * 64 / %s AS from_s,"
		" (i / 64 + 0.9) * %s.0 * 64 / %s AS to_s FROM p;"
		" INSERT INTO attempt SELECT id, 1, 1, json_object('job', id, 'attempt', 1, 'phase', 'over',"
		" 'grant', json_object('type', 'cpu', 'gpus', 1, 'on', json_array(json_array(0, 1 << device))),"
		" 'ordered_s', from_s, 'launched_s', from_s, 'begun_s', from_s, 'over_s', to_s, 'code', 0) FROM t;"
		" UPDATE job SET state = 'COMPLETED', live = 0, end_s = (SELECT to_s FROM t WHERE t.id = job.id),"
		" status = json_set(status, '$.state', 'COMPLETED', '$.attempt', 1, '$.code', 0, '$.attempts', 1,"
		" '$.end_s', (SELECT to_s FROM t WHERE t.id = job.id)) WHERE id IN (SELECT id FROM t);"
		" UPDATE meta SET value = value - %s WHERE key = 'born'; COMMIT",
		argv[1], argv[2], argv[1], argv[2], argv[1], argv[2]);
	do_sql(db, sql);
	free(sql);
	sqlite3_close(db);
	free(path);
	return 0;
}

/* ---- questions */

/* Milliseconds of CPU of the daemon's first thread, which is its loop. */
static double loop_cpu_ms(pid_t pid)
{
	char path[64], text[128] = "";
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)pid);
	in = fopen(path, "r");
	check(in && fgets(text, sizeof(text), in), "the daemon is gone");
	fclose(in);
	return strtod(text, NULL) / 1e6;
}

static double all_cpu_ms(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	check(clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &t) == 0,
		"the daemon is gone");
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void look(struct client *client, pid_t pid, const char *path, uint32_t times)
{
	double loop = INFINITY, all = INFINITY, wall = INFINITY;
	struct client_ask ask = { .method = "GET", .path = path, .timeout_s = 600 };
	size_t bytes = 0;
	struct err err = { 0 };

	for (uint32_t i = 0; i < times; i++) {
		double loop_ms = loop_cpu_ms(pid), all_ms = all_cpu_ms(pid), began_s = clock_wall_s();
		struct client_answer answer = { 0 };

		must(client_request(client, &ask, &answer, &err), &err);
		must(client_check(&answer, &err), &err);
		wall = fmin(wall, (clock_wall_s() - began_s) * 1e3);
		usleep(2000); /* the loop goes back to sleep, and its account is settled */
		loop = fmin(loop, loop_cpu_ms(pid) - loop_ms);
		all = fmin(all, all_cpu_ms(pid) - all_ms);
		bytes = answer.body.n;
		client_answer_fini(&answer);
	}
	printf("  %-28s loop %7.2f   in all %8.2f   wall %8.1f ms   %9.1f kB\n", path, loop, all,
		wall, (double)bytes / 1e3);
}

static int looks(char **argv)
{
	static const char *const paths[] = { "/v1/jobs", "/v1/jobs?limit=20000",
		"/v1/jobs?limit=20000&brief=true", "/v1/jobs?state=ended", "/v1/jobs/1",
		"/v1/jobs/20000/explain", "/v1/jobs/1/history", "/v1/nodes", "/v1/timeline",
		"/v1/fairness", "/v1/quota", "/v1/report", "/v1/policies", "/metrics" };
	struct client *client = connect_to(argv[0], false);
	pid_t pid = daemon_pid(argv[0]);

	printf("questions, CPU ms of the loop and of the daemon, best of %s\n", argv[1]);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		look(client, pid, paths[i], number(argv[1]));
	client_close(client);
	return 0;
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **arg);
} kinds[] = {
	{ "batches", 4, batches },
	{ "single", 5, single },
	{ "fill", 2, fill },
	{ "churn", 2, churn },
	{ "flow", 3, flow },
	{ "burst", 2, burst },
	{ "past", 3, past },
	{ "looks", 2, looks },
	{ "times", 2, times },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(argv[1], kinds[i].name) && argc == kinds[i].args + 2)
			return kinds[i].run(argv + 2);
	}
	fprintf(stderr, "live_load: see the head of bench/live_load.c\n");
	return 2;
}
