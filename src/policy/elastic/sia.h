/*
 * Inside of the policy sia: who could run how, and where whoever runs goes.
 */
#ifndef POLICY_ELASTIC_SIA_H
#define POLICY_ELASTIC_SIA_H

#include "model/elastic.h"
#include "policy/policy.h"

/* How rows are made and weighed; the options that concern them. */
struct sia_terms {
	double p;      /* exponent of the normalised goodput */
	double lambda; /* cost of not running */
	double ageing; /* what that grows by in a second since arrival, for each device; 0: it does not */
	double lambda_a; /* cost of changing what a job has */
	double growth;   /* at most so many times the most devices it ever had; 0: no limit */
	bool restart;    /* changes are worth less, by the restart factor */
	bool round2;     /* costs of two decimals */
	bool published;  /* as the published simulator does it */
};

/* One way for a job to run. */
struct sia_way {
	struct configuration c;
	double value; /* normalised goodput; the restart factor is in it */
	double cost;
};

/* A job and its ways; `now` is the number of the one it has, `forced` that it must keep, CHOICE_NONE if none. */
struct sia_row {
	const struct job *job;
	struct sia_way *ways;
	uint32_t n, now, forced;
	double without; /* cost of not running */
	bool tuned;     /* its agent chooses the batch */
	bool scattered; /* it cannot lie as it should, whole nodes and a part of one, even if all were free */
	uint32_t chosen;
};

/* Nodes of a type that are up and alike. */
struct sia_host {
	uint32_t devices, n;
	double cpus; /* INFINITY: nobody counts them */
	int64_t mem_bytes;
};

/* The configurations of a type with what is up now, by size. */
struct sia_sizes {
	uint32_t *gpus;
	uint32_t n;
	uint32_t per_node; /* devices of a whole node */
	struct sia_host *hosts;
	uint32_t nhosts;
};

/* Speeds of a job in its configurations, as long as its agent learns nothing new. */
struct sia_memo {
	uint32_t version; /* of what is known, and 1 */
	uint32_t n, cap;
	uint32_t next; /* that it will be asked for, probably */
	struct sia_known {
		struct configuration c;
		double speed;
	} * at;
};

struct sia_rows {
	const struct round *round;
	const struct plan *plan;
	const struct sia_terms *terms;
	struct sia_sizes *sizes; /* by type */
	struct sia_row *at;
	uint32_t n;
	struct sia_memo *memos; /* by job */
};

/*
 * Sizes of a type: powers of two within a node, whole nodes beyond; unless `all`, of more than 64 nodes only
 * numbers that differ by a part in 64, and all there are.
 */
void sia_list_sizes(const struct plan *plan, uint32_t type, bool all, struct arena *scratch,
	struct sia_sizes *out);
/* Every active job with its ways and their costs, in order of arrival; everything in the arena of the round. */
void sia_list_rows(struct sia_rows *rows);

/* What a change of configuration is worth: a factor from 0 to 1. */
double sia_restart_factor(double age_s, double restarts, double cost_s);

/* Puts every row where it was chosen to run and says why to the others; `published`: who restarts may be moved too. */
void sia_place(const struct round *round, struct plan *plan, struct sia_row *rows, uint32_t n,
	bool published);

#endif
