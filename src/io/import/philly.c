/*
 * Microsoft's Philly log (cluster_job_log): a JSON array with an object per
 * job and in it its attempts.  A job's run time is that of all its attempts
 * together, its GPUs the most that one of them had; a tenant is a virtual
 * cluster.
 */
#include <jansson.h>
#include <string.h>

#include "base/file.h"
#include "io/rows.h"

extern const struct importer importer_philly;

enum { JOBID, VC, SUBMIT, ATTEMPTS, GPUS, USER, STATUS };

static const struct column columns[] = {
	[JOBID] = { .name = "jobid" },
	[VC] = { .name = "vc" },
	[SUBMIT] = { .name = "submitted_time" },
	[ATTEMPTS] = { .name = "attempts" },
	[GPUS] = { .name = "attempts.detail.gpus" },
	[USER] = { .name = "user" },
	[STATUS] = { .name = "status" },
	{ 0 },
};

static const struct remark remarks[] = {
	{ NOTE_ASSUMED, ATTEMPTS,
		"a job runs as long as its attempts together, on the most GPUs that one had" },
	{ NOTE_ASSUMED, VC, "tenants are virtual clusters, not users" },
	{ NOTE_DROPPED, GPUS, "on which machines and GPUs a job ran is not used" },
	{ 0 },
};

static const struct table table = {
	.columns = columns,
	.remarks = remarks,
	.headless = true,
};

static struct slice text_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_string(value))
		return (struct slice){ "", 0 };
	return (struct slice){ json_string_value(value), json_string_length(value) };
}

/* NAN where the log has null or "None". */
static double time_of(const json_t *object, const char *key)
{
	double s;

	return slice_timestamp(text_of(object, key), &s) ? s : NAN;
}

static size_t gpus_of(const json_t *attempt)
{
	const json_t *detail = json_object_get(attempt, "detail"), *node;
	size_t sum = 0, i;

	json_array_foreach(detail, i, node) sum += json_array_size(json_object_get(node, "gpus"));
	return sum;
}

static void read_attempts(struct rows *rows, const json_t *attempts, struct job *job)
{
	const json_t *attempt;
	double sum_s = 0;
	size_t most = 0, i;
	bool ran = false;

	json_array_foreach(attempts, i, attempt)
	{
		double s = time_of(attempt, "end_time") - time_of(attempt, "start_time");
		size_t gpus = gpus_of(attempt);

		most = gpus > most ? gpus : most;
		if (isnan(s))
			continue;
		if (s < 0)
			row_bad(rows, ATTEMPTS, text_of(attempt, "end_time"),
				"is before start_time", NULL);
		ran = true;
		sum_s += s;
	}
	if (!ran)
		row_drop(rows, ATTEMPTS, "no attempt with a start and an end: the job never ran", NULL);
	else if (sum_s < 1e-6)
		row_drop(rows, ATTEMPTS, "a run time of 0", NULL);
	job->gpus = row_gpus_of(rows, GPUS, (double)most);
	rows->work = sum_s;
}

static void read_job(struct rows *rows, const json_t *object, struct job *job)
{
	struct slice submit = text_of(object, "submitted_time"), vc = text_of(object, "vc");

	if (!json_is_object(object)) {
		row_bad(rows, -1, (struct slice){ "", 0 }, "an item that is not an object", NULL);
		return;
	}
	row_label(rows, job, text_of(object, "jobid"));
	job->tenant = row_name(&rows->out->tenants, vc);
	if (!slice_timestamp(submit, &job->arrival_s))
		row_bad(rows, SUBMIT, submit, "is not a date", NULL);
	read_attempts(rows, json_object_get(object, "attempts"), job);
	row_ended(rows, STATUS, text_of(object, "status"), "Pass");
}

/* jansson keeps no lines: the next "jobid" is this job's. */
static size_t next_line(struct lines *lines)
{
	struct slice line;

	while (lines_next(lines, &line))
		if (memmem(line.at, line.n, "\"jobid\"", 7))
			return lines->number;
	return 0;
}

static int read_jobs(struct rows *rows, struct slice text, const json_t *root, struct err *err)
{
	struct lines lines = lines_of(text.at, text.n);
	const json_t *object;
	struct job job;
	size_t i;

	rows_remark(rows);
	json_array_foreach(root, i, object)
	{
		int rc;

		rows_start(rows, next_line(&lines), &job);
		read_job(rows, object, &job);
		rc = rows_end(rows, &job, err);
		if (rc)
			return rc;
	}
	return rows_finish(rows, err);
}

static int read(struct slice text, const struct import_options *options, struct trace *out,
	struct notes *notes, struct err *err)
{
	json_error_t error;
	json_t *root = json_loadb(text.at, text.n, 0, &error);
	struct rows rows;
	int rc;

	if (!root)
		return err_set(err, ERR_FORMAT, "%s:%d: not valid JSON: %s", out->source,
			error.line, error.text);
	if (!json_is_array(root)) {
		json_decref(root);
		return err_set(err, ERR_FORMAT,
			"%s:1: not an array of jobs; is it cluster_job_log?", out->source);
	}
	rows_init(&rows, &importer_philly, options, out, notes);
	rc = read_jobs(&rows, text, root, err);
	rows_fini(&rows);
	json_decref(root);
	return rc;
}

static int recognise(struct slice head, const char *path)
{
	struct slice text = slice_trim(head);

	(void)path;
	if (!text.n || *text.at != '[')
		return 0;
	if (memmem(text.at, text.n, "\"attempts\"", 10) || memmem(text.at, text.n, "\"jobid\"", 7))
		return 90;
	return 5;
}

const struct importer importer_philly = {
	.name = "philly",
	.summary = "Philly: cluster_job_log (JSON)",
	.origin = "Jeon et al., ATC 2019",
	.dated = true,
	.recognise = recognise,
	.table = &table,
	.read = read,
};
