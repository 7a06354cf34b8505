/*
 * Dependencies of the jobs of a trace: ids become jobs, and jobs that wait for
 * each other are refused with the smallest such set, or lose a dependency where the
 * reader is lenient.
 */
#include <stdlib.h>

#include "io/circle.h"
#include "io/rows.h"
#include "model/dag.h"

enum { CIRCLES_NAMED = 20, STRAYS_NAMED = 20 }; /* one by one */

/* `strays` counts those that lead nowhere. */
static int resolve(struct rows *rows, struct row_dep *dep, uint32_t *strays, struct err *err)
{
	uint32_t other = ids_find(&rows->ids, rows->out, dep->id);
	const char *wrong = other == JOB_NONE ? "not the id of a job" : "the job itself";

	if (other != JOB_NONE && other != dep->job) {
		dep->other = other;
		return 0;
	}
	if (!rows->options->lenient) {
		err_set(err, ERR_FORMAT, "field 'after': \"%.60s\" is %s; correct or remove it",
			dep->id.at, wrong);
		return err_prefix(err, "%s:%u", rows->out->source, dep->line);
	}
	if ((*strays)++ < STRAYS_NAMED)
		notes_add(rows->notes, NOTE_PROBLEM, dep->line, "after", "correct or remove it",
			"\"%.60s\" is %s; the dependency does not count", dep->id.at, wrong);
	else
		notes_add(rows->notes, NOTE_PROBLEM, dep->line, "after", "correct or remove them",
			"more jobs wait for some that are not here, or for themselves; that does not count");
	return 0;
}

/* The dependency by which `job` waits for `other`. */
static struct row_dep *dep_of(const struct rows *rows, uint32_t job, uint32_t other)
{
	struct row_dep *dep = rows->deps;

	while (dep->job != job || dep->other != other)
		dep++;
	return dep;
}

/* The smallest circle: an error, or its last dependency does not count. */
static int break_circle(struct rows *rows, const uint32_t *circle, uint32_t n, struct arena *arena,
	struct err *err)
{
	uint32_t *lines = arena_array(arena, uint32_t, n);
	struct row_dep *last = NULL;
	struct buf text = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		last = dep_of(rows, circle[i], circle[(i + 1) % n]);
		lines[i] = last->line;
	}
	circle_text(rows->out, circle, lines, n, &text);
	if (rows->options->lenient) {
		notes_add(rows->notes, NOTE_PROBLEM, last->line, "after",
			"remove one of these dependencies",
			"jobs wait for each other in a circle: %s; the last does not count", text.at);
		for (struct row_dep *dep = last; dep < rows->deps + rows->ndeps; dep++)
			if (dep->job == last->job && dep->other == circle[0] && dep != last)
				dep->other = JOB_NONE;
		last->other = JOB_NONE;
		buf_fini(&text);
		return 0;
	}
	err_set(err, ERR_FORMAT,
		"field 'after': jobs wait for each other in a circle: %s; remove one of these dependencies",
		text.at);
	buf_fini(&text);
	return err_prefix(err, "%s:%u", rows->out->source, lines[0]);
}

/* Of many circles no dependency counts: who waits in one or behind one waits for nobody. */
static void break_rest(struct rows *rows, const struct dag *dag, struct arena *arena)
{
	bool *fine = arena_array(arena, bool, dag->n);

	for (uint32_t k = 0; k < dag->norder; k++)
		fine[dag->order[k]] = true;
	for (size_t i = 0; i < rows->ndeps; i++) {
		struct row_dep *dep = &rows->deps[i];

		if (dep->other == JOB_NONE || fine[dep->job])
			continue;
		dep->other = JOB_NONE;
		notes_add(rows->notes, NOTE_PROBLEM, dep->line, "after", "correct the first ones",
			"more jobs wait for each other in circles, or behind one; their dependencies do not count");
	}
}

/* Looks for a circle once; 1: one was broken, so that there may be more. */
static int check_circles(struct rows *rows, bool last_time, struct err *err)
{
	struct dag_edge *edges = mem_alloc(mem_array_size(rows->ndeps, sizeof(*edges)));
	struct arena arena = { 0 };
	uint32_t *circle = NULL, n;
	struct dag dag;
	int rc = 0;

	for (size_t i = 0; i < rows->ndeps; i++)
		edges[i] = (struct dag_edge){ rows->deps[i].other, rows->deps[i].job };
	dag_build(&dag, &arena, rows->out->njobs, edges, (uint32_t)rows->ndeps);
	if (last_time)
		break_rest(rows, &dag, &arena);
	n = last_time ? 0 : dag_cycle(&dag, &arena, &circle);
	if (n)
		rc = break_circle(rows, circle, n, &arena, err) < 0 ? err->code : 1;
	arena_fini(&arena);
	free(edges);
	return rc;
}

int rows_link(struct rows *rows, struct err *err)
{
	uint32_t strays = 0;
	int rc = 0, circles = 0;

	for (size_t i = 0; i < rows->ndeps && !rc; i++)
		rc = resolve(rows, &rows->deps[i], &strays, err);
	if (rc || !rows->ndeps)
		return rc;
	do
		rc = check_circles(rows, circles++ == CIRCLES_NAMED, err);
	while (rc > 0);
	for (size_t i = 0; i < rows->ndeps && !rc; i++)
		if (rows->deps[i].other != JOB_NONE)
			trace_add_dep(rows->out, rows->deps[i].job, rows->deps[i].other);
	return rc;
}
