/*
 * One try to tell one receiver: a POST, or a command.
 */
#ifndef HOOK_DELIVER_H
#define HOOK_DELIVER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/text.h"
#include "hook/hook.h"

enum { DELIVERY_DIGITS = 32, ANSWER_KEPT = 2048 };

/* What one receiver is to get.  The number stays the same however often it is tried. */
struct delivery {
	char id[DELIVERY_DIGITS + 1];
	char *event; /* as the rule calls it */
	char *body;  /* notification/1 */
};

/* Fills in a number that nobody has had. */
void delivery_number(char id[DELIVERY_DIGITS + 1]);
void delivery_fini(struct delivery *delivery);

enum verdict {
	DELIVERED,
	NOT_NOW, /* it may go well another time */
	NEVER,   /* it was understood and refused */
};

struct reception {
	enum verdict verdict;
	int status;        /* HTTP's; 0: there was no answer, or it was a command */
	struct buf why;    /* in words, if it was not delivered */
	struct buf answer; /* what the receiver said, the beginning of it, unless by https */
};

/* Takes no longer than the rule allows, or than until `stop` is true (NULL: never is), but for names to be looked up. */
void deliver(const struct hook *hook, const struct delivery *delivery, const atomic_bool *stop,
	struct reception *out);
void reception_fini(struct reception *reception);

/* "sha256=…" over "TIMESTAMP.BODY", as receivers compute it to compare. */
enum { SIGNATURE_SIZE = 7 + 64 + 1 };
void delivery_sign(const char *secret, long timestamp, const char *body, char out[SIGNATURE_SIZE]);

#endif
