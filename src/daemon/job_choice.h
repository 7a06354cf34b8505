/*
 * Which jobs a request is about: by state, user, tenant, name and number.
 */
#ifndef DAEMON_JOB_CHOICE_H
#define DAEMON_JOB_CHOICE_H

#include "daemon/daemon_state.h"

struct job_choice {
	bool live, ended;
	uint32_t states; /* bits of enum live_state */
	const char *user, *tenant, *name;
	uint32_t uid; /* of `user`; UINT32_MAX: no user of that name is known */
	int64_t limit, after;
};

/* From the members state, user, tenant, name, limit and after of a call; false: it is answered with what is wrong. */
bool job_choice_read(const struct daemon *d, struct call *call, struct job_choice *out);
/* Whether it is about this job, which has not ended. */
bool job_choice_has(const struct job_choice *choice, const struct live_job *job);

#endif
