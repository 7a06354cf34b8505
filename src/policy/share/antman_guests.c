/*
 * The guests of AntMan: free devices first, else seats beside others that are little
 * busy and have the memory, and how fast each may launch there.
 */
#include <stdlib.h>

#include "policy/share/antman.h"

struct seat {
	struct slot slot; /* one device */
	uint32_t nguests;
	double util;
};

static int by_load(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;

	if (x->nguests != y->nguests)
		return x->nguests < y->nguests ? -1 : 1;
	if (x->util != y->util)
		return x->util < y->util ? -1 : 1;
	if (x->slot.node != y->slot.node)
		return x->slot.node < y->slot.node ? -1 : 1;
	return x->slot.devices < y->slot.devices ? -1 : x->slot.devices > y->slot.devices;
}

/* What a job brings to each device of a type, and what these have. */
struct visit {
	double util, least_bytes;
	double there_bytes; /* 0: nobody says */
};

/* Whether it is worth while there, beside the others. */
static bool takes_guest(const struct antman_round *d, const struct visit *v, const struct load *load)
{
	struct load with = *load;

	if (load->parted ||
		(v->there_bytes > 0 &&
			load->guaranteed_bytes + load->guests_bytes * d->a->memory + v->least_bytes >
				v->there_bytes))
		return false;
	with.nguests++;
	with.guests += v->util;
	with.r = NAN;
	/* Of a device that leaves too little even to one that launches freely the rate need not be known. */
	return guest_idle_share(with.guaranteed, with.guests) >= d->a->worth &&
		load_rate(&d->loads, &with) >= d->a->step &&
		load_speed(&d->loads, &with) >= d->a->worth;
}

/* Devices of the type that would take the job, in d->seats. */
static uint32_t list_seats(struct antman_round *d, const struct job *job, uint32_t type)
{
	const struct cluster *cluster = d->round->cluster;
	struct visit visit = { job_util(d->round->belief, job, type),
		d->a->memory * job_gpu_bytes(d->round->belief, job, type),
		(double)cluster->types[type].mem_bytes };
	uint32_t n = 0;

	if (!d->seats)
		d->seats = arena_array(d->round->scratch, struct seat, cluster->devices + 1);
	for (uint32_t node = 0; node < cluster->nnodes; node++) {
		const struct space_node *there = &d->plan->space.nodes[node];

		if (cluster->nodes[node].type != type || !there->up ||
			!space_feeds(&d->plan->space, job, job_gpus_on(job, type), node, 1))
			continue;
		for (uint64_t left = node_all(&cluster->nodes[node]) & ~(there->down | there->drained);
			left; left &= left - 1) {
			struct load *load = load_of(&d->loads, node, (uint32_t)__builtin_ctzll(left));
			double util = load_util(&d->loads, load);

			if (util < d->a->util && takes_guest(d, &visit, load))
				d->seats[n++] = (struct seat){ { node, left & -left },
					load->nguests, util };
		}
	}
	return n;
}

/* The first seats, put together by node. */
static uint32_t join_seats(const struct seat *seats, uint32_t gpus, struct slot *slots)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < gpus; i++) {
		uint32_t at = 0;

		while (at < n && slots[at].node != seats[i].slot.node)
			at++;
		if (at == n)
			slots[n++] = (struct slot){ seats[i].slot.node, 0 };
		slots[at].devices |= seats[i].slot.devices;
	}
	return n;
}

static bool run_beside(struct antman_round *d, const struct job *job, uint32_t type)
{
	uint32_t gpus = job_gpus_on(job, type), n;
	struct slot *slots;

	if (job_is_fraction(job) || d->plan->space.types[type].up < gpus)
		return false;
	n = list_seats(d, job, type);
	if (n < gpus)
		return false;
	qsort(d->seats, n, sizeof(*d->seats), by_load);
	slots = arena_array(d->round->scratch, struct slot, gpus);
	n = join_seats(d->seats, gpus, slots);
	return plan_run_upon(d->plan, job, slots, n, (struct want){ .share = 1, .guest = true });
}

static bool start_guest(struct antman_round *d, const struct job *job)
{
	uint32_t types[TYPES_MAX], n = kit_types(d->round, job, types);
	struct want want = { .share = 1, .guest = !job_is_fraction(job), .gentle = true };
	bool runs = false;

	for (uint32_t i = 0; i < n && !runs; i++) {
		want.type = (int)types[i];
		runs = plan_run(d->plan, job, want);
	}
	for (uint32_t i = 0; i < n && !runs; i++)
		runs = run_beside(d, job, types[i]);
	if (runs)
		loads_add(&d->loads, job, plan_grant(d->plan, job->id));
	return runs;
}

/* One that gets hardly anything goes where nobody is. */
static void move_guest(struct antman_round *d, const struct job *job, const struct grant *grant)
{
	struct want want = { .type = (int)grant->type, .share = 1, .guest = true, .gentle = true };

	if (loads_least(&d->loads, grant, load_speed) >= d->a->worth ||
		plan_free(d->plan, grant->type) < grant->gpus)
		return;
	loads_remove(&d->loads, job, grant);
	want.move = true;
	d->a->moved += plan_run(d->plan, job, want);
	loads_add(&d->loads, job, plan_grant(d->plan, job->id));
}

void antman_run_guests(struct antman_round *d)
{
	for (uint32_t i = 0; i < d->round->nactive; i++) {
		const struct job *job = &d->round->jobs[d->round->active[i]];
		const struct grant *grant = plan_grant(d->plan, job->id);

		if (grant && grant->guest)
			move_guest(d, job, grant);
		if (job->state != JOB_PENDING || plan_grant(d->plan, job->id) ||
			!antman_may_be_guest(d, job))
			continue;
		if (!start_guest(d, job))
			kit_no_room(d->round, d->plan, job);
	}
}

/* Guests launch as fast as the coordinators let them; whoever could not launch at all makes room. */
void antman_set_rates(struct antman_round *d)
{
	for (uint32_t i = 0; i < d->round->nactive; i++) {
		const struct job *job = &d->round->jobs[d->round->active[i]];
		const struct grant *grant = plan_grant(d->plan, job->id);
		double r;

		if (!grant || !grant->guest)
			continue;
		r = loads_least(&d->loads, grant, load_rate);
		if (r >= d->a->step) {
			plan_run_upon(d->plan, job, grant->slots, grant->nslots,
				(struct want){ .share = r, .guest = true });
			continue;
		}
		plan_why(d->plan, job->id,
			(struct reason){ .why = WHY_BUSY, .need = job->gpus, .other = JOB_NONE });
		loads_remove(&d->loads, job, grant);
		plan_stop(d->plan, job);
		plan_wake(d->plan, d->round->now_s);
		d->a->paused++;
	}
}
