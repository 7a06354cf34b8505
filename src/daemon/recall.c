#include "daemon/recall.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "live/live_job.h"

void recall_init(struct recall *m, const char *state_dir)
{
	*m = (struct recall){ .path = mem_printf("%s/stint.db", state_dir), .until_s = -INFINITY };
}

void recall_fini(struct recall *m)
{
	record_close(m->record);
	habits_fini(&m->habits);
	free(m->path);
}

typedef VEC(struct live_job *) jobs_t;

struct walk {
	struct recall *recall;
	jobs_t jobs; /* the newest first */
};

static int see(void *ctx, const struct record_job *row)
{
	struct walk *w = ctx;
	json_t *status;
	struct live_job *job = NULL;
	struct err ignored = { 0 };

	if (row->end_s <= w->recall->until_s)
		return 0;
	status = json_loads(row->status, 0, NULL);
	if (status && live_job_from_status(status, &job, &ignored) == 0)
		vec_push(&w->jobs, job);
	json_decref(status);
	return 0;
}

/* In seconds: what it had been said to take, and what it took. */
static void add_habit(struct habits *habits, const struct live_job *job)
{
	struct job asked = job->base;
	double ran_s = live_job_ran_s(job);

	if (!(ran_s > 0))
		return;
	asked.arrival_s = job->arrival_s;
	asked.by_steps = false;
	asked.nominal_rate = 1;
	asked.work_est = job->estimate_s > 0 ? job->estimate_s : ran_s;
	asked.types = 0; /* by numbers of another day */
	habits_add(habits, &asked, job->tenant, ran_s, job->estimate_s > 0);
}

int recall_refresh(struct recall *m, struct err *err)
{
	struct record_filter filter = {
		.uid = UINT32_MAX,
		.limit = HABITS_MAX,
		.ended_since_s = isfinite(m->until_s) ? m->until_s : NAN,
	};
	struct walk w = { .recall = m };
	double until_s = m->until_s;
	int rc;

	if (!m->record && record_open(m->path, true, &m->record, err) < 0)
		return err->code;
	rc = record_ended_jobs(m->record, &filter, see, &w, err);
	for (size_t i = w.jobs.n; i-- > 0;) {
		struct live_job *job = w.jobs.at[i];

		if (rc == 0)
			add_habit(&m->habits, job);
		until_s = fmax(until_s, job->end_s);
		live_job_destroy(job);
	}
	vec_fini(&w.jobs);
	if (rc == 0)
		m->until_s = until_s;
	habits_settle(&m->habits);
	return rc;
}
