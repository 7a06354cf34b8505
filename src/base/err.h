/*
 * Why something failed, in words for a person.
 *
 * The one who first knows what went wrong sets the text; callers above add
 * the place with err_prefix() on the way up.  Only cli, api and the daemon
 * print.  Functions that can fail return 0 or one of the negative codes.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/* Codes exist for what callers branch on; cli maps them to exit codes. */
enum err_code {
	ERR_IO = -1,          /* the world failed: file, pipe, disk */
	ERR_FORMAT = -2,      /* input that does not follow its format */
	ERR_USAGE = -3,       /* a command line or option that makes no sense */
	ERR_MISSING = -4,     /* something named does not exist */
	ERR_REFUSED = -5,     /* understood, and not allowed */
	ERR_NEVER = -6,       /* can never run on this cluster */
	ERR_BROKEN = -7,      /* a policy, placer or driver broke its contract */
	ERR_DIFFER = -8,      /* a replay or check found a difference */
	ERR_UNREACHABLE = -9, /* no daemon answers */
	ERR_TIMEOUT = -10,    /* it did not happen in the time given */
};

struct err {
	int code;
	char text[1024];
};

/* Sets code and text; returns `code`, so that `return err_set(...)` reads well.  `err` may be NULL. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "WHERE: " in front of the text; returns the code already set. */
int err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
