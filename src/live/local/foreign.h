/*
 * Attempts below STATE/jobs that are not this record's: a backup was put back that does not know
 * them, or another record was begun in the same directory, or the whole directory is a copy of one
 * whose jobs still run.
 *
 * They are real processes on real devices.  Their devices are not up as long as they run; they are
 * neither adopted nor counted, unless a person says so.
 */
#ifndef LIVE_LOCAL_FOREIGN_H
#define LIVE_LOCAL_FOREIGN_H

#include "base/vec.h"
#include "live/hands.h"

struct foreign {
	VEC(struct foreign_attempt) at; /* those that run */
	VEC(int) guards;                /* a pidfd of each */
	/* The furthest claim of the record's own id that a look at everything has found. */
	struct lineage_point newest;
	uint32_t newest_job, newest_attempt;
};

/* Whether a claim that carries this is the record's own. */
bool foreign_is_ours(const struct hands_config *config, const struct lineage_point *of);

/* Adds an attempt to the list, if it runs and is not this record's. */
void foreign_add(struct foreign *foreign, const struct hands_config *config, uint32_t job,
	uint32_t attempt);
/* Finds those that run: in all of STATE/jobs, or those that the configuration names. */
void foreign_look(struct foreign *foreign, const struct hands_config *config);
void foreign_fini(struct foreign *foreign);

/* Forgets those that have ended.  True: there were some. */
bool foreign_forget(struct foreign *foreign);
/* The same; devices of the others are not up.  Returns MACHINE_UP if that may be news. */
int foreign_hold(struct foreign *foreign, struct machine *machine);

/* Its place in the list, or ERR_MISSING. */
int foreign_find(const struct foreign *foreign, uint32_t job, uint32_t attempt, struct err *err);
void foreign_drop(struct foreign *foreign, uint32_t job, uint32_t attempt);
int foreign_end(struct foreign *foreign, uint32_t job, uint32_t attempt, bool now, struct err *err);

/* Renames an attempt's directory to ATTEMPT.RECORD.GENERATION; what is in it stays readable. */
int foreign_set_aside(const char *dir, const struct lineage_point *of, struct err *err);

#endif
