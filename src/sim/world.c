/*
 * Time that jumps, and the truth.
 */
#include "sim/world.h"

#include <math.h>

#include "base/file.h"
#include "model/pooling.h"
#include "sim/loan.h"
#include "sim/trainer.h"

#define TYPE_ABSENT (UINT32_C(1) << TYPES_MAX) /* a type no cluster has: the job can never run */

static void bind_types(struct world *w)
{
	const struct names *types = &w->config->trace->types;

	for (uint32_t i = 0; i < types->n && i < 32; i++) {
		int type = cluster_find_type(w->config->cluster, types->at[i]);

		w->type_of[i] = type < 0 ? 0 : UINT32_C(1) << type;
	}
}

/* The types a job names, as bits of this cluster. */
static uint32_t bound_types(const struct world *w, uint32_t named)
{
	uint32_t bits = 0;

	for (uint32_t left = named; left; left &= left - 1)
		bits |= w->type_of[__builtin_ctz(left)];
	return named && !bits ? TYPE_ABSENT : bits;
}

/* Gangs by type of the trace become gangs by type of this cluster. */
static const uint16_t *bound_gangs(struct world *w, const uint16_t *named)
{
	const struct names *types = &w->config->trace->types;
	uint16_t *gangs;

	if (!named)
		return NULL;
	gangs = arena_array(&w->gangs, uint16_t, TYPES_MAX);
	for (uint32_t i = 0; i < types->n && i < TYPES_MAX; i++) {
		if (named[i] && w->type_of[i])
			gangs[__builtin_ctz(w->type_of[i])] = named[i];
	}
	return gangs;
}

static bool is_led(const struct world *w, uint32_t job)
{
	return job < w->led.n && w->led.at[job].by;
}

/* The truth: steps of a job in all. */
static double work_of(const struct world *w, uint32_t id)
{
	return is_led(w, id) ? w->led.at[id].work : w->config->trace->work[id];
}

/* What the scheduler will believe of the job's work. */
static double believed_work(const struct world *w, const struct job *job, uint32_t id)
{
	double work = w->config->oracle ? work_of(w, id) : job->work_est;
	struct rng rng;

	if (w->config->oracle || w->config->error <= 0)
		return work;
	rng_for(&rng, w->config->seed, RNG_ERROR, id);
	return work * rng_lognormal(&rng, -w->config->error * w->config->error / 2, w->config->error);
}

/* Steps per second as asked, on the type where it is believed to be fastest. */
static double nominal_rate(const struct rates *belief, const struct job *job)
{
	double best = 0;

	if (!job->by_steps || !belief->profile)
		return job->nominal_rate;
	for (uint32_t type = 0; type < belief->cluster->ntypes; type++) {
		if (job_may_use(job, type))
			best = fmax(best, rate_if(belief, job, type, job_gpus_on(job, type)));
	}
	return best > 0 ? best : job->nominal_rate;
}

/* Where its run time was measured: 1 + a type of this cluster, 0 unknown or not here. */
static uint8_t measured_on(const struct world *w, uint32_t id)
{
	const struct trace *trace = w->config->trace;
	uint32_t named = trace->measured_on ? trace->measured_on[id] : 0;
	int type = named ? cluster_find_type(w->config->cluster, trace->types.at[named - 1]) : -1;

	return (uint8_t)(type + 1);
}

static double cost(double configured, double own)
{
	return isnan(configured) ? own : configured;
}

static void find_leader(struct world *w, struct job *job, uint32_t id)
{
	struct led *led;

	if (w->npaces == 0)
		return;
	vec_grow_zero(&w->led, (size_t)id + 1);
	led = &w->led.at[id];
	for (uint32_t i = 0; i < w->npaces && !led->by; i++) {
		const struct pace *pace = w->paces[i].pace;

		if (!pace->leads(w->paces[i].self, job))
			continue;
		led->by = (uint8_t)(i + 1);
		led->work = job->work_est = w->config->trace->work[id]; /* the truth, for who enters it */
		if (pace->enter)
			job->work_est = led->work = pace->enter(w->paces[i].self, job);
	}
}

static void prepare_arrival(struct world *w)
{
	const struct sim_config *c = w->config;
	struct rates belief = { .cluster = c->cluster, .profile = c->belief ? c->belief : c->truth };
	struct job *job = &w->arriving;

	*job = c->trace->jobs[w->next];
	job->types = bound_types(w, job->types);
	job->gpus_by_type = bound_gangs(w, job->gpus_by_type);
	job->measured_on = measured_on(w, w->next);
	job->nominal_rate = nominal_rate(&belief, job);
	find_leader(w, job, w->next);
	job->work_est = believed_work(w, job, w->next);
	job->start_cost_s = cost(c->costs.start_s, job->start_cost_s);
	job->resume_cost_s = cost(c->costs.resume_s, job->resume_cost_s);
	job->resize_cost_s = cost(c->costs.resize_s, job->resize_cost_s);
}

static double next_arrival_s(const struct world *w)
{
	const struct trace *trace = w->config->trace;

	return w->next < trace->njobs ? trace->jobs[w->next].arrival_s : INFINITY;
}

static double next_end_s(const struct world *w)
{
	const struct heap_item *top = heap_top(&w->ends);

	return top ? top->key : INFINITY;
}

static double next_fate_s(const struct world *w)
{
	const struct heap_item *top = heap_top(&w->fates);
	double drawn_s = top ? top->key : INFINITY;

	if (w->next_scripted < w->scripted.n)
		return fmin(drawn_s, w->scripted.at[w->next_scripted].at_s);
	return drawn_s;
}

/* ---- jobs that do not go at one speed */

void world_add_pace(struct world *w, const struct pace *pace, void *self)
{
	w->paces[w->npaces].pace = pace;
	w->paces[w->npaces++].self = self;
}

/* Ends that come after a decision have a key a moment later: nobody waits for them at that very time. */
static void expect(struct world *w, uint32_t job, const struct stretch *stretch)
{
	struct led *led = &w->led.at[job];
	double key = stretch->late ? nextafter(stretch->until_s, INFINITY) : stretch->until_s;

	led->last = stretch->last;
	led->late = stretch->late;
	led->until_s = stretch->until_s;
	led->job.done = stretch->done;
	led->job.rate = stretch->rate;
	led->job.efficiency = stretch->efficiency > 0 ? stretch->efficiency : 1;
	if (stretch->work > 0) {
		led->job.work_est = led->job.work_est == led->work
			? stretch->work
			: led->job.work_est * (stretch->work / led->work);
		led->job.nominal_rate = stretch->nominal_rate;
		led->job.regime = stretch->regime;
		led->work = stretch->work;
		led->safe = stretch->done; /* it starts anew from what it saved */
	}
	heap_put(&w->ends, job, key, w->order++);
}

/* Whether what ends next is but a stretch. */
static bool goes_on(const struct world *w)
{
	uint32_t job = heap_top(&w->ends)->id;

	return is_led(w, job) && !w->led.at[job].last;
}

/* A stretch of a job ended, and it goes on at another speed. */
static int take_stretch(struct world *w, struct event *event, struct err *err)
{
	struct heap_item item = heap_pop(&w->ends);
	struct led *led = &w->led.at[item.id];
	struct stretch stretch = { 0 };
	double now_s = led->until_s;

	if (w->paces[led->by - 1].pace->next(w->paces[led->by - 1].self, &led->job, now_s, &stretch,
		    err) < 0)
		return err_prefix(err, "job %s", led->job.label);
	expect(w, item.id, &stretch);
	*event = (struct event){
		.kind = EV_PROGRESS,
		.at_s = now_s,
		.job = item.id,
		.job_spec = &led->job,
	};
	return 0;
}

/* What remote devices add to that. */
static double remote_cost_of(const struct world *w, const struct action *a)
{
	const struct cluster *cluster = w->config->cluster;

	return a->act == ACT_CHANGE ? pooling_move_s(cluster, a->job, a->job->grant, a->grant)
				    : pooling_attach_s(cluster, a->job, a->grant);
}

/* Seconds before the first step there. */
static double cost_of(const struct world *w, const struct action *a)
{
	double remote_s;

	if (a->act == ACT_RENEW)
		return fmax(0, a->job->ready_s - a->now_s); /* it goes on with what it is about */
	remote_s = remote_cost_of(w, a);
	if (a->act == ACT_CHANGE && a->job->grant->gpus != a->grant->gpus)
		return a->job->resize_cost_s + remote_s;
	return (a->act == ACT_START && a->job->attempts == 0 ? a->job->start_cost_s
							     : a->job->resume_cost_s) +
		remote_s;
}

static int lead(struct world *w, struct action *a, struct err *err)
{
	struct led *led = &w->led.at[a->job->id];
	const struct pace *pace = w->paces[led->by - 1].pace;
	void *self = w->paces[led->by - 1].self;
	struct stretch stretch = { 0 };
	double cost_s = pace->cost_s(self, a);

	a->seamless = cost_s < 0;
	if (a->seamless)
		cost_s = fmax(0, a->job->ready_s - a->now_s);
	a->ready_s = a->now_s + (isnan(cost_s) ? cost_of(w, a) : cost_s);
	if (pace->begin(self, a, &stretch, err) < 0)
		return err->code;
	led->job = *a->job;
	led->job.grant = a->grant;
	if (a->act != ACT_RENEW) {
		led->safe = stretch.done;
		led->ran_s = job_ran_s(a->job, a->now_s);
	}
	expect(w, a->job->id, &stretch);
	a->done = led->job.done;
	a->rate = led->job.rate;
	a->efficiency = led->job.efficiency;
	return 0;
}

static double halt(struct world *w, const struct job *job, double now_s)
{
	uint32_t by = w->led.at[job->id].by - 1u;

	return w->paces[by].pace->stop(w->paces[by].self, job, now_s);
}

static struct event take_end(struct world *w)
{
	struct heap_item item = heap_pop(&w->ends);
	bool led = is_led(w, item.id);

	return (struct event){
		.kind = EV_FINISH,
		.at_s = led ? w->led.at[item.id].until_s : item.key,
		.late = led && w->led.at[item.id].late,
		.job = item.id,
		.value = work_of(w, item.id),
	};
}

static struct event take_arrival(struct world *w)
{
	prepare_arrival(w);
	w->next++;
	return (struct event){
		.kind = EV_SUBMIT,
		.at_s = w->arriving.arrival_s,
		.job = JOB_NONE,
		.job_spec = &w->arriving,
	};
}

static struct event node_turns(double at_s, uint32_t node, bool up)
{
	return (struct event){
		.kind = up ? EV_NODE_UP : EV_NODE_DOWN,
		.at_s = at_s,
		.job = JOB_NONE,
		.node = node,
	};
}

static struct event take_fate(struct world *w)
{
	const struct heap_item *top = heap_top(&w->fates);
	struct heap_item item;
	bool up;

	if (!top ||
		(w->next_scripted < w->scripted.n && w->scripted.at[w->next_scripted].at_s <= top->key)) {
		const struct node_event *n = &w->scripted.at[w->next_scripted++];

		return node_turns(n->at_s, n->node, n->up);
	}
	item = heap_pop(&w->fates);
	up = w->down.at[item.id];
	w->down.at[item.id] = !up;
	heap_put(&w->fates, item.id,
		item.key +
			rng_exponential(&w->failure_rng,
				up ? w->config->failures.mtbf_s : w->config->failures.repair_s),
		item.id);
	return node_turns(item.key, item.id, up);
}

/* Before anything else it is told what is lent, if only that nothing is. */
static double next_loan_s(const struct world *w)
{
	const struct loan *loan = w->config->loan;
	double step_s = loan && w->next_loan < loan->steps.n ? loan->steps.at[w->next_loan].at_s
							     : INFINITY;

	return loan && !w->borrowing ? fmin(step_s, fmin(next_fate_s(w), next_arrival_s(w))) : step_s;
}

static struct event take_loan(struct world *w, double at_s)
{
	const struct loan *loan = w->config->loan;
	uint32_t servers = 0;

	while (w->next_loan < loan->steps.n && loan->steps.at[w->next_loan].at_s <= at_s)
		servers = loan->steps.at[w->next_loan++].servers;
	w->borrowing = true;
	return (struct event){ .kind = EV_LOAN, .at_s = at_s, .job = JOB_NONE, .value = servers };
}

/* ---- nodes that are rented */

static double next_boot_s(const struct world *w)
{
	const struct heap_item *top = heap_top(&w->boots);

	return top ? top->key : INFINITY;
}

static struct event take_boot(struct world *w)
{
	struct heap_item item = heap_pop(&w->boots);
	struct event event = node_turns(item.key, item.id, true);

	event.value = 1;
	return event;
}

static int sim_rent(void *self, uint32_t node, double now_s, struct err *err)
{
	struct world *w = self;

	(void)err;
	heap_put(&w->boots, node, now_s + w->config->cluster->renting.boot_s, node);
	return 0;
}

/* At one instant: ends, then nodes, then arrivals, so that a newcomer sees what is free. */
static int sim_wait(void *self, double until_s, struct event *event, struct err *err)
{
	struct world *w = self;
	double end_s = next_end_s(w), fate_s = next_fate_s(w), arrival_s = next_arrival_s(w);
	double loan_s = next_loan_s(w), boot_s = next_boot_s(w);
	double next_s = fmin(boot_s, fmin(fmin(end_s, loan_s), fmin(fate_s, arrival_s)));

	if (next_s > until_s)
		*event = (struct event){ .kind = EV_TIMER, .at_s = until_s };
	else if (isinf(next_s))
		*event = (struct event){ .kind = EV_END };
	else if (end_s == next_s && goes_on(w))
		return take_stretch(w, event, err);
	else if (end_s == next_s)
		*event = take_end(w);
	else if (loan_s == next_s)
		*event = take_loan(w, loan_s);
	else if (boot_s == next_s)
		*event = take_boot(w);
	else if (fate_s == next_s)
		*event = take_fate(w);
	else
		*event = take_arrival(w);
	return 0;
}

static double steps_done(const struct world *w, const struct job *job, double now_s)
{
	return fmin(job_done(job, now_s), w->config->trace->work[job->id]);
}

/*
 * A turn: so many steps, or as many as really can be made in the time; they count when it ends, and
 * only then does the job.
 */
static void begin_turn(struct world *w, struct action *a)
{
	const double slack = 1 + 1e-9; /* steps / rate * rate shall be steps */
	double left = w->config->trace->work[a->job->id] - a->done;
	double span_s = a->grant->until_s - a->ready_s;
	double steps = fmin(a->grant->steps, a->rate * fmax(0, span_s) * slack);

	a->turn_steps = fmin(steps, left);
	if (span_s > 0)
		a->rate = a->turn_steps / span_s;
	if (left <= steps)
		heap_put(&w->ends, a->job->id, a->grant->until_s, w->order++);
}

static int refuse_place(const struct world *w, const struct grant *grant, struct err *err)
{
	struct grant_part parts[TYPES_MAX];
	uint32_t n = grant_parts(grant, w->config->cluster, parts);
	struct buf text = { 0 };

	for (uint32_t i = 0; i < n; i++)
		buf_printf(&text, "%s%u x %s", i ? " + " : "", parts[i].gpus,
			w->config->cluster->types[parts[i].type].name);
	err_set(err, ERR_BROKEN, "it cannot run on %s, where it was placed", text.at);
	buf_fini(&text);
	return ERR_BROKEN;
}

static int sim_act(void *self, struct action *a, struct err *err)
{
	struct world *w = self;
	const struct job *job = a->job;

	a->done = is_led(w, job->id) && job->grant ? halt(w, job, a->now_s)
						   : steps_done(w, job, a->now_s);
	heap_remove(&w->ends, job->id);
	if (a->act == ACT_STOP)
		return 0;
	if (is_led(w, job->id))
		return lead(w, a, err);
	a->rate = rate(&w->truth, job, a->grant, a->beside, a->nbeside);
	if (!(a->rate > 0))
		return refuse_place(w, a->grant, err);
	a->ready_s = a->now_s + cost_of(w, a);
	if (a->grant->until_s > 0) {
		begin_turn(w, a);
		return 0;
	}
	heap_put(&w->ends, job->id,
		a->ready_s + (w->config->trace->work[job->id] - a->done) / a->rate, w->order++);
	return 0;
}

static bool sim_over(void *self)
{
	const struct world *w = self;

	return w->next == w->config->trace->njobs;
}

/*
 * What was saved: everything up to its last checkpoint, which are taken every so many seconds of running
 * and whenever it is preempted, so at least what it had when it got these devices.
 */
static int sim_lost(void *self, const struct job *job, double now_s, double *done, struct err *err)
{
	struct world *w = self;
	double ran_s = job_ran_s(job, now_s), every_s = job->checkpoint_every_s;
	const struct led *led = is_led(w, job->id) ? &w->led.at[job->id] : NULL;
	double unsaved_s = ran_s - (led ? led->ran_s : job->ran_s);

	(void)err;
	heap_remove(&w->ends, job->id);
	if (every_s > 0)
		unsaved_s = fmin(unsaved_s, fmod(ran_s, every_s));
	*done = led ? halt(w, job, now_s) : steps_done(w, job, now_s);
	if (led && every_s <= 0)
		*done = led->safe; /* its speed was not one */
	else
		*done = fmax(led ? led->safe : job->done, *done - unsaved_s * job->rate);
	return 0;
}

const struct driver sim_driver = {
	.name = "sim",
	.wait = sim_wait,
	.act = sim_act,
	.over = sim_over,
	.lost = sim_lost,
	.rent = sim_rent,
};

static void draw_fates(struct world *w)
{
	uint32_t nodes = w->config->cluster->nnodes;

	if (!(w->config->failures.mtbf_s > 0) || w->config->failures.file)
		return;
	rng_init(&w->failure_rng, w->config->seed, RNG_FAILURE);
	vec_grow_zero(&w->down, nodes);
	for (uint32_t i = 0; i < nodes; i++)
		heap_put(&w->fates, i, rng_exponential(&w->failure_rng, w->config->failures.mtbf_s), i);
}

static int find_node(const struct cluster *cluster, struct slice name)
{
	int64_t number;

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		if (slice_is(name, cluster->nodes[i].name))
			return (int)i;
	}
	if (slice_int(name, &number) && number >= 0 && number < cluster->nnodes)
		return (int)number;
	return -1;
}

static int parse_failure(struct world *w, struct slice line, struct err *err)
{
	struct slice time = slice_trim(slice_cut(&line, ',')),
		     name = slice_trim(slice_cut(&line, ','));
	struct slice what = slice_trim(line);
	struct node_event event = { 0 };
	int node;

	if (!slice_seconds(time, &event.at_s) || event.at_s < 0)
		return err_set(err, ERR_FORMAT,
			"'%.*s' is not a time; a line reads TIME,NODE,up|down", (int)time.n, time.at);
	node = find_node(w->config->cluster, name);
	if (node < 0)
		return err_set(err, ERR_FORMAT,
			"there is no node '%.*s'; nodes have names like %s or numbers from 0 to %u",
			(int)name.n, name.at, w->config->cluster->nodes[0].name,
			w->config->cluster->nnodes - 1);
	if (!slice_is(what, "up") && !slice_is(what, "down"))
		return err_set(err, ERR_FORMAT, "'%.*s' is neither up nor down", (int)what.n, what.at);
	event.node = (uint32_t)node;
	event.up = slice_is(what, "up");
	vec_push(&w->scripted, event);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct node_event *x = a, *y = b;

	if (x->at_s != y->at_s)
		return x->at_s < y->at_s ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* A node that is down cannot go down again: such lines mean nothing and are left out. */
static void drop_repeats(struct world *w)
{
	bool *down = mem_alloc(w->config->cluster->nnodes + 1);
	size_t kept = 0;

	if (w->scripted.n > 0)
		qsort(w->scripted.at, w->scripted.n, sizeof(*w->scripted.at), by_time);
	for (size_t i = 0; i < w->scripted.n; i++) {
		struct node_event event = w->scripted.at[i];

		if (down[event.node] != event.up)
			continue;
		down[event.node] = !event.up;
		w->scripted.at[kept++] = event;
	}
	w->scripted.n = kept;
	free(down);
}

static int read_failures(struct world *w, struct err *err)
{
	const char *path = w->config->failures.file;
	struct file file;
	struct lines lines;
	struct slice line;
	int rc = 0;

	if (file_read(path, &file, err) < 0)
		return err_prefix(err, "failures");
	lines = lines_of(file.at, file.n);
	while (rc == 0 && lines_next(&lines, &line)) {
		line = slice_trim(line);
		if (line.n == 0 || line.at[0] == '#' ||
			(lines.number == 1 && line.n >= 4 && memcmp(line.at, "time", 4) == 0))
			continue;
		rc = parse_failure(w, line, err);
		if (rc < 0)
			err_prefix(err, "%s:%zu", path, lines.number);
	}
	file_fini(&file);
	if (rc == 0)
		drop_repeats(w);
	return rc;
}

/* Some traces do not tell how much work a job is; nothing can be simulated of those. */
static int check_work(const struct sim_config *config, struct err *err)
{
	const struct trace *trace = config->trace;
	uint32_t unknown = 0, first = 0;

	for (uint32_t i = 0; i < trace->njobs; i++) {
		if (isfinite(trace->work[i]) ||
			trainer_times(config->training, config->cluster, &trace->jobs[i]))
			continue;
		if (unknown++ == 0)
			first = i;
	}
	if (unknown == 0)
		return 0;
	return err_set(err, ERR_FORMAT,
		"%u of %u jobs have no run time (the first is job %s); give profiles of their models with "
		"--profiles (a folder: the catalogue does not know how long models train), or convert the trace with `stint trace convert` and fill in duration_s or "
		"steps, or drop these rows",
		unknown, trace->njobs, trace->jobs[first].label);
}

int world_init(struct world *w, const struct sim_config *config, struct err *err)
{
	*w = (struct world){
		.config = config,
		.truth = { .cluster = config->cluster, .profile = config->truth },
	};
	if (check_work(config, err) < 0)
		return err->code;
	bind_types(w);
	draw_fates(w);
	return config->failures.file ? read_failures(w, err) : 0;
}

void world_fini(struct world *w)
{
	heap_fini(&w->ends);
	heap_fini(&w->fates);
	heap_fini(&w->boots);
	vec_fini(&w->scripted);
	vec_fini(&w->down);
	vec_fini(&w->led);
	arena_fini(&w->gangs);
}
