/*
 * events.jsonl, written as a run goes and compared when it is run again.
 */
#include "store/event_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"

enum {
	FLUSH_AT = 1 << 18,
	SHOWN_MAX = 400, /* bytes of a line in a message */
};

/* Events name other jobs by number; people know them by label. */
struct labels {
	const struct cluster *cluster;
	VEC(const char *) at;
};

static void learn(struct labels *labels, const struct event *event, const struct job *job)
{
	if (!job || event->job == JOB_NONE)
		return;
	vec_grow_zero(&labels->at, (size_t)event->job + 1);
	labels->at.at[event->job] = job->label;
}

static void format(struct labels *labels, const struct event *event, const struct job *job,
	struct buf *out)
{
	uint32_t other = event->reason.other;

	learn(labels, event, job);
	event_format(event, job, other < labels->at.n ? labels->at.at[other] : NULL,
		labels->cluster, out);
}

/* ---- writing */

struct event_log {
	struct labels labels;
	struct outfile file;
	struct buf lines;
	int error; /* errno of the first write that failed */
};

int event_log_create(const char *path, const struct cluster *cluster, struct event_log **out,
	struct err *err)
{
	struct event_log *log = mem_alloc(sizeof(*log));
	int rc = outfile_open(&log->file, path, err);

	if (rc < 0) {
		free(log);
		return rc;
	}
	log->labels.cluster = cluster;
	*out = log;
	return 0;
}

static void flush(struct event_log *log)
{
	size_t n = log->lines.n;

	if (n && !log->error && fwrite(log->lines.at, 1, n, log->file.to) != n)
		log->error = errno ? errno : EIO;
	buf_clear(&log->lines);
}

static void log_event(void *self, const struct event *event, const struct job *job)
{
	struct event_log *log = self;

	format(&log->labels, event, job, &log->lines);
	buf_char(&log->lines, '\n');
	if (log->lines.n >= FLUSH_AT)
		flush(log);
}

struct observer event_log_observer(struct event_log *log)
{
	return (struct observer){ .self = log, .see = log_event };
}

int event_log_commit(struct event_log *log, struct err *err)
{
	flush(log);
	if (log->error)
		return err_set(err, ERR_IO, "cannot write %s: %s", log->file.path,
			strerror(log->error));
	return outfile_commit(&log->file, err);
}

void event_log_destroy(struct event_log *log)
{
	if (!log)
		return;
	outfile_abandon(&log->file);
	buf_fini(&log->lines);
	vec_fini(&log->labels.at);
	free(log);
}

/* ---- comparing */

struct event_check {
	struct labels labels;
	char *path;
	struct file file;
	struct lines recorded;
	struct buf line;
	uint64_t equal;
	bool differs;
	struct err difference;
};

int event_check_create(const char *path, const struct cluster *cluster, struct event_check **out,
	struct err *err)
{
	struct event_check *check = mem_alloc(sizeof(*check));
	int rc = file_read(path, &check->file, err);

	if (rc < 0) {
		free(check);
		return rc;
	}
	check->path = mem_strdup(path);
	check->labels.cluster = cluster;
	check->recorded = lines_of(check->file.at, check->file.n);
	*out = check;
	return 0;
}

static int shown(size_t n)
{
	return (int)(n < SHOWN_MAX ? n : SHOWN_MAX);
}

static void differ(struct event_check *check, const struct slice *recorded)
{
	check->differs = true;
	if (!recorded)
		err_set(&check->difference, ERR_DIFFER,
			"%s ends after %llu events, but this run goes on with %.*s", check->path,
			(unsigned long long)check->equal, shown(check->line.n), check->line.at);
	else
		err_set(&check->difference, ERR_DIFFER, "%s:%zu: recorded %.*s, now %.*s",
			check->path, check->recorded.number, shown(recorded->n), recorded->at,
			shown(check->line.n), check->line.at);
}

static void check_event(void *self, const struct event *event, const struct job *job)
{
	struct event_check *check = self;
	struct slice recorded;

	if (check->differs)
		return;
	buf_clear(&check->line);
	format(&check->labels, event, job, &check->line);
	if (!lines_next(&check->recorded, &recorded))
		differ(check, NULL);
	else if (recorded.n != check->line.n || memcmp(recorded.at, check->line.at, recorded.n))
		differ(check, &recorded);
	else
		check->equal++;
}

struct observer event_check_observer(struct event_check *check)
{
	return (struct observer){ .self = check, .see = check_event };
}

int event_check_finish(struct event_check *check, uint64_t *events, struct err *err)
{
	struct slice more;

	if (!check->differs && lines_next(&check->recorded, &more))
		return err_set(err, ERR_DIFFER, "%s:%zu: recorded %.*s, but this run ended before",
			check->path, check->recorded.number, shown(more.n), more.at);
	if (check->differs)
		return err_set(err, check->difference.code, "%s", check->difference.text);
	*events = check->equal;
	return 0;
}

void event_check_destroy(struct event_check *check)
{
	if (!check)
		return;
	file_fini(&check->file);
	buf_fini(&check->line);
	vec_fini(&check->labels.at);
	free(check->path);
	free(check);
}
