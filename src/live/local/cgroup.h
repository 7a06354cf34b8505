/*
 * Control groups for one attempt: a bound on what it takes, and one handle to kill
 * all of it.
 *
 * Version 2 is one directory; version 1 one for each controller.  Groups are made below the group of the
 * daemon itself, so that whatever bounds the daemon bounds its jobs.  What is not permitted is
 * quietly left out.
 */
#ifndef LIVE_LOCAL_CGROUP_H
#define LIVE_LOCAL_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

enum cgroup_kind { CGROUP_NONE, CGROUP_V1, CGROUP_V2 };
/* On version 2 the first is the only one. */
enum cgroup_part { CGROUP_KILL, CGROUP_TASKS, CGROUP_MEMORY, CGROUP_CPU, CGROUP_PARTS };

struct cgroup {
	enum cgroup_kind kind;
	char *dirs[CGROUP_PARTS]; /* owned; NULL: not to be had */
};

struct cgroup_limits {
	double cpus;
	int64_t mem_bytes, tasks_max; /* 0: none */
};

/* Where this process may make groups.  `only` V1 or V2 looks at nothing else; NONE: the better one. */
void cgroup_find(struct cgroup *out, enum cgroup_kind only);
/* Names the group NAME below `base`, with the parts these limits need; makes nothing. */
void cgroup_name(struct cgroup *out, const struct cgroup *base, const char *name,
	const struct cgroup_limits *limits);
/* Makes it and sets the limits; forgets the parts that cannot be had. */
void cgroup_make(struct cgroup *group, const struct cgroup_limits *limits);
/* Sets other limits on one that was made; what is 0 stays as it is, and so does what it was made without. */
void cgroup_limit(const struct cgroup *group, const struct cgroup_limits *limits);
/* Puts the calling process into it. */
void cgroup_join(const struct cgroup *group);
/* Whether the kernel killed one of it because its memory was used up. */
bool cgroup_ran_out(const struct cgroup *group);
/* Kills all in it; one pass.  How many there were: 0 means it is empty. */
uint32_t cgroup_kill(const struct cgroup *group);
/* Removes it and what was made in it; its processes must be gone. */
void cgroup_remove(const struct cgroup *group);
/* Removes what is shared by all groups of `base` if none is left. */
void cgroup_tidy(const struct cgroup *base);
void cgroup_fini(struct cgroup *group);

const char *cgroup_kind_name(enum cgroup_kind kind); /* "v2", "v1", "none" */

#endif
