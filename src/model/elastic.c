#include "model/elastic.h"

#include <math.h>

#include "base/names.h"
#include "model/agents.h"
#include "model/training.h"
#include "model/training_run.h"

struct configuration configuration_packed(const struct cluster *cluster, uint32_t type, uint32_t gpus)
{
	uint32_t per_node = cluster->types[type].max_per_node;

	return (struct configuration){ type, gpus, per_node ? (gpus + per_node - 1) / per_node : 1 };
}

/* NULL: nobody listens to it. */
static const struct batch_limits *limits_of(const struct rates *rates, const struct job *job,
	uint32_t type)
{
	return rates->agents ? agents_limits(rates->agents, job->id, type) : NULL;
}

/* Devices of one replica there, which its agent counts. */
static uint32_t unit_on(const struct rates *rates, const struct job *job, uint32_t type)
{
	const struct training_model *model = rates->training && job->model != NAME_NONE
		? training_of(rates->training, job->model)
		: NULL;

	return model && model->unit[type] > 1 ? model->unit[type] : 1;
}

/* How much faster one replica is on `type` than on `other`. */
static double type_ratio(const struct rates *rates, const struct job *job, uint32_t type, uint32_t other)
{
	double here = 0, there = 0;

	if (rates->training && job->model != NAME_NONE) {
		here = training_single(rates->training, job->model, type);
		there = training_single(rates->training, job->model, other);
		here *= unit_on(rates, job, type);
		there *= unit_on(rates, job, other);
	}
	if (!(here > 0 && there > 0)) {
		here = rate_if(rates, job, type, 1);
		there = rate_if(rates, job, other, 1);
	}
	return there > 0 ? here / there : 0;
}

static double cap_of(const struct job *job, const struct batch_limits *limits, enum batching batching)
{
	return batching == BATCHING_ASKED && job->batch > 0 ? fmin(job->batch, limits->max)
							    : limits->max;
}

struct goodput_shape elastic_shape(uint32_t nodes, uint32_t gpus, uint32_t unit)
{
	uint32_t replicas = gpus / unit;

	return (struct goodput_shape){ nodes < replicas ? nodes : replicas, replicas };
}

static double fixed_batch(const struct job *job, const struct batch_limits *limits)
{
	return job->batch > 0 ? job->batch : limits->initial;
}

/* Replicas that have a batch of the least size each, of what they may have together. */
static double batch_allows(const struct job *job, const struct batch_limits *limits,
	enum batching batching)
{
	double batch = batching == BATCHING_FIXED ? fixed_batch(job, limits) : limits->max;

	return limits->min_local > 0 ? floor(batch / limits->min_local) : INFINITY;
}

/* With fewer it could not run at all: there it is run whatever its batch. */
static bool is_least(const struct job *job, struct configuration c)
{
	return c.gpus <= job_least_on(job, c.type);
}

static bool can_run(const struct rates *rates, const struct job *job,
	const struct batch_limits *limits, struct configuration c, enum batching batching)
{
	uint32_t replicas = c.gpus / unit_on(rates, job, c.type);

	return replicas > 0 && (is_least(job, c) || replicas <= batch_allows(job, limits, batching));
}

static double from_agent(const struct rates *rates, const struct job *job, struct configuration c,
	enum batching batching, double *batch)
{
	const struct batch_limits *limits = limits_of(rates, job, c.type);
	struct goodput_shape shape = elastic_shape(c.nodes, c.gpus, unit_on(rates, job, c.type));
	struct goodput_choice choice;
	double fixed = 0;

	if (batching == BATCHING_FIXED)
		fixed = fixed_batch(job, limits);
	/* On the fewest it takes it runs whatever its batch: as if every replica had the least. */
	if (is_least(job, c) && shape.replicas > batch_allows(job, limits, batching))
		fixed = shape.replicas * limits->min_local;
	if (!agents_goodput(rates->agents, job->id, c.type, shape, cap_of(job, limits, batching),
		    fixed, &choice))
		return 0;
	if (batch)
		*batch = choice.batch;
	return choice.goodput;
}

/* The first type that it was measured on, `type` itself before all; ntypes: none. */
static uint32_t measured_type(const struct rates *rates, const struct job *job, uint32_t type)
{
	uint32_t ntypes = rates->cluster->ntypes;

	if (agents_fit(rates->agents, job->id, type))
		return type;
	for (uint32_t other = 0; other < ntypes; other++) {
		if (agents_fit(rates->agents, job->id, other))
			return other;
	}
	return ntypes;
}

bool elastic_is_measured(const struct rates *rates, const struct job *job)
{
	if (!limits_of(rates, job, 0))
		return true;
	return measured_type(rates, job, 0) < rates->cluster->ntypes;
}

/* How far training is that is as long as its model's curve. */
static double done_of_curve(const struct rates *rates, const struct job *job)
{
	double work = training_work(rates->training, job->model);

	return training_of(rates->training, job->model)->by_job ? job->done / job->work_est * work
								: job->done;
}

/* What it will really do at the batch it asked for, if that is known. */
static bool is_known(const struct rates *rates, const struct job *job, enum batching batching)
{
	return rates->oracle && batching == BATCHING_FIXED && rates->training && job->trained &&
		job->model != NAME_NONE && training_of(rates->training, job->model);
}

static double truth(const struct rates *rates, const struct job *job, struct configuration c)
{
	return training_speed(rates->training, job->model,
		(struct training_place){ c.type, c.gpus, c.nodes }, job->batch,
		done_of_curve(rates, job));
}

double elastic_speed(const struct rates *rates, const struct job *job, struct configuration c,
	enum batching batching, double *batch)
{
	const struct batch_limits *limits = limits_of(rates, job, c.type);
	struct shape shape = { .gpus = c.gpus, .nodes = c.nodes, .racks = 1 };
	uint32_t unit = unit_on(rates, job, c.type), type;

	if (batch)
		*batch = 0;
	if (c.gpus % unit)
		return 0;
	if (is_known(rates, job, batching))
		return truth(rates, job, c);
	if (!limits)
		return rate_in(rates, job, c.type, shape);
	if (!can_run(rates, job, limits, c, batching))
		return 0;
	type = measured_type(rates, job, c.type);
	if (type == c.type)
		return from_agent(rates, job, c, batching, batch);
	if (type < rates->cluster->ntypes)
		return type_ratio(rates, job, c.type, type) *
			from_agent(rates, job,
				configuration_packed(rates->cluster, type,
					c.gpus / unit * unit_on(rates, job, type)),
				batching, batch);
	return rate_in(rates, job, c.type, shape);
}

uint32_t elastic_widest(const struct rates *rates, const struct job *job, uint32_t type)
{
	uint32_t nodes;

	if (!rates->training || job->model == NAME_NONE || !training_of(rates->training, job->model))
		return UINT32_MAX;
	if (unit_on(rates, job, type) > 1)
		return UINT32_MAX; /* a pipeline goes as fast however it lies */
	nodes = training_widest(rates->training, type);
	return nodes ? nodes * rates->cluster->types[type].max_per_node : UINT32_MAX;
}

uint32_t elastic_most(const struct rates *rates, const struct job *job, uint32_t type,
	enum batching batching, double growth)
{
	const struct batch_limits *limits = limits_of(rates, job, type);
	double most = job_most_on(job, type), unit = unit_on(rates, job, type), had = 0;

	if (!limits)
		return job_most_on(job, type);
	/* Of one that must be done in time nobody can wait for it to show that more devices help. */
	if (rates->cautious && isinf(job->deadline_s) && !elastic_is_measured(rates, job))
		return job_least_on(job, type);
	for (uint32_t t = 0; t < rates->cluster->ntypes; t++)
		had = fmax(had, agents_most(rates->agents, job->id, t));
	if (growth > 0)
		most = fmin(most, unit * fmax(1, growth * had));
	if (batching == BATCHING_FIXED)
		most = fmin(most, elastic_widest(rates, job, type));
	most = fmin(most, unit * batch_allows(job, limits, batching));
	return (uint32_t)(unit * fmax(1, floor(most / unit)));
}

/* What is believed of every change of a job of a profiled model; else what it was told of this one. */
static double believed_cost_s(const struct rates *rates, const struct job *job, double own_s)
{
	const struct training_model *model = rates->training && job->model != NAME_NONE
		? training_of(rates->training, job->model)
		: NULL;

	return model && !rates->oracle ? model->restart_believed_s : own_s;
}

double elastic_start_s(const struct rates *rates, const struct job *job)
{
	return believed_cost_s(rates, job, job->attempts > 0 ? job->resume_cost_s : job->start_cost_s);
}

double elastic_move_s(const struct rates *rates, const struct job *job)
{
	return believed_cost_s(rates, job, job->resume_cost_s);
}

double elastic_resize_s(const struct rates *rates, const struct job *job)
{
	return believed_cost_s(rates, job, job->resize_cost_s);
}

double elastic_change_s(const struct rates *rates, const struct job *job, uint32_t gpus)
{
	if (!job->grant)
		return elastic_start_s(rates, job);
	return job->grant->gpus == gpus ? elastic_move_s(rates, job) : elastic_resize_s(rates, job);
}

double elastic_restart_s(const struct rates *rates, const struct job *job)
{
	return fmax(elastic_move_s(rates, job), elastic_resize_s(rates, job));
}
