/*
 * The record is opened for reading; a daemon may run.
 */
#include "cli/db_pruning.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/members.h"
#include "cli/db_pruned.h"
#include "cli/db_trace.h"
#include "cli/live.h"
#include "live/summary.h"

void pruning_fini(struct pruning *p)
{
	free(p->path);
	free(p->dir);
	wallclock_fini(&p->wall);
}

bool pruning_has_meta(struct record *record, const char *key)
{
	struct buf text = { 0 };
	bool has = record_meta(record, key, &text);

	buf_fini(&text);
	return has;
}

static char *dir_of(const char *path)
{
	const char *base = path_base(path);

	return base == path ? mem_strdup(".") : mem_strndup(path, (size_t)(base - path - 1));
}

bool pruning_daemon_runs(const char *dir)
{
	char *path = path_join(dir, "lock");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool runs = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	free(path);
	return runs;
}

/* A record that is not in use is as old as its last event: a wrong clock of today prunes nothing. */
static double now_of(const struct pruning *p, double last_s)
{
	return pruning_daemon_runs(p->dir) ? fmax(last_s, clock_real_s() - wallclock_offset(&p->wall))
					   : last_s;
}

int pruning_look(const struct args *args, double older_s, struct pruning *out, struct err *err)
{
	struct record *record = NULL;
	int rc = db_open(args->state, &out->path, &record, err);

	out->args = args;
	if (rc)
		return rc;
	out->dir = dir_of(out->path);
	record_view_begin(record);
	pruned_clock(record, &out->wall);
	out->before_s = now_of(out, record_last_s(record)) - older_s;
	out->confirmed = pruning_has_meta(record, RETENTION_CONFIRMED);
	record_pruned(record, &out->pruned);
	rc = record_size(record, &out->size, err);
	if (!rc)
		rc = record_prune_plan(record, out->before_s, &out->plan, err);
	record_close(record);
	return rc;
}

/* ---- the daemon */

struct args pruning_daemon_args(const struct args *said, const char *dir, char **socket)
{
	struct args args = *said;

	*socket = dir ? path_join(dir, "socket") : NULL;
	if (!args.socket && *socket && file_exists(*socket))
		args.socket = *socket;
	return args;
}

static bool is_same_dir(const char *a, const char *b)
{
	struct stat x, y;

	return a && b && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
		x.st_ino == y.st_ino;
}

int pruning_ask_record(const struct args *args, const char *dir, json_t **reply, struct err *err)
{
	int rc = live_get(args, "/v1/record", reply, err);

	if (rc && dir)
		err_prefix(err, "a daemon uses %s and does not answer; stop it, or say --socket", dir);
	else if (!rc && dir && !is_same_dir(member_text(*reply, "state"), dir))
		rc = err_set(err, ERR_REFUSED,
			"a daemon uses %s, but the one that answers has its state in %s; say --socket",
			dir, member_text(*reply, "state"));
	return rc;
}

/* ---- words */

void pruning_add_size(struct buf *out, double bytes)
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	size_t i = 0;

	for (; bytes >= 1000 && i < 4; i++)
		bytes /= 1000;
	buf_printf(out, "%.*f %s", i && bytes < 10 ? 1 : 0, bytes, units[i]);
}

const char *pruning_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}
