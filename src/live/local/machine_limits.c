/*
 * Affinity, /proc/meminfo and the files of cgroups, old and new.
 */
#include "live/local/machine_limits.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

static uint32_t affinity_cpus(void)
{
	for (int most = 1024; most <= 1 << 20; most *= 4) {
		size_t size = CPU_ALLOC_SIZE(most);
		cpu_set_t *set = CPU_ALLOC(most);
		int n = set && sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;

		CPU_FREE(set);
		if (n > 0)
			return (uint32_t)n;
	}
	return 1;
}

/* The first line of DIR/NAME; false if there is none. */
static bool first_line(const char *dir, const char *name, char *line, int size)
{
	char *path = path_join(dir, name);
	FILE *in = fopen(path, "re");
	bool there = in && fgets(line, size, in);

	if (in)
		fclose(in);
	free(path);
	return there;
}

static double number_in(const char *dir, const char *name)
{
	char line[64];

	return first_line(dir, name, line, sizeof(line)) ? strtod(line, NULL) : NAN;
}

static void lower(double *limit, double to)
{
	if (to > 0 && to < *limit)
		*limit = to;
}

struct found {
	double cpus, mem_bytes;
};

/* cpu.max is "150000 100000" (or "max 100000"); before, both numbers had a file and -1 was no limit. */
static void look_in(const char *dir, struct found *found)
{
	double quota = NAN, period = NAN;
	char line[64];

	if (first_line(dir, "cpu.max", line, sizeof(line)) &&
		sscanf(line, "%lf %lf", &quota, &period) == 2)
		lower(&found->cpus, quota / period);
	lower(&found->cpus, number_in(dir, "cpu.cfs_quota_us") / number_in(dir, "cpu.cfs_period_us"));
	if (first_line(dir, "memory.max", line, sizeof(line)) && strncmp(line, "max", 3) != 0)
		lower(&found->mem_bytes, strtod(line, NULL));
	lower(&found->mem_bytes, number_in(dir, "memory.limit_in_bytes"));
}

/* A limit above holds below, too: from the group up to where the hierarchy is mounted. */
static void look_up(const char *mount, const char *group, struct found *found)
{
	char *dir = mem_printf("%s%s", mount, group);
	size_t least = strlen(mount);

	for (size_t n = strlen(dir); n >= least && n > 0; n--) {
		if (dir[n] != '\0' && dir[n] != '/')
			continue;
		dir[n] = '\0';
		look_in(dir, found);
	}
	free(dir);
}

/* A line of /proc/self/cgroup: "4:memory:/a/b", "0::/a/b". */
static void look_from(const char *root, char *line, struct found *found)
{
	char *controllers = strchr(line, ':');
	char *group = controllers ? strchr(controllers + 1, ':') : NULL;
	char *mount, *inner;

	if (!group)
		return;
	*group++ = '\0';
	controllers++;
	group[strcspn(group, "\n")] = '\0';
	mount = mem_printf("%s/sys/fs/cgroup", root);
	inner = path_join(mount, *controllers ? controllers : "unified");
	look_up(file_is_dir(inner) || *controllers ? inner : mount, group, found);
	free(inner);
	free(mount);
}

static void look_at_groups(const char *root, struct found *found)
{
	char *path = mem_printf("%s/proc/self/cgroup", root);
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;

	while (in && getline(&line, &cap, in) > 0)
		look_from(root, line, found);
	free(line);
	free(path);
	if (in)
		fclose(in);
}

static double memory_there(const char *root)
{
	char *path = mem_printf("%s/proc/meminfo", root);
	FILE *in = fopen(path, "re");
	char *line = NULL;
	double kib = 0;
	size_t cap = 0;

	while (in && kib == 0 && getline(&line, &cap, in) > 0) {
		if (strncmp(line, "MemTotal:", 9) == 0)
			kib = strtod(line + 9, NULL);
	}
	free(line);
	free(path);
	if (in)
		fclose(in);
	return kib > 0 ? kib * 1024 : INFINITY;
}

void limits_read(const char *root, struct limits *out)
{
	struct found found = { affinity_cpus(), memory_there(root) };

	look_at_groups(root, &found);
	out->cpus = found.cpus >= 1 ? (uint32_t)(found.cpus + 1e-9) : 1;
	out->mem_bytes = found.mem_bytes < 9e18 ? (int64_t)found.mem_bytes : 0;
}
