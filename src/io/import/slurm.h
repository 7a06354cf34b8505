/*
 * What the logs of Slurm have in common: trackable resources, limits, states.
 */
#ifndef IO_IMPORT_SLURM_H
#define IO_IMPORT_SLURM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "io/rows.h"

/* What Slurm tells of GPUs at all, for errors. */
#define SLURM_TELLS_GPUS \
	"Slurm records GPUs where AccountingStorageTRES in slurm.conf has gres/gpu; else " \
	"--assume-gpus node=4 (for each node) or cpus=8 (one for each 8 CPUs) may say it"

/* "billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1", or as older versions have it "gpu:a100:4" */
struct tres {
	double gpus, cpus, nodes;
	int64_t mem_bytes;
	struct slice type; /* of the GPUs, empty if not said */
	bool per_node;     /* the older way counts GPUs of one node */
};

struct tres tres_read(struct slice list);

/* The GPUs of a job with this many nodes, or what the options assume where none are told. */
double tres_gpus(const struct tres *tres, double nodes, const struct import_options *options);

/* Of a limit in minutes; UNLIMITED and Partition_Limit say nothing. */
void slurm_limit(struct slice minutes, struct job *job);

/* A time that is there; false for Unknown, None and nothing. */
bool slurm_time(struct slice text, double *out);

/* Sets rows->run where it is known when the job began.  `end_s` NAN: by the run time. */
void slurm_ran(struct rows *rows, struct slice start, double end_s, struct slice nodes,
	const struct job *job);

#endif
