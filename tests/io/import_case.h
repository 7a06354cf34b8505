/*
 * What the tests of trace formats share: a case is a text and what becomes of
 * it, written as Stint's own CSV or as an error.
 */
#ifndef TESTS_IO_IMPORT_CASE_H
#define TESTS_IO_IMPORT_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/trace_io.h"

/* Rows leave out what they do not ask for. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

struct import_case {
	const char *what;
	const char *text;
	const char *want; /* own CSV; "error: " and a part of its text */
	const char *note; /* a part of a note's text that must be there, NULL: any */
	bool lenient;
	bool unrecognised; /* the text alone does not tell its format */
};

/* ---- equal traces ---- */

static inline bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static inline const char *name_at(const struct names *names, uint32_t i)
{
	return i == NAME_NONE ? NULL : names->at[i];
}

static inline bool same_number(double a, double b)
{
	return a == b || (a != a && b != b);
}

static inline bool may_use(const struct trace *t, const struct job *job, const char *type)
{
	uint32_t i = names_find(&t->types, type, strlen(type));

	return i != NAME_NONE && (job->types >> i & 1);
}

/* Types are numbered by who names them first, which sorting changes. */
static inline bool same_types(const struct trace *a, const struct job *ja, const struct trace *b,
	const struct job *jb)
{
	for (uint32_t i = 0; i < a->types.n; i++)
		if ((ja->types >> i & 1) && !may_use(b, jb, a->types.at[i]))
			return false;
	for (uint32_t i = 0; i < b->types.n; i++)
		if ((jb->types >> i & 1) && !may_use(a, ja, b->types.at[i]))
			return false;
	return true;
}

static inline const char *measured_on(const struct trace *t, uint32_t i)
{
	return t->measured_on && t->measured_on[i] ? t->types.at[t->measured_on[i] - 1] : NULL;
}

static inline bool same_deps(const struct trace *a, const struct job *ja, const struct trace *b,
	const struct job *jb)
{
	if (ja->ndeps != jb->ndeps)
		return false;
	for (uint32_t k = 0; k < ja->ndeps; k++)
		if (a->deps[ja->first_dep + k] != b->deps[jb->first_dep + k])
			return false;
	return true;
}

static inline bool same_job(const struct trace *a, const struct trace *b, uint32_t i)
{
	const struct job *x = &a->jobs[i], *y = &b->jobs[i];

	return x->id == y->id && same_text(x->label, y->label) && same_text(x->name, y->name) &&
		same_text(name_at(&a->tenants, x->tenant), name_at(&b->tenants, y->tenant)) &&
		same_text(name_at(&a->models, x->model), name_at(&b->models, y->model)) &&
		same_text(measured_on(a, i), measured_on(b, i)) && same_types(a, x, b, y) &&
		same_deps(a, x, b, y) && x->arrival_s == y->arrival_s && x->gpus == y->gpus &&
		x->min_gpus == y->min_gpus && x->max_gpus == y->max_gpus &&
		x->class_ == y->class_ && x->weight == y->weight && x->priority == y->priority &&
		x->batch == y->batch && x->deadline_s == y->deadline_s && x->cpus == y->cpus &&
		x->mem_bytes == y->mem_bytes && x->share == y->share &&
		x->gpu_mem_bytes == y->gpu_mem_bytes && x->start_cost_s == y->start_cost_s &&
		x->resume_cost_s == y->resume_cost_s && x->resize_cost_s == y->resize_cost_s &&
		x->checkpoint_every_s == y->checkpoint_every_s && x->by_steps == y->by_steps &&
		same_number(x->work_est, y->work_est) && x->nominal_rate == y->nominal_rate &&
		x->epochs == y->epochs && same_number(a->work[i], b->work[i]);
}

static inline void assert_traces_equal(const struct trace *a, const struct trace *b)
{
	assert_int_equal(a->njobs, b->njobs);
	for (uint32_t i = 0; i < a->njobs; i++)
		if (!same_job(a, b, i))
			fail_msg("job %u ('%s') differs", i, a->jobs[i].label);
}

/* ---- reading ---- */

static inline int read_text(const char *text, const char *format, bool lenient, struct trace *out,
	struct notes *notes, struct err *err)
{
	const struct import_options options = { .format = format, .lenient = lenient };

	return trace_read_text("t", slice_of(text), &options, out, notes, err);
}

/* Writing and reading again gives the same trace and the same text. */
static inline void assert_round_trip(const struct trace *trace)
{
	struct buf first = { 0 }, second = { 0 };
	struct notes notes = { 0 };
	struct trace again = { 0 };
	struct err err = { 0 };

	trace_write(trace, &first);
	if (read_text(first.at, NULL, false, &again, &notes, &err))
		fail_msg("cannot read what was written: %s\n%.500s", err.text, first.at);
	assert_string_equal(again.format, "stint");
	assert_int_equal(notes_count(&notes, NOTE_DROPPED), 0);
	assert_traces_equal(trace, &again);
	trace_write(&again, &second);
	assert_string_equal(first.at, second.at);
	notes_fini(&notes);
	trace_fini(&again);
	buf_fini(&first);
	buf_fini(&second);
}

static inline bool has_note(const struct notes *notes, const char *text)
{
	for (size_t i = 0; i < notes->n; i++)
		if (strstr(notes->at[i].text, text))
			return true;
	return false;
}

static inline void show_notes(const struct notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		print_error("note: line %zu %s: %s\n", notes->at[i].line,
			notes->at[i].field ? notes->at[i].field : "-", notes->at[i].text);
}

static inline void assert_error(const char *what, int rc, const struct err *err, const char *want)
{
	if (rc == 0)
		fail_msg("%s: was read, but wanted %s", what, want);
	assert_int_equal(rc, err->code);
	if (!strstr(err->text, want + strlen("error: ")))
		fail_msg("%s:\n  got    %s\n  wanted %s", what, err->text, want);
}

static inline void assert_written(const char *what, const struct trace *trace, const char *want)
{
	struct buf got = { 0 };

	trace_write(trace, &got);
	if (strcmp(got.at, want) != 0)
		fail_msg("%s:\ngot\n%s\nwanted\n%s", what, got.at, want);
	buf_fini(&got);
	assert_round_trip(trace);
}

static inline void run_import_case(const char *format, const struct import_case *c)
{
	struct notes notes = { 0 };
	struct trace trace = { 0 };
	struct err err = { 0 };
	int rc = read_text(c->text, c->unrecognised ? format : NULL, c->lenient, &trace, &notes, &err);

	if (strncmp(c->want, "error: ", 7) == 0) {
		assert_error(c->what, rc, &err, c->want);
		assert_null(trace.jobs);
	} else if (rc) {
		fail_msg("%s: %s", c->what, err.text);
	} else {
		assert_string_equal(trace.format, format);
		assert_written(c->what, &trace, c->want);
	}
	if (c->note && !has_note(&notes, c->note)) {
		show_notes(&notes);
		fail_msg("%s: no note says '%s'", c->what, c->note);
	}
	trace_fini(&trace);
	notes_fini(&notes);
}

#define run_import_cases(format, rows) \
	do { \
		for (size_t row_ = 0; row_ < COUNT(rows); row_++) \
			run_import_case((format), &(rows)[row_]); \
	} while (0)

#endif
