/*
 * Text: growable buffers, strict number parsing, and "did you mean".
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A zeroed buffer is valid and empty; `at` is NUL-terminated once something was added. */
struct buf {
	char *at;
	size_t n, cap;
};

void buf_fini(struct buf *buf);
void buf_clear(struct buf *buf);
void buf_add(struct buf *buf, const char *bytes, size_t n);
void buf_str(struct buf *buf, const char *text);
void buf_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_int(struct buf *buf, int64_t x);
/* Shortest decimal that reads back as the same double; "null" is never written: NaN and infinities are the caller's business. */
void buf_double(struct buf *buf, double x);

/* A piece of somebody else's text. */
struct slice {
	const char *at;
	size_t n;
};

struct slice slice_of(const char *text);
struct slice slice_trim(struct slice s);
/* Cuts the piece before the first `c` off the front, and the `c` with it; all of it if there is none. */
struct slice slice_cut(struct slice *s, char c);
bool slice_is(struct slice s, const char *text);
bool slice_is_nocase(struct slice s, const char *text);

/* The whole slice must be a finite number (spaces around it are allowed).  Locale plays no part. */
bool slice_double(struct slice s, double *out);
bool slice_int(struct slice s, int64_t *out);
/* Like slice_double with a unit: "90", "90s", "1.5h", "30m", "2d", "1:30:00", "2-12:00:00" to seconds. */
bool slice_seconds(struct slice s, double *out);
/* "512", "64K", "16G", "1.5TiB" to bytes (powers of 1024). */
bool slice_bytes(struct slice s, int64_t *out);

/* Index of the candidate nearest to `word` if near enough to be a slip, else -1. */
int text_nearest(const char *word, const char *const *candidates, size_t n);

/* "45s", "1m35s", "2h10m", "3d04h", whole seconds; "-" where it is not finite: how long something lasts, for people. */
const char *text_lasts(double seconds, char out[32]);
/* "320ms", "6.5s", "1m35s", "2h10m", "7d": for sentences; no unit that is zero.  Writes into `out` and returns it. */
const char *text_duration(double seconds, char out[32]);
const char *text_size(double bytes, char out[32]);

/* Human time stamps "2017-10-09 07:01:55", "2017-10-09T07:01:55[Z|+hh:mm]" to seconds since 1970 (UTC if no zone). */
bool slice_timestamp(struct slice s, double *out);

#endif
