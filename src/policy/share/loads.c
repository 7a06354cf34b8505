/*
 * Loads of devices, kept up to date as jobs are put there.
 */
#include "policy/share/loads.h"

#include <math.h>
#include <string.h>

enum { ADD = 1, REMOVE = -1 };

static void change(struct loads *loads, const struct job *job, const struct grant *grant, int sign)
{
	for (uint32_t i = 0; i < grant->nslots; i++) {
		uint32_t node = grant->slots[i].node, type = loads->round->cluster->nodes[node].type;
		double util = job_util(loads->round->belief, job, type);
		double bytes = job_gpu_bytes(loads->round->belief, job, type);

		for (uint64_t left = grant->slots[i].devices; left; left &= left - 1) {
			struct load *load = load_of(loads, node, (uint32_t)__builtin_ctzll(left));

			load->r = NAN;
			if (job_is_fraction(job)) {
				load->parted = true;
			} else if (grant->guest) {
				load->nguests += (uint32_t)sign;
				load->guests = load->nguests ? load->guests + sign * util : 0;
				load->guests_bytes = load->nguests ? load->guests_bytes + sign * bytes
								   : 0;
			} else {
				load->holder = sign > 0 ? job->id : JOB_NONE;
				load->guaranteed = sign > 0 ? util : 0;
				load->guaranteed_bytes = sign > 0 ? bytes : 0;
			}
		}
	}
}

void loads_add(struct loads *loads, const struct job *job, const struct grant *grant)
{
	change(loads, job, grant, ADD);
}

void loads_remove(struct loads *loads, const struct job *job, const struct grant *grant)
{
	change(loads, job, grant, REMOVE);
}

void loads_make(struct loads *loads, const struct round *round, const struct plan *plan,
	struct launch_law law, struct settled *settled)
{
	uint32_t nnodes = round->cluster->nnodes;

	*loads = (struct loads){ .round = round, .law = law, .settled = settled };
	loads->first = arena_array(round->scratch, uint32_t, nnodes + 1);
	for (uint32_t i = 0; i < nnodes; i++)
		loads->first[i + 1] = loads->first[i] + round->cluster->nodes[i].devices;
	loads->at = arena_array(round->scratch, struct load, loads->first[nnodes] + 1);
	for (uint32_t i = 0; i < loads->first[nnodes]; i++)
		loads->at[i] = (struct load){ .holder = JOB_NONE, .r = NAN };
	for (uint32_t i = 0; i < round->nactive; i++) {
		const struct grant *grant = plan_grant(plan, round->active[i]);

		if (grant)
			loads_add(loads, &round->jobs[round->active[i]], grant);
	}
}

static struct settled *settled_of(const struct loads *loads, double guaranteed, double guests)
{
	uint64_t a, b;

	memcpy(&a, &guaranteed, sizeof(a));
	memcpy(&b, &guests, sizeof(b));
	a = (a * UINT64_C(0x9e3779b97f4a7c15) + b) * UINT64_C(0xbf58476d1ce4e5b9);
	return &loads->settled[a >> (64 - SETTLED_BITS)];
}

/* A pure function of the two that takes hundreds of steps: whoever comes last to its place in the table stays there. */
static double settle(const struct loads *loads, double guaranteed, double guests)
{
	struct settled *s = settled_of(loads, guaranteed, guests);

	if (s->guaranteed != guaranteed || s->guests != guests || guests == 0)
		*s = (struct settled){ guaranteed, guests,
			launch_settle(&loads->law, guaranteed, guests).r };
	return s->r;
}

double load_rate(const struct loads *loads, struct load *load)
{
	if (load->holder == JOB_NONE || load->nguests == 0)
		return 1;
	if (isnan(load->r))
		load->r = settle(loads, load->guaranteed, load->guests);
	return load->r;
}

double load_speed(const struct loads *loads, struct load *load)
{
	return load_rate(loads, load) * guest_idle_share(load->guaranteed, load->guests);
}

double loads_least(const struct loads *loads, const struct grant *grant,
	double (*of)(const struct loads *loads, struct load *load))
{
	double least = 1;

	for (uint32_t i = 0; i < grant->nslots; i++) {
		for (uint64_t left = grant->slots[i].devices; left; left &= left - 1)
			least = fmin(least,
				of(loads,
					load_of(loads, grant->slots[i].node,
						(uint32_t)__builtin_ctzll(left))));
	}
	return least;
}

double load_util(const struct loads *loads, struct load *load)
{
	return fmin(1, load->guaranteed + load_rate(loads, load) * load->guests);
}
