/*
 * retention STATE JOBS [DAYS]: makes STATE/stint.db the record of a daemon that has run that many jobs.
 *
 * The record must have been made by a real daemon that has run one job: its events are the
 * template of all others, with their numbers and times.  They are spread over the last DAYS
 * (100) and written as the daemon writes them, in transactions of 500 jobs; after every
 * 200,000 jobs an epoch begins, as the daemon does it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/record.h"

enum { BATCH = 500, EPOCH_JOBS = 200000 };

/* An event of the first job. */
struct step {
	char *kind, *body, *job_after, *attempt_after;
	uint32_t attempt;
	bool live, over;
	double after_s; /* its submission */
};

struct template
{
	VEC(struct step) steps;
	char *epoch;
	double began_s;
	uint32_t uid;
	char *name, *tenant;
};

static void must(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "retention: %s\n", err->text);
	exit(1);
}

static char *copy(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

static int see_event(void *ctx, const struct record_event *e)
{
	struct template *t = ctx;
	struct step step = {
		.kind = copy(e->kind),
		.body = copy(e->body),
		.job_after = copy(e->job_after),
		.attempt_after = copy(e->attempt_after),
		.attempt = e->attempt,
		.live = e->job_live,
		.over = e->attempt_over,
	};

	if (!t->steps.n)
		t->began_s = e->at_s;
	step.after_s = e->at_s - t->began_s;
	vec_push(&t->steps, step);
	return 0;
}

static int see_epoch(void *ctx, const struct record_event *e)
{
	((struct template *)ctx)->epoch = copy(e->body);
	return 0;
}

static int see_job(void *ctx, const struct record_job *job)
{
	struct template *t = ctx;

	t->uid = job->uid;
	t->name = copy(job->name);
	t->tenant = copy(job->tenant);
	return 0;
}

/* "id":1, and "job":1, with another number. */
static const char *renumbered(const char *text, uint32_t id, struct buf *out)
{
	static const char *const names[] = { "\"id\":1,", "\"job\":1," };

	buf_clear(out);
	while (*text) {
		bool found = false;

		for (int i = 0; i < 2 && !found; i++) {
			size_t n = strlen(names[i]);

			found = !strncmp(text, names[i], n);
			if (found) {
				buf_printf(out, "%.*s%u,", (int)n - 2, names[i], id);
				text += n;
			}
		}
		if (!found)
			buf_char(out, *text++);
	}
	return out->at;
}

static void add_step(struct record *r, const struct template *t, const struct step *s, uint32_t id,
	double at_s)
{
	static struct buf body, after, attempt_after;
	char name[64];
	struct record_event event = {
		.at_s = at_s + s->after_s,
		.kind = s->kind,
		.job = id,
		.attempt = s->attempt,
		.body = renumbered(s->body, id, &body),
	};
	struct record_job job = {
		.id = id,
		.uid = t->uid,
		.name = name,
		.tenant = t->tenant,
		.state = !s->live                    ? "COMPLETED"
			: !strcmp(s->kind, "submit") ? "PENDING"
						     : "RUNNING",
		.live = s->live,
		.arrival_s = at_s,
		.end_s = s->live ? NAN : at_s + s->after_s,
		.status = s->job_after ? renumbered(s->job_after, id, &after) : NULL,
	};
	struct record_attempt attempt = { id, s->attempt, s->over,
		s->attempt_after ? renumbered(s->attempt_after, id, &attempt_after) : NULL };
	struct err err = { 0 };

	snprintf(name, sizeof(name), "%s-%u", t->name, id % 50);
	must(record_append(r, &event, job.status ? &job : NULL, attempt.status ? &attempt : NULL, &err),
		&err);
}

static void add_epoch(struct record *r, const struct template *t, double at_s)
{
	struct record_event event = { .at_s = at_s, .kind = "epoch", .body = t->epoch };
	struct err err = { 0 };

	must(record_append(r, &event, NULL, NULL, &err), &err);
}

int main(int argc, char **argv)
{
	uint32_t jobs = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0, first;
	double days = argc > 3 ? strtod(argv[3], NULL) : 100, from_s, born_s;
	char *path = argc > 1 ? path_join(argv[1], "stint.db") : NULL, text[32];
	struct template t = { 0 };
	struct err err = { 0 };
	struct record *r;

	if (!jobs || !(days > 0)) {
		fprintf(stderr, "usage: retention STATE JOBS [DAYS]\n");
		return 2;
	}
	must(record_open(path, false, &r, &err), &err);
	must(record_events(r, 0, 1, 0, see_event, &t, &err), &err);
	must(record_job(r, 1, see_job, &t, &err), &err);
	must(record_last_of_kind(r, "epoch", record_last_seq(r), see_epoch, &t, &err), &err);
	from_s = record_last_s(r) + 60;
	/* What is written last happened a minute ago. */
	born_s = floor(clock_real_s() - from_s - days * 86400 - 60);
	snprintf(text, sizeof(text), "%.0f", born_s);
	must(record_set_meta(r, "born", text, &err), &err);
	first = record_last_job(r) + 1;
	for (uint32_t i = 0; i < jobs; i += BATCH) {
		must(record_begin(r, &err), &err);
		for (uint32_t k = i; k < i + BATCH && k < jobs; k++) {
			double at_s = from_s + days * 86400 * k / jobs;

			if (k % EPOCH_JOBS == 0)
				add_epoch(r, &t, at_s);
			for (size_t s = 0; s < t.steps.n; s++)
				add_step(r, &t, &t.steps.at[s], first + k, at_s);
		}
		must(record_commit(r, &err), &err);
	}
	printf("%u jobs with %zu events each\n", jobs, t.steps.n);
	record_close(r);
	free(path);
	return 0;
}
