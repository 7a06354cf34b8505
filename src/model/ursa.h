/*
 * Ursa's arithmetic: how much of the next while is still unfilled at a worker,
 * and what a task would add to it (Jin et al., EuroSys 2020).
 *
 * Work is in any unit in which a worker does so much a second.  EPT, the
 * expected processing time, is the while that queues are filled for: a little
 * longer than the time between decisions.
 */
#ifndef MODEL_URSA_H
#define MODEL_URSA_H

#include <stdbool.h>
#include <stdint.h>

enum { URSA_RESOURCES = 4 };

struct ursa_worker {
	double queued[URSA_RESOURCES]; /* work that is there and not done */
	double rate[URSA_RESOURCES];   /* work done in a second; 0: it has none of this */
};

struct ursa_task {
	double size[URSA_RESOURCES]; /* work it brings; 0: it does not need this */
};

/* Seconds until what is queued is done. */
double ursa_apt(const struct ursa_worker *worker, uint32_t resource);
/* Part of the EPT that is still unfilled, 0 to 1. */
double ursa_deficit(const struct ursa_worker *worker, uint32_t resource, double ept_s);
/* Part of the EPT that the task would fill, at most 1: one huge task shall not decide all. */
double ursa_increment(const struct ursa_worker *worker, const struct ursa_task *task,
	uint32_t resource, double ept_s);
/*
 * F: how well what the task brings meets what the worker lacks; 0: it shall not go there, as nothing that it
 * needs is lacking (strict: as something is not), or the worker has none of it.
 */
double ursa_score(const struct ursa_worker *worker, const struct ursa_task *task, double ept_s,
	bool strict);
/* The task is there from now on. */
void ursa_put(struct ursa_worker *worker, const struct ursa_task *task);
/* Seconds all workers together take for what is left, summed over resources: who has least goes first by SRJF. */
double ursa_remaining(const double left[URSA_RESOURCES], const double rate[URSA_RESOURCES]);

#endif
