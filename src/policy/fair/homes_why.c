/*
 * Why jobs wait where servers give turns: the proof in numbers.
 *
 * A job whose tenant has had more of its share than that of one that runs is told
 * both shares.  Where these say nothing (the same tenant, or one that has had as
 * much) passes do: who runs is owed more.  Else it is its own turn, and it comes with
 * a next quantum: it arrived in the middle of one, or those who run have only just
 * begun, or they leave too little for its gang.
 */
#include "policy/fair/homes.h"

#include <math.h>

#include "policy/fair/tenant_queues.h"

/* Of those who run, the one whose tenant has had least, and the one whose turn it was first; JOB_NONE: nobody runs. */
struct runners {
	uint32_t neediest, first;
	double standing;
	double ahead; /* the largest pass of all, also of those who wait */
};

static const struct runners nobody = { .neediest = JOB_NONE, .first = JOB_NONE };

struct telling {
	const struct homes *homes;
	const struct round *round;
	struct plan *plan;
	double next_s;                       /* when the next quantum begins */
	struct runners *at_server, *on_type; /* by server, the central one last, and by type */
};

static double standing_of(const struct telling *t, uint32_t job)
{
	return entitled_standing(entitled_of(t->homes->e, &t->round->jobs[job]));
}

static double pass_of(const struct telling *t, uint32_t job)
{
	return home_of(t->homes, job)->pass;
}

static void note(const struct telling *t, struct runners *r, uint32_t job)
{
	double standing = standing_of(t, job);

	if (r->neediest == JOB_NONE || standing < r->standing) {
		r->neediest = job;
		r->standing = standing;
	}
	if (r->first == JOB_NONE || pass_of(t, job) < pass_of(t, r->first))
		r->first = job;
}

static void list_server(struct telling *t, uint32_t server)
{
	const struct server *from = &t->homes->servers[server];
	struct runners *there = &t->at_server[server];

	for (uint32_t i = 0; i < from->n; i++) {
		uint32_t job = t->homes->jobs[from->first + i];
		const struct grant *grant = plan_grant(t->plan, job);

		there->ahead = fmax(there->ahead, pass_of(t, job));
		if (!grant)
			continue;
		note(t, there, job);
		note(t, &t->on_type[grant->type], job);
	}
}

static void list_runners(struct telling *t)
{
	uint32_t nservers = t->round->cluster->nnodes + 1, ntypes = t->round->cluster->ntypes;

	t->at_server = arena_array(t->round->scratch, struct runners, nservers);
	t->on_type = arena_array(t->round->scratch, struct runners, ntypes);
	for (uint32_t type = 0; type < ntypes; type++)
		t->on_type[type] = nobody;
	for (uint32_t server = 0; server < nservers; server++) {
		t->at_server[server] = nobody;
		list_server(t, server);
	}
}

/* Whoever runs on devices that it could use: of its own server nobody does. */
static struct runners others_for(const struct telling *t, const struct job *job)
{
	struct runners r = nobody;

	for (uint32_t type = 0; type < t->round->cluster->ntypes; type++) {
		const struct runners *there = &t->on_type[type];

		if (there->neediest != JOB_NONE && job_may_use(job, type) &&
			(r.neediest == JOB_NONE || there->standing < r.standing))
			r = *there;
	}
	r.first = JOB_NONE; /* passes of other servers say nothing */
	return r;
}

static void tell_plainly(const struct telling *t, const struct job *job)
{
	if (job->grant)
		plan_why(t->plan, job->id, (struct reason){ .why = WHY_TURN, .other = JOB_NONE });
	else
		kit_no_room(t->round, t->plan, job);
}

/* Passes are in quanta for each ticket. */
static void owe(const struct telling *t, const struct job *job, double own, uint32_t other, double owed)
{
	plan_why(t->plan, job->id,
		(struct reason){ .why = WHY_TURN,
			.other = other,
			.share = own * t->homes->quantum_s,
			.against = owed * t->homes->quantum_s });
}

/* A job that no server can hold waits for those whose jobs are behind it: the one that is furthest. */
static bool owe_server(const struct telling *t, const struct job *job)
{
	double pass = pass_of(t, job->id), least = pass - 1e-6;
	uint32_t other = JOB_NONE;

	for (uint32_t node = 0; node < t->round->cluster->nnodes; node++) {
		if (job_may_use(job, t->round->cluster->nodes[node].type) &&
			t->at_server[node].first != JOB_NONE && t->homes->servers[node].pass < least) {
			least = t->homes->servers[node].pass;
			other = t->at_server[node].first;
		}
	}
	if (other != JOB_NONE)
		owe(t, job, 0, other, pass - least);
	return other != JOB_NONE;
}

static void tell_turn(const struct telling *t, const struct job *job, const struct runners *r)
{
	double pass = pass_of(t, job->id);
	double first = r->first == JOB_NONE ? INFINITY : pass_of(t, r->first);

	if (first < pass - 1e-9)
		owe(t, job, r->ahead - pass, r->first, r->ahead - first);
	else if (!home_of(t->homes, job->id)->central)
		plan_why(t->plan, job->id,
			(struct reason){ .why = WHY_ROUND, .other = JOB_NONE, .at_s = t->next_s });
	else if (!owe_server(t, job))
		tell_plainly(t, job);
}

static void tell(const struct telling *t, const struct job *job, uint32_t server)
{
	struct runners r = t->at_server[server];
	double standing = standing_of(t, job->id);

	if (r.neediest == JOB_NONE)
		r = others_for(t, job);
	if (r.neediest == JOB_NONE || plan_refuses(t->plan, job))
		tell_plainly(t, job);
	else if (standing > r.standing + 1e-9)
		tenant_why_share(t->plan, job, standing, r.neediest, r.standing);
	else
		tell_turn(t, job, &r);
}

void homes_say_why(const struct homes *homes, struct plan *plan, double next_s)
{
	struct telling t = { .homes = homes, .round = homes->round, .plan = plan, .next_s = next_s };

	list_runners(&t);
	for (uint32_t server = 0; server <= t.round->cluster->nnodes; server++) {
		const struct server *from = &homes->servers[server];

		for (uint32_t i = 0; i < from->n; i++) {
			const struct job *job = &t.round->jobs[homes->jobs[from->first + i]];

			if (!plan_grant(plan, job->id))
				tell(&t, job, server);
		}
	}
}
