/*
 * record_bench [DIR [JOBS]]: how fast the live record is, on the disk of DIR (default .).
 *
 * Submits go in as the daemon writes them: an event with the submission as its body and the
 * job's row, in batches that are durable one by one.  Beside it, in the same run and in turns,
 * the least that SQLite can do with the same settings: rows of as many bytes in one table
 * without any index.  Then the record is opened again as after a restart, and checked.
 */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/record.h"

enum { TURNS = 4, COMMITS_MAX = 4096 };

/* What 8 KiB of environment would be is left out: it is the user's, not ours. */
static const char submission[] =
	"{\"schema\":\"submission/1\",\"name\":\"resnet50-lr3e-4\",\"argv\":[\"python3\",\"train.py\","
	"\"--epochs\",\"90\",\"--batch\",\"256\",\"--lr\",\"3e-4\"],\"cwd\":\"/home/ana/runs/resnet50\","
	"\"env\":[\"PATH=/usr/local/bin:/usr/bin:/bin\",\"HOME=/home/ana\",\"USER=ana\",\"LANG=C.UTF-8\","
	"\"DATA=/data/imagenet\",\"PYTHONPATH=/home/ana/lib\"],\"tenant\":\"vision\",\"model\":\"resnet50\","
	"\"gpus\":4,\"min_gpus\":2,\"max_gpus\":8,\"time_s\":86400,\"retries\":2}";
static const char status[] =
	"{\"gpus\":4,\"min_gpus\":2,\"max_gpus\":8,\"model\":\"resnet50\",\"arrival_s\":1763366400.25}";

struct cost {
	double wall_s, cpu_s;
	uint32_t n;
	double commits_s[COMMITS_MAX]; /* how long each took */
	uint32_t commits;
};

static struct cost begin(void)
{
	return (struct cost){ .wall_s = -clock_wall_s(), .cpu_s = -clock_cpu_s() };
}

static void end(struct cost *c, uint32_t n)
{
	c->wall_s += clock_wall_s();
	c->cpu_s += clock_cpu_s();
	c->n = n;
}

static void note_commit(struct cost *c, double began_s)
{
	if (c->commits < COMMITS_MAX)
		c->commits_s[c->commits++] = clock_wall_s() - began_s;
}

static void must(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "record_bench: %s\n", err->text);
	exit(1);
}

/* ---- ours */

static void submit_one(struct record *r, uint32_t id, struct err *err)
{
	char key[32];
	struct record_job job = {
		.id = id,
		.uid = 1000 + id % 16,
		.key = key,
		.name = "resnet50-lr3e-4",
		.tenant = "vision",
		.state = "PENDING",
		.live = true,
		.arrival_s = 1763366400.25 + id * 0.001,
		.end_s = NAN,
		.status = status,
	};
	struct record_event event = {
		.at_s = job.arrival_s,
		.kind = "submit",
		.job = id,
		.body = submission,
	};

	/* As people's scripts make them: scattered, so that the index of keys is hit everywhere. */
	snprintf(key, sizeof(key), "%08x-%u", id * 2654435761u, id);
	must(record_append(r, &event, &job, NULL, err), err);
}

static struct cost submit(struct record *r, uint32_t n, uint32_t batch)
{
	struct cost c = begin();
	struct err err = { 0 };
	uint32_t id = record_last_job(r);

	for (uint32_t done = 0; done < n; done += batch) {
		double began_s = clock_wall_s();

		must(record_begin(r, &err), &err);
		for (uint32_t i = 0; i < batch; i++)
			submit_one(r, ++id, &err);
		must(record_commit(r, &err), &err);
		note_commit(&c, began_s);
	}
	end(&c, n);
	return c;
}

/* ---- SQLite itself */

static void do_sql(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return;
	fprintf(stderr, "record_bench: %s: %s\n", sql, sqlite3_errmsg(db));
	exit(1);
}

static sqlite3 *open_raw(const char *path)
{
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK)
		exit(1);
	do_sql(db, "PRAGMA journal_mode = WAL");
	do_sql(db, "PRAGMA synchronous = FULL");
	do_sql(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB)");
	return db;
}

/* Text of ours that must be kept: body, status, key, names, state and a few numbers. */
static int row_bytes(void)
{
	return (int)(strlen(submission) + strlen(status) + 14 + 15 + 6 + 7 + 6 + 5 * 8);
}

static struct cost submit_raw(sqlite3 *db, uint32_t n, uint32_t batch)
{
	char *row = mem_alloc((size_t)row_bytes());
	struct cost c = begin();
	sqlite3_stmt *st;

	memset(row, 'x', (size_t)row_bytes());
	sqlite3_prepare_v2(db, "INSERT INTO t(body) VALUES(?1)", -1, &st, NULL);
	for (uint32_t done = 0; done < n; done += batch) {
		double began_s = clock_wall_s();

		do_sql(db, "BEGIN IMMEDIATE");
		for (uint32_t i = 0; i < batch; i++) {
			sqlite3_bind_blob(st, 1, row, row_bytes(), SQLITE_STATIC);
			if (sqlite3_step(st) != SQLITE_DONE)
				exit(1);
			sqlite3_reset(st);
		}
		do_sql(db, "COMMIT");
		note_commit(&c, began_s);
	}
	sqlite3_finalize(st);
	end(&c, n);
	free(row);
	return c;
}

/* ---- telling */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void add(struct cost *to, const struct cost *c)
{
	to->wall_s += c->wall_s;
	to->cpu_s += c->cpu_s;
	to->n += c->n;
	for (uint32_t i = 0; i < c->commits && to->commits < COMMITS_MAX; i++)
		to->commits_s[to->commits++] = c->commits_s[i];
}

static void tell(const char *what, struct cost *c)
{
	qsort(c->commits_s, c->commits, sizeof(double), by_size);
	printf("  %-7s %8.0f per s   wall %6.2f s  cpu %6.2f s   a commit: median %6.2f ms  99th %6.2f ms  most "
	       "%6.2f ms\n",
		what, c->n / c->wall_s, c->wall_s, c->cpu_s, c->commits_s[c->commits / 2] * 1e3,
		c->commits_s[c->commits * 99 / 100] * 1e3, c->commits_s[c->commits - 1] * 1e3);
}

static void measure(struct record *r, sqlite3 *db, uint32_t n, uint32_t batch)
{
	static struct cost ours, raw, c;

	ours = raw = (struct cost){ 0 };
	for (int turn = 0; turn < TURNS; turn++) {
		c = submit_raw(db, n / TURNS, batch);
		add(&raw, &c);
		c = submit(r, n / TURNS, batch);
		add(&ours, &c);
	}
	printf("%u submits in batches of %u\n", n, batch);
	tell("record", &ours);
	tell("SQLite", &raw);
	printf("  ratio  %8.2f of SQLite's rate, %.2f of its CPU\n", raw.wall_s / ours.wall_s,
		ours.cpu_s / raw.cpu_s);
}

static int count_job(void *ctx, const struct record_job *job)
{
	uint64_t *bytes = ctx;

	*bytes += strlen(job->status);
	return 0;
}

struct loading {
	struct record *record;
	uint64_t bytes;
};

static int count_event(void *ctx, const struct record_event *event)
{
	struct loading *l = ctx;

	l->bytes += strlen(event->body);
	return 0;
}

static int load_job(void *ctx, const struct record_job *job)
{
	struct loading *l = ctx;

	return record_event_at(l->record, job->submit_seq, count_event, l, NULL);
}

static void told(const char *what, struct cost *c)
{
	end(c, 0);
	printf("  %-34s wall %6.3f s  cpu %6.3f s\n", what, c->wall_s, c->cpu_s);
}

static void restart(const char *path)
{
	struct loading l = { 0 };
	struct buf out = { 0 };
	struct err err = { 0 };
	struct cost c = begin();
	int n;

	must(record_open(path, false, &l.record, &err), &err);
	told("open", &c);
	printf("%u live jobs\n", record_last_job(l.record));
	c = begin();
	must(record_live_jobs(l.record, count_job, &l.bytes, &err), &err);
	told("read them", &c);
	c = begin();
	must(record_live_jobs(l.record, load_job, &l, &err), &err);
	told("read them and their submissions", &c);
	c = begin();
	n = record_check(l.record, &out, &err);
	must(n, &err);
	told("check", &c);
	printf("  %d differences\n", n);
	record_close(l.record);
	buf_fini(&out);
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : ".";
	uint32_t jobs = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 100000;
	char *ours = path_join(dir, "record_bench.db"), *theirs = path_join(dir, "record_bench.raw");
	struct record *r;
	struct err err = { 0 };
	struct stat st;
	sqlite3 *db;

	unlink(ours);
	unlink(theirs);
	must(record_open(ours, false, &r, &err), &err);
	db = open_raw(theirs);
	measure(r, db, 400, 1);
	measure(r, db, jobs / 4, 100);
	measure(r, db, jobs * 3 / 4, 1000);
	sqlite3_close(db);
	record_close(r);
	restart(ours);
	if (stat(ours, &st) == 0)
		printf("  %.0f bytes a job in the file, %d of them given\n",
			(double)st.st_size / (400.0 + jobs), row_bytes());
	unlink(ours);
	unlink(theirs);
	free(ours);
	free(theirs);
	return 0;
}
