/*
 * What the daemon and a guard tell each other: the order to launch, the two files
 * of the attempt's directory, and the first words of a guard.
 *
 * `begun` is made by link(2) from a file that is already whole, so exactly one maker
 * succeeds.  When the command runs, the guard marks that in place:
 * no new block is needed, so a full disk is no obstacle.  `ended` is made by rename(2).
 */
#ifndef LIVE_LOCAL_ATTEMPT_H
#define LIVE_LOCAL_ATTEMPT_H

#include "base/lineage.h"
#include "live/local/cgroup.h"
#include "live/local/hands.h"
#include "live/local/proc.h"

/* Descriptors a guard is started with. */
enum { GUARD_ORDER_FD = 3, GUARD_REPORT_FD = 4 };

/* The first byte of each word on the report descriptor. */
enum {
	REPORT_CLAIMED = 'C', /* the attempt is this guard's */
	REPORT_REFUSED = 'R', /* it was claimed before */
	REPORT_FAILED = 'E',  /* then why, to the end; nothing was claimed */
	REPORT_BEGUN = 'B',   /* then a double: the command runs since */
};

/* What the guard is to do.  Made by the daemon, sent through a descriptor. */
struct order {
	struct launch launch;
	char *dir;               /* of the attempt, absolute */
	struct cgroup base;      /* where groups may be made */
	struct lineage_point of; /* the record that ordered it, and when; the claim repeats it */
	void *bytes;             /* private: what a received one points into */
};

/* A descriptor from which order_receive() reads it, or < 0. */
int order_send(const struct order *order, struct err *err);
int order_receive(int fd, struct order *out, struct err *err);
void order_fini(struct order *order); /* of a received one */

/* ---- begun */

struct claim_note {
	bool is_void;
	struct proc_id guard;
	double begun_s;          /* since when the command runs; 0: not yet */
	struct cgroup group;     /* owned */
	struct lineage_point of; /* the record it belongs to; no id: a claim of before there were any */
	uid_t uid;               /* as whom the command runs; (uid_t)-1: not known */
	/*
	 * Read only: the claim was made in another directory, of which this one is a copy.  Its guard writes
	 * there how it ends.
	 */
	bool elsewhere;
};

/* Makes `begun` in the open directory; on the disk when it returns 0.  ERR_REFUSED if there is one. */
int claim_make(int dir, const struct claim_note *note, struct err *err);
/* Says that it belongs to this record from now on; on the disk when it returns 0. */
int claim_stamp(int dir, const struct lineage_point *of, uid_t uid, struct err *err);
/* Marks that the command runs. */
void claim_mark(int dir, double begun_s);
/* ERR_MISSING if there is none. */
int claim_read(int dir, struct claim_note *out, struct err *err);
void claim_fini(struct claim_note *note);

/* ---- ended */

/* On the disk when it returns 0; may be tried again. */
int ending_write(int dir, const struct ending *ending, struct err *err);
/* ERR_MISSING if there is none. */
int ending_read(int dir, struct ending *out, struct err *err);

/* Writes a whole new file; removed again if that fails. */
int attempt_put(int dir, const char *name, const char *bytes, size_t n, mode_t mode, struct err *err);

#endif
