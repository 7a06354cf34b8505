/*
 * Moldable jobs under precedence (Perotin, Sun and Raghavan): choose how many
 * devices each job gets before it starts, then start what fits.
 *
 * model/moldable.h has the two phases and their bound.  Here the resources are
 * devices, and CPUs and memory where nodes and jobs say what they have and
 * need; an allocation is a number of devices with the CPUs and memory that go
 * with them, and its time is believed.  Jobs that run count as they are.  Sizes
 * are chosen again when jobs come or devices go, for those that have not
 * started; nobody is stopped or resized.
 *
 * The bound is of jobs that all come at once (the paper's setting); the figures
 * say whether it was proved for what was run, and how near it came.
 */
#include <math.h>

#include "policy/kit.h"
#include "policy/tasks/instance.h"

struct moldable_policy {
	int lp_jobs;
	/* what was planned last */
	uint32_t njobs, nlater, plans;
	double begun_s, least_s, bound, last_end_s;
	bool proved;
};

static const struct option options[] = {
	OPT_INT(struct moldable_policy, lp_jobs, 500, 0, 100000,
		"most jobs for which the linear program is solved; beyond that a heuristic without a bound"),
	{ 0 },
};

/* What is kept of each job: the devices it shall have, 0: as asked, and its believed time on them. */
struct choice {
	uint32_t gpus;
	double time_s;
};

static void choose_sizes(struct moldable_policy *self, const struct round *round)
{
	struct choice *choices = round->job_state;
	struct moldable_plan plan;
	struct instance in;

	instance_of(&in, round);
	if (!in.m.njobs || !in.m.capacity[INSTANCE_GPUS])
		return;
	moldable_allocate(&in.m, (uint32_t)self->lp_jobs, round->scratch, &plan);
	for (uint32_t i = 0; i < in.family.nknown; i++) {
		const struct moldable_point *p = &in.jobs[i].points[plan.chosen[i]];
		const struct job *job = in.family.jobs[i];

		choices[job->id] = (struct choice){
			in.jobs[i].n > 1 && !job_is_fraction(job) ? p->need[INSTANCE_GPUS] : 0, p->time_s
		};
	}
	if (!self->plans++) {
		self->begun_s = round->now_s;
		self->least_s = plan.least_s;
		self->bound = plan.ratio;
	}
	self->proved = self->plans == 1 && plan.proved;
}

/* Who has the longest way before it goes first. */
static double by_bottom(const void *bottom_, const struct round *round, const struct job *job)
{
	const double *bottom_s = bottom_;

	return -bottom_s[job - round->jobs];
}

/* By id, of those that may run; followers outside count with their time as asked. */
static const double *bottoms(const struct round *round)
{
	const struct choice *choices = round->job_state;
	double *time_s, *level_s, *by_id = arena_array(round->scratch, double, round->njobs);
	struct family f;

	family_of(&f, round);
	time_s = arena_array(round->scratch, double, f.n);
	level_s = arena_array(round->scratch, double, f.n);
	for (uint32_t i = 0; i < f.n; i++)
		time_s[i] = i < f.nknown && choices[f.jobs[i]->id].time_s > 0
			? choices[f.jobs[i]->id].time_s
			: fmax(0, job_remaining_s(f.jobs[i], round->now_s));
	dag_bottom(&f.dag, time_s, level_s);
	for (uint32_t i = 0; i < f.nknown; i++)
		by_id[f.jobs[i]->id] = level_s[i];
	return by_id;
}

/* Nothing runs and nobody fits as chosen: the cluster is not as the instance had it. */
static bool run_somehow(const struct round *round, struct plan *plan, const struct job *job)
{
	for (int32_t gpus = job->max_gpus; gpus >= job->min_gpus; gpus--)
		if (kit_run_on(round, plan, job, (uint32_t)gpus))
			return true;
	return false;
}

/* When the last of those that were started so far should be through; late ones are not through yet. */
static void note_end(struct moldable_policy *self, const struct round *round, const struct job *job)
{
	const struct choice *choice = (const struct choice *)round->job_state + job->id;
	double cost_s = job->attempts ? job->resume_cost_s : job->start_cost_s;
	double end_s = round->now_s + (job->grant ? 0 : cost_s + choice->time_s);

	self->last_end_s = fmax(self->last_end_s, end_s);
}

static int moldable_decide(void *self_, const struct round *round, struct plan *plan, struct err *err)
{
	struct moldable_policy *self = self_;
	const struct choice *choices = round->job_state;
	struct ordering ordering = { .key = by_bottom };
	uint32_t *line, n, running = 0;

	(void)err;
	if (round->njobs != self->njobs || round->nlater > self->nlater || round->capacity_changed)
		choose_sizes(self, round);
	self->njobs = round->njobs;
	self->nlater = round->nlater;
	n = kit_line(&ordering, bottoms(round), round, &line);
	for (uint32_t i = 0; i < n; i++) {
		const struct job *job = &round->jobs[line[i]];

		if (job->grant || kit_run_on(round, plan, job, choices[job->id].gpus))
			line[running++] = job->id;
		else
			kit_no_room(round, plan, job);
	}
	for (uint32_t i = 0; i < running; i++)
		note_end(self, round, &round->jobs[line[i]]);
	for (uint32_t i = 0; !running && i < round->nactive; i++)
		if (job_active(&round->jobs[round->active[i]]))
			running += run_somehow(round, plan, &round->jobs[round->active[i]]);
	return 0;
}

static uint32_t moldable_figures(const void *self_, struct figure out[FIGURES_MAX])
{
	const struct moldable_policy *self = self_;
	double makespan_s = self->last_end_s - self->begun_s;
	uint32_t n = 0;

	if (!self->plans)
		return 0;
	out[n++] = (struct figure){ "size_plans", self->plans };
	out[n++] = (struct figure){ "bound_proved", self->proved };
	if (self->plans > 1) /* jobs came later: what no schedule of all of them beats was not asked */
		return n;
	out[n++] = (struct figure){ "least_makespan_s", self->least_s };
	out[n++] = (struct figure){ "planned_makespan_s", makespan_s };
	out[n++] = (struct figure){ "makespan_ratio", makespan_s / self->least_s };
	if (isfinite(self->bound))
		out[n++] = (struct figure){ "ratio_bound", self->bound };
	return n;
}

const struct policy policy_moldable = {
	.name = "moldable",
	.summary = "sizes by a linear program, then whatever fits, the longest way first; never far from the best makespan",
	.origin = "Perotin et al., ICPP 2021",
	.family = "tasks",
	.traits = POLICY_ESTIMATES | POLICY_AHEAD,
	.uses = USES_RANGE,
	.options = options,
	.state_size = sizeof(struct moldable_policy),
	.job_state_size = sizeof(struct choice),
	.figures = moldable_figures,
	.decide = moldable_decide,
};
