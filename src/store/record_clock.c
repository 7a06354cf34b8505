/*
 * One line of text.
 */
#include "store/record_clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define UNKNOWN_BOOT "-"

static double born_s(struct record *record)
{
	struct buf text = { 0 };
	double s = record_meta(record, "born", &text) ? strtod(text.at, NULL) : 0;

	buf_fini(&text);
	return s;
}

void record_clock_read(struct record *record, struct record_clock *out)
{
	struct buf text = { 0 };
	int at = 0;

	*out = (struct record_clock){ .boot_s = NAN };
	if (!record_meta(record, "clock", &text) ||
		sscanf(text.at, "%63s %lf %n", out->boot, &out->boot_s, &at) != 2 || !at ||
		!isfinite(out->boot_s) || !wallclock_get(&out->wall, text.at + at)) {
		*out = (struct record_clock){ .boot_s = NAN };
		wallclock_init(&out->wall, born_s(record));
	}
	if (out->boot[0] == UNKNOWN_BOOT[0])
		out->boot[0] = 0;
	buf_fini(&text);
}

void record_clock_text(const struct record_clock *clock, struct buf *out)
{
	buf_printf(out, "%s %.17g ", clock->boot[0] ? clock->boot : UNKNOWN_BOOT, clock->boot_s);
	wallclock_put(&clock->wall, out);
}
