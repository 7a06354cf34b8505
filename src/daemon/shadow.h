/*
 * A policy in the shadow of another scheduler: it decides every round on what
 * that one does, and nobody carries it out.
 *
 * Each decision begins from what really runs and waits: who it would start now
 * and whom it would stop.  What differs from the decision before becomes a row of the
 * record, "shadow"; the report is made from these (cli/shadow_report.c).
 */
#ifndef DAEMON_SHADOW_H
#define DAEMON_SHADOW_H

#include "base/err.h"

struct daemon;
struct shadow;

/* `policy` is a spec; at most once in `every_s`, or as often as the policy has rounds if that is less often. */
int shadow_create(struct daemon *d, const char *policy, double every_s, struct shadow **out,
	struct err *err);
void shadow_destroy(struct shadow *shadow); /* takes NULL */

/* Once in a turn of the loop: begins a decision where it is time, and writes down the last. */
void shadow_turn(struct daemon *d);
/* When it next has something to do, by clock_wall_s(). */
double shadow_next_s(const struct daemon *d);

#endif
