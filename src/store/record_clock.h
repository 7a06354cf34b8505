/*
 * The record's clock: how its time becomes wall time, and where its time stood in the machine's boot.
 *
 * The meta value "clock" is "BOOT-ID SECONDS FROM OFFSET FROM OFFSET …".  Records without it have one offset, "born".
 */
#ifndef STORE_RECORD_CLOCK_H
#define STORE_RECORD_CLOCK_H

#include "base/wallclock.h"
#include "store/record.h"

enum { BOOT_ID_MAX = 64 };

struct record_clock {
	char boot[BOOT_ID_MAX]; /* of the machine when it was written; "": not known */
	double boot_s;          /* record time when CLOCK_BOOTTIME was 0 in that boot */
	struct wallclock wall;
};

/* Of a record that has "born".  wallclock_fini(&out->wall). */
void record_clock_read(struct record *record, struct record_clock *out);
void record_clock_text(const struct record_clock *clock, struct buf *out);

#endif
