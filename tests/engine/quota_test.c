/*
 * Quotas under every kind of policy: what is promised is kept, limits are never exceeded, and the
 * ledger says what a recount says.  The recount here knows nothing of the ledger's tree.
 */
#include "placement/quota.h"

#include <math.h>
#include <string.h>

#include "support/property.h"
#include "support/scene.h"

/* ---- counting anew */

struct recount {
	const struct round *round;
	const struct tenants *t;
};

static bool is_below(const struct tenants *t, uint32_t who, uint32_t above)
{
	for (; who != TENANT_NONE; who = t->at[who].parent) {
		if (who == above)
			return true;
	}
	return false;
}

/* Devices of a type (or of all: TENANT_NONE) that jobs of the tenant, or of those below it too, hold. */
static int held_by(const struct recount *c, uint32_t tenant, uint32_t type, bool own)
{
	int held = 0;

	for (uint32_t i = 0; i < c->round->nactive; i++) {
		const struct job *job = &c->round->jobs[c->round->active[i]];
		uint32_t who = tenants_of_name(c->t, job->tenant);

		if (!job->grant || !(own ? who == tenant : is_below(c->t, who, tenant)))
			continue;
		if (type == TENANT_NONE || job->grant->type == type)
			held += (int)job->grant->gpus;
	}
	return held;
}

static int part_of(const struct recount *c, uint32_t tenant, uint32_t type)
{
	const struct tenant *t = &c->t->at[tenant];

	for (uint32_t i = 0; i < t->nparts; i++) {
		if (cluster_find_type(c->round->cluster, c->t->types.at[t->parts[i].type]) == (int)type)
			return (int)t->parts[i].guaranteed;
	}
	return 0;
}

/* What a tenant is promised: as said, else what those below are; of a type or (TENANT_NONE) of any. */
static int promised(const struct recount *c, uint32_t tenant, uint32_t type)
{
	const struct tenant *t = &c->t->at[tenant];
	int sum = 0;

	if (t->promised && type == TENANT_NONE)
		return t->nparts ? 0 : (int)t->guaranteed;
	if (t->promised)
		return part_of(c, tenant, type);
	for (uint32_t i = 0; i < c->t->n; i++) {
		if (c->t->at[i].parent == tenant)
			sum += promised(c, i, type);
	}
	return sum;
}

/* Above what it is promised, if it held `more` of a type as well. */
static int above(const struct recount *c, uint32_t tenant, uint32_t type, int more)
{
	int loose = 0;

	for (uint32_t k = 0; k < c->round->cluster->ntypes; k++) {
		int held = held_by(c, tenant, k, false) + (k == type ? more : 0);
		int beyond = held - promised(c, tenant, k);

		loose += beyond > 0 ? beyond : 0;
	}
	loose -= promised(c, tenant, TENANT_NONE);
	return loose > 0 ? loose : 0;
}

/* ---- a policy that looks before it lets another decide */

struct inspector {
	struct chosen_policy inner;
	struct job *memory;
	const char *what;
	uint64_t seed;
	uint32_t njobs, ended;
	bool typed;
	uint32_t looks, promises, reclaims;
	double happened_s;  /* when something last did */
	uint64_t shared[2]; /* by node: devices that two had at once since they were last free */
};

static void fail_here(const struct inspector *in, const struct round *round, const char *what)
{
	struct recount c = { round, round->tenants };

	for (uint32_t i = 0; i < c.t->n; i++) {
		print_message("tenant %s below %d: guaranteed %d, borrow %d, lend %d, weight %g, holds",
			c.t->at[i].name ? c.t->at[i].name : "-", (int)c.t->at[i].parent,
			c.t->at[i].promised ? (int)c.t->at[i].guaranteed : -1,
			(int)c.t->at[i].borrow, (int)c.t->at[i].lend, c.t->at[i].weight);
		for (uint32_t k = 0; k < round->cluster->ntypes; k++)
			print_message(" %d (of %d)", held_by(&c, i, k, false), part_of(&c, i, k));
		print_message("\n");
	}
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct job *job = &round->jobs[round->active[i]];

		if (job_active(job))
			print_message("job %u of tenant %u: %d devices (%d to %d) of types %x, has %u of %u, %s\n",
				job->id, tenants_of_name(c.t, job->tenant), job->gpus, job->min_gpus,
				job->max_gpus, job->types, job->grant ? job->grant->gpus : 0,
				job->grant ? job->grant->type : 0, why_name(job->reason.why));
	}
	fail_msg("%s, seed %llu, at %g: %s", in->what, (unsigned long long)in->seed, round->now_s,
		what);
}

static void check_ledger(const struct inspector *in, const struct recount *c)
{
	for (uint32_t i = 0; i < c->t->n; i++) {
		struct quota_standing s = quota_standing(c->round->quota, i);
		int held = held_by(c, i, TENANT_NONE, false), over = above(c, i, 0, 0);

		if (s.held != held || s.borrowed != over)
			fail_here(in, c->round, "the ledger does not say what is held");
		if (c->t->at[i].borrow != QUOTA_ALL && over > (int)c->t->at[i].borrow)
			fail_here(in, c->round, "a tenant has borrowed more than it may");
	}
}

/*
 * Jobs that share a device count for both tenants, but the device is taken once.  If one of them ends, the other goes
 * on: so many, `lasting`, may be taken though they are kept, until they are free again.
 */
static void devices_free(struct inspector *in, const struct round *round, int free[TYPES_MAX],
	int lasting[TYPES_MAX])
{
	uint64_t taken[2] = { 0 };

	assert_true(round->cluster->nnodes <= COUNT(taken));
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct grant *grant = round->jobs[round->active[i]].grant;

		for (uint32_t k = 0; grant && k < grant->nslots; k++) {
			struct slot slot = grant->slots[k];

			in->shared[slot.node] |= taken[slot.node] & slot.devices;
			taken[slot.node] |= slot.devices;
		}
	}
	for (uint32_t i = 0; i < round->cluster->nnodes; i++) {
		const struct node *node = &round->cluster->nodes[i];

		in->shared[i] &= taken[i];
		lasting[node->type] += __builtin_popcountll(in->shared[i]);
		free[node->type] += (int)node->devices - __builtin_popcountll(taken[i]);
	}
}

/* Of a type, what is not lent of what idles of a guarantee by type. */
static int kept_of(const struct recount *c, uint32_t tenant, uint32_t type)
{
	const struct tenant *t = &c->t->at[tenant];
	int idle = part_of(c, tenant, type) - held_by(c, tenant, type, false);

	for (uint32_t i = 0; i < t->nparts; i++) {
		if (cluster_find_type(c->round->cluster, c->t->types.at[t->parts[i].type]) == (int)type &&
			t->parts[i].lend != QUOTA_ALL && idle > (int)t->parts[i].lend)
			return idle - (int)t->parts[i].lend;
	}
	return 0;
}

/* What is not lent of what idles stays free: by type of everybody, of any type right below the top. */
static void check_kept(struct inspector *in, const struct recount *c)
{
	int lasting[TYPES_MAX] = { 0 }, free[TYPES_MAX] = { 0 }, spare = 0;

	devices_free(in, c->round, free, lasting);
	for (uint32_t k = 0; k < c->round->cluster->ntypes; k++) {
		int left = free[k] + lasting[k];

		for (uint32_t i = 0; i < c->t->n; i++)
			left -= kept_of(c, i, k);
		if (left < 0)
			fail_here(in, c->round, "what a tenant keeps of a type for itself is lent");
		spare += left;
	}
	for (uint32_t i = 0; i < c->t->n; i++) {
		const struct tenant *t = &c->t->at[i];
		int idle = promised(c, i, TENANT_NONE) - held_by(c, i, TENANT_NONE, false);

		if (t->parent == TENANT_NONE && t->lend != QUOTA_ALL && idle > (int)t->lend)
			spare -= idle - (int)t->lend;
	}
	if (spare < 0 && !in->typed)
		fail_here(in, c->round, "what a tenant keeps for itself is lent");
}

static bool anybody_keeps(const struct tenants *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->at[i].lend != QUOTA_ALL)
			return true;
		for (uint32_t k = 0; k < t->at[i].nparts; k++) {
			if (t->at[i].parts[k].lend != QUOTA_ALL)
				return true;
		}
	}
	return false;
}

/* The tenant has borrowed itself, up to a limit or to what others keep: it is not helped against its own jobs. */
static bool is_own_doing(const struct recount *c, uint32_t tenant, uint32_t type, int more)
{
	if (above(c, tenant, 0, 0) == 0)
		return false;
	if (anybody_keeps(c->t))
		return true;
	for (uint32_t i = tenant; i != TENANT_NONE; i = c->t->at[i].parent) {
		if (c->t->at[i].borrow != QUOTA_ALL && above(c, i, type, more) > (int)c->t->at[i].borrow)
			return true;
	}
	return false;
}

/* Nobody waits who would stay within what its tenant and all above it are promised. */
static void check_promises(struct inspector *in, const struct recount *c)
{
	for (uint32_t i = 0; i < c->round->nactive; i++) {
		const struct job *job = &c->round->jobs[c->round->active[i]];
		uint32_t tenant = tenants_of_name(c->t, job->tenant);
		bool leaf = true;

		if (job->state != JOB_PENDING || job->reason.why == WHY_NEW) /* let in since */
			continue;
		for (uint32_t k = 0; k < c->t->n; k++)
			leaf &= c->t->at[k].parent != tenant;
		for (uint32_t k = 0; k < c->round->cluster->ntypes && leaf; k++) {
			bool within = above(c, tenant, k, job->gpus) == 0 ||
				held_by(c, tenant, k, false) + job->gpus <= promised(c, tenant, k);

			if (job_may_use(job, k) && within && !is_own_doing(c, tenant, k, job->gpus)) {
				print_message("job %u of %s: %d devices\n", job->id,
					c->t->at[tenant].name ? c->t->at[tenant].name : "-",
					job->gpus);
				fail_here(in, c->round, "a job waits though its tenant is within");
			}
		}
		in->promises++;
	}
}

static double period_of(const struct inspector *in)
{
	return in->inner.rule->period_s ? in->inner.rule->period_s(in->inner.state) : 0;
}

/* Starts and stops are what follows. */
static void notice(void *self, const struct event *event, const struct job *job)
{
	struct inspector *in = self;

	(void)job;
	if (event->kind == EV_SUBMIT || event->kind == EV_FINISH)
		in->happened_s = event->at_s;
}

static uint32_t count_ended(const struct round *round)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < round->njobs; i++)
		n += job_ended(&round->jobs[i]);
	return n;
}

static void inspect(struct inspector *in, const struct round *round)
{
	struct recount c = { round, round->tenants };

	check_ledger(in, &c);
	check_kept(in, &c);
	for (uint32_t i = 0; i < round->njobs; i++)
		in->reclaims += round->jobs[i].state == JOB_PENDING &&
			round->jobs[i].reason.why == WHY_RECLAIMED;
	/*
	 * Nobody came or went since the last decision: what waits was left out by it.  Between rounds promises are kept
	 * at once, so that nothing may wait whenever nothing happened just now.
	 */
	if (in->looks++ && in->happened_s < round->now_s &&
		(period_of(in) > 0 || (in->njobs == round->njobs && in->ended == count_ended(round))))
		check_promises(in, &c);
	in->njobs = round->njobs;
	in->ended = count_ended(round);
}

static int inspect_and_decide(void *self, const struct round *round, struct plan *plan, struct err *err)
{
	struct inspector *in = *(struct inspector **)self;
	bool again = in->njobs != round->njobs || in->ended != count_ended(round);
	int rc;

	inspect(in, round);
	rc = in->inner.rule->decide(in->inner.state, round, plan, err);
	if (again)
		plan_wake(plan, round->now_s); /* to look at it before anything else happens */
	return rc;
}

static double period_of_inner(const void *self)
{
	return period_of(*(struct inspector *const *)self);
}

/* ---- random tenants and jobs */

static const char *const names[] = { "labs", "vision", "speech", "robots", "guests", "interns" };

static uint32_t add(struct tenants *t, const char *name, uint32_t parent)
{
	uint32_t i = tenants_add(t, name, strlen(name));

	t->at[i].parent = parent;
	return i;
}

static uint32_t draw_lend(struct rng *rng)
{
	return pick(rng, 3) == 1 ? pick(rng, 6) - 1 : QUOTA_ALL;
}

static void draw_limits(struct rng *rng, struct tenant *t)
{
	t->weight = pick(rng, 4);
	if (pick(rng, 3) == 1)
		t->borrow = pick(rng, 12) - 1;
	if (!t->nparts)
		t->lend = draw_lend(rng);
}

/* labs above vision and speech; robots and guests beside; interns below robots.  At most `devices` are promised. */
static void draw_tenants(struct rng *rng, uint32_t devices, bool typed, struct tenants *t)
{
	uint32_t labs = add(t, names[0], TENANT_NONE), robots;
	uint32_t a = pick(rng, devices / 4), b = pick(rng, devices / 4), c = pick(rng, devices / 4);

	add(t, names[1], labs);
	add(t, names[2], labs);
	robots = add(t, names[3], TENANT_NONE);
	add(t, names[4], TENANT_NONE);
	add(t, names[5], robots);
	if (typed) {
		tenants_promise_part(t, 1, "a", a / 2, draw_lend(rng));
		tenants_promise_part(t, 1, "b", a / 2, draw_lend(rng));
		tenants_promise_part(t, 2, "a", b / 2, draw_lend(rng));
		tenants_promise_part(t, 5, "b", c, draw_lend(rng));
		if (pick(rng, 2) == 1) /* of any type, around what is promised by type */
			tenants_promise(t, labs, a + b + pick(rng, devices / 4) - 1);
	} else {
		tenants_promise(t, 1, a);
		tenants_promise(t, 2, b);
		if (pick(rng, 2) == 1)
			tenants_promise(t, labs, a + b + pick(rng, devices / 4) - 1);
		tenants_promise(t, robots, c);
		tenants_promise(t, 5, pick(rng, c));
	}
	for (uint32_t i = 0; i < t->n; i++)
		draw_limits(rng, &t->at[i]);
}

static void draw_jobs(struct rng *rng, struct scene *scene, bool typed)
{
	for (uint32_t i = 0; i < 40; i++) {
		const char *name = names[rng_below(rng, COUNT(names))];
		struct job *job = scene_job(scene, (double)rng_below(rng, 4000), (int)pick(rng, 8),
			50 + (double)rng_below(rng, 3000));

		job->tenant = names_add(&scene->trace.tenants, name, strlen(name));
		if (typed && pick(rng, 2) == 1)
			job->types = pick(rng, 2);
		if (pick(rng, 3) == 1) {
			job->max_gpus = job->gpus;
			job->min_gpus = (int)pick(rng, (uint32_t)job->gpus);
		}
	}
}

static const char *const rules[] = { "fifo", "fifo:misfit=skip", "easy", "srtf", "las", "tiresias",
	"gavel:round_s=60", "fair-share", "fair-share:preempt=1", "drf", "drf:preempt=1", "sia",
	"pollux", "afs", "optimus", "shockwave", "allox", "elasticflow", "themis", "gandiva-fair",
	"synergy", "gandiva", "antman", "pool", "zhong", "dally", "ursa", "moldable", "kungfu",
	"heet" };

static void play(const char *rule, uint64_t seed, bool typed, uint32_t *reclaims, uint32_t *promises)
{
	struct inspector in = { .what = rule, .seed = seed, .typed = typed }, *self = &in;
	struct policy policy = { .name = "inspected" };
	struct tenants tenants = { 0 };
	struct outcome out = { 0 };
	struct scene scene;
	struct rng rng;

	rng_init(&rng, seed, RNG_TEST);
	scene_init(&scene, typed ? "1x16:a,1x16:b" : "1x32:a");
	names_add(&scene.trace.types, "a", 1);
	if (typed)
		names_add(&scene.trace.types, "b", 1);
	draw_tenants(&rng, 32, typed, &tenants);
	draw_jobs(&rng, &scene, typed);
	in.inner = scene_policy(rule);
	policy = *in.inner.rule;
	policy.decide = inspect_and_decide;
	policy.period_s = period_of_inner;
	policy.welcome = NULL;
	policy.recall = NULL;
	policy.shares = NULL;
	policy.figures = NULL;
	policy.compat = NULL;
	policy.typeless = NULL;
	policy.resize_s = NULL;
	policy.remember = NULL;
	scene.config.tenants = &tenants;
	scene.config.observers = &(struct observer){ .self = &in, .see = notice };
	scene.config.nobservers = 1;
	scene.config.admit = "quota";
	scene.config.placer = "first-fit";
	scene_run_policy(&scene, &policy, &self, &out);
	for (uint32_t i = 0; i < out.njobs; i++) {
		if (out.jobs[i].state != JOB_FINISHED && out.jobs[i].state != JOB_REJECTED)
			fail_msg("%s, seed %llu: job %u of %s for %d of %x is %s (%s)", rule,
				(unsigned long long)seed, i,
				scene.trace.tenants.at[out.jobs[i].tenant], out.jobs[i].gpus,
				out.jobs[i].types, job_state_name(out.jobs[i].state),
				why_name(out.jobs[i].reason.why));
	}
	*reclaims += in.reclaims;
	*promises += in.promises;
	outcome_fini(&out);
	scene_policy_fini(&in.inner);
	scene_fini(&scene);
	tenants_fini(&tenants);
}

static void kept_under_every_policy(bool typed)
{
	uint64_t first = property_seed();

	printf("[   SEED   ] %llu: quotas\n", (unsigned long long)first);
	for (size_t i = 0; i < COUNT(rules); i++) {
		uint32_t reclaims = 0, promises = 0;

		for (uint64_t seed = first; seed < first + rounds(5); seed++)
			play(rules[i], seed, typed, &reclaims, &promises);
		print_message("%s: %u looks at waiting jobs, %u taken back\n", rules[i], promises,
			reclaims);
		/* One seed alone may have nobody who waits. */
		assert_true(promises > 0 || rounds(5) < 5);
	}
}

static void what_is_promised_is_kept(void **state)
{
	(void)state;
	kept_under_every_policy(false);
}

static void also_by_type(void **state)
{
	(void)state;
	kept_under_every_policy(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_promised_is_kept),
		cmocka_unit_test(also_by_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
