/*
 * Collecting notes, equal ones once.
 */
#include "io/notes.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A hopeless file must not cost memory or time per row: beyond this, notes are only counted. */
enum { NOTES_MAX = 256 };

static const char too_many[] = "further notes of other kinds were left out";

void notes_fini(struct notes *notes)
{
	for (size_t i = 0; i < notes->n; i++) {
		free(notes->at[i].field);
		free(notes->at[i].text);
		free(notes->at[i].fix);
	}
	free(notes->at);
	free(notes->lines);
	*notes = (struct notes){ 0 };
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static struct note *find(struct notes *notes, enum note_level level, const char *field, const char *text)
{
	for (size_t i = 0; i < notes->n; i++) {
		struct note *note = &notes->at[i];

		if (note->level == level && same(note->field, field) && same(note->text, text))
			return note;
	}
	return NULL;
}

static void append(struct notes *notes, struct note note)
{
	if (notes->n == notes->cap) {
		notes->cap = notes->cap ? notes->cap * 2 : 8;
		notes->at = mem_resize(notes->at, notes->cap * sizeof(*notes->at));
	}
	note.field = note.field ? mem_strdup(note.field) : NULL;
	note.text = mem_strdup(note.text);
	note.fix = note.fix ? mem_strdup(note.fix) : NULL;
	notes->at[notes->n++] = note;
}

void notes_add(struct notes *notes, enum note_level level, size_t line, const char *field,
	const char *fix, const char *fmt, ...)
{
	char text[512];
	struct note *known;
	va_list args;

	if (!notes)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);

	known = find(notes, level, field, text);
	if (!known && notes->n >= NOTES_MAX) {
		field = fix = NULL;
		snprintf(text, sizeof(text), "%s", too_many);
		known = find(notes, level, NULL, text);
	}
	if (known)
		known->count++;
	else
		append(notes,
			(struct note){ .level = level,
				.line = line,
				.count = 1,
				.field = (char *)field,
				.text = text,
				.fix = (char *)fix });
}

size_t notes_count(const struct notes *notes, enum note_level level)
{
	size_t sum = 0;

	for (size_t i = 0; notes && i < notes->n; i++)
		if (notes->at[i].level == level)
			sum += notes->at[i].count;
	return sum;
}

size_t notes_line(const struct notes *notes, uint32_t job)
{
	return notes && job < notes->nlines ? notes->lines[job] : 0;
}
