/*
 * What was pruned of a record, for every command that reads one.
 */
#ifndef CLI_DB_PRUNED_H
#define CLI_DB_PRUNED_H

#include "base/json.h"
#include "base/text.h"
#include "base/wallclock.h"
#include "cli/command.h"
#include "store/record_prune.h"

/* "pruned before 2026-08-20 12:00: 1,000 jobs are summaries, and 8,000 of their events are gone", with a newline. */
void pruned_sentence(struct record *record, const struct record_pruned *pruned, struct buf *out);
/* As a member "pruned". */
void pruned_to_json(struct record *record, const struct record_pruned *pruned, struct json *j);
/* The sentence as a message, if anything was pruned. */
void pruned_say(const struct args *args, struct record *record);
/* How the record's time becomes wall time.  wallclock_fini(). */
void pruned_clock(struct record *record, struct wallclock *out);
/* Seconds since 1970 of a moment of the record. */
double pruned_wall_s(struct record *record, double at_s);
/* "2026-08-20 12:00"; `text` has room for 32. */
const char *pruned_moment(double at, char *text);

#endif
