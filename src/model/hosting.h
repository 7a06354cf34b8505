/*
 * What CPUs and memory of the host do to a model's speed.
 *
 * A table gives the relative speed of a model on so many devices over CPUs and memory for each of them:
 * 1 is the speed that profiles and traces speak of, where it was measured (a device's proportional part of
 * its server).  Tables may be measured, or made from a few measurements by how caches work
 * (host_table_fill_memory()).
 */
#ifndef MODEL_HOSTING_H
#define MODEL_HOSTING_H

#include <stdbool.h>
#include <stdint.h>

enum { HOST_AXIS_MAX = 32 };

/* What one device of a job has of its host. */
struct host_share {
	double cpus;
	double mem_bytes;
};

/*
 * Speeds by CPUs (rows) and memory (columns), both ascending.  Between two points it is straight, more
 * never makes it slower (what was measured otherwise counts as its best with less), and beyond the last
 * point nothing changes.  Below the first CPUs speed falls in proportion; below the least memory it stays.
 */
struct host_table {
	uint32_t ncpus, nmems;
	double cpus[HOST_AXIS_MAX], mem_bytes[HOST_AXIS_MAX];
	double speed[HOST_AXIS_MAX][HOST_AXIS_MAX]; /* NAN: not measured */
	struct host_share best; /* as whoever measured says; 0: found in the table */
	double split;  /* what is left of the speed on several nodes; 0: nothing is known, 1 */
	double step_s; /* seconds of a step at speed 1; 0: not said */
};

/* Fills what was not measured and makes it monotone.  False: there is no point in it at all. */
bool host_table_settle(struct host_table *table);
/*
 * The memory axis of a table whose speeds are known at full memory only (its last column): a cache of m
 * bytes for each of `gpus` devices holds m * gpus / dataset of what an epoch reads, the rest is fetched
 * at storage_Bps; an epoch takes as long as the longer of computing (epoch_s at speed 1) and fetching.
 */
void host_table_fill_memory(struct host_table *table, uint32_t gpus, double epoch_s,
	double dataset_bytes, double storage_Bps);
double host_table_speed(const struct host_table *table, struct host_share share);

/* Tables by model and number of devices. */
struct hosting;

struct hosting *hosting_create(void);
void hosting_destroy(struct hosting *hosting);
struct hosting *hosting_copy(const struct hosting *from); /* NULL of NULL */
/* Copies the table, which is settled; what was known of the same model and devices is replaced. */
void hosting_add(struct hosting *hosting, uint32_t model, uint32_t gpus,
	const struct host_table *table);
/*
 * The table of so many devices, else of the next fewer that was measured, else of the next more; NULL:
 * nothing is known of the model (or `hosting` is NULL).
 */
const struct host_table *hosting_find(const struct hosting *hosting, uint32_t model, uint32_t gpus);

/*
 * What a device should best have: the least CPUs, and with these the least memory, that give a part
 * 1 - tolerance of the best speed within `most`, and at least the speed at `fair`, its proportional part.
 */
struct host_share host_table_best(const struct host_table *table, struct host_share fair,
	struct host_share most, double tolerance);

#endif
