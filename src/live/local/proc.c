/*
 * Everything is read from /proc; a process that goes while it is read is not there.
 */
#include "live/local/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"

struct proc {
	pid_t pid, parent, group, session;
	uint64_t start;
	unsigned long own, waited; /* CPU time in clock ticks: its own, and of children it waited for */
	long pages;                /* of memory that it has */
	char state;
	bool ours;
	bool alone; /* its group may be others' */
};

struct procs {
	VEC(struct proc) list;
};

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The wall clock is read once: the length of a run is right also where the clock is set meanwhile. */
double proc_now_s(void)
{
	static double offset_s = NAN;

	if (isnan(offset_s))
		offset_s = seconds(CLOCK_REALTIME) - seconds(CLOCK_BOOTTIME);
	return seconds(CLOCK_BOOTTIME) + offset_s;
}

double proc_monotonic_s(void)
{
	return seconds(CLOCK_MONOTONIC);
}

/* The first bytes of a small file as text; false if it cannot be read, and errno says why. */
static bool slurp(const char *path, char *to, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, to, cap - 1);
	close(fd); /* leaves errno alone: nothing was written */
	if (n < 0)
		return false;
	to[n] = '\0';
	return true;
}

static bool stat_of(pid_t pid, struct proc *out)
{
	char path[64], text[1024];
	const char *name_ends;
	int parent, group, session;
	unsigned long long start;
	unsigned long user, system;
	long user_waited, system_waited;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!slurp(path, text, sizeof(text)))
		return false;
	name_ends = strrchr(text, ')'); /* the name may hold anything */
	if (!name_ends)
		return false;
	if (sscanf(name_ends + 1,
		    " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld %*d %*d %*d %*d %llu %*u %ld",
		    &out->state, &parent, &group, &session, &user, &system, &user_waited,
		    &system_waited, &start, &out->pages) != 10)
		return false;
	out->pid = pid;
	out->parent = parent;
	out->group = group;
	out->session = session;
	out->own = user + system;
	out->waited = (unsigned long)(user_waited + system_waited);
	out->start = start;
	return true;
}

int proc_identify(pid_t pid, struct proc_id *out)
{
	struct proc proc = { 0 };
	struct proc_id id = { .pid = pid };

	if (!slurp("/proc/sys/kernel/random/boot_id", id.boot, sizeof(id.boot)))
		return ERR_IO;
	if (!stat_of(pid, &proc))
		return errno == ENOENT || errno == ESRCH ? ERR_MISSING : ERR_IO;
	id.boot[strcspn(id.boot, "\n")] = '\0';
	id.start = proc.start;
	*out = id;
	return 0;
}

/* Ended, even if nobody has taken note of it yet; if that is our part, it is done. */
static bool is_over(int pidfd)
{
	struct pollfd on = { pidfd, POLLIN, 0 };

	if (poll(&on, 1, 0) != 1)
		return false;
	waitid(P_PIDFD, (id_t)pidfd, &(siginfo_t){ 0 }, WEXITED | WNOHANG);
	return true;
}

int proc_open(const struct proc_id *id)
{
	/* Who it is is asked after the pidfd is held, so that the answer is about its process. */
	int fd = (int)syscall(SYS_pidfd_open, id->pid, 0), rc;
	struct proc_id now;

	if (fd < 0)
		return errno == ESRCH || errno == EINVAL ? ERR_MISSING : ERR_IO;
	rc = proc_identify(id->pid, &now);
	if (rc == 0 && now.start == id->start && !strcmp(now.boot, id->boot) && !is_over(fd))
		return fd;
	close(fd);
	return rc == 0 ? ERR_MISSING : rc;
}

/* ---- families */

static int by_pid(const void *a, const void *b)
{
	const struct proc *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static bool list_all(struct procs *all)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct proc proc = { 0 };

		if (isdigit((unsigned char)entry->d_name[0]) && stat_of(atoi(entry->d_name), &proc))
			vec_push(&all->list, proc);
	}
	if (dir)
		closedir(dir);
	if (all->list.n)
		qsort(all->list.at, all->list.n, sizeof(*all->list.at), by_pid);
	return dir != NULL;
}

static const struct proc *find_pid(const struct procs *all, pid_t pid)
{
	struct proc key = { .pid = pid };

	return all->list.n ? bsearch(&key, all->list.at, all->list.n, sizeof(key), by_pid) : NULL;
}

static bool parent_is_ours(const struct procs *all, const struct proc *proc, pid_t self)
{
	const struct proc *parent;

	if (proc->parent == self)
		return true;
	parent = find_pid(all, proc->parent);
	return parent && parent->ours;
}

static void mark_descendants(struct procs *all, pid_t self)
{
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < all->list.n; i++) {
			struct proc *proc = &all->list.at[i];

			if (!proc->ours && parent_is_ours(all, proc, self))
				more = proc->ours = true;
		}
	}
}

/*
 * Groups first: the kernel kills a group as a whole, so that none of it can have a child meanwhile.
 * A process can be in no group but of its own session, and never in ours without being ours, except
 * for the group of this process itself.
 */
static struct proc_left kill_marked(const struct procs *all)
{
	struct proc_left left = { 0 };
	pid_t own_group = getpgrp(), last = 0;

	for (size_t i = 0; i < all->list.n; i++) {
		const struct proc *proc = &all->list.at[i];

		if (!proc->ours || proc->state == 'Z' || proc->state == 'X')
			continue;
		if (!proc->alone && proc->group > 1 && proc->group != own_group && proc->group != last) {
			last = proc->group;
			kill(-last, SIGKILL);
		}
		if (kill(proc->pid, SIGKILL) == 0)
			left.alive++;
		else if (errno == EPERM)
			left.alive++, left.forbidden++;
	}
	return left;
}

struct proc_left proc_kill_descendants(void)
{
	struct procs all = { 0 };
	struct proc_left left;

	(void)list_all(&all);
	mark_descendants(&all, getpid());
	left = kill_marked(&all);
	vec_fini(&all.list);
	return left;
}

static struct proc_cpu *root_of(const struct procs *all, const struct proc *proc,
	struct proc_cpu *of, size_t n)
{
	enum { DEEPEST = 1000 }; /* what is read while it changes may go round in circles */

	for (int up = 0; proc && up < DEEPEST; up++) {
		for (size_t i = 0; i < n; i++) {
			if (of[i].root == proc->pid)
				return &of[i];
		}
		proc = find_pid(all, proc->parent);
	}
	return NULL;
}

void proc_cpu(struct proc_cpu *of, size_t n)
{
	double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
	struct procs all = { 0 };

	for (size_t i = 0; i < n; i++) {
		of[i].cpu_s = 0;
		of[i].found = false;
	}
	(void)list_all(&all);
	for (size_t i = 0; i < all.list.n; i++) {
		const struct proc *proc = &all.list.at[i];
		struct proc_cpu *root = root_of(&all, proc, of, n);

		if (!root)
			continue;
		root->found |= root->root == proc->pid;
		root->cpu_s += (double)proc->waited * tick_s;
		if (root->root != proc->pid)
			root->cpu_s += (double)proc->own * tick_s;
	}
	vec_fini(&all.list);
}

int64_t proc_memory(void)
{
	int64_t page = sysconf(_SC_PAGESIZE), bytes = 0;
	struct procs all = { 0 };

	(void)list_all(&all);
	mark_descendants(&all, getpid());
	for (size_t i = 0; i < all.list.n; i++)
		bytes += all.list.at[i].ours ? all.list.at[i].pages * page : 0;
	vec_fini(&all.list);
	return bytes;
}

/* Whether the process was started with `mark` in its environment. */
static bool has_mark(pid_t pid, const char *mark)
{
	char path[64], piece[65536];
	size_t length = strlen(mark) + 1, kept = 0;
	bool found = false;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (!found && length < sizeof(piece) / 2 &&
		(n = read(fd, piece + kept, sizeof(piece) - kept)) > 0) {
		size_t have = kept + (size_t)n;

		found = memmem(piece, have, mark, length) != NULL;
		kept = have < length ? have : length;
		memmove(piece, piece + have - kept, kept);
	}
	close(fd);
	return found;
}

struct proc_left proc_kill_orphans(const struct proc_id *guard, const char *mark)
{
	struct procs all = { 0 };
	struct proc_left left;
	struct proc_id now;
	bool number_used_again;
	int rc;

	/* The number of a session is not given to a new process while the session has members. */
	if (proc_identify(getpid(), &now) < 0)
		return (struct proc_left){ .alive = 1 }; /* for all we know */
	if (strcmp(now.boot, guard->boot) != 0)
		return (struct proc_left){ 0 };
	rc = proc_identify(guard->pid, &now);
	number_used_again = rc != ERR_MISSING && (rc < 0 || now.start != guard->start);
	if (!list_all(&all))
		return (struct proc_left){ .alive = 1 };
	for (size_t i = 0; i < all.list.n; i++) {
		struct proc *proc = &all.list.at[i];

		if (proc->pid == getpid())
			continue;
		proc->ours = !number_used_again && proc->session == guard->pid;
		if (!proc->ours)
			proc->ours = proc->alone = has_mark(proc->pid, mark);
	}
	left = kill_marked(&all);
	vec_fini(&all.list);
	return left;
}
