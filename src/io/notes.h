/*
 * What a reader has to say about its input: assumptions, rows left out, and
 * problems, each with line, field and what to do.  Equal notes are counted,
 * the first line of each kept.
 */
#ifndef IO_NOTES_H
#define IO_NOTES_H

#include <stddef.h>
#include <stdint.h>

enum note_level {
	NOTE_ASSUMED, /* the input left it open */
	NOTE_DROPPED, /* a row or field that does not count */
	NOTE_WARNING, /* probably not what was meant */
	NOTE_PROBLEM, /* `trace check` fails; a strict reader stops */
};

struct note {
	enum note_level level;
	size_t line;  /* first line it concerns, 0: the whole file */
	size_t count; /* how often */
	char *field;  /* may be NULL */
	char *text;   /* what is so */
	char *fix;    /* what to do; may be NULL */
};

/* A zeroed list is valid and empty. */
struct notes {
	struct note *at;
	size_t n, cap;
	uint32_t *lines; /* by job: where the reader found it; trace_check() names it.  NULL: not known */
	uint32_t nlines;
};

void notes_fini(struct notes *notes);
/* `notes` may be NULL: nothing is kept.  Notes with the same level, field and text are one. */
void notes_add(struct notes *notes, enum note_level level, size_t line, const char *field,
	const char *fix, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
size_t notes_count(const struct notes *notes, enum note_level level);
/* The line of a job of the trace that was read with these notes, 0 if not known. */
size_t notes_line(const struct notes *notes, uint32_t job);

#endif
