/*
 * Trials: would a waiting job start if one thing were different?
 *
 * A trial takes a snapshot, changes something, and lets the policy decide once:
 * now, or at the next round of a policy that has rounds.  Nobody ends by himself
 * before that.  The snapshot stays as it is; what a policy remembers beyond it
 * (such as credits of rounds long past) is not in it, so a trial begins without.
 */
#ifndef SIM_TRIAL_H
#define SIM_TRIAL_H

#include "sim/future.h"

/*
 * What may keep a job from starting.  Lifting one changes the snapshot as said; it applies where that
 * changes anything.
 */
enum constraint {
	BY_HOLD,       /* somebody must let it go: it goes */
	BY_BEGIN,      /* its time has not come: it has */
	BY_DEPENDENCY, /* others must end first: it follows nobody */
	BY_ADMISSION,  /* the admission rule: all are let in */
	BY_QUOTA,      /* what tenants are guaranteed and may borrow: nobody's quota is kept */
	BY_DOWN,       /* devices that are down: they are up */
	BY_DRAINED,    /* devices that are drained: none are */
	BY_AVOID,      /* devices it avoids: it failed on none */
	BY_HOST,       /* its CPUs and memory: it needs none */
	BY_TYPES,      /* the types it may use: any that it could be allowed */
	BY_DEADLINE,   /* its deadline: none */
	BY_SHARE,      /* what its tenant has already: it is of a tenant with nothing else */
	BY_PRIORITY,   /* its priority: above all others */
	BY_LENGTH,     /* how long it is believed to run: a second */
	BY_SIZE,       /* its devices: one */
	BY_QUEUE,      /* others that wait: none do */
	BY_BUSY,       /* others that run: all have ended */
	CONSTRAINTS
};

struct trial {
	const struct snapshot *from;
	uint32_t job;
	uint32_t types; /* that it could be allowed, as bits; the caller's to set after trial_init(); 0: any */
	double until_s;         /* the next decision */
	struct snapshot view;   /* what it is changed to; shares with `from` what is the same */
	struct names names;     /* tenants and one more */
	struct tenants tenants; /* with another quota */
	double *work;           /* by job; ended ones have none */
	struct future_job *out; /* of the last run, by job */
	uint32_t tries;         /* runs so far */
};

/* Of a job that waits.  Keeps `from`.  Release with trial_fini(), also after a failure. */
int trial_init(struct trial *trial, const struct snapshot *from, uint32_t job, struct err *err);
void trial_fini(struct trial *trial);

/* As the snapshot has it. */
void trial_reset(struct trial *trial);
/* Whether it may not use this type and could be allowed to. */
bool trial_may_add_type(const struct trial *trial, uint32_t type);
bool trial_applies(const struct trial *trial, enum constraint constraint);
void trial_lift(struct trial *trial, enum constraint constraint);
/* Another one that runs ends now. */
void trial_end(struct trial *trial, uint32_t other);
/* Another one gives its devices back, or takes no part if it waits; whoever follows it waits on. */
void trial_remove(struct trial *trial, uint32_t other);
/*
 * The job's tenant is guaranteed so many devices of any type, and may borrow so many (QUOTA_ALL: as before, each).
 * False: that cannot be promised, and nothing has changed.
 */
bool trial_promise(struct trial *trial, uint32_t guaranteed, uint32_t borrow);
/* What is said of the job's tenant; NULL: nothing. */
const struct tenant *trial_tenant(const struct trial *trial);
/* The job, for changes of one's own. */
struct job *trial_job(struct trial *trial);

/* 1: the job starts with the next decision, 0: it does not, < 0: the policy failed. */
int trial_run(struct trial *trial, struct err *err);

#endif
