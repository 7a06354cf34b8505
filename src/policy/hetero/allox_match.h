/*
 * AlloX's matching of jobs to places in the queues of machines.
 *
 * Jobs of several devices: a machine is a slot of as many devices as the jobs
 * have on average.  The i-th slot of a type is ready when that many more devices
 * than for the slot before are free.  A job of g devices delays those behind it
 * in proportion, by p x g / (devices of a slot), and waits itself until g
 * devices are free.  When all jobs are of one size this is the exact model.
 */
#ifndef POLICY_HETERO_ALLOX_MATCH_H
#define POLICY_HETERO_ALLOX_MATCH_H

#include "policy/hetero/program.h"

/* Slots of one type that are ready at the same time. */
struct line {
	uint32_t column; /* of the program: the type */
	uint32_t slots;
	double ready_s; /* from now */
	uint32_t first_slot;
};

/* A job and its place. */
struct place {
	uint32_t row; /* of the program */
	uint32_t line;
	uint32_t from_end; /* the last is 1 */
	double run_s;
	double start_s; /* from now, as believed */
};

struct lineup {
	const struct program *program;
	struct place *at; /* the jobs that compete */
	uint32_t n;
	double slot_gpus;            /* devices of a slot */
	uint32_t devices[TYPES_MAX]; /* by column */
	double *ready_s[TYPES_MAX];  /* by column: when its devices come free, ascending */
	struct line *lines;
	uint32_t nlines, nslots;
};

/* Seconds the job still takes on a type, with what it costs to get there; INFINITY: it cannot run there. */
double lineup_run_s(const struct program *program, uint32_t row, uint32_t column);
/* The least of these. */
double lineup_shortest_s(const struct program *program, uint32_t row);

/* Nobody competes and nothing is there: fill `at` and `n` (rows), and add devices. */
void lineup_init(struct lineup *matching, const struct program *program);
void lineup_add_devices(struct lineup *matching, uint32_t column, uint32_t n, double ready_s);

/* Finds the cheapest places.  Afterwards `at` is in the order in which jobs start; n is 0 if there are no devices. */
void lineup_solve(struct lineup *matching);

/* The first devices of a type to come free are busy for `run_s` now. */
void lineup_take_devices(const struct lineup *matching, uint32_t column, uint32_t n, double run_s);

#endif
