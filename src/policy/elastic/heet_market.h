/*
 * The market of Heet: what a configuration costs a job, which job gets which
 * part of which hosts, and trades that lower what all pay.
 *
 * Prices come from one function, so that another formula touches one place.
 */
#ifndef POLICY_ELASTIC_HEET_MARKET_H
#define POLICY_ELASTIC_HEET_MARKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "model/cluster.h"

/* Price of a configuration that takes `seconds` and is `cost` times as dear as the job's cheapest. */
typedef double price_fn(double seconds, double cost, double theta);
/* seconds x cost^theta: theta 0 is the shortest time, 1 the least resources. */
double price_default(double seconds, double cost, double theta);

/* What a row has: so many devices of the type; 0: nothing. */
struct holding {
	uint32_t type, gpus;
	bool stays;    /* it is not matched */
	uint32_t home; /* 1 + the type it runs on now; 0: it does not */
	uint32_t least[TYPES_MAX], most[TYPES_MAX]; /* by type; most 0: it cannot run there */
};

struct market {
	uint32_t rows, types;
	struct holding *at;
	double free[TYPES_MAX];
	uint32_t host[TYPES_MAX]; /* devices of a host */
	/* INFINITY: it cannot run so.  `gpus` 0: what waiting is worth to it. */
	double (*price)(const void *ctx, uint32_t row, uint32_t type, uint32_t gpus);
	const void *ctx;
	double restart; /* a trade must lower the sum by more than this, and so must going to another type */
	uint32_t trades_max;
	struct arena *arena;
};

/*
 * Hosts, or equal parts of hosts where jobs are more, to jobs at least total price.  Every row comes with
 * its least on some type (or nothing, and stays so); rows whose least is larger than a part keep that.
 */
void market_match(struct market *market);
/* Devices that are left go one by one to whoever's price falls most. */
void market_grow(struct market *market);
/* Swaps of two rows on different types, then single devices from one row to another.  Returns how many. */
uint32_t market_trade(struct market *market);
/* The sum of all prices. */
double market_total(const struct market *market);

#endif
