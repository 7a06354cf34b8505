/*
 * One agent per job: its limits, measurements, gradient, fit, and the answers
 * it gave since it last learnt something.
 */
#include "model/agents.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

enum knowledge { KNOWS_NOTHING, KNOWS_SAMPLES, KNOWS_FIT, KNOWS_NO_FIT };

/* What was measured on one type (or, merged, on all). */
struct experience {
	VEC(struct goodput_sample) samples;
	struct goodput_params params;
	enum knowledge knowledge; /* KNOWS_SAMPLES: to be fitted */
	uint32_t most;
};

struct question {
	uint32_t type;
	double nodes, replicas, cap, fixed;
};

struct answer {
	struct question question;
	struct goodput_choice choice;
	bool possible;
	uint32_t version; /* of the agent; another one (0 at first): the place is free */
};

struct agent {
	uint32_t version;
	struct gradient gradient;
	struct batch_limits *limits; /* by type */
	bool forgotten;              /* nobody has told limits since */
	struct experience *experiences;
	/* Open addressing; places of earlier versions count as free. */
	struct answer *answers;
	uint32_t answers_cap, answers_n;
	uint32_t answers_version; /* that answers_n counts */
};

/* A fit and what it was made from. */
struct fitted {
	struct goodput_sample *samples;
	uint32_t n, cap;
	struct goodput_params params;
	bool failed;
};

/* Fits that are remembered, and of how many measurements at most. */
enum { FITS = 1024, FIT_SAMPLES = 64 };

/* Batches to choose from, and the question. */
struct listed {
	struct batch_limits limits;
	double replicas, cap;
	bool known, possible;
	struct goodput_batches batches;
};

enum { LISTS = 256 };

/* What was worked out from measurements and limits alone, whoever has them. */
struct lessons {
	/* Jobs of a model that are measured alike are fitted alike: most fits have been made before. */
	struct fitted fits[FITS];
	/* There are few models, types and sizes. */
	struct listed lists[LISTS];
};

struct agents {
	struct agents_options options;
	uint32_t ntypes, nexperiences;
	bool borrowed; /* agents and lessons are another's */
	VEC(struct agent *) by_job;
	struct arena memory; /* of agents, all but samples and answers, which grow */
	struct lessons *lessons;
};

struct agents *agents_create(uint32_t ntypes, struct agents_options options)
{
	struct agents *agents = mem_alloc(sizeof(*agents));

	agents->options = options;
	agents->ntypes = ntypes;
	agents->nexperiences = options.merged ? 1 : ntypes;
	agents->lessons = mem_alloc(sizeof(*agents->lessons));
	return agents;
}

struct agents *agents_renumbered(const struct agents *from)
{
	struct agents *agents = mem_alloc(sizeof(*agents));

	agents->options = from->options;
	agents->ntypes = from->ntypes;
	agents->nexperiences = from->nexperiences;
	agents->borrowed = true;
	agents->lessons = from->lessons;
	return agents;
}

static void agent_fini(struct agents *agents, struct agent *agent)
{
	for (uint32_t i = 0; i < agents->nexperiences; i++)
		vec_fini(&agent->experiences[i].samples);
	free(agent->answers);
}

void agents_clear(struct agents *agents)
{
	for (size_t i = 0; i < agents->by_job.n; i++) {
		if (agents->by_job.at[i] && !agents->borrowed)
			agent_fini(agents, agents->by_job.at[i]);
	}
	agents->by_job.n = 0;
	arena_reset(&agents->memory);
}

void agents_destroy(struct agents *agents)
{
	if (!agents)
		return;
	agents_clear(agents);
	for (uint32_t i = 0; i < FITS && !agents->borrowed; i++)
		free(agents->lessons->fits[i].samples);
	if (!agents->borrowed)
		free(agents->lessons);
	vec_fini(&agents->by_job);
	arena_fini(&agents->memory);
	free(agents);
}

/* ---- finding */

static struct agent *agent_of(const struct agents *agents, uint32_t job)
{
	return job < agents->by_job.n ? agents->by_job.at[job] : NULL;
}

static struct agent *agent_need(struct agents *agents, uint32_t job)
{
	struct agent *agent = agent_of(agents, job);

	if (agent)
		return agent;
	agent = arena_new(&agents->memory, struct agent);
	agent->limits = arena_array(&agents->memory, struct batch_limits, agents->ntypes);
	agent->experiences = arena_array(&agents->memory, struct experience, agents->nexperiences);
	agent->version = 1;
	vec_grow_zero(&agents->by_job, (size_t)job + 1);
	agents->by_job.at[job] = agent;
	return agent;
}

static struct experience *experience_of(const struct agents *agents, struct agent *agent, uint32_t type)
{
	return &agent->experiences[agents->options.merged ? 0 : type];
}

/* ---- learning */

void agents_limit(struct agents *agents, uint32_t job, uint32_t type, struct batch_limits limits)
{
	struct agent *agent = agent_need(agents, job);

	if (!agent->forgotten && memcmp(&agent->limits[type], &limits, sizeof(limits)) == 0)
		return;
	agent->forgotten = false;
	agent->limits[type] = limits;
	agent->version++;
}

const struct batch_limits *agents_limits(const struct agents *agents, uint32_t job, uint32_t type)
{
	const struct agent *agent = agent_of(agents, job);

	return agent && !agent->forgotten ? &agent->limits[type] : NULL;
}

static bool sample_is_known(const struct experience *e, const struct goodput_sample *sample)
{
	for (size_t i = 0; i < e->samples.n; i++) {
		const struct goodput_sample *s = &e->samples.at[i];

		if (s->atomic == sample->atomic && s->replicas == sample->replicas &&
			s->nodes == sample->nodes)
			return true;
	}
	return false;
}

bool agents_observe(struct agents *agents, uint32_t job, uint32_t type,
	const struct goodput_sample *sample)
{
	struct agent *agent = agent_need(agents, job);
	struct experience *e = experience_of(agents, agent, type);

	if (sample_is_known(e, sample))
		return false;
	vec_push(&e->samples, *sample);
	e->most = sample->replicas > e->most ? (uint32_t)sample->replicas : e->most;
	e->knowledge = KNOWS_SAMPLES;
	agent->version++;
	return true;
}

void agents_put(struct agents *agents, uint32_t job, const struct agents *from, uint32_t other)
{
	assert(agents->borrowed);
	vec_grow_zero(&agents->by_job, (size_t)job + 1);
	agents->by_job.at[job] = agent_of(from, other);
}

void agents_take(struct agents *agents, uint32_t job, const struct agents *from, uint32_t other)
{
	const struct agent *known = agent_of(from, other);
	struct agent *agent;

	if (!known || known->forgotten)
		return;
	agent = agent_need(agents, job);
	memcpy(agent->limits, known->limits, agents->ntypes * sizeof(*agent->limits));
	agent->gradient = known->gradient;
	for (uint32_t i = 0; i < agents->nexperiences; i++) {
		const struct experience *e = &known->experiences[i];

		agent->experiences[i] = (struct experience){ .params = e->params,
			.knowledge = e->knowledge,
			.most = e->most };
		for (size_t k = 0; k < e->samples.n; k++)
			vec_push(&agent->experiences[i].samples, e->samples.at[k]);
	}
	agent->version++;
}

struct agents_options agents_options_of(const struct agents *agents)
{
	return agents->options;
}

/* The agent stays, so that its version goes on: answers from before are never taken for new ones. */
void agents_forget(struct agents *agents, uint32_t job)
{
	struct agent *agent = agent_of(agents, job);

	if (!agent)
		return;
	for (uint32_t i = 0; i < agents->nexperiences; i++) {
		vec_fini(&agent->experiences[i].samples);
		agent->experiences[i] = (struct experience){ 0 };
	}
	memset(agent->limits, 0, agents->ntypes * sizeof(*agent->limits));
	agent->gradient = (struct gradient){ 0 };
	agent->forgotten = true;
	agent->version++;
}

void agents_feel(struct agents *agents, uint32_t job, struct gradient gradient)
{
	struct agent *agent = agent_need(agents, job);

	if (agent->gradient.sqr == gradient.sqr && agent->gradient.var == gradient.var)
		return;
	agent->gradient = gradient;
	agent->version++;
}

/* ---- knowing */

struct gradient agents_gradient(const struct agents *agents, uint32_t job)
{
	const struct agent *agent = agent_of(agents, job);

	return agent ? agent->gradient : (struct gradient){ 0 };
}

uint32_t agents_most(const struct agents *agents, uint32_t job, uint32_t type)
{
	struct agent *agent = agent_of(agents, job);

	return agent ? experience_of(agents, agent, type)->most : 0;
}

static uint64_t mixed(uint64_t h, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	h = (h ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

/* Where the fit to these measurements is kept, if any is. */
static struct fitted *fitted_place(struct agents *agents, const struct goodput_sample *s, uint32_t n)
{
	uint64_t h = n;

	for (uint32_t i = 0; i < n; i++)
		h = mixed(mixed(mixed(mixed(h, s[i].replicas), s[i].atomic), s[i].step_s), s[i].nodes);
	return &agents->lessons->fits[h % FITS];
}

static bool same_samples(const struct goodput_sample *a, const struct goodput_sample *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (a[i].nodes != b[i].nodes || a[i].replicas != b[i].replicas ||
			a[i].atomic != b[i].atomic || a[i].step_s != b[i].step_s ||
			a[i].sync_s != b[i].sync_s)
			return false;
	}
	return true;
}

static void fitted_make(const struct agents *agents, const struct goodput_sample *samples,
	uint32_t n, struct fitted *out)
{
	struct goodput_fit_options options = {
		.tolerance = agents->options.fit_tolerance,
		.proportional = agents->options.proportional,
	};
	struct goodput_fit fit = { 0 };

	out->failed = goodput_fit(samples, n, &options, &fit, NULL) != 0;
	out->params = fit.params;
}

static void fitted_keep(struct fitted *f, const struct goodput_sample *samples, uint32_t n)
{
	if (f->cap < n) {
		f->cap = n;
		f->samples = mem_resize(f->samples, n * sizeof(*samples));
	}
	memcpy(f->samples, samples, n * sizeof(*samples));
	f->n = n;
}

/* The fit to these measurements; it holds until the next is asked for. */
static const struct fitted *fitted_to(struct agents *agents, const struct goodput_sample *samples,
	uint32_t n, struct fitted *large)
{
	struct fitted *f = fitted_place(agents, samples, n);

	if (n > FIT_SAMPLES) {
		fitted_make(agents, samples, n, large);
		return large;
	}
	if (f->n != n || !same_samples(f->samples, samples, n)) {
		fitted_make(agents, samples, n, f);
		fitted_keep(f, samples, n);
	}
	return f;
}

/* Lazily, behind the constant pointer: many measurements come between two questions. */
static const struct goodput_params *fit_of(const struct agents *agents, struct agent *agent,
	uint32_t type)
{
	struct experience *e = experience_of(agents, agent, type);

	if (e->knowledge == KNOWS_SAMPLES) {
		struct fitted large;
		const struct fitted *f = fitted_to((struct agents *)agents, e->samples.at,
			(uint32_t)e->samples.n, &large);

		e->knowledge = f->failed ? KNOWS_NO_FIT : KNOWS_FIT;
		if (!f->failed)
			e->params = f->params;
	}
	return e->knowledge == KNOWS_FIT ? &e->params : NULL;
}

const struct goodput_params *agents_fit(const struct agents *agents, uint32_t job, uint32_t type)
{
	struct agent *agent = agent_of(agents, job);

	return agent ? fit_of(agents, agent, type) : NULL;
}

uint32_t agents_version(const struct agents *agents, uint32_t job)
{
	const struct agent *agent = agent_of(agents, job);

	return agent ? agent->version : 0;
}

/* ---- answering */

static bool question_equal(const struct question *a, const struct question *b)
{
	return a->type == b->type && a->replicas == b->replicas && a->nodes == b->nodes &&
		a->cap == b->cap && a->fixed == b->fixed;
}

static uint32_t question_hash(const struct question *q)
{
	uint64_t h = mixed(mixed(q->type, q->replicas), q->nodes);

	return (uint32_t)mixed(mixed(h, q->cap), q->fixed);
}

/* The place of the question's answer, or the free one where it belongs. */
static struct answer *answer_place(const struct agent *agent, const struct question *q)
{
	uint32_t mask = agent->answers_cap - 1;

	for (uint32_t i = question_hash(q) & mask;; i = (i + 1) & mask) {
		struct answer *a = &agent->answers[i];

		if (a->version != agent->version || question_equal(&a->question, q))
			return a;
	}
}

static void answers_widen(struct agent *agent)
{
	struct answer *old = agent->answers;
	uint32_t n = agent->answers_cap;

	agent->answers_cap = n ? 2 * n : 32;
	agent->answers = mem_alloc(mem_array_size(agent->answers_cap, sizeof(*agent->answers)));
	for (uint32_t i = 0; i < n; i++)
		if (old[i].version == agent->version)
			*answer_place(agent, &old[i].question) = old[i];
	free(old);
}

static bool same_list(const struct listed *l, const struct batch_limits *limits, double replicas,
	double cap)
{
	return l->known && l->replicas == replicas && l->cap == cap &&
		l->limits.initial == limits->initial && l->limits.max == limits->max &&
		l->limits.min_local == limits->min_local &&
		l->limits.max_local == limits->max_local && l->limits.unit == limits->unit;
}

/* NULL: there are none. */
static const struct goodput_batches *batches_for(struct agents *agents,
	const struct batch_limits *limits, double replicas, double cap)
{
	uint64_t h = mixed(mixed(mixed(0, replicas), cap), limits->max_local);
	struct listed *l =
		&agents->lessons->lists[mixed(mixed(h, limits->initial), limits->min_local) % LISTS];

	if (!same_list(l, limits, replicas, cap)) {
		l->known = true;
		l->limits = *limits;
		l->replicas = replicas;
		l->cap = cap;
		l->possible = goodput_list(limits, replicas, cap, 0, &l->batches);
	}
	return l->possible ? &l->batches : NULL;
}

static bool find_best(struct agents *agents, struct agent *agent,
	const struct goodput_params *params, const struct question *q, struct goodput_choice *out)
{
	const struct batch_limits *limits = &agent->limits[q->type];
	struct goodput_shape shape = { q->nodes, q->replicas };
	const struct goodput_batches *batches;

	if (q->fixed != 0)
		return goodput_best(params, agent->gradient, limits, shape, q->cap, q->fixed, out);
	batches = batches_for(agents, limits, q->replicas, q->cap);
	if (batches)
		goodput_choose(params, agent->gradient, limits, shape, batches, out);
	return batches;
}

static void answer_find(const struct agents *agents, struct agent *agent, struct answer *a)
{
	const struct question *q = &a->question;
	const struct goodput_params *params = fit_of(agents, agent, q->type);

	a->choice = (struct goodput_choice){ 0 };
	a->possible = params && find_best((struct agents *)agents, agent, params, q, &a->choice);
}

bool agents_goodput(const struct agents *agents, uint32_t job, uint32_t type,
	struct goodput_shape shape, double cap, double fixed, struct goodput_choice *out)
{
	struct agent *agent = agent_of(agents, job);
	struct question q = { type, shape.nodes, shape.replicas, cap, fixed };
	struct answer *a;

	*out = (struct goodput_choice){ 0 };
	if (!agent)
		return false;
	if (agent->answers_version != agent->version) {
		agent->answers_version = agent->version;
		agent->answers_n = 0;
	}
	if (4 * (agent->answers_n + 1) > 3 * agent->answers_cap)
		answers_widen(agent);
	a = answer_place(agent, &q);
	if (a->version != agent->version) {
		a->question = q;
		answer_find(agents, agent, a);
		a->version = agent->version;
		agent->answers_n++;
	}
	*out = a->choice;
	return a->possible;
}
