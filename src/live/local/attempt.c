#include "live/local/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

/* ---- the order: a head and then text, each "=text\0", or "-" where there is none */

static const char magic[16] = "stint order 5";

struct head {
	char magic[16];
	uint32_t job, attempt, nargv, nenv;
	uint32_t uid, gid;
	int32_t stop_signal, cgroup_kind;
	double grace_s, time_s, cpus;
	int64_t mem_bytes, tasks_max;
	int64_t mem_watch;
	int64_t out_append, out_cap, out_reserve;
	int32_t pty_rows, pty_cols;
	uint64_t seq;
	uint64_t generation;
};

static uint32_t count(const char *const *list)
{
	uint32_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static void put_text(struct buf *to, const char *text)
{
	if (!text) {
		buf_char(to, '-');
		return;
	}
	buf_char(to, '=');
	buf_add(to, text, strlen(text) + 1);
}

static void put_list(struct buf *to, const char *const *list)
{
	for (uint32_t i = 0; list && list[i]; i++)
		put_text(to, list[i]);
}

static void write_order(struct buf *to, const struct order *order)
{
	const struct launch *l = &order->launch;
	struct head head = { .job = l->job,
		.attempt = l->attempt,
		.nargv = count(l->argv),
		.nenv = count(l->env),
		.uid = l->uid,
		.gid = l->gid,
		.stop_signal = l->stop_signal,
		.cgroup_kind = (int32_t)order->base.kind,
		.grace_s = l->grace_s,
		.time_s = l->time_s,
		.cpus = l->cpus,
		.mem_bytes = l->mem_bytes,
		.tasks_max = l->tasks_max,
		.mem_watch = l->mem_watch,
		.out_append = l->out_append,
		.out_cap = l->out_cap,
		.out_reserve = l->out_reserve,
		.pty_rows = l->pty_rows,
		.pty_cols = l->pty_cols,
		.seq = order->of.seq,
		.generation = order->of.generation };

	memcpy(head.magic, magic, sizeof(magic));
	buf_add(to, (const char *)&head, sizeof(head));
	put_text(to, order->of.id);
	put_text(to, order->dir);
	put_text(to, l->script);
	put_text(to, l->cwd);
	put_text(to, l->out);
	put_text(to, l->err_out);
	put_text(to, l->checkpoint);
	for (int part = 0; part < CGROUP_PARTS; part++)
		put_text(to, order->base.dirs[part]);
	put_list(to, l->argv);
	put_list(to, l->env);
}

static int write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t wrote = write(fd, bytes, n);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return -1;
		bytes += wrote;
		n -= (size_t)wrote;
	}
	return 0;
}

int order_send(const struct order *order, struct err *err)
{
	struct buf text = { 0 };
	int fd = memfd_create("stint-order", MFD_CLOEXEC);

	write_order(&text, order);
	if (fd < 0 || write_all(fd, text.at, text.n) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		err_set(err, ERR_IO, "cannot hand over the order: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = ERR_IO;
	}
	buf_fini(&text);
	return fd;
}

static int read_all(int fd, struct buf *to)
{
	char piece[65536];
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) != 0) {
		if (n > 0)
			buf_add(to, piece, (size_t)n);
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}

struct cursor {
	char *at, *end;
	bool bad;
};

static const char *take_text(struct cursor *from)
{
	char *text, *nul;

	if (from->bad || from->at == from->end || *from->at == '-') {
		from->bad |= from->at == from->end;
		from->at += !from->bad;
		return NULL;
	}
	text = from->at + 1;
	nul = memchr(text, '\0', (size_t)(from->end - text));
	if (*from->at != '=' || !nul) {
		from->bad = true;
		return NULL;
	}
	from->at = nul + 1;
	return text;
}

static const char *const *take_list(struct cursor *from, uint32_t n)
{
	const char **list = mem_alloc(mem_array_size((size_t)n + 1, sizeof(*list)));

	for (uint32_t i = 0; i < n; i++) {
		list[i] = take_text(from);
		from->bad |= !list[i];
	}
	return list;
}

static char *take_copy(struct cursor *from)
{
	const char *text = take_text(from);

	return text ? mem_strdup(text) : NULL;
}

static void take_head(struct order *out, const struct head *head)
{
	out->base.kind = (enum cgroup_kind)head->cgroup_kind;
	out->launch = (struct launch){ .job = head->job,
		.attempt = head->attempt,
		.uid = head->uid,
		.gid = head->gid,
		.stop_signal = head->stop_signal,
		.grace_s = head->grace_s,
		.time_s = head->time_s,
		.cpus = head->cpus,
		.mem_bytes = head->mem_bytes,
		.tasks_max = head->tasks_max,
		.mem_watch = head->mem_watch != 0,
		.out_append = head->out_append != 0,
		.out_cap = head->out_cap,
		.out_reserve = head->out_reserve,
		.pty_rows = head->pty_rows,
		.pty_cols = head->pty_cols };
}

static void take_id(struct cursor *from, char *out)
{
	const char *id = take_text(from);

	from->bad |= !id || strlen(id) > LINEAGE_ID_DIGITS;
	if (!from->bad)
		memcpy(out, id, strlen(id) + 1);
}

static bool take_order(struct order *out, struct cursor *from)
{
	struct head head;

	if ((size_t)(from->end - from->at) < sizeof(head))
		return false;
	memcpy(&head, from->at, sizeof(head));
	from->at += sizeof(head);
	if (memcmp(head.magic, magic, sizeof(magic)) != 0)
		return false;
	take_head(out, &head);
	out->of.seq = head.seq;
	out->of.generation = (uint32_t)head.generation;
	take_id(from, out->of.id);
	out->dir = take_copy(from);
	out->launch.script = take_text(from);
	out->launch.cwd = take_text(from);
	out->launch.out = take_text(from);
	out->launch.err_out = take_text(from);
	out->launch.checkpoint = take_text(from);
	for (int part = 0; part < CGROUP_PARTS; part++)
		out->base.dirs[part] = take_copy(from);
	if (from->bad || (size_t)head.nargv + head.nenv > (size_t)(from->end - from->at))
		return false;
	out->launch.argv = take_list(from, head.nargv);
	out->launch.env = take_list(from, head.nenv);
	return !from->bad && out->dir;
}

int order_receive(int fd, struct order *out, struct err *err)
{
	struct order order = { 0 };
	struct buf text = { 0 };

	if (read_all(fd, &text) < 0) {
		buf_fini(&text);
		return err_set(err, ERR_IO, "cannot read the order: %s", strerror(errno));
	}
	order.bytes = text.at;
	if (!take_order(&order, &(struct cursor){ text.at, text.at + text.n, false })) {
		order_fini(&order);
		return err_set(err, ERR_FORMAT,
			"the order is not understood: stint and stint-guard are of different versions");
	}
	*out = order;
	return 0;
}

void order_fini(struct order *order)
{
	free(order->dir);
	free((void *)order->launch.argv);
	free((void *)order->launch.env);
	cgroup_fini(&order->base);
	free(order->bytes);
	*order = (struct order){ 0 };
}

/* ---- files of the directory */

int attempt_put(int dir, const char *name, const char *bytes, size_t n, mode_t mode, struct err *err)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	int failed = fd < 0 || fchmod(fd, mode) < 0 || write_all(fd, bytes, n) < 0;
	int why = errno;

	if (fd >= 0 && close(fd) < 0 && !failed) {
		failed = 1;
		why = errno;
	}
	if (!failed)
		return 0;
	if (fd >= 0)
		unlinkat(dir, name, 0);
	return err_set(err, ERR_IO, "cannot write %s: %s", name, strerror(why));
}

static int sync_name(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int rc = fd < 0 ? -1 : fsync(fd), why = errno;

	if (fd >= 0)
		close(fd);
	errno = why;
	return rc;
}

/* What the daemon's user writes others may read where jobs run as others. */
static mode_t mode_of_notes(void)
{
	return geteuid() == 0 ? 0644 : 0600;
}

static int get_file(int dir, const char *name, struct buf *to, struct err *err)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return err_set(err, errno == ENOENT ? ERR_MISSING : ERR_IO, "cannot read %s: %s",
			name, strerror(errno));
	if (read_all(fd, to) < 0)
		rc = err_set(err, ERR_IO, "cannot read %s: %s", name, strerror(errno));
	else if (!to->n)
		rc = err_set(err, ERR_FORMAT, "%s is empty", name);
	close(fd);
	return rc;
}

/* ---- begun: this line first, always of the same length, changed in place */

#define RUNS_LINE "%c runs since %020.6f\n"
#define VOID_LINE "void\n"
#define PLACE_LINE "directory %llu %llu" /* device and inode */
enum { RUNS_MARK = 0 };

/* Whose it is, in the last line of its kind. */
static void write_record(struct buf *to, const struct lineage_point *of, uid_t uid)
{
	if (of->id[0])
		buf_printf(to, "record %s %u %llu user %lld\n", of->id, of->generation,
			(unsigned long long)of->seq, uid == (uid_t)-1 ? -1LL : (long long)uid);
}

/* Where the claim is made: a copy of the directory has another inode, one that was moved has the same. */
static void write_place(struct buf *to, int dir)
{
	struct stat st;

	if (fstat(dir, &st) == 0)
		buf_printf(to, PLACE_LINE "\n", (unsigned long long)st.st_dev,
			(unsigned long long)st.st_ino);
}

static void write_note(struct buf *to, int dir, const struct claim_note *note)
{
	if (note->is_void) {
		buf_str(to, VOID_LINE);
		write_record(to, &note->of, note->uid);
		return;
	}
	buf_printf(to, RUNS_LINE, '-', 0.0);
	buf_printf(to, "guard %d %llu %s\n", (int)note->guard.pid,
		(unsigned long long)note->guard.start, note->guard.boot);
	buf_printf(to, "cgroup %d\n", (int)note->group.kind);
	for (int part = 0; part < CGROUP_PARTS; part++)
		buf_printf(to, "%s\n", note->group.dirs[part] ? note->group.dirs[part] : "");
	write_place(to, dir);
	write_record(to, &note->of, note->uid);
}

/*
 * The name comes first and the disk second: one wait instead of several, and nothing starts before
 * it is over.  A crash in between leaves an attempt that was claimed and never begun.
 */
static int claim_link(int dir, const char *temporary, struct err *err)
{
	if (linkat(dir, temporary, dir, "begun", 0) < 0)
		return errno == EEXIST
			? err_set(err, ERR_REFUSED, "it was claimed before")
			: err_set(err, ERR_IO, "cannot make begun: %s", strerror(errno));
	if (sync_name(dir, "begun") == 0 && fsync(dir) == 0 && sync_name(dir, "..") == 0 &&
		sync_name(dir, "../..") == 0)
		return 0;
	err_set(err, ERR_IO, "cannot make begun: %s", strerror(errno));
	unlinkat(dir, "begun", 0);
	return ERR_IO;
}

int claim_make(int dir, const struct claim_note *note, struct err *err)
{
	struct buf text = { 0 };
	char temporary[32];
	int rc;

	snprintf(temporary, sizeof(temporary), "begun.%d", (int)getpid());
	write_note(&text, dir, note);
	rc = attempt_put(dir, temporary, text.at, text.n, mode_of_notes(), err);
	buf_fini(&text);
	if (rc < 0)
		return rc;
	rc = claim_link(dir, temporary, err);
	unlinkat(dir, temporary, 0);
	return rc;
}

void claim_mark(int dir, double begun_s)
{
	char line[64];
	int n = snprintf(line, sizeof(line), RUNS_LINE, '-', begun_s);
	int fd = openat(dir, "begun", O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

	/* The mark last: who reads it finds the time whole. */
	if (fd >= 0 && pwrite(fd, line, (size_t)n, 0) == n)
		(void)!pwrite(fd, "+", 1, RUNS_MARK);
	if (fd >= 0)
		close(fd);
}

int claim_stamp(int dir, const struct lineage_point *of, uid_t uid, struct err *err)
{
	int fd = openat(dir, "begun", O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC), rc = 0;
	struct buf text = { 0 };

	/* A line that a crash has cut is ended first. */
	buf_char(&text, '\n');
	write_record(&text, of, uid);
	if (fd < 0 || write_all(fd, text.at, text.n) < 0 || fsync(fd) < 0)
		rc = err_set(err, ERR_IO, "cannot write begun: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	buf_fini(&text);
	return rc;
}

static char *take_dir(struct slice *rest)
{
	struct slice line = slice_cut(rest, '\n');

	return line.n ? mem_strndup(line.at, line.n) : NULL;
}

/* Whether the line says that the claim was made in another directory. */
static bool is_elsewhere(int dir, const char *line)
{
	unsigned long long dev, ino;
	struct stat st;

	return sscanf(line, PLACE_LINE, &dev, &ino) == 2 && fstat(dir, &st) == 0 &&
		(dev != st.st_dev || ino != st.st_ino);
}

static void take_records(struct claim_note *out, int dir, struct slice rest)
{
	out->uid = (uid_t)-1;
	while (rest.n) {
		struct slice line = slice_cut(&rest, '\n');
		struct lineage_point of = { 0 };
		unsigned long long seq;
		long long uid;
		char text[128];

		snprintf(text, sizeof(text), "%.*s", (int)line.n, line.at);
		out->elsewhere |= is_elsewhere(dir, text);
		if (sscanf(text, "record %32s %u %llu user %lld", of.id, &of.generation, &seq,
			    &uid) != 4 ||
			!lineage_id_is_good(of.id))
			continue;
		of.seq = seq;
		out->of = of;
		out->uid = (uid_t)uid;
	}
}

static bool take_note(struct claim_note *out, int dir, const char *text)
{
	struct slice rest = slice_of(text);
	unsigned long long start;
	int pid, kind;
	char mark;
	double since;

	if (!strncmp(text, VOID_LINE, strlen(VOID_LINE))) {
		out->is_void = true;
		take_records(out, dir, rest);
		return true;
	}
	if (sscanf(slice_cut(&rest, '\n').at, "%c runs since %lf", &mark, &since) != 2 ||
		sscanf(slice_cut(&rest, '\n').at, "guard %d %llu %39s", &pid, &start,
			out->guard.boot) != 3 ||
		sscanf(slice_cut(&rest, '\n').at, "cgroup %d", &kind) != 1)
		return false;
	out->begun_s = mark == '+' ? since : 0;
	out->guard.pid = pid;
	out->guard.start = start;
	out->group.kind = (enum cgroup_kind)kind;
	for (int part = 0; part < CGROUP_PARTS; part++)
		out->group.dirs[part] = take_dir(&rest);
	take_records(out, dir, rest);
	return true;
}

int claim_read(int dir, struct claim_note *out, struct err *err)
{
	struct claim_note note = { 0 };
	struct buf text = { 0 };
	int rc = get_file(dir, "begun", &text, err);

	if (rc == 0 && !take_note(&note, dir, text.at))
		rc = err_set(err, ERR_FORMAT, "begun is not understood");
	buf_fini(&text);
	if (rc == 0)
		*out = note;
	return rc;
}

void claim_fini(struct claim_note *note)
{
	cgroup_fini(&note->group);
}

/* ---- ended: one line of numbers, then the text */

/* Behind "timed-out" stands what it was killed for: guards of before knew the first only. */
enum { ENDED_BY_TIME = 1, ENDED_BY_MEMORY = 2 };

#define ENDED_FORMAT \
	"ended %u %u code %d signal %d asked %d timed-out %d at %lf %lf %lf cpu %lf rss %lld"

static void write_ending(struct buf *to, const struct ending *e)
{
	buf_printf(to,
		"ended %u %u code %d signal %d asked %d timed-out %d at %.6f %.6f %.6f cpu %.6f rss "
		"%lld\n%s\n",
		e->job, e->attempt, e->code, e->signal, e->asked,
		(e->timed_out ? ENDED_BY_TIME : 0) | (e->over_memory ? ENDED_BY_MEMORY : 0),
		e->begun_s, e->ended_s, e->asked_s, e->cpu_s, (long long)e->rss_bytes, e->text);
}

int ending_write(int dir, const struct ending *ending, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	write_ending(&text, ending);
	rc = attempt_put(dir, "ended.new", text.at, text.n, mode_of_notes(), err);
	buf_fini(&text);
	if (rc < 0)
		return rc;
	if (renameat(dir, "ended.new", dir, "ended") < 0 || sync_name(dir, "ended") < 0 ||
		fsync(dir) < 0)
		return err_set(err, ERR_IO, "cannot make ended: %s", strerror(errno));
	return 0;
}

static bool take_ending(struct ending *out, const char *text)
{
	struct ending e = { .known = true };
	const char *words = strchr(text, '\n');
	int asked, timed_out;
	long long rss;

	if (!words ||
		sscanf(text, ENDED_FORMAT, &e.job, &e.attempt, &e.code, &e.signal, &asked,
			&timed_out, &e.begun_s, &e.ended_s, &e.asked_s, &e.cpu_s, &rss) != 11)
		return false;
	e.asked = asked;
	e.timed_out = timed_out & ENDED_BY_TIME;
	e.over_memory = timed_out & ENDED_BY_MEMORY;
	e.rss_bytes = rss;
	snprintf(e.text, sizeof(e.text), "%s", words + 1);
	e.text[strcspn(e.text, "\n")] = '\0';
	*out = e;
	return true;
}

int ending_read(int dir, struct ending *out, struct err *err)
{
	struct buf text = { 0 };
	int rc = get_file(dir, "ended", &text, err);

	if (rc == 0 && !take_ending(out, text.at))
		rc = err_set(err, ERR_FORMAT, "ended is not understood");
	buf_fini(&text);
	return rc;
}
