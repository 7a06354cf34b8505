/*
 * Shockwave: plans some rounds ahead with what jobs will need when they change
 * their batch size, so that everybody's progress grows by as large a factor as
 * can be, the longest job is not left for last, and nobody ends much later than
 * with an equal part of the cluster.
 *
 * Every few rounds, and whenever a job comes or goes, the window program
 * (solver/market.h) says who runs in which of the coming rounds; devices that
 * it leaves go to whoever has most to do.  The fair end of each job is first a
 * condition; if not all can be kept, jobs that would be late count for more.
 *
 * compat=shockwave gives turns like the published simulator: a round ends with
 * its slowest turn, durations are whole seconds, and what was measured replaces
 * what was profiled where they are far apart.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "policy/elastic/shockwave_predict.h"
#include "policy/kit.h"
#include "solver/market.h"

enum { WINDOW_MAX = 200 };
enum { PUBLISHED_NONE, PUBLISHED_SHOCKWAVE };
static const char *const published_names[] = { "none", "shockwave", NULL };

/* Jobs that do not say how many epochs they have are planned in so many. */
#define EPOCHS_ASSUMED 100
/* Measured and profiled may differ by this part before the profile is scaled. */
#define TRUSTED 0.4
/* Of a late job: beyond this others would drown in rounding, which is what the published program lets happen. */
#define WEIGHT_MOST 1e6
#define WEIGHT_PUBLISHED 1e100
/* Jobs times rounds up to which the integer solver is asked. */
enum { EXACT_MAX = 24 };

struct shockwave {
	/* options */
	double round_s;
	int window, resolve_rounds;
	double k, lambda, rho_max, momentum, last_power;
	char bases_text[OPTION_TEXT_MAX];
	bool exact;
	int compat;

	double bases[MARKET_BASES_MAX];
	uint32_t nbases;

	double round;         /* number of the present one */
	double solved;        /* in which the window begins; NAN: none */
	uint32_t since;       /* rounds since it was last solved for its own sake */
	bool stale, estimate; /* the window must be solved, fair ends estimated anew */
	bool in_round;        /* published: turns are going on */
	double end_s;         /* until then */
	uint32_t rounds;      /* published: ended so far */
	VEC(uint32_t) chosen; /* jobs of the window, round by round */
	VEC(uint32_t) first;  /* where those of a round begin; one more at the end */
	VEC(double) slowness; /* of jobs that ended: completion over profiled time */
	uint32_t arrived;
	double gpus; /* of the cluster, at the last decision */
	uint32_t solves, relaxed;
	double worst_gap;
};

static const struct option options[] = {
	OPT_DOUBLE(struct shockwave, round_s, 120, 1, 1e6, "jobs change places at multiples of this"),
	OPT_INT(struct shockwave, window, 20, 1, WINDOW_MAX, "rounds planned ahead"),
	OPT_INT(struct shockwave, resolve_rounds, 8, 1, WINDOW_MAX,
		"plan the window anew after this many rounds even if nothing happened"),
	OPT_DOUBLE(struct shockwave, k, 1e-3, 0, 1e6, "what a second of the last job's end counts for"),
	OPT_DOUBLE(struct shockwave, lambda, 12, 0, 100, "power of a late job's lateness in its weight"),
	OPT_DOUBLE(struct shockwave, rho_max, 1, 1e-3, 1e3,
		"lateness that is fair: end over that with an equal part"),
	OPT_DOUBLE(struct shockwave, momentum, 0.9, 0, 1,
		"fair ends: weight of the mean over time, against the last estimate"),
	OPT_DOUBLE(struct shockwave, last_power, 100, 0, 1000,
		"lambda for late jobs that end within a round"),
	{ .name = "bases",
		.kind = OPTION_TEXT,
		.offset = offsetof(struct shockwave, bases_text),
		.text = "0/0.2/0.4/0.6/0.8/1",
		.help = "progress between which its logarithm is taken as straight" },
	OPT_BOOL(struct shockwave, exact, 0,
		"ask the integer solver while jobs times window are 24 at most"),
	OPT_CHOICE(struct shockwave, compat, PUBLISHED_NONE, published_names,
		"shockwave: the published simulator's rounds and durations"),
	{ 0 },
};

/* What it remembers of a job. */
struct memory {
	bool known, gone;
	double submit_s;
	uint32_t epochs, regimes;    /* those that its profile has */
	uint8_t regime[REGIMES_MAX]; /* by those of the adaptation: 1 + its number here, 0 not there */
	double epoch_s[REGIMES_MAX]; /* as profiled */
	double scale;                /* of these */
	double profiled_s;           /* all of it, alone */
	double samples_per_s;        /* published: in its present turn */
	bool has_turn;
	double measured;    /* published: samples, as if it had always run as it was seen to */
	double measured_at; /* round of the last */
	struct estimates fair;
};

static struct memory *memory_of(const struct round *round, uint32_t job)
{
	return &((struct memory *)round->job_state)[job];
}

/* ---- options */

static int read_bases(struct shockwave *s, struct err *err)
{
	struct slice rest = slice_of(s->bases_text);

	while (rest.n > 0 && s->nbases < MARKET_BASES_MAX) {
		struct slice one = slice_cut(&rest, '/');
		double x;

		if (!slice_double(one, &x) || x > 1 ||
			(s->nbases > 0 ? x <= s->bases[s->nbases - 1] : x != 0))
			return err_set(err, ERR_USAGE,
				"bases=%s: '%.*s' does not go on; write numbers that grow from 0 to 1, "
				"such as 0/0.5/1",
				s->bases_text, (int)one.n, one.at);
		s->bases[s->nbases++] = x;
	}
	if (s->nbases < 2 || s->bases[s->nbases - 1] != 1 || rest.n > 0)
		return err_set(err, ERR_USAGE,
			"bases=%s must go from 0 to 1 in %d numbers at most, such as 0/0.5/1",
			s->bases_text, MARKET_BASES_MAX);
	return 0;
}

static int shockwave_init(void *self, struct err *err)
{
	struct shockwave *s = self;

	s->solved = NAN;
	return read_bases(s, err);
}

static void shockwave_fini(void *self)
{
	struct shockwave *s = self;

	vec_fini(&s->chosen);
	vec_fini(&s->first);
	vec_fini(&s->slowness);
}

static bool published(const struct shockwave *s)
{
	return s->compat == PUBLISHED_SHOCKWAVE;
}

/* ---- what is known of a job */

static uint32_t profile_regime(const struct job *job, uint32_t epoch)
{
	return job->adapts ? adaptation_profiled(job->adapts, epoch) : 0;
}

/* The type it is fastest on; -1: it can run nowhere. */
static int best_type(const struct round *round, const struct job *job)
{
	uint32_t types[TYPES_MAX];

	return kit_types(round, job, types) > 0 ? (int)types[0] : -1;
}

static void add_regime(struct memory *m, uint32_t regime, double epoch_s)
{
	m->regime[regime] = (uint8_t)++m->regimes;
	m->epoch_s[m->regimes - 1] = epoch_s;
}

/* The regimes that occur in its profile, in order of their batches. */
static void learn_regimes(const struct shockwave *s, const struct round *round,
	const struct job *job, int type, struct memory *m)
{
	bool occurs[REGIMES_MAX] = { false };

	m->epochs = job->adapts->epochs;
	m->profiled_s = adaptation_run_s(round->belief, job, (uint32_t)type);
	for (uint32_t e = 0; e < m->epochs; e++)
		occurs[adaptation_profiled(job->adapts, e)] = true;
	for (uint32_t i = 0; i < job->adapts->nregimes; i++) {
		double epoch_s = adaptation_epoch_s(round->belief, job, (uint32_t)type, i);

		if (occurs[i])
			add_regime(m, i, published(s) ? fmax(1, rint(epoch_s)) : epoch_s);
	}
}

static void learn_job(const struct shockwave *s, const struct round *round, const struct job *job)
{
	struct memory *m = memory_of(round, job->id);
	int type = best_type(round, job);

	*m = (struct memory){ .known = true, .scale = 1 };
	m->submit_s = published(s) ? round->now_s : job->arrival_s;
	if (job->adapts && type >= 0 && adaptation_epoch_s(round->belief, job, (uint32_t)type, 0) > 0) {
		learn_regimes(s, round, job, type, m);
		return;
	}
	m->epochs = job->epochs >= 1 ? (uint32_t)fmin(job->epochs, 1e6) : EPOCHS_ASSUMED;
	m->profiled_s = fmax(1e-3, job_run_s(job));
	add_regime(m, 0, m->profiled_s / m->epochs);
}

static bool follows_profile(const struct memory *m, const struct job *job)
{
	return job->adapts && m->epochs == job->adapts->epochs;
}

/* Epochs behind it; whole ones where it says what an epoch is. */
static double ended(const struct round *round, const struct job *job, const struct memory *m)
{
	double done = job_done(job, round->now_s);

	if (follows_profile(m, job))
		return fmin(m->epochs, adaptation_ended(job->adapts, job->regime, done));
	return fmin(m->epochs, fmax(0, done / job->work_est * m->epochs));
}

/* ---- measured against profiled */

/* Samples that the profile would have made in that time, at the end as in its last epoch. */
static double profiled_samples(const struct job *job, const struct memory *m, double range_s)
{
	double sum_s = 0, samples = 0, epoch_s = 0;

	for (uint32_t e = 0; e < m->epochs; e++) {
		epoch_s = m->epoch_s[m->regime[profile_regime(job, e)] - 1];
		if (sum_s + epoch_s > range_s)
			break;
		sum_s += epoch_s;
		samples += job->adapts->samples;
	}
	if (range_s > sum_s)
		samples += job->adapts->samples * (range_s - sum_s) / (epoch_s * m->scale);
	return samples;
}

static void calibrate(const struct shockwave *s, const struct job *job, struct memory *m)
{
	double samples;

	if (!published(s) || !follows_profile(m, job) || !(m->measured > 0))
		return;
	samples = profiled_samples(job, m, s->round_s * m->measured_at);
	if (samples > 0 && fabs(m->measured - samples) / samples > TRUSTED)
		m->scale = samples / m->measured;
}

static struct forecast forecast_of(const struct round *round, const struct job *job,
	const struct memory *m)
{
	struct forecast f = {
		.regimes = m->regimes,
		.epochs = m->epochs,
		.ended = ended(round, job, m),
	};

	for (uint32_t i = 0; i < m->regimes; i++)
		f.epoch_s[i] = m->epoch_s[i] * m->scale;
	for (uint32_t e = 0; e <= f.ended && e < m->epochs; e++)
		f.seen[m->regime[follows_profile(m, job) ? profile_regime(job, e) : 0] - 1]++;
	return f;
}

/* Seconds of the epochs behind it. */
static double elapsed_s(const struct round *round, const struct job *job, const struct memory *m,
	const struct forecast *f)
{
	double sum_s = 0;

	(void)round;
	if (!follows_profile(m, job))
		return f->ended * f->epoch_s[0];
	for (uint32_t i = 0; i < f->regimes; i++)
		sum_s += f->seen[i] * f->epoch_s[i];
	if (f->ended < m->epochs)
		sum_s -= f->epoch_s[m->regime[profile_regime(job, (uint32_t)f->ended)] - 1];
	return sum_s;
}

/* ---- the window */

struct row {
	uint32_t job;
	double left_s, target_s;
};

struct window {
	struct market market;
	struct market_job *job;
	struct row *row;
	double *weight;
	double share;
	double now_s, end_s; /* of the window */
};

static double width_of(const struct round *round, const struct job *job, int type)
{
	(void)round;
	return job_is_fraction(job) ? job_width(job) : job_gpus_on(job, (uint32_t)type);
}

static double devices_up(const struct round *round, const struct plan *plan)
{
	double up = 0;

	for (uint32_t type = 0; type < round->cluster->ntypes; type++)
		up += plan->space.types[type].up;
	return up;
}

static void add_row(struct shockwave *s, const struct round *round, const struct job *job, int type,
	struct window *w)
{
	struct memory *m = memory_of(round, job->id);
	struct forecast f;
	double mean_s, left_s;

	if (s->estimate) {
		calibrate(s, job, m);
		calibrate(s, job, m);
		f = forecast_of(round, job, m);
		estimates_add(&m->fair, s->round,
			m->submit_s + (elapsed_s(round, job, m, &f) + forecast_left_s(&f)) / w->share);
	}
	calibrate(s, job, m);
	f = forecast_of(round, job, m);
	mean_s = forecast_mean_s(&f);
	left_s = forecast_left_s(&f);
	w->row[w->market.jobs] = (struct row){
		.job = job->id,
		.left_s = left_s,
		.target_s = estimates_target_s(&m->fair, s->round, s->momentum),
	};
	w->job[w->market.jobs++] = (struct market_job){
		.gpus = width_of(round, job, type),
		.progress = f.ended / m->epochs,
		.gain = s->round_s / (mean_s * m->epochs),
		.left_s = left_s,
		.most_s = fmax(0, m->epochs - f.ended) * mean_s,
		.weight = 1,
	};
}

/* Those that some type has enough devices for. */
static bool can_run(const struct round *round, const struct plan *plan, const struct job *job, int type)
{
	return job_active(job) && type >= 0 && memory_of(round, job->id)->known &&
		width_of(round, job, type) <= plan->space.types[type].up;
}

static void open_window(struct shockwave *s, const struct round *round, const struct plan *plan,
	struct window *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < round->nactive; i++)
		n += job_active(&round->jobs[round->active[i]]);
	*w = (struct window){
		.market = { .rounds = (uint32_t)s->window,
			.gpus = devices_up(round, plan),
			.round_s = s->round_s,
			.k = s->k,
			.bases = s->bases,
			.nbases = s->nbases },
		.job = arena_array(round->scratch, struct market_job, n),
		.row = arena_array(round->scratch, struct row, n),
		.weight = arena_array(round->scratch, double, n),
		.now_s = published(s) ? s->round * s->round_s : round->now_s,
	};
	w->end_s = w->now_s + s->window * s->round_s;
	w->share = equal_share(w->market.gpus, n);
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		int type = job_active(job) ? best_type(round, job) : -1;

		if (can_run(round, plan, job, type))
			add_row(s, round, job, type, w);
	}
	w->market.job = w->job;
	s->estimate = false;
}

/* Rounds that each must have to end when that is fair; false: it is too late for somebody. */
static bool guard_ends(const struct shockwave *s, struct window *w)
{
	for (uint32_t i = 0; i < w->market.jobs; i++) {
		double room_s = w->share * (s->rho_max * w->row[i].target_s - w->end_s);
		double least = ceil((w->row[i].left_s - room_s) / s->round_s - 1e-9);

		if (room_s < 0 || least > s->window ||
			w->row[i].left_s - w->job[i].most_s > room_s + 1e-6)
			return false;
		w->job[i].least = least > 0 ? (uint32_t)least : 0;
	}
	return true;
}

static void weigh(const struct shockwave *s, struct window *w)
{
	const struct urgency urgency = { s->rho_max, s->lambda, s->last_power,
		published(s) ? WEIGHT_PUBLISHED : WEIGHT_MOST };

	for (uint32_t i = 0; i < w->market.jobs; i++) {
		double left_s = w->row[i].left_s;
		double rho = (w->now_s + left_s / w->share) / w->row[i].target_s;

		w->job[i].least = 0;
		w->job[i].weight = urgency_weight(&urgency, rho, left_s < s->round_s);
	}
}

static bool solve(const struct shockwave *s, const struct round *round, const struct window *w,
	struct market_answer *out)
{
	bool exact = s->exact && w->market.jobs * w->market.rounds <= EXACT_MAX;

	return exact ? market_exact(&w->market, round->scratch, out)
		     : market_solve(&w->market, round->scratch, out);
}

/* ---- which jobs in which rounds */

struct longest {
	double left_s;
	uint32_t row;
};

static int by_length(const void *a, const void *b)
{
	const struct longest *x = a, *y = b;

	if (x->left_s != y->left_s)
		return x->left_s > y->left_s ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static struct longest *by_left(const struct window *w, struct arena *arena)
{
	struct longest *list = arena_array(arena, struct longest, w->market.jobs);

	for (uint32_t i = 0; i < w->market.jobs; i++)
		list[i] = (struct longest){ w->row[i].left_s, i };
	if (w->market.jobs > 0)
		qsort(list, w->market.jobs, sizeof(*list), by_length);
	return list;
}

/* Devices that the program leaves go to whoever has most to do. */
static void keep_round(struct shockwave *s, const struct window *w, const struct longest *longest,
	const bool *in)
{
	double free = w->market.gpus;

	for (uint32_t i = 0; i < w->market.jobs; i++) {
		if (!in[i])
			continue;
		vec_push(&s->chosen, w->row[i].job);
		free -= w->job[i].gpus;
	}
	for (uint32_t i = 0; i < w->market.jobs && free > 0; i++) {
		uint32_t row = longest[i].row;

		if (in[row] || w->job[row].gpus > free)
			continue;
		vec_push(&s->chosen, w->row[row].job);
		free -= w->job[row].gpus;
	}
	vec_push(&s->first, (uint32_t)s->chosen.n);
}

static void keep_window(struct shockwave *s, const struct round *round, const struct window *w,
	const struct market_answer *answer)
{
	uint32_t n = w->market.jobs;
	bool *in = arena_array(round->scratch, bool, (size_t)n * w->market.rounds);
	const struct longest *longest = by_left(w, round->scratch);

	for (uint32_t i = 0; i < n; i++)
		w->weight[i] = w->job[i].weight;
	market_place(&w->market, answer->count, w->weight, round->scratch, in);
	s->chosen.n = s->first.n = 0;
	vec_push(&s->first, 0);
	for (uint32_t t = 0; t < w->market.rounds; t++)
		keep_round(s, w, longest, &in[(size_t)t * n]);
	s->solved = s->round;
}

static int plan_window(struct shockwave *s, const struct round *round, const struct plan *plan,
	struct err *err)
{
	struct market_answer answer;
	struct window w;

	open_window(s, round, plan, &w);
	if (!guard_ends(s, &w) || !solve(s, round, &w, &answer)) {
		s->relaxed++;
		weigh(s, &w);
		if (!solve(s, round, &w, &answer))
			return err_set(err, ERR_BROKEN, "no plan was found for the coming rounds");
	}
	keep_window(s, round, &w, &answer);
	s->stale = false;
	s->solves++;
	s->worst_gap = fmax(s->worst_gap,
		(answer.bound - answer.value) / fmax(1e-9, fabs(answer.value)));
	return 0;
}

/* ---- carrying it out */

static bool wants(const struct shockwave *s, uint32_t *from, uint32_t *to)
{
	double at = s->round - s->solved;

	if (!(at >= 0 && at < s->window))
		return false;
	*from = s->first.at[(size_t)at];
	*to = s->first.at[(size_t)at + 1];
	return true;
}

/* Large gangs first, those that run before those that do not; then by number. */
static int by_ease(const struct round *round, uint32_t a, uint32_t b)
{
	const struct job *x = &round->jobs[a], *y = &round->jobs[b];

	if (!x->grant != !y->grant)
		return x->grant ? -1 : 1;
	if (x->gpus != y->gpus)
		return x->gpus > y->gpus ? -1 : 1;
	return a < b ? -1 : 1;
}

static void sort_by_ease(const struct round *round, uint32_t *ids, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t id = ids[i], at = i;

		for (; at > 0 && by_ease(round, id, ids[at - 1]) < 0; at--)
			ids[at] = ids[at - 1];
		ids[at] = id;
	}
}

/*
 * Whole steps of a round, at what is believed; nothing if nothing is left of a job that knows its epochs.
 * Of others the belief may have proved too short, and turns must not shrink with what is left; what their
 * start may cost comes on top.
 */
static struct want turn_for(const struct shockwave *s, const struct round *round,
	const struct job *job, int type, double speed)
{
	double left = job->work_est - job_done(job, round->now_s);
	double whole = floor(speed * s->round_s), steps = fmin(whole, fmax(0, left));
	double length_s = steps / speed;

	if (!job->adapts) {
		steps = left > 0 ? fmin(fmax(1, whole), left) : fmax(1, whole);
		length_s = steps < 1 ? fmax(1, steps / speed) : steps / speed;
		length_s += job->attempts > 0 ? job->resume_cost_s : job->start_cost_s;
	}
	return (struct want){
		.type = type,
		.until_s = round->now_s + length_s,
		.steps = steps,
	};
}

static void run_turn(struct shockwave *s, const struct round *round, struct plan *plan,
	const struct job *job)
{
	struct memory *m = memory_of(round, job->id);
	int type = best_type(round, job);
	struct want want;
	double speed;

	if (type < 0)
		return;
	speed = rate_if(round->belief, job, (uint32_t)type, job_gpus_on(job, (uint32_t)type));
	want = turn_for(s, round, job, type, speed);
	if (!plan_run(plan, job, want))
		return;
	m->has_turn = true;
	m->samples_per_s = 0;
	if (job->adapts && want.steps > 0)
		m->samples_per_s = job->adapts->regime[job->regime].batch * speed;
	s->end_s = s->in_round ? fmax(s->end_s, want.until_s) : want.until_s;
	s->in_round = true;
}

static void say_why(const struct round *round, struct plan *plan)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job) && !plan_grant(plan, job->id))
			plan_why(plan, job->id, (struct reason){ .why = WHY_TURN, .other = JOB_NONE });
	}
}

static void give_turns(struct shockwave *s, const struct round *round, struct plan *plan,
	uint32_t *ids, uint32_t n)
{
	plan_clear(plan, round->jobs, round->active, round->nactive);
	for (uint32_t i = 0; i < n; i++)
		run_turn(s, round, plan, &round->jobs[ids[i]]);
	if (s->in_round)
		plan_wake(plan, s->end_s);
}

/* Who waits though devices are left goes on, the longest wait first; fragments may not suit the plan. */
static void fill_gaps(const struct round *round, struct plan *plan)
{
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job) && !plan_grant(plan, job->id) && !kit_run(round, plan, job))
			kit_no_room(round, plan, job);
	}
}

/* Whether another round could have others: somebody runs, and somebody waits who can. */
static bool somebody_changes(const struct round *round, const struct plan *plan)
{
	bool runs = false, waits = false;

	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];
		bool has = job_active(job) && plan_grant(plan, job->id);

		runs |= has;
		waits |= job_active(job) && !has && can_run(round, plan, job, best_type(round, job));
	}
	return runs && waits;
}

static void give_rounds(const struct shockwave *s, const struct round *round, struct plan *plan,
	const uint32_t *ids, uint32_t n)
{
	bool *chosen = arena_array(round->scratch, bool, round->njobs);

	for (uint32_t i = 0; i < n; i++)
		chosen[ids[i]] = true;
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job) && !chosen[job->id] && plan_grant(plan, job->id)) {
			plan_stop(plan, job);
			plan_why(plan, job->id, (struct reason){ .why = WHY_TURN, .other = JOB_NONE });
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!plan_grant(plan, ids[i]) && !kit_run(round, plan, &round->jobs[ids[i]]))
			kit_no_room(round, plan, &round->jobs[ids[i]]);
	}
	if (kit_any_free(round, plan))
		fill_gaps(round, plan);
	say_why(round, plan);
	if (somebody_changes(round, plan))
		plan_wake(plan, round->now_s + s->round_s);
}

/* ---- rounds */

static void note_end(struct shockwave *s, const struct job *job, struct memory *m)
{
	if (!m->known || m->gone || !job_ended(job))
		return;
	m->gone = true;
	s->stale = s->estimate = true;
	if (job->state == JOB_FINISHED)
		vec_push(&s->slowness, (job->finish_s - job->arrival_s) / m->profiled_s);
}

/* Who came, who went. */
static void see_changes(struct shockwave *s, const struct round *round)
{
	for (uint32_t i = 0; i < round->nchanged; i++) {
		const struct job *job = &round->jobs[round->changed[i]];
		struct memory *m = memory_of(round, job->id);

		note_end(s, job, m);
		if (m->known || !job_active(job))
			continue;
		learn_job(s, round, job);
		s->arrived++;
		s->stale = s->estimate = true;
	}
	s->stale |= round->capacity_changed;
}

/* Published: what the turns that have ended showed. */
static void end_turns(struct shockwave *s, const struct round *round)
{
	s->in_round = false;
	s->rounds++;
	for (uint32_t i = 0; i < round->njobs; i++) {
		struct memory *m = memory_of(round, i);

		if (!m->has_turn)
			continue;
		m->has_turn = false;
		m->measured += m->samples_per_s * s->round_s * (s->rounds - m->measured_at);
		m->measured_at = s->rounds;
	}
}

/* Another round begins. */
static void next_round(struct shockwave *s, const struct round *round)
{
	double before = s->round;

	if (!published(s)) {
		s->round = floor(round->now_s / s->round_s + 1e-6);
		s->since += (uint32_t)fmin(1e6, s->round - before);
	} else if (s->in_round) {
		end_turns(s, round);
		s->round++;
		s->since++;
	}
	if (s->since >= (uint32_t)s->resolve_rounds) {
		s->since = 0;
		s->stale = true;
	}
}

/* The jobs of this round that can still run, in the order in which devices are found for them. */
static uint32_t take_chosen(const struct shockwave *s, const struct round *round, uint32_t *ids)
{
	uint32_t from = 0, to = 0, n = 0;

	wants(s, &from, &to);
	for (uint32_t i = from; i < to; i++) {
		if (job_active(&round->jobs[s->chosen.at[i]]))
			ids[n++] = s->chosen.at[i];
	}
	sort_by_ease(round, ids, n);
	return n;
}

static int shockwave_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct shockwave *s = self;
	uint32_t *ids = arena_array(round->scratch, uint32_t, round->nactive + 1), n, from, to;

	see_changes(s, round);
	s->gpus = round->cluster->devices;
	if (s->in_round && round->now_s < s->end_s) {
		say_why(round, plan);
		plan_wake(plan, s->end_s);
		return 0;
	}
	next_round(s, round);
	if ((s->stale || !wants(s, &from, &to)) && plan_window(s, round, plan, err) < 0)
		return err->code;
	n = take_chosen(s, round, ids);
	if (published(s))
		give_turns(s, round, plan, ids, n);
	else
		give_rounds(s, round, plan, ids, n);
	say_why(round, plan);
	return 0;
}

static double shockwave_period_s(const void *self)
{
	const struct shockwave *s = self;

	return published(s) ? 0 : s->round_s;
}

static enum compat shockwave_compat(const void *self)
{
	return published(self) ? COMPAT_SHOCKWAVE : COMPAT_NONE;
}

/* Finish-time fairness as published: against an equal part of the cluster for all jobs there ever were. */
static uint32_t shockwave_figures(const void *self, struct figure out[FIGURES_MAX])
{
	const struct shockwave *s = self;
	double crowd = fmax(1, s->arrived / fmax(1, s->gpus)), worst = 0, unfair = 0;

	for (size_t i = 0; i < s->slowness.n; i++) {
		worst = fmax(worst, s->slowness.at[i] / crowd);
		unfair += s->slowness.at[i] / crowd > 1;
	}
	out[0] = (struct figure){ "windows_planned", s->solves };
	out[1] = (struct figure){ "without_guard", s->relaxed };
	out[2] = (struct figure){ "worst_gap", s->worst_gap };
	if (s->slowness.n == 0)
		return 3;
	out[3] = (struct figure){ "worst_rho", worst };
	out[4] = (struct figure){ "unfair_part", unfair / (double)s->slowness.n };
	return 5;
}

const struct policy policy_shockwave = {
	.name = "shockwave",
	.summary = "plans rounds ahead by predicted batch sizes: progress of all, the last end, fair ends",
	.origin = "Zheng et al., NSDI 2023",
	.family = "elastic",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.options = options,
	.state_size = sizeof(struct shockwave),
	.job_state_size = sizeof(struct memory),
	.init = shockwave_init,
	.fini = shockwave_fini,
	.period_s = shockwave_period_s,
	.compat = shockwave_compat,
	.figures = shockwave_figures,
	.decide = shockwave_decide,
};
