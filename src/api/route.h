/*
 * From a request to a verb and its arguments: path, query and body become one
 * JSON object, typed by the verb's table of parameters.
 *
 * No sockets and no library here, so that all of it can be fuzzed.
 */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include <jansson.h>

#include "base/err.h"
#include "base/text.h"
#include "daemon/verbs.h"

/* The tables together: the daemon's verbs and what the server does itself. */
struct routes {
	const struct verb *verbs; /* name NULL after the last, as for the next */
	const struct verb *own;
};

/* A request's target, cut at the '?'; both parts are still escaped. */
struct target {
	struct slice path, query;
};
struct target target_of(const char *raw);

/*
 * 200 and the verb; 404; or 405, and `allow` gets the methods there are.  A word of the pattern wins
 * over a {parameter}.
 */
int route_find(const struct routes *routes, const char *method, struct slice path,
	const struct verb **out, struct buf *allow);

/*
 * Arguments for a verb that matches the path.  A GET takes its parameters from the query and has no
 * body; others take them from the body, a JSON object (no bytes: an empty one), and have no query.
 * Members that are null count as not given, and what is not in the table is refused; but where the
 * table has nothing but PARAM_OBJECT besides the path's, or a parameter named "*", the rest of the
 * body is the verb's business and passed on as it is.
 * ERR_FORMAT if anything is wrong, with a text for the caller.
 */
int route_args(const struct verb *verb, const struct target *target, struct slice body,
	json_t **out, struct err *err);

/* Percent escapes to bytes; false for a broken one, or a NUL. */
bool url_decode(struct slice text, bool plus_is_space, struct buf *out);
/* Everything but letters, digits and -._~ escaped. */
void url_encode(const char *text, struct buf *out);

#endif
