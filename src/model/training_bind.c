/*
 * What profiles say of the jobs of a trace: how much work they are, and how
 * fast they go as asked.
 */
#include <math.h>

#include "model/profile.h"
#include "model/trace.h"
#include "model/training_parts.h"

enum { GPUS_MAX = 64 }; /* of one elastic job, as in the published simulators */

/* As many nodes as hold the devices, all full but the last. */
static uint32_t packed(const struct cluster *cluster, uint32_t type, uint32_t gpus, uint32_t widest,
	uint16_t *on_node, uint32_t most)
{
	uint32_t each = cluster->types[type].max_per_node, n = 0;

	if (each == 0)
		return 0;
	if (widest && (gpus + each - 1) / each > widest)
		each = (gpus + widest - 1) / widest;
	for (uint32_t left = gpus; left > 0 && n < most; n++) {
		on_node[n] = (uint16_t)(left < each ? left : each);
		left -= on_node[n];
	}
	return n;
}

double training_asked_s(const struct training *training, uint32_t model, uint32_t type,
	uint32_t gpus, double batch, double *total)
{
	const struct training_model *facts = training_of(training, model);
	struct batch_limits limits = training_limits(training, model, type);
	uint32_t unit = facts && facts->unit[type] ? facts->unit[type] : 1;
	uint32_t replicas = (gpus + unit - 1) / unit; /* as job_gpus_on() will have it */
	uint16_t on_node[GPUS_MAX * 16];
	struct batch_split split;
	struct pass pass;
	struct lay lay = { on_node, 0 };

	if (!(limits.max_local > 0) || replicas == 0)
		return NAN;
	gpus = replicas * unit;
	lay.nodes = packed(training->cluster, type, gpus, training_widest(training, type), on_node,
		GPUS_MAX * 16);
	limits.max_local = fmin(limits.max_local, training_max_local(training, model, type, lay));
	split = goodput_split(&limits, replicas, batch > 0 ? batch : limits.initial);
	split.atomic = (uint32_t)fmax(split.atomic, limits.min_local);
	if (!training_pass(training, model, type, lay, split.atomic, &pass) &&
		!(facts->by_job &&
			training_pass_beyond(training, model, type, lay, split.atomic, &pass)))
		return NAN;
	*total = (double)replicas * split.atomic * (split.accum + 1);
	return (pass.step_s + split.accum * (pass.step_s - pass.sync_s)) * facts->slowdown;
}

/* Mean over the epochs of the seconds that a unit of progress takes at that batch. */
static double seconds_of_progress(const struct training *training, uint32_t model, double batch,
	double iter_s)
{
	const struct training_model *facts = training_of(training, model);
	double sum = 0, before = 0;

	for (uint32_t e = 0; e < facts->epochs; e++) {
		double upto = training_progress(training, model, e + 1);

		sum += (upto - before) /
			goodput_gain(training_gradient(training, model, batch, e), batch,
				facts->initial_batch);
		before = upto;
	}
	return before > 0 ? sum / before * iter_s : NAN;
}

/* Types of the cluster that the job may use and whose profile is known. */
static uint32_t usable(const struct training *training, const struct trace *trace, const struct job *job)
{
	uint32_t types = 0;

	for (uint32_t named = 0; named < trace->types.n && named < TYPES_MAX; named++) {
		int type = job->types >> named & 1
			? cluster_find_type(training->cluster, trace->types.at[named])
			: -1;

		if (type >= 0)
			types |= UINT32_C(1) << type;
	}
	for (uint32_t type = 0; type < training->cluster->ntypes; type++) {
		if (!job->types)
			types |= UINT32_C(1) << type;
		if (!training_knows(training, job->model, type))
			types &= ~(UINT32_C(1) << type);
	}
	return types;
}

/* The type on which the job's run time is told, else the one where it is fastest as asked. */
static int reference_type(const struct training *training, const struct trace *trace, uint32_t id,
	uint32_t types, bool fastest)
{
	const struct job *job = &trace->jobs[id];
	int said = trace->measured_on && trace->measured_on[id]
		? cluster_find_type(training->cluster, trace->types.at[trace->measured_on[id] - 1])
		: -1;
	double least_s = INFINITY, total = 1;
	int best = -1;

	if (said >= 0 && types >> said & 1 && !fastest)
		return said;
	for (uint32_t type = 0; type < training->cluster->ntypes; type++) {
		double s = types >> type & 1 ? training_asked_s(training, job->model, type,
						       (uint32_t)job->gpus, job->batch, &total)
					     : NAN;

		if (best < 0 && !fastest && !isnan(s))
			return (int)type;
		if (s / total < least_s) {
			least_s = s / total;
			best = (int)type;
		}
	}
	return best;
}

/* Seconds that the job is said to run as asked on that type. */
static double said_run_s(const struct profile *profile, const struct trace *trace, uint32_t id,
	uint32_t type)
{
	const struct job *job = &trace->jobs[id];
	double rate = NAN;

	if (!job->by_steps)
		return trace->work[id];
	if (profile)
		rate = profile_rate(profile, job->model, type,
			profile_packed(profile, type, (uint32_t)job->gpus));
	return trace->work[id] / (rate > 0 ? rate : job->nominal_rate);
}

static void make_elastic(const struct training *training, struct job *job)
{
	const struct training_model *facts = training_of(training, job->model);
	uint32_t most = 0;

	if (job->gpus_by_type || job_is_fraction(job) || job->min_gpus != job->max_gpus)
		return;
	for (uint32_t type = 0; type < training->cluster->ntypes; type++) {
		struct batch_limits limits = training_limits(training, job->model, type);
		uint32_t here = training->cluster->types[type].devices;

		if (!(limits.min_local > 0))
			continue;
		here = (uint32_t)fmin(here,
			floor(facts->max_batch / limits.min_local) * fmax(1, limits.unit));
		most = here > most ? here : most;
	}
	most = most < GPUS_MAX ? most : GPUS_MAX;
	job->min_gpus = 1;
	job->max_gpus = job->gpus > (int32_t)most ? job->gpus : (int32_t)most;
}

/* A job with its own amount of work: so much progress that it runs about as long as the trace says. */
static bool bind_own_work(const struct training *training, const struct profile *profile,
	struct trace *trace, uint32_t id, uint32_t types)
{
	struct job *job = &trace->jobs[id];
	double iter_s, total, run_s, work;
	int type;

	if (job->batch <= 0)
		job->batch = (int32_t)fmin(INT32_MAX,
			training_of(training, job->model)->initial_batch * job->gpus);
	type = reference_type(training, trace, id, types, job->by_steps);
	if (type < 0)
		return false;
	iter_s = training_asked_s(training, job->model, (uint32_t)type, (uint32_t)job->gpus,
		job->batch, &total);
	run_s = said_run_s(profile, trace, id, (uint32_t)type);
	work = run_s / seconds_of_progress(training, job->model, total, iter_s);
	if (!(work > 0) || !isfinite(work))
		return false;
	job->work_est *= work / trace->work[id];
	job->nominal_rate = work / run_s;
	trace->work[id] = work;
	make_elastic(training, job);
	return true;
}

static void bind_known_work(const struct training *training, struct trace *trace, uint32_t id,
	uint32_t types)
{
	struct job *job = &trace->jobs[id];
	const struct training_model *facts = training_of(training, job->model);
	int type = reference_type(training, trace, id, types, true);
	double iter_s, total;

	trace->work[id] = job->work_est = training_work(training, job->model);
	if (type < 0)
		return;
	iter_s = training_asked_s(training, job->model, (uint32_t)type, (uint32_t)job->gpus,
		job->batch, &total);
	job->nominal_rate = goodput_gain(training_gradient(training, job->model, total, 0), total,
				    facts->initial_batch) /
		iter_s;
}

static void add_change(struct training_bound *out, uint32_t job, enum training_change change,
	int32_t asked, int32_t taken)
{
	vec_push(out, (struct training_changed){ job, change, asked, taken });
}

static void bind_batch(const struct training *training, struct trace *trace, uint32_t id,
	struct training_bound *out)
{
	struct job *job = &trace->jobs[id];
	int32_t asked = job->batch, taken = training_batch(training, job->model, asked);

	if (taken != asked)
		add_change(out, id, TRAINING_REBATCHED, asked, taken);
	if (training_of(training, job->model)->by_job)
		job->batch = taken;
}

static bool bind_job(const struct training *training, const struct profile *profile,
	struct trace *trace, uint32_t id, struct training_bound *out)
{
	struct job *job = &trace->jobs[id];
	bool by_job = training_of(training, job->model)->by_job, timed = isfinite(trace->work[id]);
	uint32_t types = usable(training, trace, job);

	if (!types)
		return false;
	if (by_job && !timed) {
		add_change(out, id, TRAINING_UNTIMED, 0, 0);
		out->untimed++;
		return false;
	}
	bind_batch(training, trace, id, out);
	if (by_job)
		return job->trained = bind_own_work(training, profile, trace, id, types);
	if (timed)
		add_change(out, id, TRAINING_OVERRULED, 0, 0);
	bind_known_work(training, trace, id, types);
	return true;
}

void training_bind(const struct training *training, const struct profile *profile,
	struct trace *trace, struct training_bound *out)
{
	*out = (struct training_bound){ 0 };
	for (uint32_t i = 0; i < trace->njobs; i++) {
		struct job *job = &trace->jobs[i];

		if (!training_of(training, job->model) || !bind_job(training, profile, trace, i, out))
			continue;
		job->by_steps = true;
		out->jobs++;
	}
}

void training_bound_fini(struct training_bound *bound)
{
	vec_fini(bound);
	*bound = (struct training_bound){ 0 };
}
