/*
 * What tenants are entitled to: tickets, devices of each type, and trades.
 *
 * A tenant's tickets give it a part of all devices, at most what it can use; the
 * rest is divided again.  It has the same part of every type until tenants that
 * gain much from a fast type buy it from those that gain little
 * (model/trade.h).  What a tenant is entitled to is worth at least as much to it
 * after trades as before, by its own believed rates: every trade is checked.
 */
#ifndef POLICY_FAIR_ENTITLED_H
#define POLICY_FAIR_ENTITLED_H

#include "base/vec.h"
#include "model/stride.h"
#include "model/trade.h"
#include "policy/kit.h"

/* A tenant in one decision. */
struct entitled {
	double tickets, demand; /* demand: devices its jobs ask for */
	uint32_t njobs;
	double plain[TYPES_MAX]; /* devices before trades */
	double part[TYPES_MAX];  /* and after */
	double worth[TYPES_MAX]; /* of one device to it, in those of the slowest type; 0: it cannot use it */
	uint32_t jobs_in[TYPES_MAX];
	double gpus_in[TYPES_MAX]; /* devices that its jobs of that type ask for */
	double used_s, due_s;      /* GPU-seconds it had of late, and was entitled to; they fade */
};

/* Over a run: a zeroed one is valid. */
struct entitlements {
	VEC(struct entitled) at;           /* by tenant number */
	double at_s;                       /* when used and due were brought up to date */
	uint32_t order[TYPES_MAX], ntypes; /* types that are up, the fastest first */
	uint32_t trades;                   /* of the last time that there were any changes */
	double traded_gpus;                /* fast devices that changed hands then */
	double least_gain; /* over the run: the least that anybody's part was worth after trades, over before */
	double all_trades, moves; /* over the run */
};

void entitlements_fini(struct entitlements *e);
/* Brings tickets, parts and trades up to date with the active jobs. */
void entitlements_compute(struct entitlements *e, const struct round *round,
	const struct plan *plan, bool trade);
struct entitled *entitled_of(struct entitlements *e, const struct job *job);
/* Tickets of each of a tenant's jobs of a type; what it cannot use elsewhere counts here, at its own rates. */
double entitled_tickets(const struct entitlements *e, const struct entitled *t, uint32_t type);
/* What the tenant's part is worth to it after trades over before; 1 where there were none. */
double entitled_gain(const struct entitled *t, uint32_t ntypes);

/* Time passes: everybody is due its part, and what has been used is counted by entitled_charge(). */
void entitlements_pass(struct entitlements *e, double now_s);
void entitled_charge(struct entitlements *e, const struct job *job, double gpu_s);
/* 1: has had exactly what it was entitled to of late. */
double entitled_standing(const struct entitled *t);

#endif
