/*
 * What can be asked of the daemon: one line per verb in verbs.def.  Routes, the
 * OpenAPI document, the tests over all routes and the daemon itself read this
 * table.
 */
#ifndef DAEMON_VERBS_H
#define DAEMON_VERBS_H

#include <stdbool.h>

#include "daemon/daemon.h"

enum verb_needs {
	NEEDS_USER,  /* anyone who can prove who they are */
	NEEDS_OWNER, /* of the job named, or admin */
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

#endif
