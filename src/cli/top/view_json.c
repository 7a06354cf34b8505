/*
 * The daemon's answers as a view.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "cli/array_fold.h"
#include "cli/live_print.h"
#include "cli/top/view.h"

/* ---- jobs by number */

struct by_id {
	uint32_t id, at;
};

static int compare_ids(const void *a, const void *b)
{
	const struct by_id *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static struct by_id *index_jobs(struct view *view)
{
	struct by_id *ids = arena_array(&view->memory, struct by_id, view->njobs + 1);

	for (uint32_t i = 0; i < view->njobs; i++)
		ids[i] = (struct by_id){ view->jobs[i].id, i };
	qsort(ids, view->njobs, sizeof(*ids), compare_ids);
	return ids;
}

/* Its place among the jobs, or VIEW_NONE. */
static uint32_t find_job(const struct view *view, const struct by_id *ids, const json_t *id)
{
	struct by_id key = { .id = (uint32_t)json_integer_value(id) };
	const struct by_id *found = json_is_integer(id)
		? bsearch(&key, ids, view->njobs, sizeof(*ids), compare_ids)
		: NULL;

	return found ? found->at : VIEW_NONE;
}

/* ---- jobs */

static const char *keep(struct view *view, struct buf *text)
{
	const char *kept = text->n ? arena_strndup(&view->memory, text->at, text->n) : NULL;

	buf_clear(text);
	return kept;
}

static const char *copy(struct view *view, const char *text)
{
	return text ? arena_strdup(&view->memory, text) : NULL;
}

static const char *stage_of(const char *state)
{
	if (state && !strcmp(state, "CONFIGURING"))
		return "starting";
	return state && !strcmp(state, "COMPLETING") ? "stopping" : NULL;
}

static double fraction_of(const json_t *job)
{
	const json_t *progress = json_object_get(job, "progress");
	double step = live_number(progress, "step"), total = live_number(progress, "total");
	double fraction = live_number(progress, "fraction");

	return isnan(fraction) && total > 0 ? step / total : fraction;
}

static void read_idle(const json_t *job, double now_s, struct view_job *out)
{
	const json_t *idle = json_object_get(job, "idle");
	double since = live_number(idle, "since"), for_s = live_number(idle, "for_s");

	out->idle = json_is_object(idle) || json_is_true(idle);
	out->idle_s = isnan(for_s) ? now_s - since : for_s;
}

/* Moments as times from now. */
static void read_quantiles(const json_t *moments, double now_s, double out[3])
{
	static const char *const names[] = { "p10", "p50", "p90" };

	for (int i = 0; i < 3; i++)
		out[i] = live_number(moments, names[i]) - now_s;
}

/* How it is called, and why it waits; several elements of an array have one row. */
static void read_labels(struct view *view, const struct fold_row *row, struct view_job *out)
{
	struct buf text = { 0 };

	fold_label(row, &text);
	out->label = keep(view, &text);
	fold_reason(row, &text);
	out->why = keep(view, &text);
	out->others = (uint32_t)(fold_count(row) - 1);
	if (out->others) {
		live_job_name(row->job, &text);
		out->first = keep(view, &text);
		fold_ids(row, &text);
		out->ids = keep(view, &text);
	}
	buf_fini(&text);
}

static void read_texts(struct view *view, const json_t *job, struct view_job *out)
{
	struct buf text = { 0 };

	live_who(job, &text);
	out->user = keep(view, &text);
	live_gpus(job, &text);
	if (live_number(job, "share") < 1)
		buf_printf(&text, "x%.2g", live_number(job, "share"));
	out->gpus = keep(view, &text);
	live_devices(json_object_get(job, "devices"), &text);
	out->where = keep(view, &text);
	buf_fini(&text);
	out->name = copy(view, live_text(job, "name"));
}

static void read_job(struct view *view, const struct fold_row *row, double now_s, const char *user)
{
	const json_t *job = row->job;
	struct view_job *out = &view->jobs[view->njobs++];
	const char *state = live_text(job, "state"), *owner = live_text(job, "user");
	double held = live_number(job, "held_gpus");

	*out = (struct view_job){
		.id = (uint32_t)json_integer_value(json_object_get(job, "id")),
		.part = state && !strcmp(state, "PENDING") ? PART_WAITING : PART_RUNNING,
		.stage = stage_of(state),
		.mine = user && owner && !strcmp(user, owner),
		.devices = held > 0 ? held : live_number(job, "gpus"),
		.progress = fraction_of(job),
		.left_s = live_number(job, "eta_s"),
		.priority = live_number(job, "priority"),
	};
	out->time_s = live_number(job, out->part == PART_WAITING ? "wait_s" : "run_s");
	read_idle(job, now_s, out);
	read_quantiles(json_object_get(job, "eta"), now_s, out->starts_s);
	read_labels(view, row, out);
	read_texts(view, job, out);
}

static void read_jobs(struct view *view, const json_t *reply, double now_s, const char *user)
{
	const json_t *jobs = json_object_get(reply, "jobs"),
		     *counts = json_object_get(reply, "counts");
	double waiting = live_number(counts, "PENDING"), all = 0;
	const char *state;
	json_t *count;
	struct fold fold;

	fold_init(&fold, jobs, false);
	view->jobs = arena_array(&view->memory, struct view_job, fold.rows.n + 1);
	for (size_t i = 0; i < fold.rows.n; i++)
		read_job(view, &fold.rows.at[i], now_s, user);
	fold_fini(&fold);
	json_object_foreach((json_t *)counts, state, count) all += json_number_value(count);
	view->count[PART_WAITING] = waiting > 0 ? (uint32_t)waiting : 0;
	view->count[PART_RUNNING] = waiting < all ? (uint32_t)(all - waiting) : 0;
}

/* ---- devices */

static void read_device(struct view *view, const json_t *device, const struct by_id *ids)
{
	const json_t *holders = json_object_get(device, "jobs");
	struct view_device *out = &view->devices[view->ndevices++];

	*out = (struct view_device){
		.job = find_job(view, ids, json_array_get(holders, 0)),
		.holders = (uint32_t)json_array_size(holders),
		.down = json_is_false(json_object_get(device, "up")),
		.drained = json_is_true(json_object_get(device, "drained")),
	};
}

static size_t count_devices(const json_t *nodes)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(nodes); i++)
		n += json_array_size(json_object_get(json_array_get(nodes, i), "devices"));
	return n;
}

static void read_nodes(struct view *view, const json_t *nodes, const struct by_id *ids)
{
	size_t n = json_array_size(nodes);

	view->nodes = arena_array(&view->memory, struct view_node, n + 1);
	view->devices = arena_array(&view->memory, struct view_device, count_devices(nodes) + 1);
	for (size_t i = 0; i < n; i++) {
		const json_t *node = json_array_get(nodes, i);
		const json_t *devices = json_object_get(node, "devices");

		view->nodes[view->nnodes++] = (struct view_node){
			.name = copy(view, live_text(node, "name") ? live_text(node, "name") : "?"),
			.type = copy(view, live_text(node, "type")),
			.first = view->ndevices,
			.ndevices = (uint32_t)json_array_size(devices),
		};
		for (size_t k = 0; k < json_array_size(devices); k++)
			read_device(view, json_array_get(devices, k), ids);
	}
}

/* ---- forecast */

static void read_forecast(struct view *view, const json_t *forecast, double now_s,
	const struct by_id *ids)
{
	const json_t *jobs = json_object_get(forecast, "jobs");

	for (size_t i = 0; i < json_array_size(jobs); i++) {
		const json_t *job = json_array_get(jobs, i), *start = json_object_get(job, "start");
		uint32_t at = find_job(view, ids, json_object_get(job, "id"));

		if (at == VIEW_NONE)
			continue;
		/* The share of futures in which it does not start; nothing compares with NAN. */
		view->jobs[at].never = live_number(job, "never") >= 0.5;
		if (json_is_object(start))
			read_quantiles(start, now_s, view->jobs[at].starts_s);
	}
}

/* ---- all */

static const char *clock_text(struct view *view, double now_s)
{
	time_t now = (time_t)now_s;
	struct tm local;
	char text[32];

	if (isnan(now_s) || !localtime_r(&now, &local) ||
		!strftime(text, sizeof(text), "%H:%M:%S", &local))
		return "";
	return arena_strdup(&view->memory, text);
}

void view_read(struct view *view, const json_t *nodes, const json_t *jobs, const json_t *forecast,
	const char *user)
{
	const char *host = live_text(nodes, "host");
	double now_s = live_number(jobs, "now");
	const struct by_id *ids;

	view->title = arena_printf(&view->memory, "stint on %s", host ? host : "?");
	view->policy = copy(view, live_text(jobs, "policy"));
	view->trouble = copy(view, live_text(jobs, "trouble"));
	view->clock = clock_text(view, now_s);
	read_jobs(view, jobs, now_s, user);
	ids = index_jobs(view);
	read_nodes(view, json_object_get(nodes, "nodes"), ids);
	read_forecast(view, forecast, now_s, ids);
}
