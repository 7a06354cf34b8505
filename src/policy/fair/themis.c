/*
 * Finish-time fairness by auction (Themis).
 *
 * Devices are leased.  When leases end or devices come free, they are offered to
 * the apps that are worst off: those whose time to finish among others is
 * longest against the time with a fair part of the cluster to themselves.  Each
 * bids with what its ratio would be; the product of values decides, and winners
 * pay with a part of what they won.  What is left goes to the others, the worst
 * off first, so that nothing idles that somebody can use.
 *
 * A gang cannot pay with a part of itself: what it owes adds up until it is
 * worth a whole lease, and then it stands back once (rounding=carry).  Leases end
 * at multiples of lease_s (align), or gangs would never find their devices free
 * at once; and early for who would be much worse off at their end (recall,
 * themis_calls.h).
 */
#include "policy/fair/tenant_queues.h"
#include "policy/fair/themis_calls.h"

/* A lease lasts at least so many times what it costs to resume a job. */
#define STAY_COSTS 4

enum rounding { ROUNDING_CARRY, ROUNDING_DOWN };
static const char *const rounding_names[] = { "carry", "down", NULL };
static const char *const app_names[] = { "job", "tenant", NULL };
static const char *const ideal_names[] = { "demand", "apps", NULL };
static const char *const starved_names[] = { "waits", "never", NULL };

struct themis {
	struct app_rules rules;
	double f;
	int rounding;
	bool align;
	double recall;

	struct crowd crowd;
	VEC(double)
	debt; /* by tenant, where tenants are apps: devices it has won and not yet paid with */
	double auctions, proved, won, withheld, recalled;
};

#define RULE(field_, kind_, ...) \
	{ \
		.name = #field_, .kind = kind_, .offset = offsetof(struct themis, rules.field_), \
		__VA_ARGS__ \
	}

static const struct option options[] = {
	RULE(lease_s, OPTION_DOUBLE, .preset = 1200, .min = 1, .max = 1e6,
		.help = "how long winners keep what they won"),
	OPT_DOUBLE(struct themis, f, 0.8, 0, 1, "offers go to the worst-off 1 - f of the apps"),
	RULE(app, OPTION_CHOICE, .preset = APP_JOB, .choices = app_names,
		.help = "who bids: each job for itself, or a tenant for all its jobs"),
	RULE(ideal, OPTION_CHOICE, .preset = IDEAL_DEMAND, .choices = ideal_names,
		.help = "a fair part is alone over how many times the cluster is asked for, or over the apps"),
	RULE(starved, OPTION_CHOICE, .preset = STARVED_WAITS, .choices = starved_names,
		.help = "an app without devices expects to wait for one lease, or never to end"),
	OPT_CHOICE(struct themis, rounding, ROUNDING_CARRY, rounding_names,
		"what a payment leaves of a gang: all until debts are worth it, or what is whole"),
	OPT_BOOL(struct themis, align, 1, "leases end at multiples of lease_s, all at once"),
	OPT_DOUBLE(struct themis, recall, 1.2, 0, 1e9,
		"end a lease early for a job whose finish-time fairness is this many times worse than the holder's; 0: never"),
	RULE(elastic, OPTION_BOOL, .preset = 1, .max = 1,
		.help = "jobs that take a range of devices bid for several sizes"),
	{ .name = "rack_speed",
		.kind = OPTION_DOUBLE,
		.offset = offsetof(struct themis, rules.spread[1]),
		.preset = 0.8,
		.min = 0.01,
		.max = 1,
		.help = "speed across nodes of a rack, where links matter and the model is not known" },
	{ .name = "far_speed",
		.kind = OPTION_DOUBLE,
		.offset = offsetof(struct themis, rules.spread[2]),
		.preset = 0.6,
		.min = 0.01,
		.max = 1,
		.help = "the same across racks" },
	RULE(noise, OPTION_DOUBLE, .preset = 0, .max = 1, .help = "bids are off by up to this part"),
	{ 0 },
};

/* Who has how many devices of which type from this decision. */
struct gift {
	uint32_t job, type, gpus;
};

struct session {
	struct themis *t;
	const struct round *round;
	struct plan *plan;
	struct apps apps;
	uint32_t visible;
	struct gift *gifts;
	uint32_t ngifts;
};

static bool give(struct session *s, const struct job *job, uint32_t type, uint32_t gpus)
{
	if (!plan_run(s->plan, job, (struct want){ .gpus = gpus, .type = (int)type }))
		return false;
	s->gifts[s->ngifts++] = (struct gift){ job->id, type, gpus };
	return true;
}

/* ---- leases */

static void end_leases(const struct session *s)
{
	for (uint32_t i = 0; i < s->apps.n; i++) {
		const struct app *app = &s->apps.at[i];

		for (uint32_t k = 0; k < app->njobs; k++)
			plan_stop(s->plan, &s->round->jobs[s->apps.jobs[app->first + k]]);
	}
}

static void look_at_apps(struct session *s)
{
	apps_gather(&s->apps, &s->t->rules, s->round, s->plan, &s->t->crowd);
	end_leases(s);
}

/* Who is much worse off than others gets what it asks for from them. */
static void recall(struct session *s)
{
	struct app_calls calls;

	if (s->t->recall == 0)
		return;
	apps_call(&s->apps, s->t->recall, &calls);
	if (calls.n == 0)
		return;
	s->t->recalled += calls.ended;
	look_at_apps(s);
	for (uint32_t i = 0; i < calls.n; i++)
		give(s, &s->round->jobs[calls.at[i].job], calls.at[i].type, calls.at[i].gpus);
}

static bool was_called(const struct session *s, const struct app *app)
{
	return app->njobs > 0 && plan_grant(s->plan, s->apps.jobs[app->first]);
}

/* ---- the auction */

/* Those that can use something of what is free, the worst off first. */
static void list_bidders(struct session *s, struct app **who, struct auction_bidder *bidders,
	uint32_t *n)
{
	uint32_t visible = finish_visible(s->t->f, s->apps.n);

	*n = 0;
	for (s->visible = 0; s->visible < s->apps.n && *n < visible; s->visible++) {
		struct app *app = &s->apps.at[s->visible];

		if (was_called(s, app))
			continue;
		app_bid(&s->apps, app);
		if (app->nbids == 0)
			continue;
		who[*n] = app;
		bidders[(*n)++] = (struct auction_bidder){ app->first_bid, app->nbids,
			app_empty_value(&s->apps, app) };
	}
}

static double *debt_of(const struct session *s, const struct app *app)
{
	struct themis *t = s->t;

	if (t->rules.app == APP_JOB)
		return &((struct app_memory *)s->round->job_state + app->number)->debt;
	vec_grow_zero(&t->debt, (size_t)app->number + 1);
	return &t->debt.at[app->number];
}

/* Devices of a bid that are left after the payment. */
static uint32_t after_payment(const struct session *s, const struct app *app, double keeps,
	uint32_t amount)
{
	struct themis *t = s->t;
	uint32_t kept = auction_kept(keeps, amount);
	double *debt = debt_of(s, app);

	t->won += amount;
	if (t->rounding == ROUNDING_CARRY) {
		*debt += (1 - keeps) * amount;
		kept = *debt < amount ? amount : 0;
		if (kept == 0)
			*debt -= amount;
	}
	t->withheld += amount - kept;
	return kept;
}

/* The devices an app has won go to its jobs, the one with most work first, each whole. */
static void split(struct session *s, const struct app *app, uint32_t type, uint32_t gpus)
{
	for (uint32_t i = 0; i < app->njobs && gpus > 0; i++) {
		const struct job *job = &s->round->jobs[s->apps.jobs[app->first + i]];
		uint32_t takes = app->njobs == 1 ? gpus : job_gpus_on(job, type);

		if (app->njobs == 1)
			takes = job_rounded_on(job, type, gpus);
		if (takes > gpus || !job_may_use(job, type) || takes < job_least_on(job, type))
			continue;
		if (give(s, job, type, takes))
			gpus -= takes;
	}
}

static void hold_auction(struct session *s)
{
	struct app **who = arena_array(s->round->scratch, struct app *, s->apps.n);
	struct auction_bidder *bidders = arena_array(s->round->scratch, struct auction_bidder,
		s->apps.n);
	uint32_t capacity[TYPES_MAX] = { 0 }, n;
	struct auction_answer answer;

	list_bidders(s, who, bidders, &n);
	if (n == 0)
		return;
	for (uint32_t type = 0; type < s->round->cluster->ntypes; type++)
		capacity[type] = plan_free(s->plan, type);
	auction_hold(&(struct auction){ s->apps.bids, bidders, n, capacity, s->round->cluster->ntypes },
		s->round->scratch, &answer);
	s->t->auctions++;
	s->t->proved += answer.optimal;
	for (uint32_t i = 0; i < n; i++) {
		const struct auction_bid *bid;

		if (answer.won[i] == AUCTION_NONE)
			continue;
		bid = &s->apps.bids[bidders[i].first + answer.won[i]];
		split(s, who[i], bid->kind, after_payment(s, who[i], answer.keeps[i], bid->amount));
	}
}

/* ---- what is left over */

static void fill_app(struct session *s, const struct app *app)
{
	for (uint32_t i = 0; i < app->njobs; i++) {
		const struct job *job = &s->round->jobs[s->apps.jobs[app->first + i]];
		const struct grant *grant;

		if (plan_grant(s->plan, job->id))
			continue;
		if (kit_run(s->round, s->plan, job) ||
			(s->t->rules.elastic && job->min_gpus < job->gpus &&
				kit_run_on(s->round, s->plan, job, (uint32_t)job->min_gpus))) {
			grant = plan_grant(s->plan, job->id);
			s->gifts[s->ngifts++] = (struct gift){ job->id, grant->type, grant->gpus };
		}
	}
}

/* Those who were not offered anything come first, then those who were; each the worst off first. */
static void fill(struct session *s)
{
	for (uint32_t i = s->visible; i < s->apps.n && kit_any_free(s->round, s->plan); i++)
		fill_app(s, &s->apps.at[i]);
	for (uint32_t i = 0; i < s->visible && kit_any_free(s->round, s->plan); i++)
		fill_app(s, &s->apps.at[i]);
}

/* ---- carrying it out */

static bool stays(const struct round *round, const struct gift *gift)
{
	const struct grant *grant = round->jobs[gift->job].grant;

	return grant && grant->type == gift->type && grant->gpus == gift->gpus;
}

/* Once it is known who runs, those who run already keep their places and the others take what is left. */
static void settle(struct session *s)
{
	for (uint32_t i = 0; i < s->ngifts; i++)
		plan_stop(s->plan, &s->round->jobs[s->gifts[i].job]);
	for (int staying = 1; staying >= 0; staying--) {
		for (uint32_t i = 0; i < s->ngifts; i++) {
			const struct gift *gift = &s->gifts[i];
			const struct job *job = &s->round->jobs[gift->job];

			if (stays(s->round, gift) == staying)
				plan_run(s->plan, job,
					(struct want){ .gpus = gift->gpus, .type = (int)gift->type });
		}
	}
}

/* Not before it ran for some times what it costs to resume it: shorter leases would be eaten by costs. */
static double lease_end_s(const struct themis *t, const struct job *job, double now_s)
{
	double lease_s = t->rules.lease_s;
	double least_s = STAY_COSTS * fmax(job->resume_cost_s, job->resize_cost_s);

	if (!t->align)
		return now_s + fmax(lease_s, least_s);
	return fmax(floor(now_s / lease_s + 1e-9) + 1, ceil((now_s + least_s) / lease_s)) * lease_s;
}

static void write_leases(const struct session *s)
{
	for (uint32_t i = 0; i < s->ngifts; i++) {
		const struct job *job = &s->round->jobs[s->gifts[i].job];
		struct app_memory *m = (struct app_memory *)s->round->job_state + job->id;

		m->lease_end_s = lease_end_s(s->t, job, s->round->now_s);
	}
}

/* Somebody waits, or could use more: decide again when the next lease ends. */
static void wake(const struct session *s)
{
	double next_s = INFINITY;
	bool wanted = false;

	for (uint32_t i = 0; i < s->round->nactive; i++) {
		const struct job *job = &s->round->jobs[s->round->active[i]];
		const struct app_memory *m = (const struct app_memory *)s->round->job_state + job->id;
		const struct grant *grant;

		if (!job_active(job))
			continue;
		grant = plan_grant(s->plan, job->id);
		if (grant)
			next_s = fmin(next_s, m->lease_end_s);
		wanted |= !grant || (s->t->rules.elastic && grant->gpus < (uint32_t)job->max_gpus);
	}
	if (wanted && next_s < INFINITY)
		plan_wake(s->plan, next_s);
}

/* ---- reasons */

/* A job that has devices, and how its app stands; JOB_NONE: there is none. */
struct holder {
	uint32_t job;
	double rho;
};

/* The jobs of the worst-off apps that have something, by type. */
static void list_holders(const struct session *s, struct holder worst[TYPES_MAX])
{
	for (uint32_t type = 0; type < TYPES_MAX; type++)
		worst[type] = (struct holder){ JOB_NONE, 0 };
	for (uint32_t i = 0; i < s->apps.n; i++) {
		const struct app *app = &s->apps.at[i];

		for (uint32_t k = 0; k <= app->njobs; k++) {
			uint32_t job = k < app->njobs ? s->apps.jobs[app->first + k] : app->leased;
			const struct grant *grant = job == JOB_NONE ? NULL : plan_grant(s->plan, job);

			if (grant && worst[grant->type].job == JOB_NONE)
				worst[grant->type] = (struct holder){ job, app->rho };
		}
	}
}

/* Of those who have devices that the job could use the worst off, if it is worse off than `app`. */
static struct holder worse_off(const struct session *s, const struct holder worst[TYPES_MAX],
	const struct app *app, const struct job *job)
{
	struct holder found = { JOB_NONE, app->rho * (1 + 1e-9) };

	for (uint32_t type = 0; type < s->round->cluster->ntypes; type++) {
		if (worst[type].job != JOB_NONE && job_may_use(job, type) && worst[type].rho > found.rho)
			found = worst[type];
	}
	return found;
}

/* The proof is that somebody is worse off; whoever is so itself waits for leases to end, or for its gang to fit. */
static void tell(const struct session *s, const struct holder worst[TYPES_MAX],
	const struct app *app, const struct job *job)
{
	struct holder other = worse_off(s, worst, app, job);

	if (other.job != JOB_NONE && !plan_refuses(s->plan, job))
		tenant_why_share(s->plan, job, 1 / app->rho, other.job, 1 / other.rho);
	else if (job->grant)
		plan_why(s->plan, job->id, (struct reason){ .why = WHY_TURN, .other = JOB_NONE });
	else
		kit_no_room(s->round, s->plan, job);
}

static void say_why(const struct session *s)
{
	struct holder worst[TYPES_MAX];

	list_holders(s, worst);
	for (uint32_t i = 0; i < s->apps.n; i++) {
		const struct app *app = &s->apps.at[i];

		for (uint32_t k = 0; k < app->njobs; k++) {
			const struct job *job = &s->round->jobs[s->apps.jobs[app->first + k]];

			if (!plan_grant(s->plan, job->id))
				tell(s, worst, app, job);
		}
	}
}

/* ---- */

static int themis_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct themis *t = self;
	struct session s = { .t = t, .round = round, .plan = plan };

	(void)err;
	crowd_set(&t->crowd, round->now_s, t->crowd.level);
	s.gifts = arena_array(round->scratch, struct gift, round->nactive);
	look_at_apps(&s);
	recall(&s);
	crowd_set(&t->crowd, round->now_s, apps_level(&s.apps));
	apps_rank(&s.apps);
	hold_auction(&s);
	fill(&s);
	settle(&s);
	write_leases(&s);
	say_why(&s);
	wake(&s);
	return 0;
}

static int themis_init(void *self, struct err *err)
{
	struct themis *t = self;

	(void)err;
	t->rules.spread[0] = 1;
	return 0;
}

static void themis_fini(void *self)
{
	vec_fini(&((struct themis *)self)->debt);
}

/* Leases are kept job by job; here is how crowded it was, then what tenants owe. */
static size_t themis_remember(const void *self, const struct job *jobs, uint32_t njobs,
	const void *memory, void **out)
{
	const struct themis *t = self;
	size_t owed = t->debt.n * sizeof(*t->debt.at), size = sizeof(t->crowd) + owed;
	char *bytes = mem_alloc(size);

	(void)jobs;
	(void)njobs;
	(void)memory;
	memcpy(bytes, &t->crowd, sizeof(t->crowd));
	if (owed)
		memcpy(bytes + sizeof(t->crowd), t->debt.at, owed);
	*out = bytes;
	return size;
}

static void themis_resume(void *self, const void *bytes, size_t n)
{
	struct themis *t = self;
	size_t owed = n - sizeof(t->crowd);

	memcpy(&t->crowd, bytes, sizeof(t->crowd));
	vec_grow_zero(&t->debt, owed / sizeof(*t->debt.at));
	if (owed)
		memcpy(t->debt.at, (const char *)bytes + sizeof(t->crowd), owed);
}

static uint32_t themis_figures(const void *self, struct figure out[FIGURES_MAX])
{
	const struct themis *t = self;

	out[0] = (struct figure){ "auctions", t->auctions };
	out[1] = (struct figure){ "auctions_proved", t->proved };
	out[2] = (struct figure){ "won_gpus", t->won };
	out[3] = (struct figure){ "withheld_gpus", t->withheld };
	out[4] = (struct figure){ "recalled_leases", t->recalled };
	return 5;
}

static unsigned themis_uses_now(const void *self)
{
	return ((const struct themis *)self)->rules.elastic ? USES_RANGE : 0;
}

const struct policy policy_themis = {
	.name = "themis",
	.summary = "those furthest behind their fair finish time bid for devices that come free",
	.origin = "Mahajan et al., NSDI 2020",
	.family = "fair",
	.traits = POLICY_PREEMPTS | POLICY_ESTIMATES,
	.uses = USES_RANGE,
	.options = options,
	.state_size = sizeof(struct themis),
	.job_state_size = sizeof(struct app_memory),
	.init = themis_init,
	.fini = themis_fini,
	.figures = themis_figures,
	.remember = themis_remember,
	.resume = themis_resume,
	.carry = policy_carry,
	.uses_now = themis_uses_now,
	.decide = themis_decide,
};
