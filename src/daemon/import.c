/*
 * Jobs of the past as ended ones, and their rows.
 */
#include "daemon/import.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/plain.h"
#include "daemon/daemon_state.h"

enum { AT_ONCE = 1000 }; /* rows of one transaction */

static struct live_job *as_ended(struct daemon *d, const struct past_job *past, uint32_t id)
{
	char *name = mem_strdup(past->name ? past->name : "?");
	char *tenant = past->tenant ? mem_strdup(past->tenant) : NULL;
	const char *argv[] = { name, NULL };
	struct submission what;
	struct live_job *job;

	text_make_plain(name);
	if (tenant)
		text_make_plain(tenant);
	submission_init(&what);
	what.argv = argv;
	what.name = argv[0];
	what.tenant = tenant;
	what.key = past->key;
	what.types = past->type;
	what.gpus = what.min_gpus = what.max_gpus = (int32_t)past->gpus;
	what.time_s = past->limit_s;
	what.submitted_s = past->submitted_s;
	job = live_job_create(id, &what, wallclock_offset(&d->clock.wall), d->last_s);
	submission_fini(&what);
	job->uid = geteuid();
	job->user = mem_strdup(tenant ? tenant : "?");
	if (!job->tenant)
		job->tenant = mem_strdup(job->user);
	job->state = LIVE_COMPLETED;
	job->attempt = 1;
	job->code = 0;
	job->first_begun_s = past->begun_s - wallclock_offset(&d->clock.wall);
	job->end_s = past->ended_s - wallclock_offset(&d->clock.wall);
	job->used_s = past->ran_s;
	job->base.start_s = job->first_begun_s;
	job->base.finish_s = job->end_s;
	job->base.attempts = 1;
	job->base.ran_s = job->base.done = job->base.work_est = past->ran_s;
	job->base.served_s = job->base.occupied_s = past->ran_s * past->gpus;
	job->base.waited_s = fmax(0, past->begun_s - past->submitted_s);
	free(name);
	free(tenant);
	return job;
}

static void row_of(struct daemon *d, const struct live_job *job)
{
	struct buf status = { 0 };
	struct row *row;

	live_job_status(job, &status);
	daemon_row(d, "imported", job->id, 0, d->last_s, "{}", false);
	row = &d->rows.at[d->rows.n - 1];
	row->has_job = true;
	row->job = (struct record_job){
		.id = job->id,
		.uid = job->uid,
		.key = arena_strdup(&d->row_words, job->key),
		.name = arena_strdup(&d->row_words, job->name),
		.tenant = arena_strdup(&d->row_words, job->tenant),
		.state = live_state_name(job->state),
		.live = false,
		.arrival_s = job->arrival_s,
		.end_s = job->end_s,
		.status = arena_strdup(&d->row_words, status.at),
	};
	buf_fini(&status);
}

static int write_some(struct daemon *d, struct err *err)
{
	return daemon_flush(d) ? 0 : err_set(err, ERR_IO, "%s", d->trouble);
}

static int see_key(void *ctx, const struct record_job *job)
{
	if (job->key)
		names_add(ctx, job->key, strlen(job->key));
	return 0;
}

static int known_keys(struct daemon *d, struct names *out, struct err *err)
{
	struct record_filter all = { .uid = UINT32_MAX, .ended_since_s = NAN };

	if (record_live_jobs(d->record, see_key, out, err) < 0)
		return err->code;
	return record_ended_jobs(d->record, &all, see_key, out, err);
}

static int add_new(struct daemon *d, const struct past_job *jobs, size_t n,
	const struct names *known, struct err *err)
{
	int added = 0;

	for (size_t i = 0; i < n; i++) {
		struct live_job *job;

		if (names_find(known, jobs[i].key, strlen(jobs[i].key)) != NAME_NONE)
			continue;
		job = as_ended(d, &jobs[i], d->next_job++);
		row_of(d, job);
		live_job_destroy(job);
		added++;
		if (d->rows.n >= AT_ONCE && write_some(d, err) < 0)
			return err->code;
	}
	return write_some(d, err) < 0 ? err->code : added;
}

int daemon_import(struct daemon *d, const struct past_job *jobs, size_t n, struct err *err)
{
	struct names known = { 0 };
	int rc = known_keys(d, &known, err);

	if (rc >= 0)
		rc = add_new(d, jobs, n, &known, err);
	names_fini(&known);
	return rc;
}
