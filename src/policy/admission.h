/*
 * Admission: whether a submitted job may compete for devices.
 */
#ifndef POLICY_ADMISSION_H
#define POLICY_ADMISSION_H

#include "base/option.h"
#include "model/round.h"

enum verdict {
	ADMIT_ACCEPT,
	ADMIT_HOLD,   /* ask again when something has changed */
	ADMIT_REJECT, /* for good */
};

struct admission {
	const char *name;
	const char *summary;
	const char *origin;           /* NULL: folklore */
	const struct option *options; /* NULL: none */
	size_t state_size;
	bool quotas; /* from now on tenants' quotas are kept: what they mean is the engine's and the plan's */
	bool in_order; /* nobody gets in before a job that is held for want of room */
	/* `demand` is the GPUs that admitted jobs ask for.  A reason goes to `why` unless accepted. */
	enum verdict (*decide)(void *self, const struct round *round, const struct job *job,
		int64_t demand, struct reason *why);
};

extern const struct admission admit_quota;
/* Where quotas are kept: whether the job's tenant could ever have the least it takes; else what it could. */
bool admission_could_ever(const struct round *round, const struct job *job, struct reason *why);
extern const struct admission *const admissions[];                         /* NULL-terminated */
const struct admission *admission_find(const char *name, struct err *err); /* NULL with "did you mean" */

#endif
