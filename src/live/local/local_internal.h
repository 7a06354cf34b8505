/*
 * The hands of this machine, inside: what they watch, and what their files have of each other.
 */
#ifndef LIVE_LOCAL_LOCAL_INTERNAL_H
#define LIVE_LOCAL_LOCAL_INTERNAL_H

#include "base/vec.h"
#include "live/local/attempt.h"
#include "live/local/foreign.h"
#include "live/local/hands.h"

/* What an event of the epoll instance is about. */
enum source { FROM_GUARD, FROM_REPORT, FROM_TIMER, FROM_FOREIGN, FROM_DEADLINE, SOURCES };

/* An attempt under way. */
struct watched {
	uint64_t serial; /* never used again, so that a late event finds nothing */
	uint32_t job, attempt;
	int guard;      /* pidfd; -1: the guard is dead and what it left is being killed */
	pid_t pid;      /* of the guard */
	int report;     /* pipe; -1: closed */
	bool pending;   /* launched, and what became of the claim is not known yet */
	double until_s; /* monotonic; a pending guard that has not reported by then is killed */
	char word;      /* first byte of its first report if that is not REPORT_CLAIMED; 0: none */
	char why[256];  /* text behind `word` */
	bool told_begun;
	bool look; /* the timer has something to do for it */
};

struct local {
	struct hands base;
	struct machine_options machine;
	char *state_dir, *guard;
	struct cgroup group;
	int epoll, timer;
	int deadline; /* timer: the earliest `until_s` */
	double claim_timeout_s;
	uint64_t last_serial;
	bool ticking;
	VEC(struct watched) watched;
	struct foreign foreign;
};

/* ---- hands.c */

struct local *local_of(const struct hands *hands);
/* The directory of the attempt, open; made if it is not there. */
int local_open_dir(struct local *hands, uint32_t job, uint32_t attempt, struct err *err);
/* This record, as it is now. */
struct lineage_point local_point_at(const struct local *hands, uint64_t seq);

/* ---- local_watch.c */

struct watched *local_find(struct local *hands, uint32_t job, uint32_t attempt);
int local_listen(struct local *hands, int fd, uint64_t serial, enum source source);
/* Closes it, if it is open. */
void local_hang_up(int *fd);
/* Takes over the descriptors.  What cannot be waited for is looked at by the timer. */
void local_watch(struct local *hands, struct watched w);
/* Guards of other records from this one on. */
void local_watch_foreign(struct local *hands, size_t from);
/* Forgets it. */
void local_unwatch(struct local *hands, struct watched *w);
/* ERR_REFUSED, with its text. */
int local_refused(uint32_t job, uint32_t attempt, struct err *err);
/* What the directory says; ERR_MISSING: there is no claim. */
int local_read_claim(struct local *hands, uint32_t job, uint32_t attempt, struct claim_note *out,
	struct err *err);
/* How an attempt whose guard is dead ended; false: that cannot be told yet. */
bool local_settle_ending(struct local *hands, uint32_t job, uint32_t attempt, struct ending *out);
int local_poll(struct hands *self, struct err *err);

/* ---- local_start.c */

int local_launch(struct hands *self, const struct launch *launch, struct err *err);

/* ---- local_signal.c */

int local_stop(struct hands *self, uint32_t job, uint32_t attempt, bool now, struct err *err);
int local_signal(struct hands *self, uint32_t job, uint32_t attempt, int signal, struct err *err);
int local_limit(struct hands *self, uint32_t job, uint32_t attempt, double cpus, int64_t mem_bytes,
	struct err *err);
int local_hold_output(struct hands *self, uint32_t job, uint32_t attempt, bool hold, struct err *err);

/* ---- local_adopt.c */

int local_clear(struct hands *self, uint32_t job, uint32_t attempt, struct err *err);
int local_claim(struct hands *self, const struct holding *of, bool void_it, enum claim *out,
	struct ending *ending, struct err *err);

#endif
