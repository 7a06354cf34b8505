/*
 * Audit: who came in, who was refused, who used a token and who changed what, as
 * events of kind "audit" in the record.
 *
 * They are no inputs of the core, so replay passes them over, and pruning leaves them.  What repeats is
 * written once, and again with a count after AUDIT_WINDOW_S: a caller who is refused
 * a million times adds two rows.  Callers that are too many to be told apart share
 * one entry.
 */
#ifndef DAEMON_AUDIT_H
#define DAEMON_AUDIT_H

#include <stdint.h>

#include "daemon/daemon.h"

enum { AUDIT_SLOTS = 64, AUDIT_WINDOW_S = 600 };

/* Text is borrowed, NULL: none. */
struct audit_entry {
	const char *what; /* "login", "logout", "open", "token", "denied", "change" */
	const char *by; /* how the caller proved who it is: "kernel", "token", "token.read", "session", "none" */
	const char *from; /* "unix", or an address */
	const char *verb; /* name of the verb, "other" */
	const char *detail;
	struct caller caller;
	int status; /* HTTP's */
	/* of a change of another user's jobs */
	size_t jobs;  /* how many; 0: it is none */
	uint32_t job; /* the first */
	uid_t owner;
};

struct audit;

struct audit *audit_create(void);
void audit_destroy(struct audit *audit);
/* From any thread.  Whether there is something to write now. */
bool audit_add(struct audit *audit, const struct audit_entry *entry, double now_s);
/* The body of the next event that is due, as JSON; false: none is. */
bool audit_take(struct audit *audit, double now_s, struct buf *out);
/* When the next one is due; INFINITY: never. */
double audit_next_s(struct audit *audit);

/* From any thread. */
void daemon_audit(struct daemon *daemon, const struct audit_entry *entry);
/* In the loop: writes what is due. */
void audit_turn(struct daemon *daemon);
/* When nothing is added any more: writes all there is, also what would be counted for longer. */
void audit_finish(struct daemon *daemon);

struct call;
/*
 * In the loop, where a call changes `n` jobs of one user, of which `first` is the first: if they are another
 * user's, that is written with the change itself.
 */
void audit_jobs(struct daemon *daemon, const struct call *call, uid_t owner, uint32_t first, size_t n);

#endif
