/*
 * What can be asked of the daemon: one line per verb in verbs.def.  Routes, the
 * OpenAPI document, the tests over all routes and the daemon itself read this
 * table.
 */
#ifndef DAEMON_VERBS_H
#define DAEMON_VERBS_H

#include <stdbool.h>

#include "daemon/daemon.h"

/* The least role; see enum role in daemon.h. */
enum verb_needs {
	NEEDS_USER,
	NEEDS_READ,
	NEEDS_OWNER, /* a user, of the job named; or an operator, where the verb changes it; or an admin */
	NEEDS_OPERATOR,
	NEEDS_ADMIN,
};

enum param_kind { PARAM_INT, PARAM_NUMBER, PARAM_TEXT, PARAM_BOOL, PARAM_OBJECT };

/* Of the path ({id}), of the query (GET) or of the body (POST). */
struct param {
	const char *name; /* NULL ends a table */
	enum param_kind kind;
	bool in_path, required;
	const char *help;
};

struct verb {
	const char *name;    /* "submit" */
	const char *method;  /* "GET": changes nothing.  "POST" */
	const char *path;    /* "/v1/jobs/{id}/cancel" */
	const char *summary; /* one line */
	enum verb_needs needs;
	const struct param *params;
	const char *schema; /* of the answer: "jobs/1" */
	bool waits;         /* may be answered much later (long poll) */
};

extern const struct verb verbs[]; /* name NULL after the last */

/* By name, or NULL. */
const struct verb *verb_find(const char *name);

/* "admin", "operator", …; of an admin "admin" whatever `role` says. */
const char *caller_role(const struct caller *caller);
/* Whether the role is enough; whose a job is (NEEDS_OWNER) is another question. */
bool verb_allows(const struct verb *verb, const struct caller *caller);
/* Why not, for people: "only an administrator may do that; …". */
const char *verb_denial(const struct verb *verb);
/* Whether the caller may use a verb that NEEDS_OWNER on a job of that user. */
bool verb_allows_job(const struct verb *verb, const struct caller *caller, uid_t owner);

#endif
