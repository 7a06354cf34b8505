/*
 * Roles: which users of the machine may only look, and which may do more than
 * users do.
 *
 * Rules name a user, a group (@ops) or everybody else (*).  The rule that names
 * the user decides; else, of the rules for groups the user is in, the one that
 * allows most; else the rule for *; else the user is a user.  root and the
 * daemon's own user are admins whatever the rules say.
 *
 * Names become numbers when the rules are read.  Who is in a group is looked up
 * by the uid, never taken from the caller's process, which can leave groups.
 */
#ifndef DAEMON_ROLES_H
#define DAEMON_ROLES_H

#include "base/json.h"
#include "daemon/daemon.h"

enum { ROLES_KEPT_S = 60 }; /* how long a lookup of groups holds */

/* "operator", and what it stands for: "changes jobs of all users, drains and resumes devices". */
const char *role_name(enum role role);
const char *role_meaning(enum role role);
/* Larger: may do more. */
int role_rank(enum role role);

/*
 * "operator:alice,operator:@ops,read:*", or the path of a file (with a slash) that has rules on lines, too, and
 * comments after '#'.  Users and groups are names or numbers.
 */
int roles_parse(const char *text, struct roles **out, struct err *err);
void roles_destroy(struct roles *roles);

/* The role of a user, and why, for people; from any thread.  `roles` NULL: there are no rules. */
enum role roles_of(struct roles *roles, uid_t uid, const char **why);
/* The rules as an array of JSON. */
void roles_put(const struct roles *roles, const char *key, struct json *j);

#endif
