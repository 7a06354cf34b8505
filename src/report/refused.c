#include "report/refused.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

static void why_of(const struct outcome *o, const struct job *job, struct buf *out)
{
	struct buf other = { 0 };

	if (job->reason.other < o->njobs)
		buf_printf(&other, "job %s", o->jobs[job->reason.other].label);
	reason_text(&job->reason, other.at, out);
	buf_fini(&other);
}

void refused_of(const struct outcome *outcome, uint32_t most, struct refused *out)
{
	*out = (struct refused){ .at = mem_alloc(mem_array_size(most, sizeof(*out->at))) };
	for (uint32_t i = 0; i < outcome->njobs; i++) {
		const struct job *job = &outcome->jobs[i];
		struct buf text = { 0 };

		if (job->state != JOB_REJECTED || out->all++ >= most)
			continue;
		why_of(outcome, job, &text);
		out->at[out->n++] = (struct refused_job){
			.label = mem_strdup(job->label),
			.why = mem_strdup(text.at),
			.gpus = job->gpus,
		};
		buf_fini(&text);
	}
}

void refused_fini(struct refused *refused)
{
	for (uint32_t i = 0; i < refused->n; i++) {
		free(refused->at[i].label);
		free(refused->at[i].why);
	}
	free(refused->at);
}

static void put_job(const struct outcome *o, const struct job *job, struct json *j)
{
	const struct reason *reason = &job->reason;
	struct buf text = { 0 };

	why_of(o, job, &text);
	json_begin_object(j, NULL);
	json_str(j, "job", job->label);
	json_int(j, "gpus", job->gpus);
	json_str(j, "why", why_name(reason->why));
	json_str(j, "reason", text.at);
	if (reason->need > 0) {
		json_int(j, "need", reason->need);
		json_int(j, "have", reason->have);
	}
	if (reason->at_s > 0 && isfinite(reason->at_s))
		json_double(j, "fits_at", reason->at_s);
	json_end(j, '}');
	buf_fini(&text);
}

void refused_json(const struct outcome *outcome, struct json *j)
{
	json_begin_array(j, "rejected");
	for (uint32_t i = 0; i < outcome->njobs; i++) {
		if (outcome->jobs[i].state == JOB_REJECTED)
			put_job(outcome, &outcome->jobs[i], j);
	}
	json_end(j, ']');
}
