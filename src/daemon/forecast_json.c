#include "daemon/forecast_json.h"

#include <math.h>

static void put_moment(const char *key, double s, double zero_s, struct json *j)
{
	json_double(j, key, isfinite(s) ? zero_s + s : NAN);
}

void put_moments(const char *key, const struct moments *m, double zero_s, struct json *j)
{
	if (isinf(m->p10)) {
		json_str(j, key, NULL);
		return;
	}
	json_begin_object(j, key);
	put_moment("p10", m->p10, zero_s, j);
	put_moment("p50", m->p50, zero_s, j);
	put_moment("p90", m->p90, zero_s, j);
	json_end(j, '}');
}

void put_bound(const char *key, double s, double zero_s, struct json *j)
{
	put_moment(key, s, zero_s, j);
}

void put_futures(uint32_t futures, uint32_t wanted, struct json *j)
{
	json_int(j, "futures", futures);
	json_int(j, "futures_wanted", wanted);
}

void put_extent(const struct forecast *f, struct json *j)
{
	json_int(j, "simulated", (int64_t)f->jobs.n);
	json_int(j, "left_out", (int64_t)f->absent.n);
}

void put_track(const char *key, const struct track *track, struct json *j)
{
	json_begin_object(j, key);
	json_int(j, "n", track->n);
	json_double(j, "coverage", track->coverage);
	json_double(j, "median_error_s", track->median_error_s);
	json_double(j, "plain_error_s", track->plain_error_s);
	json_end(j, '}');
}

static void put_array(const struct snapshot_job *one, struct json *j)
{
	if (!one->array)
		return;
	json_int(j, "array_id", one->array);
	json_int(j, "array_index", one->index);
}

static void put_job(const struct forecast_job *job, const struct snapshot_job *one, double zero_s,
	struct json *j)
{
	json_begin_object(j, NULL);
	json_int(j, "id", job->number);
	put_array(one, j);
	if (job->waits && !job->bounded)
		put_moments("start", &job->start, zero_s, j);
	else
		json_str(j, "start", NULL);
	if (job->bounded)
		json_str(j, "finish", NULL);
	else
		put_moments("finish", &job->finish, zero_s, j);
	json_double(j, "never", job->never);
	if (job->bounded)
		put_bound("not_before", job->start.p10, zero_s, j);
	json_end(j, '}');
}

static void put_span(const struct snapshot *from, const struct desk *desk,
	const struct forecast_span *span, struct json *j)
{
	const struct snapshot_job *one = &from->jobs.at[span->job];

	json_begin_object(j, NULL);
	json_int(j, "job", one->number);
	put_array(one, j);
	json_str(j, "name", one->job.name);
	if (one->job.tenant < from->tenant_names.n)
		json_str(j, "tenant", from->tenant_names.at[one->job.tenant]);
	json_str(j, "node", desk->nodes[span->node]);
	desk_put_devices(desk, span->node, span->devices, "devices", j);
	json_double(j, "from", wallclock_s(&desk->wall, span->from_s));
	json_double(j, "to", wallclock_s(&desk->wall, span->to_s));
	json_double(j, "sure", span->sure);
	json_end(j, '}');
}

void forecast_to_json(const struct forecast *f, const struct snapshot *from,
	const struct desk *desk, double computed_at, struct forecast_text *out)
{
	struct buf *text = &out->json;
	double zero_s = wallclock_offset(&desk->wall) + f->at_s;
	struct json j;

	json_init(&j, text, false);
	json_begin_object(&j, NULL);
	json_double(&j, "at", zero_s);
	json_double(&j, "computed_at", computed_at);
	put_futures(f->futures, f->wanted, &j);
	json_double(&j, "cpu_s", f->cpu_s);
	put_extent(f, &j);
	if (f->absent.n)
		put_bound("rest_not_before", f->rest_s, zero_s, &j);
	json_begin_array(&j, "jobs");
	for (size_t i = 0; i < f->jobs.n; i++) {
		struct forecast_place place = { f->jobs.at[i].number, text->n, 0 };

		put_job(&f->jobs.at[i], &from->jobs.at[i], zero_s, &j);
		place.to = text->n;
		vec_push(&out->jobs, place);
	}
	json_end(&j, ']');
	json_begin_array(&j, "spans");
	for (size_t i = 0; i < f->spans.n; i++)
		put_span(from, desk, &f->spans.at[i], &j);
	json_end(&j, ']');
	json_end(&j, '}');
}

void forecast_text_fini(struct forecast_text *text)
{
	buf_fini(&text->json);
	vec_fini(&text->jobs);
}

void forecast_text_put(const struct forecast_text *text,
	bool (*has)(const void *ctx, uint32_t number), const void *ctx, struct buf *out)
{
	const char *at = text->json.at;
	size_t done = 1, end = text->json.n - 1;
	bool any = false;

	for (size_t i = 0; i < text->jobs.n; i++) {
		const struct forecast_place *job = &text->jobs.at[i];
		size_t comma = at[job->from] == ',';

		buf_add(out, at + done, job->from - done);
		done = job->to;
		if (!has(ctx, job->number))
			continue;
		if (any)
			buf_char(out, ',');
		buf_add(out, at + job->from + comma, job->to - job->from - comma);
		any = true;
	}
	buf_add(out, at + done, end - done);
}
