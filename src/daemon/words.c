/*
 * What was submitted: a job's words, read back from the record when it is
 * launched or shown.
 */
#include "daemon/daemon_state.h"

struct reading {
	struct submission *out;
	struct err *err;
	uint32_t of; /* the element of its array that has the words */
	uint64_t seq;
};

static int see_seq(void *ctx, const struct record_job *job)
{
	((struct reading *)ctx)->seq = job->submit_seq;
	return 0;
}

static int see_submission(void *ctx, const struct record_event *event)
{
	struct reading *r = ctx;
	json_error_t where;
	json_t *body = json_loads(event->body, 0, &where);
	json_t *words = json_object_get(body, "submission");
	int rc = 0;

	r->of = (uint32_t)member_int(body, "of", 0);
	if (words)
		rc = submission_from_json(r->out, words, r->err);
	else if (!r->of)
		rc = err_set(r->err, ERR_FORMAT, "event %lu has no submission",
			(unsigned long)event->seq);
	json_decref(body);
	return rc;
}

static int read_submission(struct daemon *d, uint32_t job, struct reading *r)
{
	r->of = 0;
	if (record_job(d->record, job, see_seq, r, r->err) < 0)
		return r->err->code;
	return record_event_at(d->record, r->seq, see_submission, r, r->err);
}

int daemon_submission(struct daemon *d, uint32_t job, struct submission *out, struct err *err)
{
	struct reading r = { .out = out, .err = err };
	int rc = read_submission(d, job, &r);

	if (rc == 0 && r.of)
		rc = read_submission(d, r.of, &r);
	if (rc < 0)
		return rc;
	submission_make_plain(out);
	return submission_check(out, err);
}

char *daemon_output(const struct daemon *d, const struct live_job *job, const char *pattern,
	const char *cwd)
{
	struct output_words words = {
		.id = job->id,
		.array_id = job->array_id,
		.index = job->array_id ? (int32_t)job->array_index : -1,
		.name = job->name,
		.user = job->user ? job->user : "",
		.node = d->machine.host,
	};
	struct buf path = { 0 };

	if (!pattern)
		return NULL;
	submission_output(pattern, cwd, &words, &path);
	return path.at;
}
