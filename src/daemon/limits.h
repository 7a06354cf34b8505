/*
 * Limits of users and tenants: how many jobs one may have queued, how many bytes of
 * submissions, how many submissions in a second, how many what-ifs at once.
 *
 * They keep one user from filling the record or the queue of all, and are far
 * above what people do by hand.  What is queued and held is counted from the
 * core's jobs, anew when a limit seems to be reached; so a refusal is always
 * by what is true now, and a submission costs nothing more than two lookups.
 */
#ifndef DAEMON_LIMITS_H
#define DAEMON_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/names.h"
#include "base/vec.h"

struct call;
struct daemon;

/* Codes of errors beside ERR_*; call_fail() knows the status of each. */
enum { LIMIT_QUEUED = -103, LIMIT_BYTES = -113, LIMIT_RATE = -129 };

/* LIMIT_NONE: no limit. */
#define LIMIT_NONE (-1.0)
enum limit_kind {
	LIMIT_OF_QUEUED,
	LIMIT_OF_BYTES,
	LIMIT_OF_RATE,
	LIMIT_OF_BURST,
	LIMIT_OF_WHATIFS,
	LIMIT_KINDS
};

/* What one rule says of a user or tenant; NAN: nothing. */
struct limit_rule {
	bool tenant;
	char name[128]; /* "*": each */
	double at[LIMIT_KINDS];
};

struct limits {
	VEC(struct limit_rule) rules; /* later ones win, named ones over "*" */
	bool admins;                  /* they hold for admins, too */
};

/* The presets, and "queued=1000,rate=10,tenant:nlp:queued=none,admins" on top (NULL: nothing).  limits_fini(). */
int limits_parse(const char *text, struct limits *out, struct err *err);
void limits_fini(struct limits *limits);
struct log;
/* Says which rules name users that the system does not know; they may come later, from a directory service. */
void limits_warn(const struct limits *limits, struct log *log);

/* What users and tenants have; a zeroed one is valid and empty. */
struct tally_row {
	int64_t queued, bytes;
	double tokens, at_s; /* of submissions; when they were counted */
};

struct tally {
	struct names names; /* "u1000", "tvision" */
	VEC(struct tally_row) rows;
	double counted_s; /* 0: never */
	double cost_s;    /* of counting */
};

void tally_fini(struct tally *tally);

/* Before a submission is looked at: whether it comes too soon after others.  LIMIT_RATE. */
int limits_check_rate(struct daemon *d, struct call *call, struct err *err);
/* The jobs that a call has made, and the bytes of its submissions: LIMIT_QUEUED, LIMIT_BYTES. */
int limits_check_made(struct daemon *d, const struct call *call, struct err *err);
/* They count from now on. */
void limits_count_made(struct daemon *d, const struct call *call);
/* Jobs of the caller's that have ended and shall be queued again: LIMIT_QUEUED.  They count from now on. */
int limits_check_again(struct daemon *d, const struct call *call, size_t jobs, struct err *err);
/* Another what-if of a user who has so many: LIMIT_RATE. */
int limits_check_whatifs(struct daemon *d, const struct call *call, size_t running, struct err *err);

/* As an object: of the caller; for admins of everybody who has jobs. */
void limits_put(struct daemon *d, const struct call *call, struct json *j);

#endif
