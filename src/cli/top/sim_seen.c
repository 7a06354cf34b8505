#include "cli/top/sim_seen.h"

#include <math.h>
#include <stdlib.h>

#include "cli/live_print.h"

enum { WAITING_SHOWN = 1000, NODES_NAMED = 2 };

/* ---- what happens */

void sim_seen_init(struct sim_seen *seen, const struct cluster *cluster, const struct trace *trace,
	const bool *pool)
{
	*seen = (struct sim_seen){ .cluster = cluster, .trace = trace };
	seen->down = mem_alloc(mem_array_size(cluster->nnodes + 1u, sizeof(*seen->down)));
	for (uint32_t i = 0; pool && i < cluster->nnodes; i++)
		seen->down[i] = pool[i] ? UINT64_MAX : 0;
}

void sim_seen_fini(struct sim_seen *seen)
{
	for (size_t i = 0; i < seen->jobs.n; i++)
		free(seen->jobs.at[i].slots);
	vec_fini(&seen->jobs);
	vec_fini(&seen->place);
	free(seen->down);
}

static void count(struct sim_seen *seen, const struct seen_job *s, int by)
{
	if (s->slots)
		seen->running += (uint32_t)by;
	else
		seen->waiting += (uint32_t)by;
	seen->held += by * s->held;
}

static const struct seen_job *find(const struct sim_seen *seen, uint32_t job)
{
	uint32_t place = job < seen->place.n ? seen->place.at[job] : 0;

	return place ? &seen->jobs.at[place - 1] : NULL;
}

/* The job's entry, new if there is none; not counted while it is changed. */
static struct seen_job *open_entry(struct sim_seen *seen, uint32_t job)
{
	struct seen_job *s = (struct seen_job *)find(seen, job);

	if (s) {
		count(seen, s, -1);
		return s;
	}
	vec_grow_zero(&seen->place, job + 1u);
	vec_push(&seen->jobs, (struct seen_job){ 0 });
	seen->place.at[job] = (uint32_t)seen->jobs.n;
	return &seen->jobs.at[seen->jobs.n - 1];
}

static void set_grant(struct seen_job *s, const struct grant *grant)
{
	free(s->slots);
	s->slots = NULL;
	s->nslots = s->gpus = 0;
	s->held = 0;
	if (!grant)
		return;
	s->slots = mem_alloc(mem_array_size(grant->nslots + 1u, sizeof(*s->slots)));
	memcpy(s->slots, grant->slots, grant->nslots * sizeof(*s->slots));
	s->nslots = grant->nslots;
	s->gpus = grant->gpus;
	s->held = grant->gpus - s->job.lent_gpus;
}

static void update(struct sim_seen *seen, const struct job *job, const struct grant *grant)
{
	struct seen_job *s = open_entry(seen, job->id);

	s->job = *job;
	s->job.grant = NULL;
	set_grant(s, grant);
	count(seen, s, 1);
}

static void forget(struct sim_seen *seen, uint32_t job)
{
	struct seen_job *s = open_entry(seen, job);
	size_t at = (size_t)(s - seen->jobs.at);

	free(s->slots);
	seen->place.at[job] = 0;
	*s = seen->jobs.at[--seen->jobs.n];
	if (at < seen->jobs.n)
		seen->place.at[s->job.id] = (uint32_t)at + 1;
	seen->ended++;
}

void sim_seen_event(struct sim_seen *seen, const struct event *event, const struct job *job)
{
	switch (event->kind) {
	case EV_NODE_DOWN:
		seen->down[event->node] = UINT64_MAX;
		break;
	case EV_NODE_UP:
		seen->down[event->node] = 0;
		break;
	case EV_DEVICES_DOWN:
		seen->down[event->node] |= event->devices;
		break;
	case EV_DEVICES_UP:
		seen->down[event->node] &= ~event->devices;
		break;
	case EV_FINISH:
	case EV_REJECT:
	case EV_WITHDRAW:
		forget(seen, event->job);
		break;
	case EV_PREEMPT:
	case EV_LOST:
	case EV_YIELD: /* it still shows the devices that it has no more */
		update(seen, job, NULL);
		break;
	default:
		if (job)
			update(seen, job, job->grant);
	}
}

/* ---- jobs as text */

static void put_gpus(const struct seen_job *s, struct buf *out)
{
	if (s->gpus && (int32_t)s->gpus != s->job.gpus)
		buf_printf(out, "%u/%d", s->gpus, s->job.gpus);
	else if (!s->gpus && s->job.min_gpus < s->job.max_gpus)
		buf_printf(out, "%d-%d", s->job.min_gpus, s->job.max_gpus);
	else
		buf_printf(out, "%d", s->job.gpus);
	if (job_is_fraction(&s->job))
		buf_printf(out, "x%.2g", s->job.share);
}

/* "0-3,6" of bits. */
static void put_bits(uint64_t devices, struct buf *out)
{
	const char *comma = "";

	for (int first = 0, last; first < NODE_DEVICES_MAX; first = last + 1) {
		last = first;
		if (!(devices >> first & 1))
			continue;
		while (last + 1 < NODE_DEVICES_MAX && devices >> (last + 1) & 1)
			last++;
		buf_printf(out, "%s%d", comma, first);
		if (last > first)
			buf_printf(out, "%s%d", last > first + 1 ? "-" : ",", last);
		comma = ",";
	}
}

/* "n0:0-3 n1:0-7 +2 nodes". */
static void put_where(const struct sim_seen *seen, const struct seen_job *s, uint32_t named,
	struct buf *out)
{
	for (uint32_t i = 0; i < s->nslots && i < named; i++) {
		buf_printf(out, "%s%s:", i ? " " : "", seen->cluster->nodes[s->slots[i].node].name);
		put_bits(s->slots[i].devices, out);
	}
	if (s->nslots > named)
		buf_printf(out, " +%u", s->nslots - named);
}

static void put_why(const struct sim_seen *seen, const struct seen_job *s, double now_s, struct buf *out)
{
	const struct reason *reason = &s->job.reason;
	const struct seen_job *other = find(seen, reason->other);
	struct buf name = { 0 };

	if (reason->why == WHY_NONE)
		return;
	if (other)
		buf_printf(&name, "job %s", other->job.label);
	reason_text_at(reason, name.at, now_s, out);
	buf_fini(&name);
}

static const char *name_in(const struct names *names, uint32_t number)
{
	return number < names->n ? names->at[number] : NULL;
}

static const char *name_of(const struct sim_seen *seen, const struct job *job)
{
	return job->name ? job->name : name_in(&seen->trace->models, job->model);
}

static double progress_of(const struct job *job, double now_s)
{
	return job->work_est > 0 ? job_done(job, now_s) / job->work_est : NAN;
}

static double left_of(const struct job *job, double now_s)
{
	double rate = job->rate > 0 ? job->rate : job->nominal_rate;

	return fmax(0, job->work_est - job_done(job, now_s)) / rate;
}

static double waited_of(const struct job *job, double now_s)
{
	return job->state == JOB_HELD ? now_s - job->arrival_s : job_waited_s(job, now_s);
}

/* ---- the view */

static const char *keep(struct view *view, struct buf *text)
{
	const char *kept = text->n ? arena_strndup(&view->memory, text->at, text->n) : NULL;

	buf_clear(text);
	return kept;
}

static void add_job(const struct sim_seen *seen, const struct seen_job *s, double now_s,
	struct view *view)
{
	struct view_job *out = &view->jobs[view->njobs++];
	bool runs = s->slots;
	struct buf text = { 0 };

	*out = (struct view_job){
		.id = s->job.id,
		.part = runs ? PART_RUNNING : PART_WAITING,
		.label = s->job.label,
		.name = name_of(seen, &s->job),
		.user = name_in(&seen->trace->tenants, s->job.tenant),
		.stage = runs && now_s < s->job.ready_s ? "starting" : NULL,
		.mine = true,
		.devices = runs ? (double)s->gpus : s->job.gpus,
		.progress = progress_of(&s->job, now_s),
		.time_s = runs ? job_ran_s(&s->job, now_s) : waited_of(&s->job, now_s),
		.left_s = left_of(&s->job, now_s),
		.starts_s = { NAN, NAN, NAN },
		.idle_s = NAN,
	};
	put_gpus(s, &text);
	out->gpus = keep(view, &text);
	put_where(seen, s, NODES_NAMED, &text);
	out->where = keep(view, &text);
	if (!runs)
		put_why(seen, s, now_s, &text);
	out->why = keep(view, &text);
	buf_fini(&text);
}

static int by_number(const void *a, const void *b)
{
	const struct seen_job *x = *(const struct seen_job *const *)a,
			      *y = *(const struct seen_job *const *)b;

	return x->job.id < y->job.id ? -1 : x->job.id > y->job.id;
}

/* Those that run, then the first of those that wait. */
static void add_jobs(const struct sim_seen *seen, double now_s, struct view *view)
{
	size_t n = seen->jobs.n, waiting = 0;
	const struct seen_job **sorted = arena_array(&view->memory, const struct seen_job *, n + 1);

	view->jobs = arena_array(&view->memory, struct view_job, seen->running + WAITING_SHOWN);
	for (size_t i = 0; i < n; i++)
		sorted[i] = &seen->jobs.at[i];
	qsort(sorted, n, sizeof(*sorted), by_number);
	for (size_t i = 0; i < n; i++) {
		if (sorted[i]->slots || waiting++ < WAITING_SHOWN)
			add_job(seen, sorted[i], now_s, view);
	}
}

static void add_nodes(const struct sim_seen *seen, struct view *view)
{
	const struct cluster *cluster = seen->cluster;

	view->nodes = arena_array(&view->memory, struct view_node, cluster->nnodes + 1);
	view->devices = arena_array(&view->memory, struct view_device, cluster->devices + 1);
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		const struct node *node = &cluster->nodes[i];

		view->nodes[view->nnodes++] = (struct view_node){
			.name = node->name,
			.type = cluster->types[node->type].name,
			.first = view->ndevices,
			.ndevices = node->devices,
		};
		for (uint32_t k = 0; k < node->devices; k++)
			view->devices[view->ndevices++] = (struct view_device){
				.job = VIEW_NONE,
				.down = seen->down[i] >> k & 1,
			};
	}
}

static void mark_devices(const struct sim_seen *seen, uint32_t at, struct view *view)
{
	const struct seen_job *s = find(seen, view->jobs[at].id);

	for (uint32_t i = 0; i < s->nslots; i++) {
		uint64_t left = s->slots[i].devices;

		for (; left; left &= left - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(left);
			struct view_device *device =
				&view->devices[view->nodes[s->slots[i].node].first + bit];

			if (!device->holders++)
				device->job = at;
		}
	}
}

void sim_seen_view(const struct sim_seen *seen, double now_s, struct view *view)
{
	double day_s = fmod(now_s, 86400);

	add_jobs(seen, now_s, view);
	add_nodes(seen, view);
	for (uint32_t i = 0; i < view->njobs; i++)
		mark_devices(seen, i, view);
	view->count[PART_RUNNING] = seen->running;
	view->count[PART_WAITING] = seen->waiting;
	view->clock = arena_printf(&view->memory, "day %.0f, %02d:%02d:%02d", floor(now_s / 86400),
		(int)day_s / 3600, (int)day_s / 60 % 60, (int)day_s % 60);
}

/* ---- one job */

static void duration_line(struct buf *out, const char *title, double seconds)
{
	char text[DURATION_SIZE];

	if (isfinite(seconds))
		live_line(out, title, live_duration(seconds, text));
}

void sim_seen_details(const struct sim_seen *seen, uint32_t job, double now_s, struct buf *out)
{
	const struct seen_job *s = find(seen, job);
	struct buf text = { 0 };

	if (!s) {
		buf_str(out, "it has ended\n");
		return;
	}
	live_line(out, "job", s->job.label);
	live_line(out, "name", s->job.name);
	live_line(out, "tenant", name_in(&seen->trace->tenants, s->job.tenant));
	live_line(out, "model", name_in(&seen->trace->models, s->job.model));
	live_line(out, "state", job_state_name(s->job.state));
	if (!s->slots)
		put_why(seen, s, now_s, &text);
	live_line(out, "why", text.at);
	buf_clear(&text);
	put_gpus(s, &text);
	live_line(out, "gpus", text.at);
	buf_clear(&text);
	put_where(seen, s, s->nslots, &text);
	live_line(out, "devices", text.at);
	buf_fini(&text);
	duration_line(out, "arrived at", s->job.arrival_s);
	duration_line(out, "started at", s->job.start_s);
	duration_line(out, "waited", waited_of(&s->job, now_s));
	duration_line(out, "ran", job_ran_s(&s->job, now_s));
	duration_line(out, "left", left_of(&s->job, now_s));
	live_linef(out, "progress", "%.0f%% of what is believed", 100 * progress_of(&s->job, now_s));
	live_linef(out, "starts", "%u, after %u preemption%s, %u move%s and %u resize%s",
		s->job.attempts, s->job.preemptions, s->job.preemptions == 1 ? "" : "s",
		s->job.migrations, s->job.migrations == 1 ? "" : "s", s->job.resizes,
		s->job.resizes == 1 ? "" : "s");
}
