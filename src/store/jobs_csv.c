/*
 * jobs.csv: every job of a run as it ended, one a line.
 */
#include "store/run_dir.h"

#include <math.h>

#include "io/csv.h"

static const char header[] = "id,name,tenant,model,gpus,arrival_s,start_s,finish_s,jct_s,wait_s,"
			     "run_s,preemptions,state,migrations,resizes,failures,overhead_s,"
			     "lost_s,ftf,deadline_s,why,reason,deadline_met,restarts,held_gpu_s,"
			     "efficiency\n";

static void put_text(struct buf *out, const char *text)
{
	if (text)
		csv_write_text(out, text);
	buf_char(out, ',');
}

/* Empty where it is not known. */
static void put_number(struct buf *out, double x)
{
	if (isfinite(x))
		buf_double(out, x);
	buf_char(out, ',');
}

static const char *name_of(const struct names *names, uint32_t i)
{
	return i < names->n ? names->at[i] : NULL;
}

/* Why it did not finish: a word for programs and a sentence for people. */
static void put_reason(struct buf *out, const struct outcome *outcome, const struct job *job,
	struct buf *scratch)
{
	uint32_t other = job->reason.other;

	if (job->state == JOB_FINISHED || job->reason.why == WHY_NONE) {
		buf_str(out, ",,");
		return;
	}
	put_text(out, why_name(job->reason.why));
	buf_clear(scratch);
	reason_text(&job->reason, other < outcome->njobs ? outcome->jobs[other].label : NULL, scratch);
	put_text(out, scratch->at);
}

/* Empty: it has none, or it is not known yet. */
static void put_met(struct buf *out, const struct job *job)
{
	if (isfinite(job->deadline_s) && job->state != JOB_FUTURE)
		buf_str(out, job_met_deadline(job) ? "yes" : "no");
	buf_char(out, ',');
}

static void put_job(struct buf *out, const struct trace *trace, const struct outcome *outcome,
	const struct job *job, struct buf *scratch)
{
	double jct = job->state == JOB_FINISHED ? job->finish_s - job->arrival_s : NAN;

	put_text(out, job->label);
	put_text(out, job->name);
	put_text(out, name_of(&trace->tenants, job->tenant));
	put_text(out, name_of(&trace->models, job->model));
	put_number(out, job->gpus);
	put_number(out, job->arrival_s);
	put_number(out, job->start_s);
	put_number(out, job->finish_s);
	put_number(out, jct);
	put_number(out, job->waited_s);
	put_number(out, job->ran_s);
	put_number(out, job->preemptions);
	put_text(out, job_state_name(job->state));
	put_number(out, job->migrations);
	put_number(out, job->resizes);
	put_number(out, job->failures);
	put_number(out, job->overhead_s);
	put_number(out, job->lost_s);
	put_number(out, job->fair_s > 0 ? jct / job->fair_s : NAN);
	put_number(out, job->deadline_s);
	put_reason(out, outcome, job, scratch);
	put_met(out, job);
	put_number(out, job->restarts);
	put_number(out, job->occupied_s);
	if (job->trained && job->served_s > 0)
		buf_double(out, job->eff_s / job->served_s);
	buf_char(out, '\n');
}

void jobs_csv(const struct trace *trace, const struct outcome *outcome, struct buf *out)
{
	struct buf scratch = { 0 };

	buf_str(out, header);
	for (uint32_t i = 0; i < outcome->njobs; i++)
		put_job(out, trace, outcome, &outcome->jobs[i], &scratch);
	buf_fini(&scratch);
}
