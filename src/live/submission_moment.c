/*
 * Moments as people say them.
 */
#include "live/submission.h"

#include <math.h>
#include <string.h>
#include <time.h>

static bool has_zone(const char *text)
{
	const char *t = strpbrk(text, "Tt ");

	return t && strpbrk(t + 1, "Zz+-");
}

/* The moment that local clocks show what UTC's show at `utc_s`. */
static double local(double utc_s)
{
	time_t whole = (time_t)floor(utc_s);
	struct tm tm;

	if (!gmtime_r(&whole, &tm))
		return utc_s;
	tm.tm_isdst = -1;
	return (double)mktime(&tm) + (utc_s - floor(utc_s));
}

/* The next time that local clocks show so many seconds after midnight. */
static double next_clock(int seconds, double now_s)
{
	time_t whole = (time_t)now_s;
	struct tm tm;
	double at_s;

	if (!localtime_r(&whole, &tm))
		return now_s;
	for (int day = 0;; day++) {
		struct tm then = tm;

		then.tm_mday += day;
		then.tm_hour = seconds / 3600;
		then.tm_min = seconds / 60 % 60;
		then.tm_sec = seconds % 60;
		then.tm_isdst = -1;
		at_s = (double)mktime(&then);
		if (at_s > now_s || day > 1)
			return at_s;
	}
}

/* "08:00", "8:00", "08:00:30". */
static bool clock_time(struct slice s, int *seconds)
{
	double x = 0;
	size_t colons = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.at[i] != ':' && (s.at[i] < '0' || s.at[i] > '9'))
			return false;
		colons += s.at[i] == ':';
	}
	/* As a duration "8:00" were minutes. */
	if (colons < 1 || colons > 2 || !slice_seconds(s, &x))
		return false;
	x *= colons == 1 ? 60 : 1;
	*seconds = (int)x;
	return x < 86400;
}

/* "now", "now+6h", "+6h". */
static bool from_now(struct slice s, double now_s, double *out)
{
	double later_s = 0;

	if (s.n >= 3 && slice_is_nocase((struct slice){ s.at, 3 }, "now")) {
		s.at += 3;
		s.n -= 3;
		s = slice_trim(s);
		if (!s.n) {
			*out = now_s;
			return true;
		}
	}
	if (!s.n || *s.at != '+' || !slice_seconds((struct slice){ s.at + 1, s.n - 1 }, &later_s) ||
		!(later_s >= 0))
		return false;
	*out = now_s + later_s;
	return true;
}

static bool named(struct slice s, double now_s, double *out)
{
	if (slice_is_nocase(s, "midnight"))
		*out = next_clock(0, now_s);
	else if (slice_is_nocase(s, "noon"))
		*out = next_clock(12 * 3600, now_s);
	else if (slice_is_nocase(s, "today"))
		*out = now_s;
	else if (slice_is_nocase(s, "tomorrow"))
		*out = now_s + 86400;
	else
		return false;
	return true;
}

int submission_moment(const char *text, double now_s, double *out, struct err *err)
{
	struct slice s = slice_trim(slice_of(text));
	double at_s;
	int seconds;

	if (from_now(s, now_s, &at_s) || named(s, now_s, &at_s))
		;
	else if (slice_timestamp(s, &at_s))
		at_s = has_zone(text) ? at_s : local(at_s);
	else if (clock_time(s, &seconds))
		at_s = next_clock(seconds, now_s);
	else if (!slice_double(s, &at_s) || at_s < 1e8)
		return err_set(err, ERR_USAGE,
			"'%.80s' is no moment; write now+6h, 18:00, tomorrow, 2026-11-20T08:00 or "
			"seconds since 1970",
			text);
	if (!(at_s >= 0 && at_s <= 1e11))
		return err_set(err, ERR_USAGE, "'%.80s' is too far away", text);
	*out = at_s;
	return 0;
}
