#include "live/local/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

enum { CPU_PERIOD_US = 100000, PATIENCE_MS = 50, REMOVE_MS = 2000 };

#define SHARED_NAME "stint"        /* holds all groups of attempts */
#define DAEMON_NAME "stint-daemon" /* where the daemon steps aside on version 2 */

static const char *const controllers[CGROUP_PARTS] = { "freezer", "pids", "memory", "cpu" };

const char *cgroup_kind_name(enum cgroup_kind kind)
{
	return kind == CGROUP_V2 ? "v2" : kind == CGROUP_V1 ? "v1" : "none";
}

/* ---- small files */

static bool put(const char *dir, const char *file, const char *text)
{
	char *path = mem_printf("%s/%s", dir, file);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) >= 0;
	int why = errno;

	if (fd >= 0)
		close(fd);
	free(path);
	errno = why;
	return done;
}

static bool get(const char *dir, const char *file, char *to, size_t cap)
{
	char *path = mem_printf("%s/%s", dir, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, to, cap - 1);

	if (fd >= 0)
		close(fd);
	free(path);
	to[n > 0 ? n : 0] = '\0';
	return n >= 0;
}

static void pause_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* ---- finding */

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n) {
		bool begins = at == list || at[-1] == ',' || at[-1] == ' ';

		if (begins && (!at[n] || strchr(", \n", at[n])))
			return true;
	}
	return false;
}

/* The group of this process in the hierarchy of that controller; "" is version 2. */
static char *own_group(const char *controller)
{
	FILE *in = fopen("/proc/self/cgroup", "re");
	char *line = NULL, *found = NULL;
	size_t cap = 0;

	while (in && !found && getline(&line, &cap, in) >= 0) {
		char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		if (*controller ? has_word(names + 1, controller) : !names[1])
			found = mem_strdup(path);
	}
	free(line);
	if (in)
		fclose(in);
	return found;
}

/* Where `group` is below a mount that shows `root` of its hierarchy. */
static char *below_mount(const char *mount, const char *root, const char *group)
{
	size_t n = strcmp(root, "/") ? strlen(root) : 0;

	if (n && !strncmp(group, root, n) && (group[n] == '/' || !group[n]))
		group += n;
	return mem_printf("%s%s", mount, strcmp(group, "/") ? group : "");
}

/* Directory of this process's own group in that hierarchy; NULL if it is not mounted. */
static char *own_dir(const char *controller)
{
	FILE *in = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *found = NULL, *group = own_group(controller);
	size_t cap = 0;

	while (in && group && !found && getline(&line, &cap, in) >= 0) {
		char root[4096], mount[4096], type[64], options[1024];
		const char *rest = strstr(line, " - ");

		if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", root, mount) != 2 ||
			sscanf(rest, " - %63s %*s %1023s", type, options) != 2)
			continue;
		if (*controller ? !strcmp(type, "cgroup") && has_word(options, controller)
				: !strcmp(type, "cgroup2"))
			found = below_mount(mount, root, group);
	}
	free(line);
	free(group);
	if (in)
		fclose(in);
	return found;
}

static char *if_writable(char *dir)
{
	if (dir && access(dir, W_OK | X_OK) == 0)
		return dir;
	free(dir);
	return NULL;
}

static void find_v1(struct cgroup *out)
{
	for (int part = 0; part < CGROUP_PARTS; part++) {
		out->dirs[part] = if_writable(own_dir(controllers[part]));
		if (out->dirs[part])
			out->kind = CGROUP_V1;
	}
}

static bool allow_controllers(const char *dir)
{
	bool done = put(dir, "cgroup.subtree_control", "+pids");

	done &= put(dir, "cgroup.subtree_control", "+memory");
	return put(dir, "cgroup.subtree_control", "+cpu") && done;
}

/*
 * Version 2 gives controllers only to groups below one without processes.  A daemon that is alone
 * in its group (a delegated service) steps aside into a group of its own.
 */
static void step_aside(const char *dir)
{
	char procs[64], *aside;

	if (allow_controllers(dir) || errno != EBUSY)
		return;
	if (!get(dir, "cgroup.procs", procs, sizeof(procs)) || atoi(procs) != getpid() ||
		strchr(procs, '\n') != strrchr(procs, '\n'))
		return;
	aside = mem_printf("%s/%s", dir, DAEMON_NAME);
	if ((mkdir(aside, 0755) == 0 || errno == EEXIST) && put(aside, "cgroup.procs", "0"))
		allow_controllers(dir);
	free(aside);
}

/*
 * A systemd before 254 starts a service in the unit's own group, which it cannot once that hands out
 * controllers: jobs left over from before a restart would keep the daemon from starting.  Later ones
 * start it in a group below (DelegateSubgroup=).
 */
static bool may_hand_out(bool in_own_group)
{
	return in_own_group || !getenv("INVOCATION_ID");
}

static void find_v2(struct cgroup *out)
{
	char *dir = own_dir(""), *last = dir ? strrchr(dir, '/') : NULL;
	bool in_own_group = last && !strcmp(last + 1, DAEMON_NAME);

	if (in_own_group)
		*last = '\0';
	out->dirs[CGROUP_KILL] = if_writable(dir);
	if (!out->dirs[CGROUP_KILL])
		return;
	out->kind = CGROUP_V2;
	if (may_hand_out(in_own_group))
		step_aside(out->dirs[CGROUP_KILL]);
}

/* Where both are mounted, version 2 is the better one unless the controllers are all with the other. */
static bool v2_has_controllers(void)
{
	char *dir = own_dir(""), list[1024];
	bool has = dir && get(dir, "cgroup.controllers", list, sizeof(list)) && has_word(list, "pids");

	free(dir);
	return has;
}

void cgroup_find(struct cgroup *out, enum cgroup_kind only)
{
	*out = (struct cgroup){ 0 };
	if (only == CGROUP_V2 || (only == CGROUP_NONE && v2_has_controllers()))
		find_v2(out);
	if (out->kind == CGROUP_NONE && only != CGROUP_V2)
		find_v1(out);
}

/* ---- one group */

void cgroup_name(struct cgroup *out, const struct cgroup *base, const char *name,
	const struct cgroup_limits *limits)
{
	const bool wanted[CGROUP_PARTS] = { true, limits->tasks_max > 0, limits->mem_bytes > 0,
		limits->cpus > 0 };

	*out = (struct cgroup){ .kind = base->kind };
	for (int part = 0; part < CGROUP_PARTS; part++) {
		if (base->dirs[part] && wanted[part])
			out->dirs[part] = mem_printf("%s/" SHARED_NAME "/%s", base->dirs[part], name);
	}
}

/* The shared directory may be taken away by another that tidies up in between: again then. */
static bool make_dir(enum cgroup_kind kind, const char *dir)
{
	char *shared = mem_strndup(dir, (size_t)(strrchr(dir, '/') - dir));
	bool made = false;

	for (int tries = 0; !made && tries < 5; tries++) {
		bool fresh = mkdir(shared, 0755) == 0;

		if (fresh && kind == CGROUP_V2)
			allow_controllers(shared);
		made = mkdir(dir, 0755) == 0;
		if (!made && errno == EEXIST)
			rmdir(dir); /* left by a guard that was killed, if it is empty */
		else if (!made && errno != ENOENT)
			break;
	}
	free(shared);
	return made;
}

static void limit_v1(const struct cgroup *group, const struct cgroup_limits *limits)
{
	char text[64];

	if (group->dirs[CGROUP_TASKS] && limits->tasks_max > 0) {
		snprintf(text, sizeof(text), "%lld", (long long)limits->tasks_max);
		put(group->dirs[CGROUP_TASKS], "pids.max", text);
	}
	if (group->dirs[CGROUP_MEMORY] && limits->mem_bytes > 0) {
		snprintf(text, sizeof(text), "%lld", (long long)limits->mem_bytes);
		put(group->dirs[CGROUP_MEMORY], "memory.limit_in_bytes", text);
	}
	if (group->dirs[CGROUP_CPU] && limits->cpus > 0) {
		snprintf(text, sizeof(text), "%lld", (long long)(limits->cpus * CPU_PERIOD_US));
		put(group->dirs[CGROUP_CPU], "cpu.cfs_quota_us", text);
	}
}

static void limit_v2(const char *dir, const struct cgroup_limits *limits)
{
	char text[64];

	if (limits->tasks_max > 0) {
		snprintf(text, sizeof(text), "%lld", (long long)limits->tasks_max);
		put(dir, "pids.max", text);
	}
	if (limits->mem_bytes > 0) {
		snprintf(text, sizeof(text), "%lld", (long long)limits->mem_bytes);
		put(dir, "memory.max", text);
	}
	if (limits->cpus > 0) {
		snprintf(text, sizeof(text), "%lld %d", (long long)(limits->cpus * CPU_PERIOD_US),
			CPU_PERIOD_US);
		put(dir, "cpu.max", text);
	}
}

void cgroup_make(struct cgroup *group, const struct cgroup_limits *limits)
{
	bool any = false;

	for (int part = 0; part < CGROUP_PARTS; part++) {
		char *dir = group->dirs[part];

		if (dir && !make_dir(group->kind, dir)) {
			free(dir);
			group->dirs[part] = NULL;
		}
		any |= group->dirs[part] != NULL;
	}
	if (!any)
		group->kind = CGROUP_NONE;
	cgroup_limit(group, limits);
}

void cgroup_limit(const struct cgroup *group, const struct cgroup_limits *limits)
{
	if (group->kind == CGROUP_V1)
		limit_v1(group, limits);
	else if (group->kind == CGROUP_V2 && group->dirs[CGROUP_KILL])
		limit_v2(group->dirs[CGROUP_KILL], limits);
}

void cgroup_join(const struct cgroup *group)
{
	for (int part = 0; part < CGROUP_PARTS; part++) {
		if (group->dirs[part])
			put(group->dirs[part], "cgroup.procs", "0");
	}
}

/* ---- the end of it */

static uint32_t each_process(const char *dir, int signal)
{
	char *path = mem_printf("%s/cgroup.procs", dir);
	FILE *in = fopen(path, "re");
	uint32_t n = 0;
	int pid;

	while (in && fscanf(in, "%d", &pid) == 1) {
		if (pid > 1 && pid != getpid())
			n += kill(pid, signal) == 0 || errno == EPERM;
	}
	if (in)
		fclose(in);
	free(path);
	return n;
}

/* What is frozen cannot have children while it is being killed. */
static void freeze(const char *dir)
{
	char state[32];

	if (!put(dir, "freezer.state", "FROZEN"))
		return;
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		if (!get(dir, "freezer.state", state, sizeof(state)) || !strncmp(state, "FROZEN", 6))
			return;
		pause_ms(1);
	}
}

static uint32_t kill_dir(enum cgroup_kind kind, const char *dir)
{
	uint32_t n = each_process(dir, 0);

	if (kind == CGROUP_V2 && put(dir, "cgroup.kill", "1"))
		return n;
	if (!n)
		return 0;
	if (kind == CGROUP_V1)
		freeze(dir);
	each_process(dir, SIGKILL);
	if (kind == CGROUP_V1)
		put(dir, "freezer.state", "THAWED");
	return n;
}

/* Both versions write "oom_kill 2" among other lines; old kernels do not. */
bool cgroup_ran_out(const struct cgroup *group)
{
	const char *dir = group->dirs[group->kind == CGROUP_V2 ? CGROUP_KILL : CGROUP_MEMORY], *at;
	char text[1024];

	if (group->kind == CGROUP_NONE || !dir ||
		!get(dir, group->kind == CGROUP_V2 ? "memory.events" : "memory.oom_control", text,
			sizeof(text)))
		return false;
	at = strstr(text, "oom_kill ");
	return at && atoll(at + strlen("oom_kill ")) > 0;
}

uint32_t cgroup_kill(const struct cgroup *group)
{
	uint32_t most = 0;

	for (int part = 0; part < CGROUP_PARTS; part++) {
		if (group->dirs[part]) {
			uint32_t n = kill_dir(group->kind, group->dirs[part]);

			most = n > most ? n : most;
		}
	}
	return most;
}

/* Groups that the attempt made inside its own go first. */
static bool remove_dir(const char *dir, int depth)
{
	DIR *in = depth < 32 ? opendir(dir) : NULL;
	struct dirent *entry;

	while (in && (entry = readdir(in))) {
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
			char *inner = mem_printf("%s/%s", dir, entry->d_name);

			remove_dir(inner, depth + 1);
			free(inner);
		}
	}
	if (in)
		closedir(in);
	return rmdir(dir) == 0 || errno == ENOENT;
}

/* A group is busy for a moment after its last process has gone. */
void cgroup_remove(const struct cgroup *group)
{
	for (int part = 0; part < CGROUP_PARTS; part++) {
		int waited_ms = 0;

		while (group->dirs[part] && rmdir(group->dirs[part]) < 0 && errno != ENOENT) {
			if (remove_dir(group->dirs[part], 0) || ++waited_ms > REMOVE_MS)
				break;
			pause_ms(1);
		}
	}
}

void cgroup_tidy(const struct cgroup *base)
{
	for (int part = 0; part < CGROUP_PARTS; part++) {
		if (base->dirs[part]) {
			char *shared = mem_printf("%s/" SHARED_NAME, base->dirs[part]);

			rmdir(shared);
			free(shared);
		}
	}
}

void cgroup_fini(struct cgroup *group)
{
	for (int part = 0; part < CGROUP_PARTS; part++)
		free(group->dirs[part]);
	*group = (struct cgroup){ 0 };
}
