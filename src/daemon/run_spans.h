/*
 * Who had which devices in a simulation, from its events.jsonl.
 */
#ifndef DAEMON_RUN_SPANS_H
#define DAEMON_RUN_SPANS_H

#include <stdbool.h>

#include "base/json.h"
#include "base/text.h"

enum { RUN_SPANS_MAX = 200000 };

/*
 * Writes the members "spans" ({job, attempt, node, devices, from, to, end}, as timeline/1 has them; times
 * in the run's seconds) and "spans_more": there are more than RUN_SPANS_MAX.
 */
void run_spans_write(struct slice events, struct json *j);

#endif
