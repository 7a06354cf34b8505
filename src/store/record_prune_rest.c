/*
 * Pruning events that belong to no job, and reports of progress of jobs that are kept.
 */
#include <stdio.h>
#include <string.h>

#include "store/record_prune_parts.h"

enum {
	WALK_EVENTS = 100,  /* events that a step looks at for each job that it may prune, */
	MOST_EVENTS = 4000, /* and at most */
};

struct old_event {
	uint64_t seq;
	bool of_job, bare; /* bare: it says nothing of the job or the attempt */
	char kind[16];
};

typedef VEC(struct old_event) old_events;

static int find_events(struct prune *p, uint32_t limit, old_events *out, struct err *err)
{
	struct record_query query;
	int rc = record_take(p->record, SQL_OLD_EVENTS, &query, err), step;

	if (rc)
		return rc;
	sqlite3_bind_int64(query.st, 1, (int64_t)p->seq);
	sqlite3_bind_int64(query.st, 2, (int64_t)p->total.seq);
	sqlite3_bind_int64(query.st, 3, limit);
	while ((step = sqlite3_step(query.st)) == SQLITE_ROW) {
		struct old_event e = {
			.seq = (uint64_t)sqlite3_column_int64(query.st, 0),
			.of_job = sqlite3_column_int(query.st, 2),
			.bare = sqlite3_column_int(query.st, 3),
		};

		snprintf(e.kind, sizeof(e.kind), "%s", (const char *)sqlite3_column_text(query.st, 1));
		vec_push(out, e);
	}
	if (step != SQLITE_DONE)
		rc = prune_failed(p->record, "read", err);
	record_give(&query);
	return rc;
}

/* The event that goes with this one coming into view: itself, or the one that it takes the place of; 0: none. */
static uint64_t displaced_by(struct prune *p, const struct old_event *e)
{
	uint64_t *last = !strcmp(e->kind, "epoch") ? &p->epoch
		: !strcmp(e->kind, "health")       ? &p->health
						   : NULL;
	uint64_t before;

	if (e->of_job)
		return e->bare && !strcmp(e->kind, "progress") ? e->seq : 0;
	/* Who did what outlives what was done. */
	if (!last)
		return strcmp(e->kind, "audit") != 0 ? e->seq : 0;
	before = *last;
	*last = e->seq;
	return before;
}

int prune_step_rest(struct prune *p, uint32_t jobs, struct err *err)
{
	old_events events = { 0 };
	int rc = find_events(p, prune_at_most((uint64_t)WALK_EVENTS * jobs, MOST_EVENTS), &events, err);

	if (!rc && !events.n)
		p->phase = PRUNE_PAGES;
	for (size_t i = 0; !rc && i < events.n; i++) {
		uint64_t seq = displaced_by(p, &events.at[i]);
		int gone = 0;

		if (seq)
			rc = prune_write(p->record, SQL_DROP_EVENT, (int64_t)seq, 0, &gone, err);
		p->total.events += (uint64_t)gone;
		p->events += (uint64_t)gone;
		p->seq = events.at[i].seq + 1;
	}
	vec_fini(&events);
	return rc;
}
