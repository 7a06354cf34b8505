/*
 * Whom to tell of what: the rules of `stint daemon --notify FILE`.
 *
 * A rule names events, may be for some jobs only, and has one receiver: an
 * address that gets a POST, or a command that gets the same text on its standard
 * input.  doc/notify.md is for people.
 */
#ifndef HOOK_HOOK_H
#define HOOK_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

enum { HOOKS_MAX = 64, HOOK_RETRIES_MAX = 20, HOOK_SECRET_MAX = 4096 };

struct hook {
	const char **on; /* names of hook/event.h; NULL after the last */
	size_t non;
	const char *tenant, *user, *name; /* of these jobs only; name is a pattern; NULL: any */

	const char *webhook; /* the address; NULL: a command */
	bool https;
	const char *host, *port, *path; /* of the address; path with its query */
	const char *secret_file;        /* NULL: nothing is signed */
	const char *secret;             /* what it holds, without the line's end */

	const char **command; /* NULL after the last; NULL: a webhook */

	int retries;      /* after the first try */
	double timeout_s; /* of each try */
};

struct hooks {
	struct hook *at;
	uint32_t n;
	struct arena words;
};

/*
 * Reads the file and the secrets it names, relative to where it is.  Refused besides what is malformed: a secret
 * that others may read, commands in a file that others may write, a command or (for https) curl that is not there.
 */
int hooks_read(const char *path, struct hooks *out, struct err *err);
/* The text alone: nothing is opened.  `where` names it in messages. */
int hooks_read_yaml(const char *where, const char *text, size_t n, struct hooks *out, struct err *err);
void hooks_fini(struct hooks *hooks);

/* "https://hooks.example.org" or the command's first word: what may be logged, since an address can be a secret. */
void hook_receiver(const struct hook *hook, struct buf *out);

#endif
