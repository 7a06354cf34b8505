/*
 * Nodes by the hour: how well tasks fill them, and which to rent for those
 * that wait (Zhong and Buyya, TOIT 2020).
 */
#ifndef MODEL_RENTING_H
#define MODEL_RENTING_H

#include <stdbool.h>
#include <stdint.h>

enum resource_kind { RESOURCE_DEVICES, RESOURCE_CPU, RESOURCE_MEM, RESOURCE_KINDS };

/* An amount of each; what a node does not have at all is not modelled there and limits nobody. */
struct amount {
	double of[RESOURCE_KINDS];
};

/* What is left of the node if the task comes, each resource as a part of all it has, in sum; INFINITY: it does not fit. */
double renting_leftover(const struct amount *free, const struct amount *all, const struct amount *task);
/* The largest part of a node that the task asks for. */
double renting_dominant(const struct amount *all, const struct amount *task);

/* Nodes that are all alike. */
struct flavour {
	struct amount all;
	double price;   /* of each, an hour */
	uint32_t count; /* that can be had */
};

struct renting_choice {
	uint32_t flavour, nodes; /* nodes 0: nothing helps */
	double cost;             /* an hour */
	double packed;           /* what finds room there, in dominant parts of a unit */
};

/* The most of each. */
void renting_most(struct amount *most, const struct amount *other);

/*
 * What a flavour takes of `tasks`, which come in order of size, the largest first: they are packed into its
 * nodes by first fit.  A task larger than a node is cut into nodes if it may be (`cut`).  Sizes are told in
 * parts of `unit`, the same for all that are compared.
 */
struct renting_choice renting_try(const struct flavour *flavour, const struct amount *unit,
	const struct amount *tasks, uint32_t ntasks, bool cut);
/* The flavour with the least price for what it takes; between equals the fewest nodes, then the first. */
struct renting_choice renting_choose(const struct flavour *flavours, uint32_t nflavours,
	const struct amount *tasks, uint32_t ntasks, bool cut);

/* Whether `a` costs less for what it takes; between equals, in fewer nodes. */
bool renting_cheaper(const struct renting_choice *a, const struct renting_choice *b);

/* First fit of the tasks into nodes with `free` left; marks those that fit.  Returns how many do. */
uint32_t renting_first_fit(struct amount *free, const struct amount *all, uint32_t nodes,
	const struct amount *tasks, uint32_t ntasks, bool *fits);

#endif
