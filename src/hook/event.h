/*
 * What rules call the things that happen.
 *
 * Any kind of the daemon's stream can be named as it is there ("hold", "resize",
 * and whatever is added); the names of this table are for what people ask for
 * most, and look at a member besides the kind.
 */
#ifndef HOOK_EVENT_H
#define HOOK_EVENT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"
#include "hook/hook.h"

struct event_name {
	const char *name;            /* NULL ends the table */
	const char *kind;            /* of the stream */
	const char *member, *values; /* one of these words; NULL: whatever it is */
	const char *about;           /* what has happened then */
};

extern const struct event_name event_names[];

/* What `all` in a rule stands for. */
#define EVENT_ALL "all"

/* Whether this version of the daemon has it: of the table, or a kind of the stream. */
bool event_is_known(const char *name);
/* One that the name is a slip of; NULL: none. */
const char *event_near(const char *name);
/* What it means, for people; NULL: not known. */
const char *event_about(const char *name);

/*
 * An event of the stream: its kind and its members.  The name under which the rule wants it, the first that
 * fits; NULL: it does not.
 */
const char *hook_wants(const struct hook *hook, const char *kind, const json_t *members);

/* "job 7 (train) of ada: failed, exit code 3". */
void event_sentence(const char *name, const json_t *members, const char *host, struct buf *out);
/* The text that receivers get, one line: notification/1 (doc/formats.md). */
void event_body(const char *name, const json_t *members, const char *host, const char *delivery,
	struct buf *out);

#endif
