/*
 * Optimus: devices one by one to the job whose remaining time falls most.
 *
 * Every job in order of arrival gets its least.  Then the next device goes to
 * where it saves most seconds (for its part of the cluster), as long as it
 * saves any: the remaining steps over a speed that was fitted to a handful of
 * believed speeds (model/optimus_fit.h).  Jobs spread evenly over the fewest
 * nodes; who has the right number already keeps its devices.  On several
 * types each job has its lane (lanes.h).
 *
 * compat=osdi21 is the baseline "Optimus + oracle" of the simulator of Pollux:
 * speeds and iterations of the profiles at the batch that was asked for, and
 * jobs placed on the nodes with most free devices.
 */
#include <math.h>

#include "base/real.h"
#include "model/elastic.h"
#include "model/optimus_fit.h"
#include "model/training.h"
#include "policy/elastic/gain.h"
#include "policy/elastic/growth.h"
#include "policy/elastic/rations.h"
#include "policy/kit.h"

enum speeds { SPEEDS_FIT, SPEEDS_BELIEVED };
enum per { PER_SHARE, PER_RAW };
enum { MISFIT_OF_STOP, MISFIT_OF_SKIP };
enum { COMPAT_OF_NONE, COMPAT_OF_OSDI21 };
enum { SAMPLES = 8, RESOURCES = 3 };

static const char *const speeds_names[] = { "fit", "believed", NULL };
static const char *const per_names[] = { "share", "raw", NULL };
static const char *const stop_names[] = { "stop", "skip", NULL };
static const char *const published_names[] = { "none", "osdi21", NULL };

enum { PUBLISHED_GPUS = 64, PUBLISHED_PER_NODE = 4 };

/* Seconds of an iteration by number of devices, as the profiles have them; 0: not asked for yet. */
struct iterations {
	uint32_t model, type;
	double batch;
	double s[PUBLISHED_GPUS + 1];
};

struct optimus {
	double round_s;
	double growth;
	int speeds, gain, misfit, spread, compat;
	int reach;

	VEC(struct iterations) known; /* few: models times batches that are asked for */
};

static const struct option options[] = {
	OPT_DOUBLE(struct optimus, round_s, 60, 1e-3, 1e6, "seconds between decisions"),
	OPT_DOUBLE(struct optimus, growth, 0, 0, 64,
		"largest growth in one step, as a factor (1 or more) of the most devices the job ever had; 0: no limit"),
	OPT_CHOICE(struct optimus, speeds, SPEEDS_FIT, speeds_names,
		"a curve through a few believed speeds, or every speed as it is believed"),
	OPT_CHOICE(struct optimus, gain, PER_SHARE, per_names,
		"seconds saved for the share of the cluster a device takes, or for its own demand"),
	OPT_CHOICE(struct optimus, misfit, MISFIT_OF_SKIP, stop_names,
		"when a device finds no room: nobody grows any more, or only that job"),
	OPT_INT(struct optimus, reach, 1, 1, 64,
		"devices to look ahead where the next one alone saves nothing"),
	OPT_CHOICE(struct optimus, spread, SPREAD_EVEN, spread_names,
		"evenly over the fewest nodes, or as the placer says"),
	OPT_CHOICE(struct optimus, compat, COMPAT_OF_NONE, published_names,
		"osdi21: Optimus with an oracle as in the simulator of Pollux"),
	{ 0 },
};

/* What is known of a row while devices are handed out. */
struct prospect {
	double steps; /* remaining */
	double cost;  /* of one device, what gains are divided by */
	struct speed_curve curve;
	bool fitted;
	uint32_t step; /* devices that its next step takes */
};

struct handout {
	struct optimus *self;
	struct rations *rations;
	struct prospect *at;
	double all[RESOURCES]; /* devices, CPUs and bytes of the cluster */
};

/* ---- Stint's own */

static double speed_on(const struct round *round, const struct ration *r, uint32_t gpus)
{
	return elastic_speed(round->belief, r->job,
		configuration_packed(round->cluster, r->type, gpus), BATCHING_FIXED, NULL);
}

/* Speeds at a few sizes between its least and its most, in geometric progression. */
static uint32_t sample(const struct round *round, const struct ration *r, struct speed_point *out)
{
	double ratio = real_pow((double)r->most / r->least, 1.0 / (SAMPLES - 1)), size = r->least;
	uint32_t n = 0, last = 0;

	for (int i = 0; i < SAMPLES; i++, size *= ratio) {
		uint32_t gpus = job_rounded_on(r->job, r->type,
			i == SAMPLES - 1 ? r->most : (uint32_t)(size + 0.5));
		double speed;

		if (gpus == last)
			continue;
		last = gpus;
		speed = speed_on(round, r, gpus);
		if (speed > 0 && isfinite(speed))
			out[n++] = (struct speed_point){ .workers = gpus, .speed = speed };
	}
	return n;
}

/* How much of the cluster one device with its part of CPUs and memory is. */
static double device_cost(const struct handout *h, const struct ration *r)
{
	double demand[RESOURCES] = { 1, r->job->cpus / r->job->gpus,
		(double)r->job->mem_bytes / r->job->gpus };
	double share = 0, raw = 1;

	for (int k = 0; k < RESOURCES; k++) {
		if (h->all[k] > 0 && demand[k] / h->all[k] > share) {
			share = demand[k] / h->all[k];
			raw = demand[k];
		}
	}
	return h->self->gain == PER_RAW ? raw : share;
}

static void count_all(struct handout *h)
{
	const struct cluster *cluster = h->rations->round->cluster;

	h->all[0] = cluster->devices;
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		h->all[1] += cluster->nodes[i].cpus;
		h->all[2] += (double)cluster->nodes[i].mem_bytes;
	}
}

static void learn(struct handout *h, const struct ration *r, struct prospect *p)
{
	struct speed_point points[SAMPLES];
	struct err err;
	uint32_t n;

	p->cost = device_cost(h, r);
	p->steps = ration_steps_left(h->rations, r);
	if (h->self->speeds == SPEEDS_BELIEVED)
		return;
	n = sample(h->rations->round, r, points);
	p->fitted = n > 1 && speed_fit(SPEED_RING, 1, points, n, &p->curve, &err) == 0;
}

static double believed_s(const struct handout *h, uint32_t row, uint32_t gpus)
{
	const struct prospect *p = &h->at[row];

	if (p->fitted)
		return p->steps / speed_at(&p->curve, 0, gpus);
	return p->steps / speed_on(h->rations->round, &h->rations->at[row], gpus);
}

static double own_gain(void *self, uint32_t row)
{
	struct handout *h = self;
	const struct ration *r = &h->rations->at[row];
	struct prospect *p = &h->at[row];
	uint32_t unit = job_unit_on(r->job, r->type);
	double now_s, best = 0;

	if (r->gpus == 0 || r->gpus >= r->most)
		return 0;
	now_s = believed_s(h, row, r->gpus);
	for (uint32_t more = unit;
		more <= unit * (uint32_t)h->self->reach && r->gpus + more <= r->most; more += unit) {
		double gain = (now_s - believed_s(h, row, r->gpus + more)) / (p->cost * more);

		if (gain > best) {
			best = gain;
			p->step = more;
		}
	}
	return best;
}

/* ---- the published baseline */

static bool is_published(const struct optimus *o, const struct round *round, const struct job *job)
{
	return o->compat == COMPAT_OF_OSDI21 && round->belief->training &&
		job->model != NAME_NONE && training_of(round->belief->training, job->model);
}

static double asked_batch(const struct job *job, const struct batch_limits *limits)
{
	return job->batch > 0 ? job->batch : limits->initial;
}

/* The batch on so many replicas as this baseline takes it: one device always accumulates. */
static struct batch_split published_split(const struct batch_limits *limits, double batch, uint32_t gpus)
{
	double local = ceil(batch / gpus - 1e-8);
	double accum = ceil(local / limits->max_local - 1e-8) - 1;
	double atomic;

	if (gpus == 1)
		accum = fmax(1, accum);
	atomic = ceil(local / (accum + 1) - 1e-8);
	atomic = fmin(atomic, floor(limits->max / (gpus * (accum + 1))));
	return (struct batch_split){ .atomic = (uint32_t)atomic, .accum = (uint32_t)accum };
}

/* On nodes packed by four; NAN: not measured. */
static double measured_iteration_s(const struct round *round, const struct ration *r, uint32_t gpus)
{
	const struct training *training = round->belief->training;
	struct batch_limits limits = training_limits_as(training, r->job->model, r->type,
		COMPAT_OSDI21);
	struct batch_split split = published_split(&limits, asked_batch(r->job, &limits), gpus);
	uint16_t on_node[PUBLISHED_GPUS];
	struct lay lay = { .on_node = on_node };
	struct pass pass;

	for (uint32_t left = gpus; left > 0 && lay.nodes < PUBLISHED_GPUS;) {
		uint32_t here = left < PUBLISHED_PER_NODE ? left : PUBLISHED_PER_NODE;

		on_node[lay.nodes++] = (uint16_t)here;
		left -= here;
	}
	if (!training_pass(training, r->job->model, r->type, lay, split.atomic, &pass))
		return NAN;
	return pass.step_s + split.accum * (pass.step_s - pass.sync_s);
}

/* What is known of jobs like this one. */
static struct iterations *iterations_of(struct optimus *o, const struct ration *r)
{
	for (size_t i = 0; i < o->known.n; i++) {
		struct iterations *k = &o->known.at[i];

		if (k->model == r->job->model && k->type == r->type && k->batch == r->job->batch)
			return k;
	}
	vec_push(&o->known,
		(struct iterations){ .model = r->job->model, .type = r->type, .batch = r->job->batch });
	return &o->known.at[o->known.n - 1];
}

static double published_iteration_s(struct optimus *o, const struct round *round,
	const struct ration *r, uint32_t gpus)
{
	struct iterations *known;

	if (gpus > PUBLISHED_GPUS)
		return measured_iteration_s(round, r, gpus);
	known = iterations_of(o, r);
	if (known->s[gpus] == 0)
		known->s[gpus] = measured_iteration_s(round, r, gpus);
	return known->s[gpus];
}

static uint32_t epochs_done(const struct training *training, const struct job *job, double done)
{
	uint32_t epochs = training_of(training, job->model)->epochs, low = 0, high = epochs;

	while (low < high) {
		uint32_t mid = (low + high + 1) / 2;

		if (training_progress(training, job->model, mid) <= done * (1 + 1e-12))
			low = mid;
		else
			high = mid - 1;
	}
	return low;
}

static double published_steps(const struct round *round, const struct ration *r)
{
	const struct training *training = round->belief->training;
	struct batch_limits limits = training_limits_as(training, r->job->model, r->type,
		COMPAT_OSDI21);
	double batch = asked_batch(r->job, &limits);
	uint32_t all = training_of(training, r->job->model)->epochs;
	uint32_t done = epochs_done(training, r->job, job_done(r->job, round->now_s));

	/* The epoch under way counts as over; a job in its last one has a single step left. */
	if (done + 1 >= all)
		return 1;
	return training_iterations(training, r->job->model, batch, all) -
		training_iterations(training, r->job->model, batch, done + 1);
}

static double published_gain(struct handout *h, uint32_t row)
{
	const struct round *round = h->rations->round;
	const struct ration *r = &h->rations->at[row];

	if (r->gpus == 0 || r->gpus >= r->most)
		return 0;
	h->at[row].step = 1;
	return (published_iteration_s(h->self, round, r, r->gpus) -
		       published_iteration_s(h->self, round, r, r->gpus + 1)) *
		h->at[row].steps;
}

/* ---- both */

static uint32_t most_on(const void *self, const struct round *round, const struct job *job, uint32_t type)
{
	const struct optimus *o = self;
	struct batch_limits limits;
	double allowed;

	if (!is_published(o, round, job))
		return elastic_most(round->belief, job, type, BATCHING_FIXED, o->growth);
	limits = training_limits_as(round->belief->training, job->model, type, COMPAT_OSDI21);
	allowed = limits.min_local > 0 ? floor(asked_batch(job, &limits) / limits.min_local) : 1;
	if (training_of(round->belief->training, job->model)->osdi21_batch > 0)
		allowed = 1;
	return (uint32_t)fmin(job_most_on(job, type), allowed);
}

static double gain(void *self, uint32_t row)
{
	struct handout *h = self;

	if (is_published(h->self, h->rations->round, h->rations->at[row].job))
		return published_gain(h, row);
	return own_gain(self, row);
}

static bool take(void *self, uint32_t row)
{
	struct handout *h = self;
	struct ration *r = &h->rations->at[row];

	return ration_set(h->rations, r, r->gpus + h->at[row].step);
}

static void hand_out(struct optimus *o, struct rations *rations)
{
	const struct round *round = rations->round;
	struct gain_steps steps = { gain, take, o->misfit == MISFIT_OF_STOP };
	struct handout h = { .self = o, .rations = rations };

	h.at = arena_array(round->scratch, struct prospect, rations->n);
	count_all(&h);
	for (uint32_t row = 0; row < rations->n; row++) {
		const struct ration *r = &rations->at[row];

		if (r->gpus == 0 || r->most <= r->least)
			continue;
		if (is_published(o, round, r->job))
			h.at[row].steps = published_steps(round, r);
		else
			learn(&h, r, &h.at[row]);
	}
	gain_share_out(round->scratch, rations->n, &steps, &h);
}

/* Gains move as jobs go on; with fixed gangs and room for all there is nothing to look at again. */
static void wake(const struct rations *rations)
{
	for (uint32_t i = 0; i < rations->n; i++) {
		const struct ration *r = &rations->at[i];

		if (r->least < r->most || !plan_grant(rations->plan, r->job->id)) {
			plan_wake(rations->plan, rations->round->now_s);
			return;
		}
	}
}

static int optimus_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct optimus *o = self;
	bool published = o->compat == COMPAT_OF_OSDI21 && round->belief->training;
	struct rations rations;

	(void)err;
	rations_init(&rations, round, plan);
	if (!published)
		rations_spread(&rations, most_on, o);
	rations_admit(&rations, most_on, o);
	hand_out(o, &rations);
	rations_settle(&rations, published ? SPREAD_MOST : (enum spread)o->spread, published);
	wake(&rations);
	return 0;
}

static int optimus_init(void *self, struct err *err)
{
	return growth_check(((const struct optimus *)self)->growth, err);
}

static void optimus_fini(void *self)
{
	vec_fini(&((struct optimus *)self)->known);
}

static double optimus_period_s(const void *self)
{
	return ((const struct optimus *)self)->round_s;
}

static enum compat optimus_compat(const void *self)
{
	return ((const struct optimus *)self)->compat == COMPAT_OF_OSDI21 ? COMPAT_OSDI21 : COMPAT_NONE;
}

const struct policy policy_optimus = {
	.name = "optimus",
	.summary = "devices one by one to the job whose remaining time falls most",
	.origin = "Peng et al., EuroSys 2018",
	.family = "elastic",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.uses = USES_RANGE,
	.options = options,
	.state_size = sizeof(struct optimus),
	.init = optimus_init,
	.fini = optimus_fini,
	.period_s = optimus_period_s,
	.compat = optimus_compat,
	.decide = optimus_decide,
};
