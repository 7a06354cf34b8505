/*
 * A Slurm that is written by hand, at the other end of the line: the test sets what
 * it shows, and whatever is asked of it is noted.
 */
#ifndef TESTS_LIVE_SLURM_STILL_SLURM_H
#define TESTS_LIVE_SLURM_STILL_SLURM_H

#include <string.h>

#include "base/members.h"
#include "base/text.h"
#include "base/vec.h"
#include "live/slurm/wire.h"
#include "support/property.h"

enum { STILL_OPS = 20 };

struct still_job {
	char name[32];
	json_t *shown; /* NULL: Slurm does not know it */
	char *sent;    /* as it was last told */
};

struct still {
	VEC(struct still_job) jobs;
	json_t *nodes, *partitions;
	int64_t stamp, nodes_stamp;
	bool open, away, mute, dead;
	const char *hello_kind; /* hello is refused so; NULL: it is not */
	struct buf in, out;
	size_t read;
	char ops[STILL_OPS][16]; /* each once */
	size_t nops, opened, asked_jobs, asked_full;
	/* Each time jobs were told. */
	void (*told)(void *ctx);
	void *ctx;
};

static double still_now_s = 1e9;

static inline double still_clock(void)
{
	return still_now_s;
}

/* ---- what it shows */

static inline struct still_job *still_find(struct still *s, const char *name)
{
	for (size_t i = 0; i < s->jobs.n; i++) {
		if (!strcmp(s->jobs.at[i].name, name))
			return &s->jobs.at[i];
	}
	return NULL;
}

/* Takes `shown`; NULL: it is gone. */
static inline void still_set(struct still *s, const char *name, json_t *shown)
{
	struct still_job *job = still_find(s, name);

	if (!job) {
		vec_push(&s->jobs, (struct still_job){ 0 });
		job = &s->jobs.at[s->jobs.n - 1];
		snprintf(job->name, sizeof(job->name), "%s", name);
	}
	json_decref(job->shown);
	job->shown = shown;
	if (shown)
		json_object_set_new(shown, "job", json_string(name));
}

/* A job of one GPU that waits, with some members different. */
static inline void still_job(struct still *s, const char *name, const char *changes)
{
	json_t *job = json_pack(
		"{s:s,s:i,s:i,s:s,s:s,s:s,s:s,s:s,s:b,s:i,s:i,s:i,s:[],s:i,s:i,s:b,s:s,s:s,s:s}",
		"user", "ann", "uid", 1000, "gid", 1000, "account", "nlp", "name", "train",
		"partition", "gpu", "state", "PENDING", "reason", "Priority", "completing", 0, "submit",
		1000000000, "limit_s", 3600, "gpus", 1, "on", "restarts", 0, "exit", 0, "batch", 1,
		"command", "/home/ann/train.sh", "cwd", "/home/ann", "out", "/home/ann/slurm.out");
	json_t *other = json_loads(changes, 0, NULL);

	assert_non_null(job);
	assert_non_null(other);
	json_object_update(job, other);
	json_decref(other);
	still_set(s, name, job);
}

static inline void still_change(struct still *s, const char *name, const char *changes)
{
	json_t *job = json_deep_copy(still_find(s, name)->shown),
	       *other = json_loads(changes, 0, NULL);

	assert_non_null(other);
	json_object_update(job, other);
	json_decref(other);
	still_set(s, name, job);
}

static inline void still_node(struct still *s, size_t i, const char *state, bool drained)
{
	json_t *node = json_array_get(s->nodes, i);

	json_object_set_new(node, "state", json_string(state));
	json_object_set_new(node, "drained", json_boolean(drained));
	json_object_set_new(node, "usable", json_boolean(!drained && !strcmp(state, "IDLE")));
	s->nodes_stamp++;
}

static inline void still_init(struct still *s)
{
	*s = (struct still){ .stamp = 1000000000, .nodes_stamp = 1, .nodes = json_array() };
	for (int i = 0; i < 2; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		json_array_append_new(s->nodes,
			json_pack("{s:s,s:s,s:b,s:b,s:i,s:i,s:[{s:s,s:i}]}", "name", name, "state",
				"IDLE", "usable", 1, "drained", 0, "cpus", 8, "mem_mb", 1000,
				"gpus", "type", "v100", "count", 2));
	}
	s->partitions = json_pack("[{s:s,s:[s]},{s:s,s:[s]}]", "name", "gpu", "nodes", "n0", "name",
		"other", "nodes", "n1");
}

static inline void still_forget_sent(struct still *s)
{
	for (size_t i = 0; i < s->jobs.n; i++) {
		free(s->jobs.at[i].sent);
		s->jobs.at[i].sent = NULL;
	}
}

static inline void still_fini(struct still *s)
{
	still_forget_sent(s);
	for (size_t i = 0; i < s->jobs.n; i++)
		json_decref(s->jobs.at[i].shown);
	vec_fini(&s->jobs);
	json_decref(s->nodes);
	json_decref(s->partitions);
	buf_fini(&s->in);
	buf_fini(&s->out);
}

/* ---- answers */

static inline void still_note(struct still *s, const char *op)
{
	for (size_t i = 0; i < s->nops; i++) {
		if (!strcmp(s->ops[i], op))
			return;
	}
	assert_true(s->nops < STILL_OPS);
	snprintf(s->ops[s->nops++], sizeof(s->ops[0]), "%s", op);
}

static inline void still_tell_job(struct still_job *job, bool full, json_t *jobs, json_t *gone)
{
	char *now = job->shown ? json_dumps(job->shown, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

	if (now && (full || !job->sent || strcmp(now, job->sent) != 0))
		json_array_append_new(jobs, json_loads(now, 0, NULL));
	if (!now && job->sent && !full)
		json_array_append_new(gone, json_string(job->name));
	free(job->sent);
	job->sent = now;
}

static inline json_t *still_jobs(struct still *s, const json_t *request)
{
	bool full = member_int(request, "since", 0) != s->stamp;
	json_t *jobs = json_array(), *gone = json_array();

	for (size_t i = 0; i < s->jobs.n; i++)
		still_tell_job(&s->jobs.at[i], full, jobs, gone);
	s->stamp = (int64_t)still_now_s;
	s->asked_jobs++;
	s->asked_full += full;
	if (s->told)
		s->told(s->ctx);
	return json_pack("{s:b,s:I,s:b,s:o,s:o}", "ok", 1, "stamp", (json_int_t)s->stamp, "full",
		full, "jobs", jobs, "gone", gone);
}

static inline json_t *still_nodes(const struct still *s, const json_t *request)
{
	bool changed = member_int(request, "since", 0) != s->nodes_stamp;

	return json_pack("{s:b,s:I,s:b,s:O}", "ok", 1, "stamp", (json_int_t)s->nodes_stamp,
		"changed", changed, "nodes", s->nodes);
}

static inline json_t *still_answer(struct still *s, const json_t *request)
{
	const char *op = member_text(request, "op");

	still_note(s, op);
	if (!strcmp(op, "hello") && s->hello_kind)
		return json_pack("{s:b,s:s,s:s}", "ok", 0, "kind", s->hello_kind, "error", "no");
	if (!strcmp(op, "hello"))
		return json_pack("{s:b,s:i,s:s,s:s}", "ok", 1, "protocol", 1, "slurm", "22.05.8",
			"cluster", "vc");
	if (s->away)
		return json_pack("{s:b,s:s,s:s}", "ok", 0, "kind", "unreachable", "error",
			"Unable to contact slurm controller");
	if (!strcmp(op, "partitions"))
		return json_pack("{s:b,s:O}", "ok", 1, "partitions", s->partitions);
	if (!strcmp(op, "nodes"))
		return still_nodes(s, request);
	if (!strcmp(op, "jobs"))
		return still_jobs(s, request);
	return json_pack("{s:b,s:s,s:s}", "ok", 0, "kind", "refused", "error",
		"nothing may be changed");
}

static inline void still_hear(struct still *s, const char *line, size_t n)
{
	json_t *request = json_loadb(line, n, 0, NULL), *answer;
	char *text;

	assert_non_null(request);
	answer = still_answer(s, request);
	assert_non_null(answer);
	json_object_set(answer, "id", json_object_get(request, "id"));
	text = json_dumps(answer, JSON_COMPACT);
	if (!s->mute) {
		buf_str(&s->out, text);
		buf_char(&s->out, '\n');
	}
	free(text);
	json_decref(answer);
	json_decref(request);
}

/* ---- the line */

static inline int still_open(void *self, struct err *err)
{
	struct still *s = self;

	(void)err;
	s->open = true;
	s->dead = false;
	s->opened++;
	/* A bridge that is new remembers nothing. */
	s->stamp++;
	still_forget_sent(s);
	buf_clear(&s->in);
	buf_clear(&s->out);
	s->read = 0;
	return 0;
}

static inline void still_close(void *self)
{
	((struct still *)self)->open = false;
}

static inline int still_fd(const void *self)
{
	(void)self;
	return -1;
}

static inline ssize_t still_read(void *self, char *to, size_t n)
{
	struct still *s = self;
	size_t left = s->out.n - s->read;

	if (s->dead)
		return -1;
	n = n < left ? n : left;
	if (n)
		memcpy(to, s->out.at + s->read, n);
	s->read += n;
	return (ssize_t)n;
}

static inline ssize_t still_write(void *self, const char *from, size_t n)
{
	struct still *s = self;
	char *end;

	if (s->dead)
		return -1;
	buf_add(&s->in, from, n);
	while (s->in.n && (end = memchr(s->in.at, '\n', s->in.n))) {
		size_t line = (size_t)(end - s->in.at);

		still_hear(s, s->in.at, line);
		memmove(s->in.at, end + 1, s->in.n - line - 1);
		s->in.n -= line + 1;
	}
	return (ssize_t)n;
}

static const struct transport still_transport = {
	.open = still_open,
	.close = still_close,
	.read_fd = still_fd,
	.write_fd = still_fd,
	.read = still_read,
	.write = still_write,
};

#endif
