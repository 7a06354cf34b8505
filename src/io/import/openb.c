/*
 * Alibaba's openb pods of 2023: one pod is one job.  Times are seconds from
 * the start of the trace; a pod runs from its scheduling to its deletion.
 */
#include "io/rows.h"

enum { NAME, CPU, MEM, GPUS, GPU_MILLI, SPEC, QOS, PHASE, CREATION, DELETION, SCHEDULED };

static const struct column columns[] = {
	[NAME] = { .name = "name", .required = true },
	[CPU] = { .name = "cpu_milli" },
	[MEM] = { .name = "memory_mib" },
	[GPUS] = { .name = "num_gpu", .required = true },
	[GPU_MILLI] = { .name = "gpu_milli" },
	[SPEC] = { .name = "gpu_spec" },
	[QOS] = { .name = "qos" },
	[PHASE] = { .name = "pod_phase" },
	[CREATION] = { .name = "creation_time", .required = true },
	[DELETION] = { .name = "deletion_time", .required = true },
	[SCHEDULED] = { .name = "scheduled_time", .required = true },
	{ 0 },
};

static const double mib = 1 << 20;

static double read_duration(struct rows *rows)
{
	double end_s = row_number(rows, DELETION, NAN, 0, 1e12);
	double start_s = row_number(rows, SCHEDULED, NAN, 0, 1e12);

	if (isnan(start_s))
		row_drop(rows, SCHEDULED, "never scheduled: how long the pod runs is not known", NULL);
	else if (isnan(end_s))
		row_drop(rows, DELETION, "not deleted: how long the pod runs is not known", NULL);
	else if (fabs(end_s - start_s) < 1e-6)
		row_drop(rows, DELETION, "a run time of 0", NULL);
	else if (end_s < start_s)
		row_bad(rows, DELETION, row_text(rows, DELETION), "is before scheduled_time", NULL);
	return end_s - start_s;
}

static void read_row(struct rows *rows, struct job *job)
{
	row_label(rows, job, row_text(rows, NAME));
	job->gpus = row_gpus(rows, GPUS);
	if (row_number(rows, GPU_MILLI, 1000, 0, 1e9) < 1000)
		row_note(rows, NOTE_ASSUMED, GPU_MILLI, "a fraction of a GPU counts as a whole one",
			NULL);
	job->cpus = row_number(rows, CPU, 0, 0, 1e9) / 1000;
	job->mem_bytes = (int64_t)(row_number(rows, MEM, 0, 0, 1e12) * mib);
	job->types = row_types(rows, SPEC, row_text(rows, SPEC));
	job->class_ = slice_is(row_text(rows, QOS), "BE") ? JOB_OPPORTUNISTIC : JOB_GUARANTEED;
	job->arrival_s = row_time(rows, CREATION);
	rows->work = read_duration(rows);
	row_ended(rows, PHASE, row_text(rows, PHASE), "Succeeded");
}

static const struct remark remarks[] = {
	{ NOTE_ASSUMED, QOS, "best effort (BE) is opportunistic, all others guaranteed" },
	{ NOTE_ASSUMED, SCHEDULED, "a pod runs from its scheduling to its deletion" },
	{ 0 },
};

static const struct table table = {
	.style = CSV_COMMAS,
	.columns = columns,
	.row = read_row,
	.remarks = remarks,
};

const struct importer importer_openb = {
	.name = "openb",
	.summary = "Alibaba openb 2023: openb_pod_list_*.csv",
	.origin = "Weng et al., ATC 2023",
	.dated = true,
	.header = "name|num_gpu|creation_time|deletion_time",
	.table = &table,
};
