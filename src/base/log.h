/*
 * What the daemon tells people: one line per message on standard error.
 *
 * Under the journal a line begins with its level as "<4>" and the journal adds
 * the time; elsewhere it begins with time and level.  A message that cannot be
 * written at once is dropped and counted, and the next that can be written is
 * preceded by how many were: nobody who stops reading can stop a scheduler.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>

/* Numbers are those of syslog(3) and of the journal's prefixes. */
enum log_level {
	LEVEL_ERROR = 3,   /* something failed and someone must look */
	LEVEL_WARNING = 4, /* it goes on, but not as it should */
	LEVEL_NOTICE = 5,  /* rare and worth knowing: started, stopped, policy changed */
	LEVEL_INFO = 6,    /* each thing done */
	LEVEL_DEBUG = 7,
};

enum { LOG_LINE_MAX = 2048 }; /* longer ones end in "..."; below PIPE_BUF, so lines stay whole */

enum log_form {
	LOG_STAMPED, /* "2026-11-16 08:30:05.123+0100 warning: text" */
	LOG_PREFIXED /* "<4>text" */
};

struct log {
	int fd;
	bool own_fd; /* opened here, closed by log_fini() */
	bool socket;
	enum log_form form;
	atomic_int level; /* messages above it are not written */
	atomic_uint lost; /* since the last that was written */
};

/*
 * Writes to `fd`, which must stay open.  The form is LOG_PREFIXED if $JOURNAL_STREAM names that very file, as
 * it does for a service whose output was not sent elsewhere.
 */
void log_init(struct log *log, int fd, enum log_level level);
void log_fini(struct log *log);

/* From any thread, also while another changes the level. */
void log_set_level(struct log *log, enum log_level level);
bool log_wants(const struct log *log, enum log_level level);
/* `log` may be NULL: nothing is written.  Newlines and other control characters become spaces.  Keeps errno. */
void log_at(struct log *log, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define log_error(log, ...) log_at((log), LEVEL_ERROR, __VA_ARGS__)
#define log_warning(log, ...) log_at((log), LEVEL_WARNING, __VA_ARGS__)
#define log_notice(log, ...) log_at((log), LEVEL_NOTICE, __VA_ARGS__)
#define log_info(log, ...) log_at((log), LEVEL_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_at((log), LEVEL_DEBUG, __VA_ARGS__)

/* "error", "warning", "notice", "info", "debug"; false if it is none of them. */
bool log_level_of(const char *word, enum log_level *out);
const char *log_level_name(enum log_level level);

#endif
