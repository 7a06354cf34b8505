#include "model/ursa.h"

#include <math.h>

double ursa_apt(const struct ursa_worker *worker, uint32_t resource)
{
	return worker->rate[resource] > 0 ? worker->queued[resource] / worker->rate[resource] : 0;
}

double ursa_deficit(const struct ursa_worker *worker, uint32_t resource, double ept_s)
{
	return fmax(0, (ept_s - ursa_apt(worker, resource)) / ept_s);
}

double ursa_increment(const struct ursa_worker *worker, const struct ursa_task *task,
	uint32_t resource, double ept_s)
{
	return fmin(1, task->size[resource] / worker->rate[resource] / ept_s);
}

double ursa_score(const struct ursa_worker *worker, const struct ursa_task *task, double ept_s,
	bool strict)
{
	double score = 0;

	for (uint32_t r = 0; r < URSA_RESOURCES; r++) {
		double deficit;

		if (!(task->size[r] > 0))
			continue;
		if (!(worker->rate[r] > 0))
			return 0;
		deficit = ursa_deficit(worker, r, ept_s);
		if (strict && !(deficit > 0))
			return 0;
		score += deficit * ursa_increment(worker, task, r, ept_s);
	}
	return score;
}

void ursa_put(struct ursa_worker *worker, const struct ursa_task *task)
{
	for (uint32_t r = 0; r < URSA_RESOURCES; r++)
		worker->queued[r] += task->size[r];
}

double ursa_remaining(const double left[URSA_RESOURCES], const double rate[URSA_RESOURCES])
{
	double sum = 0;

	for (uint32_t r = 0; r < URSA_RESOURCES; r++)
		sum += rate[r] > 0 ? left[r] / rate[r] : 0;
	return sum;
}
