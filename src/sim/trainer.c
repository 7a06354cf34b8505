/*
 * Training as it was measured: epochs, batches, restarts.
 *
 * A stretch ends where the speed may change: at the end of an epoch, or when
 * the agent would choose another batch.  By published rules a batch is chosen
 * at the end of every round and epoch, and times are whole seconds; rounds in
 * which nothing changes are one stretch here.
 */
#include "sim/trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "model/elastic.h"
#include "model/training_run.h"

/* How a simulator treats its jobs. */
struct rules {
	bool rounds;      /* whole seconds, and news once a round; else time is continuous */
	double restart_s; /* of every model; NAN: as the model says */
	bool slowdown;    /* measured speeds are divided by the model's calibration */
	/*
	 * Asks that the model does not take are brought within its limits, and where measurements end the
	 * speed is extrapolated; else such a job cannot be simulated.
	 */
	bool forgiving;
	/* Largest local batch: as measured for the very placement; else one for the type. */
	bool by_placement;
	enum {
		NOTICE_DEVICES,
		NOTICE_NODES,
		NOTICE_SHAPE
	} notice; /* a change of what is a restart */
};

static const struct rules rules_own = {
	.restart_s = NAN,
	.slowdown = true,
	.forgiving = true,
	.by_placement = true,
	.notice = NOTICE_DEVICES,
};

static const struct rules rules_osdi21 = {
	.rounds = true,
	.restart_s = 30,
	.notice = NOTICE_NODES,
};

static const struct rules rules_sia = {
	.rounds = true,
	.restart_s = NAN,
	.slowdown = true,
	.by_placement = true,
	.notice = NOTICE_SHAPE,
};

/* Seconds between two choices of the batch where time is continuous. */
#define RETUNE_S 30

/* The devices of a job on one node. */
struct place {
	uint32_t node;
	uint16_t gpus;
};

/* One job. */
struct trainee {
	uint32_t epoch;  /* that many have ended */
	double progress; /* at at_s */
	double stretch; /* its work over that of its model's curve; 1 unless jobs have work of their own */
	double at_s;

	/* what it runs on */
	VEC(struct place) places;
	VEC(uint16_t) on_node; /* as it is looked up, which may be narrower */
	uint32_t type, replicas;
	struct batch_limits limits; /* there */
	double most_local;          /* of what was measured with so many devices; 0: no limit */
	double batch;               /* 0: its agent chooses */
	struct batch_split split;
	bool beyond;      /* it has run where nobody measured it */
	double stopped_s; /* when it last lost its devices; NAN: it never did */
	uint32_t failures;

	/* its present stretch */
	double goodput; /* 0: it makes no steps yet */
	double shown;   /* what is said of that while it only waits for a decision */
	double efficiency;
	double goal; /* progress at the end of its epoch */
	bool ends_epoch, late;
	double end_s;
	struct batch_split then; /* afterwards */
};

struct trainer {
	struct trainer_config config;
	const struct rules *rules;
	VEC(struct trainee) jobs;
	struct beyond beyond;
};

struct trainer *trainer_create(const struct trainer_config *config)
{
	struct trainer *t = mem_alloc(sizeof(*t));

	t->config = *config;
	t->rules = config->compat == COMPAT_OSDI21 ? &rules_osdi21
		: config->compat == COMPAT_SIA     ? &rules_sia
						   : &rules_own;
	if (!(t->config.round_s > 0))
		t->config.round_s = 60;
	return t;
}

void trainer_destroy(struct trainer *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->jobs.n; i++) {
		vec_fini(&t->jobs.at[i].places);
		vec_fini(&t->jobs.at[i].on_node);
	}
	vec_fini(&t->jobs);
	free(t);
}

const struct beyond *trainer_beyond(const struct trainer *t)
{
	return &t->beyond;
}

/* ---- what is told at its arrival */

static uint32_t known_types(const struct training *training, const struct cluster *cluster,
	const struct job *job)
{
	uint32_t types = 0;

	if (!training || !training_of(training, job->model))
		return 0;
	for (uint32_t type = 0; type < cluster->ntypes; type++) {
		if (training_knows(training, job->model, type))
			types |= UINT32_C(1) << type;
	}
	return types;
}

bool trainer_times(const struct training *training, const struct cluster *cluster, const struct job *job)
{
	return known_types(training, cluster, job) != 0 && !training_of(training, job->model)->by_job;
}

static bool leads(void *self, const struct job *job)
{
	const struct trainer *t = self;
	uint32_t types = known_types(t->config.training, t->config.cluster, job);

	/* One with work of its own must have been told how much that is in progress. */
	if (!types || (training_of(t->config.training, job->model)->by_job && !job->trained))
		return false;
	return job->types ? job->types & types : types;
}

static struct batch_limits limits_on(const struct trainer *t, const struct job *job, uint32_t type)
{
	return training_limits_as(t->config.training, job->model, type, t->config.compat);
}

static uint32_t replicas_of(const struct training_model *model, uint32_t type, uint32_t gpus)
{
	uint32_t unit = model->unit[type];

	return unit > 0 ? gpus / unit : gpus;
}

/* Devices of the type that a replica is, 1 unless it is a pipeline. */
static uint32_t unit_of(const struct trainer *t, const struct job *job, uint32_t type)
{
	uint32_t unit = training_of(t->config.training, job->model)->unit[type];

	return unit > 1 ? unit : 1;
}

/* No more in all than the model takes; whoever forgives leaves a device something to do. */
static struct batch_split cut(const struct trainer *t, struct batch_split split,
	const struct batch_limits *limits, uint32_t replicas)
{
	struct batch_split less = training_cut(split, limits, replicas);

	if (t->rules->forgiving && less.atomic == 0 && split.atomic > 0)
		less.atomic = 1;
	return less;
}

static double total_batch(struct batch_split split, uint32_t replicas)
{
	return (double)replicas * split.atomic * (split.accum + 1.0);
}

/* As few nodes as hold them, the last perhaps not full. */
static void lay_packed(const struct trainer *t, uint32_t type, uint32_t gpus, struct trainee *out)
{
	uint32_t each = t->config.cluster->types[type].max_per_node;

	out->on_node.n = 0;
	for (; gpus > 0; gpus -= out->on_node.at[out->on_node.n - 1])
		vec_push(&out->on_node, (uint16_t)(gpus < each ? gpus : each));
}

static struct lay lay_of(const struct trainee *e)
{
	return (struct lay){ e->on_node.at, (uint32_t)e->on_node.n };
}

/* Seconds of one iteration there; 0: outside of what was measured. */
static double iteration_s(const struct trainer *t, uint32_t model, const struct trainee *e,
	struct pass *pass)
{
	if (e->split.atomic == 0 ||
		!training_pass(t->config.training, model, e->type, lay_of(e), e->split.atomic, pass))
		return 0;
	return pass->step_s + e->split.accum * (pass->step_s - pass->sync_s);
}

/* The same where nobody measured it, by the rules that know an answer; 0: not even so. */
static double iteration_beyond_s(const struct trainer *t, uint32_t model, const struct trainee *e,
	struct pass *pass)
{
	if (!t->rules->forgiving ||
		!training_pass_beyond(t->config.training, model, e->type, lay_of(e),
			e->split.atomic, pass))
		return 0;
	return pass->step_s + e->split.accum * (pass->step_s - pass->sync_s);
}

/* A pipeline takes all of its micro-batches at a time, however small a batch was asked for. */
static struct batch_split fill_pipeline(const struct trainer *t, const struct training_model *model,
	const struct batch_limits *limits, uint32_t type, struct batch_split split)
{
	if (t->rules->forgiving && model->unit[type] && split.atomic < limits->min_local)
		split.atomic = (uint32_t)limits->min_local;
	return split;
}

/* Progress per second of the first epoch as asked, on that type; 0: it cannot run so. */
static double asked_goodput(const struct trainer *t, const struct job *job, uint32_t type)
{
	const struct training_model *model = training_of(t->config.training, job->model);
	struct batch_limits limits = limits_on(t, job, type);
	uint32_t gpus = job_gpus_on(job, type);
	struct trainee e = { .type = type, .replicas = replicas_of(model, type, gpus) };
	double batch, iter_s = 0, gain = 0;
	struct pass pass;

	if (e.replicas > 0) {
		lay_packed(t, type, gpus, &e);
		e.split = training_spread(&limits, e.replicas,
			job->batch > 0 ? job->batch : limits.initial);
		e.split = cut(t, e.split, &limits, e.replicas);
		e.split = fill_pipeline(t, model, &limits, type, e.split);
		iter_s = iteration_s(t, job->model, &e, &pass);
		if (!(iter_s > 0))
			iter_s = iteration_beyond_s(t, job->model, &e, &pass);
		batch = total_batch(e.split, e.replicas);
		gain = goodput_gain(training_gradient(t->config.training, job->model, batch, 0),
			batch, limits.initial);
	}
	vec_fini(&e.on_node);
	if (!(iter_s > 0))
		return 0;
	return gain / iter_s / (t->rules->slowdown ? model->slowdown : 1);
}

static double restart_s(const struct trainer *t, const struct training_model *model)
{
	return isnan(t->rules->restart_s) ? model->restart_s : t->rules->restart_s;
}

/* Pipelines of several devices; types where it takes fewer than one are none for it unless all are. */
static void set_units(const struct trainer *t, struct job *job, const struct training_model *model)
{
	uint32_t types = job->types;

	for (uint32_t type = 0; type < t->config.cluster->ntypes; type++) {
		if (model->unit[type] > 1)
			job->units = model->unit;
		if (model->unit[type] > (uint32_t)job->max_gpus)
			types &= ~(UINT32_C(1) << type);
	}
	if (types)
		job->types = types;
}

/* What is told of that. */
static double told_s(const struct trainer *t, const struct training_model *model)
{
	return isnan(t->rules->restart_s) && !t->config.oracle ? model->restart_believed_s
							       : restart_s(t, model);
}

static double enter(void *self, struct job *job)
{
	struct trainer *t = self;
	const struct training_model *model = training_of(t->config.training, job->model);
	uint32_t known = known_types(t->config.training, t->config.cluster, job);
	double best = 0;

	vec_grow_zero(&t->jobs, (size_t)job->id + 1);
	t->jobs.at[job->id].stopped_s = NAN;
	job->by_steps = job->trained = true;
	job->types = job->types ? job->types & known : known;
	set_units(t, job, model);
	if (t->rules->forgiving)
		job->batch = training_batch(t->config.training, job->model, job->batch);
	for (uint32_t type = 0; type < t->config.cluster->ntypes; type++) {
		if (!job_may_use(job, type))
			continue;
		best = fmax(best, asked_goodput(t, job, type));
		if (t->config.agents)
			agents_limit(t->config.agents, job->id, type, limits_on(t, job, type));
	}
	if (best > 0)
		job->nominal_rate = best;
	job->start_cost_s = job->resume_cost_s = job->resize_cost_s = told_s(t, model);
	t->jobs.at[job->id].stretch = model->by_job
		? job->work_est / training_work(t->config.training, job->model)
		: 1;
	return model->by_job ? job->work_est : training_work(t->config.training, job->model);
}

/* Progress of the job at the end of that many epochs. */
static double epoch_end(const struct trainer *t, const struct trainee *e, const struct job *job,
	uint32_t epochs)
{
	return e->stretch * training_progress(t->config.training, job->model, epochs);
}

/* ---- devices */

/* Wider than anything that was profiled: as if it were on so many nodes, as even as can be. */
static void narrow(struct trainee *e, uint32_t gpus, uint32_t widest)
{
	uint32_t each;

	if (widest == 0 || e->on_node.n <= widest)
		return;
	each = (gpus + widest - 1) / widest;
	e->on_node.n = 0;
	for (uint32_t left = gpus; left > 0;) {
		uint32_t here = left < each ? left : each;

		vec_push(&e->on_node, (uint16_t)here);
		left -= here;
	}
}

/* What it may do with its batch as it lies now. */
static void find_limits(const struct trainer *t, struct trainee *e, const struct job *job)
{
	const struct training *training = t->config.training;
	double most;

	e->limits = limits_on(t, job, e->type);
	e->most_local = 0;
	if (!t->rules->by_placement)
		return;
	most = training_max_local(training, job->model, e->type, lay_of(e));
	if (most > 0)
		e->limits.max_local = most;
	if (!(e->limits.unit > 0))
		e->most_local = training_max_local_of(training, job->model, e->type, e->replicas);
}

static void take_devices(const struct trainer *t, struct trainee *e, const struct job *job,
	const struct grant *grant)
{
	const struct training_model *model = training_of(t->config.training, job->model);

	e->places.n = e->on_node.n = 0;
	for (uint32_t i = 0; i < grant->nslots; i++) {
		uint16_t gpus = (uint16_t)__builtin_popcountll(grant->slots[i].devices);

		vec_push(&e->places, (struct place){ grant->slots[i].node, gpus });
		vec_push(&e->on_node, gpus);
	}
	e->type = grant->type;
	e->replicas = replicas_of(model, e->type, grant->gpus);
	narrow(e, grant->gpus, training_widest(t->config.training, e->type));
	find_limits(t, e, job);
	if (grant->batch == BATCH_TUNED)
		e->batch = 0;
	else if (grant->batch > 0)
		e->batch = t->rules->forgiving ? fmin(grant->batch, model->max_batch) : grant->batch;
	else
		e->batch = job->batch > 0 ? job->batch : model->initial_batch;
}

static bool same_nodes(const struct trainee *e, const struct grant *grant)
{
	if (e->places.n != grant->nslots)
		return false;
	for (uint32_t i = 0; i < grant->nslots; i++) {
		if (e->places.at[i].node != grant->slots[i].node ||
			e->places.at[i].gpus != __builtin_popcountll(grant->slots[i].devices))
			return false;
	}
	return true;
}

static bool same_shape(const struct trainee *e, const struct grant *grant)
{
	if (e->places.n != grant->nslots || e->type != grant->type)
		return false;
	for (uint32_t i = 0; i < grant->nslots; i++) {
		if (e->places.at[i].gpus != __builtin_popcountll(grant->slots[i].devices))
			return false;
	}
	return true;
}

/* Whether it had devices until this moment and these are the same to it. */
static bool goes_on(const struct trainer *t, const struct trainee *e, const struct action *a)
{
	if (e->stopped_s != a->now_s || e->failures != a->job->failures)
		return false;
	if (t->rules->notice == NOTICE_SHAPE)
		return same_shape(e, a->grant);
	return t->rules->notice == NOTICE_NODES && same_nodes(e, a->grant);
}

static double cost_s(void *self, const struct action *a)
{
	const struct trainer *t = self;
	const struct trainee *e = &t->jobs.at[a->job->id];
	bool resized = a->act == ACT_CHANGE && a->job->grant->gpus != a->grant->gpus;
	double set_s = resized                                 ? t->config.resize_s
		: a->act == ACT_START && a->job->attempts == 0 ? t->config.start_s
							       : t->config.resume_s;

	if (a->act == ACT_RENEW)
		return NAN;
	if (goes_on(t, e, a))
		return -1;
	return isnan(set_s) ? restart_s(t, training_of(t->config.training, a->job->model)) : set_s;
}

/* ---- batches */

/* What its agent finds best; as large as must be while it knows nothing. */
static struct batch_split tuned(const struct trainer *t, const struct trainee *e, const struct job *job)
{
	const struct batch_limits *limits = &e->limits;
	const struct goodput_params *fit = t->config.agents
		? agents_fit(t->config.agents, job->id, e->type)
		: NULL;
	uint32_t unit = unit_of(t, job, e->type);
	struct goodput_shape shape = elastic_shape((uint32_t)e->on_node.n, e->replicas * unit, unit);
	struct goodput_choice choice;

	if (fit &&
		goodput_best(fit, agents_gradient(t->config.agents, job->id), limits, shape,
			limits->max, 0, &choice))
		return choice.split;
	return training_spread(limits, e->replicas,
		fmax(limits->initial, limits->min_local * e->replicas));
}

static struct batch_split choose(const struct trainer *t, const struct trainee *e, const struct job *job)
{
	const struct training_model *model = training_of(t->config.training, job->model);
	struct batch_split split = e->batch > 0 ? training_spread(&e->limits, e->replicas, e->batch)
						: tuned(t, e, job);

	if (e->most_local > 0 && split.atomic > e->most_local)
		split.atomic = (uint32_t)e->most_local;
	split = cut(t, split, &e->limits, e->replicas);
	return fill_pipeline(t, model, &e->limits, e->type, split);
}

static bool same_split(struct batch_split a, struct batch_split b)
{
	return a.atomic == b.atomic && a.accum == b.accum;
}

/* ---- steps */

static void describe(const struct trainer *t, const struct trainee *e, char *out, size_t size)
{
	snprintf(out, size, "%u x %s on %zu node%s with %u sample%s a device", e->replicas,
		t->config.cluster->types[e->type].name, e->on_node.n, e->on_node.n == 1 ? "" : "s",
		e->split.atomic, e->split.atomic == 1 ? "" : "s");
}

static int refuse(const struct trainer *t, const struct trainee *e, struct err *err)
{
	char where[BEYOND_TEXT];

	describe(t, e, where, sizeof(where));
	return err_set(err, ERR_BROKEN,
		"the policy runs it as %s, for which its profile has no step time, and by the rules of the "
		"published simulator (compat) none is made up; take the cluster that compat is meant for, "
		"or leave it out",
		where);
}

/* Nobody measured it: said once of each job. */
static double extrapolate(struct trainer *t, struct trainee *e, const struct job *job, struct pass *pass)
{
	double iter_s = iteration_beyond_s(t, job->model, e, pass);

	if (!(iter_s > 0) || e->beyond)
		return iter_s;
	e->beyond = true;
	if (t->beyond.jobs++ == 0) {
		t->beyond.first = job->id;
		describe(t, e, t->beyond.where, sizeof(t->beyond.where));
	}
	return iter_s;
}

/* Its speed now, which its agent sees, too. */
static int measure(struct trainer *t, struct trainee *e, const struct job *job, struct err *err)
{
	const struct training_model *model = training_of(t->config.training, job->model);
	double batch = total_batch(e->split, e->replicas);
	struct pass pass;
	double iter_s = iteration_s(t, job->model, e, &pass);
	uint32_t unit = unit_of(t, job, e->type);
	struct goodput_shape shape;
	struct gradient g;

	if (!(iter_s > 0) && !t->rules->rounds) {
		lay_packed(t, e->type, job->grant ? job->grant->gpus : e->replicas, e);
		find_limits(t, e, job);
		iter_s = iteration_s(t, job->model, e, &pass);
	}
	if (!(iter_s > 0))
		iter_s = extrapolate(t, e, job, &pass);
	if (!(iter_s > 0))
		return refuse(t, e, err);
	g = training_gradient(t->config.training, job->model, batch, e->epoch);
	e->goodput = goodput_gain(g, batch, model->initial_batch) / iter_s;
	if (t->rules->slowdown)
		e->goodput /= model->slowdown;
	e->efficiency = goodput_efficiency(g, batch, model->initial_batch);
	if (!t->config.agents)
		return 0;
	shape = elastic_shape((uint32_t)e->on_node.n, e->replicas * unit, unit);
	agents_observe(t->config.agents, job->id, e->type,
		&(struct goodput_sample){
			.nodes = shape.nodes,
			.replicas = shape.replicas,
			.atomic = e->split.atomic,
			.step_s = pass.step_s,
			.sync_s = pass.sync_s,
		});
	agents_feel(t->config.agents, job->id, g);
	return 0;
}

static bool is_boundary(const struct trainer *t, double at_s)
{
	return fmod(at_s, t->config.round_s) == 0;
}

/* When the stretch ends that begins now, by rounds. */
static void aim_by_rounds(const struct trainer *t, struct trainee *e)
{
	double round_end_s = (floor(e->at_s / t->config.round_s) + 1) * t->config.round_s;
	double left_s = (e->goal - e->progress) / e->goodput;

	e->ends_epoch = same_split(e->split, e->then) ||
		e->progress + e->goodput * (round_end_s - e->at_s) >= e->goal;
	e->end_s = e->ends_epoch ? e->at_s + rint(left_s) : round_end_s;
	/* An end that is rounded down to the end of a round is seen in the next. */
	e->late = is_boundary(t, e->end_s) &&
		(!e->ends_epoch || e->progress + e->goodput * (e->end_s - e->at_s) < e->goal);
}

static void aim(const struct trainer *t, struct trainee *e)
{
	if (t->rules->rounds) {
		aim_by_rounds(t, e);
		return;
	}
	e->end_s = e->at_s + (e->goal - e->progress) / e->goodput;
	e->ends_epoch = same_split(e->split, e->then) || e->end_s <= e->at_s + RETUNE_S;
	e->late = false;
	if (!e->ends_epoch)
		e->end_s = e->at_s + RETUNE_S;
}

static void tell(const struct trainer *t, const struct trainee *e, const struct job *job,
	struct stretch *out)
{
	uint32_t epochs = training_of(t->config.training, job->model)->epochs;

	*out = (struct stretch){
		.done = e->progress,
		.rate = e->goodput > 0 ? e->goodput : e->shown,
		.efficiency = e->efficiency,
		.until_s = e->end_s,
		.last = e->goodput > 0 && e->ends_epoch && e->epoch + 1 >= epochs,
		.late = e->late,
	};
}

static int go(struct trainer *t, struct trainee *e, const struct job *job, struct stretch *out,
	struct err *err)
{
	if (measure(t, e, job, err) < 0)
		return err->code;
	e->then = e->batch > 0 ? e->split : choose(t, e, job);
	e->goal = epoch_end(t, e, job, e->epoch + 1);
	aim(t, e);
	tell(t, e, job, out);
	return 0;
}

/* It makes no steps until then. */
static int pause(struct trainer *t, struct trainee *e, const struct job *job, double until_s,
	struct stretch *out)
{
	e->goodput = 0;
	e->end_s = until_s;
	e->late = t->rules->rounds && is_boundary(t, until_s);
	tell(t, e, job, out);
	return 0;
}

/* It may have been thrown back. */
static void take_progress(const struct trainer *t, struct trainee *e, const struct job *job)
{
	if (!(job->done < e->progress))
		return;
	e->progress = job->done;
	while (e->epoch > 0 && epoch_end(t, e, job, e->epoch) > e->progress)
		e->epoch--;
}

static int begin(void *self, const struct action *a, struct stretch *out, struct err *err)
{
	struct trainer *t = self;
	struct trainee *e = &t->jobs.at[a->job->id];
	struct job job = *a->job;

	if (a->act == ACT_START)
		take_progress(t, e, a->job);
	job.grant = a->grant;
	take_devices(t, e, a->job, a->grant);
	if (e->replicas == 0)
		return err_set(err, ERR_BROKEN, "%u x %s are too few: its model runs in units of %u",
			a->grant->gpus, t->config.cluster->types[e->type].name,
			training_of(t->config.training, job.model)->unit[e->type]);
	e->at_s = a->now_s;
	e->failures = a->job->failures;
	e->split = choose(t, e, &job);
	e->shown = 0;
	if (a->ready_s > a->now_s)
		return pause(t, e, &job, a->ready_s, out);
	return go(t, e, &job, out, err);
}

static int next(void *self, const struct job *job, double now_s, struct stretch *out, struct err *err)
{
	struct trainer *t = self;
	struct trainee *e = &t->jobs.at[job->id];
	bool decided = e->late;

	if (e->goodput > 0) {
		e->progress = e->ends_epoch ? e->goal : e->progress + e->goodput * (now_s - e->at_s);
		e->epoch += e->ends_epoch;
		e->split = e->then;
	}
	e->at_s = now_s;
	if (t->rules->rounds && is_boundary(t, now_s) && !decided) {
		e->shown = e->goodput;
		return pause(t, e, job, now_s, out);
	}
	return go(t, e, job, out, err);
}

static double stop(void *self, const struct job *job, double now_s)
{
	struct trainer *t = self;
	struct trainee *e = &t->jobs.at[job->id];

	if (e->goodput > 0)
		e->progress = fmin(e->progress + e->goodput * (now_s - e->at_s), e->goal);
	e->goodput = e->shown = 0;
	e->at_s = e->stopped_s = now_s;
	return e->progress;
}

const struct pace trainer_pace = {
	.name = "trainer",
	.leads = leads,
	.enter = enter,
	.cost_s = cost_s,
	.begin = begin,
	.next = next,
	.stop = stop,
};
