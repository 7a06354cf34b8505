/*
 * Tells receivers what happens, in threads of its own.
 *
 * One thread reads the daemon's stream and gives every rule what it wants; each
 * rule has a thread and a queue, so that a receiver that is slow or gone keeps
 * nobody but itself waiting.  A queue that is full loses its oldest.  The daemon
 * waits for nothing here.
 */
#ifndef HOOK_NOTIFIER_H
#define HOOK_NOTIFIER_H

#include "base/err.h"
#include "daemon/stream.h"
#include "hook/hook.h"

struct log;

enum { NOTIFIER_QUEUE = 1024 }; /* of each rule */

/* What became of one; as the metric calls it. */
typedef void notifier_count(void *ctx, const char *result);

struct notifier_config {
	struct stream *stream; /* must last until notifier_stop() */
	struct log *log;       /* likewise */
	notifier_count *count; /* from any thread: "delivered", "failed", "dropped" */
	void *ctx;
	double linger_s; /* how long notifier_stop() lets what waits be sent */
};

struct notifier;

/* Takes the rules' memory.  Tells of what is pushed from now on. */
int notifier_start(const struct notifier_config *config, struct hooks *hooks, struct notifier **out,
	struct err *err);
/* Sends what waits if that goes at once, and ends; a second longer than `linger_s` at most.  Takes NULL. */
void notifier_stop(struct notifier *notifier);

/* Seconds before try number `tries` + 1: 1, 2, 4, … up to five minutes, each up to half longer by chance. */
double notifier_pause_s(int tries, double chance);

#endif
