/*
 * Time stamps by plain calendar arithmetic: no time zone data, no mktime().
 */
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/text.h"

/* Days since 1970-01-01 in the Gregorian calendar; years begin in March, so that leap days come last. */
static int64_t days_from_civil(int64_t year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = y / 400, year_of_era = y % 400; /* y >= 0 here */
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
		day_of_year - 719468;
}

static int days_in_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

/* Takes exactly n digits off the front. */
static bool take_digits(struct slice *s, size_t n, int *out)
{
	int x = 0;

	if (s->n < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!is_digit(s->at[i]))
			return false;
		x = x * 10 + (s->at[i] - '0');
	}
	s->at += n;
	s->n -= n;
	*out = x;
	return true;
}

static bool take_char(struct slice *s, char c)
{
	if (!s->n || *s->at != c)
		return false;
	s->at++;
	s->n--;
	return true;
}

/* HH:MM[:SS[.fraction]]; a leap second counts as the first of the next minute. */
static bool take_time(struct slice *s, double *seconds)
{
	int h, m, sec = 0;
	double fraction = 0;

	if (!take_digits(s, 2, &h) || !take_char(s, ':') || !take_digits(s, 2, &m))
		return false;
	if (take_char(s, ':')) {
		if (!take_digits(s, 2, &sec))
			return false;
		if (s->n && *s->at == '.') {
			struct slice part = { s->at, 1 };

			while (part.n < s->n && is_digit(part.at[part.n]))
				part.n++;
			if (!slice_double(part, &fraction))
				return false;
			s->at += part.n;
			s->n -= part.n;
		}
	}
	*seconds = h * 3600 + m * 60 + sec + fraction;
	return h < 24 && m < 60 && sec <= 60;
}

/* Nothing, Z, or +hh, +hhmm, +hh:mm, with or without a space before it. */
static bool take_zone(struct slice *s, double *ahead_s)
{
	bool west;
	int h, m = 0;

	while (take_char(s, ' '))
		;
	*ahead_s = 0;
	if (!s->n || take_char(s, 'Z') || take_char(s, 'z'))
		return true;
	west = *s->at == '-';
	if (!take_char(s, '+') && !take_char(s, '-'))
		return false;
	if (!take_digits(s, 2, &h))
		return false;
	take_char(s, ':');
	if (s->n && !take_digits(s, 2, &m))
		return false;
	*ahead_s = (west ? -1 : 1) * (h * 3600 + m * 60);
	return h < 24 && m < 60;
}

bool slice_timestamp(struct slice s, double *out)
{
	int year, month, day;
	double seconds = 0, ahead_s = 0;

	s = slice_trim(s);
	if (!take_digits(&s, 4, &year) || !take_char(&s, '-') || !take_digits(&s, 2, &month) ||
		!take_char(&s, '-') || !take_digits(&s, 2, &day))
		return false;
	if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
		return false;
	if (s.n) {
		if (!take_char(&s, 'T') && !take_char(&s, 't') && !take_char(&s, ' '))
			return false;
		if (!take_time(&s, &seconds) || !take_zone(&s, &ahead_s) || s.n)
			return false;
	}
	*out = (double)days_from_civil(year, month, day) * 86400 + seconds - ahead_s;
	return true;
}
