/*
 * The tax of devices that are elsewhere.
 */
#include "model/pooling.h"

#include <math.h>

double pooled_step_s(const struct pooled_step *step, double Bps, double rtt_s)
{
	double moving_s = Bps > 0 ? step->bytes / Bps : 0;
	double waiting_s = step->calls * (1 - step->batched) * rtt_s;

	if (step->overlaps)
		return fmax(step->device_s, moving_s) + waiting_s;
	return step->device_s + moving_s + waiting_s;
}

double pooling_tax(const struct pooled_step *step, double pcie_Bps, double link_Bps, double rtt_s)
{
	return pooled_step_s(step, link_Bps, rtt_s) / pooled_step_s(step, pcie_Bps, 0) - 1;
}

struct pooled_step pooled_step_of(const struct cluster *cluster, const struct job *job)
{
	struct pooled_step step = {
		.device_s = 1,
		.bytes = job->moves_Bps > 0 ? job->moves_Bps : POOLING_MOVES_BPS,
		.calls = job->calls_ps > 0 ? job->calls_ps : POOLING_CALLS_PS,
	};
	double pcie_Bps = cluster->pooling.pcie_Bps;

	/* Of the second, what moving takes over PCIe is no computing. */
	if (pcie_Bps > 0)
		step.device_s = fmax(0, 1 - step.bytes / pcie_Bps);
	return step;
}

double pooling_tax_of(const struct cluster *cluster, const struct job *job, double link_Bps)
{
	struct pooled_step step = pooled_step_of(cluster, job);

	return pooling_tax(&step, cluster->pooling.pcie_Bps, link_Bps, cluster->pooling.rtt_s);
}

uint32_t grant_remote_gpus(const struct grant *grant)
{
	uint32_t gpus = 0;

	for (uint32_t i = 0; grant->host && i < grant->nslots; i++) {
		if (grant->slots[i].node != grant->host - 1)
			gpus += (uint32_t)__builtin_popcountll(grant->slots[i].devices);
	}
	return gpus;
}

bool grant_is_remote(const struct grant *grant)
{
	return grant_remote_gpus(grant) > 0;
}

double pooling_speed(const struct cluster *cluster, const struct job *job, const struct grant *grant)
{
	/* Training is synchronous: the remote devices are the slowest. */
	if (!grant->host || !grant_is_remote(grant))
		return 1;
	return 1 / (1 + fmax(0, pooling_tax_of(cluster, job, grant->link_Bps)));
}

double pooling_attach_s(const struct cluster *cluster, const struct job *job, const struct grant *grant)
{
	double copy_s = 0;

	if (!grant_is_remote(grant))
		return 0;
	if (grant->link_Bps > 0 && job->gpu_mem_bytes > 0)
		copy_s = (double)job->gpu_mem_bytes / grant->link_Bps;
	return cluster->pooling.attach_s + copy_s;
}

double pooling_move_s(const struct cluster *cluster, const struct job *job,
	const struct grant *from, const struct grant *next)
{
	double detach_s = grant_is_remote(from) ? cluster->pooling.detach_s : 0;

	return detach_s + pooling_attach_s(cluster, job, next);
}

double pooled_access_s(double hits, double local_s, double remote_s)
{
	return hits * local_s + (1 - hits) * remote_s;
}
