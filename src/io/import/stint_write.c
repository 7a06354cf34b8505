/*
 * Writing Stint's own trace: the columns that some job needs, and nothing in
 * them that leaving it empty would say as well.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/import/stint.h"

static double number_at(const struct job *job, const struct field *field)
{
	const void *at = (const char *)job + field->offset;

	switch (field->kind) {
	case INT:
		return *(const int32_t *)at;
	case BYTES:
		return (double)*(const int64_t *)at;
	default:
		return *(const double *)at;
	}
}

static void write_number(struct buf *out, const struct job *job, const struct field *field)
{
	const void *at = (const char *)job + field->offset;

	if (field->kind == BYTES)
		buf_printf(out, "%lld", (long long)*(const int64_t *)at);
	else
		buf_double(out, number_at(job, field));
}

/* The first in the alphabet: which type was named first is an accident. */
static uint32_t first_type(const struct trace *trace, uint32_t types)
{
	uint32_t least = (uint32_t)__builtin_ctz(types);

	for (uint32_t i = least + 1; i < trace->types.n && i < TYPES_MAX; i++)
		if ((types >> i & 1) && strcmp(trace->types.at[i], trace->types.at[least]) < 0)
			least = i;
	return least;
}

static void write_types(struct buf *out, const struct trace *trace, uint32_t types)
{
	struct buf list = { 0 };

	while (types) {
		uint32_t type = first_type(trace, types);

		buf_printf(&list, "%s%s", list.n ? "|" : "", trace->types.at[type]);
		types &= ~(UINT32_C(1) << type);
	}
	csv_write_text(out, list.at);
	buf_fini(&list);
}

/* The types whose gang is said. */
static uint32_t gang_types(const struct job *job)
{
	uint32_t types = 0;

	for (uint32_t i = 0; job->gpus_by_type && i < TYPES_MAX; i++)
		types |= job->gpus_by_type[i] ? UINT32_C(1) << i : 0;
	return types;
}

static void write_gangs(struct buf *out, const struct trace *trace, const struct job *job)
{
	uint32_t types = gang_types(job);
	struct buf list = { 0 };

	while (types) {
		uint32_t type = first_type(trace, types);

		buf_printf(&list, "%s%s:%u", list.n ? " " : "", trace->types.at[type],
			job->gpus_by_type[type]);
		types &= ~(UINT32_C(1) << type);
	}
	csv_write_text(out, list.at);
	buf_fini(&list);
}

static void write_after(struct buf *out, const struct trace *trace, const struct job *job)
{
	struct buf list = { 0 };

	for (uint32_t i = 0; i < job->ndeps; i++) {
		uint32_t other = trace->deps[job->first_dep + i];

		buf_printf(&list, "%s%s", i ? "|" : "", trace->jobs[other].label);
	}
	csv_write_text(out, list.at);
	buf_fini(&list);
}

/* The number in a column of kind WORK; 0 if the job leaves it empty, NAN for "?". */
static double work_at(const struct trace *trace, uint32_t i, int column)
{
	const struct job *job = &trace->jobs[i];
	bool known = job->work_est == trace->work[i] || isnan(job->work_est);

	switch (column) {
	case C_DURATION:
		return job->by_steps ? 0 : trace->work[i];
	case C_STEPS:
		return job->by_steps ? trace->work[i] : 0;
	case C_RATE:
		return job->by_steps && job->nominal_rate != 1 ? job->nominal_rate : 0;
	case C_EST_S:
		return job->by_steps || known ? 0 : job->work_est;
	default:
		return !job->by_steps || known ? 0 : job->work_est;
	}
}

/* Whether the column says anything of the job that its absence would not. */
static bool says(const struct trace *trace, uint32_t i, int column)
{
	const struct job *job = &trace->jobs[i];
	double x;

	switch (stint_fields[column].kind) {
	case LABEL:
		return true;
	case NAME:
		return job->name && *job->name;
	case TENANT:
		return job->tenant != NAME_NONE;
	case MODEL:
		return job->model != NAME_NONE;
	case TYPES:
		return job->types != 0;
	case GANGS:
		return gang_types(job) != 0;
	case MEASURED_ON:
		return trace->measured_on && trace->measured_on[i];
	case CLASS:
		return job->class_ != JOB_GUARANTEED;
	case AFTER:
		return job->ndeps > 0;
	case WORK:
		return work_at(trace, i, column) != 0;
	default:
		x = number_at(job, &stint_fields[column]);
		if (column == C_MIN_GPUS || column == C_MAX_GPUS)
			return x != 0 && x != job->gpus;
		return x != stint_fields[column].preset;
	}
}

static void write_field(struct buf *out, const struct trace *trace, uint32_t i, int column)
{
	const struct job *job = &trace->jobs[i];
	double x;

	switch (stint_fields[column].kind) {
	case LABEL:
		csv_write_text(out, job->label);
		break;
	case NAME:
		csv_write_text(out, job->name);
		break;
	case TENANT:
		csv_write_text(out, trace->tenants.at[job->tenant]);
		break;
	case MODEL:
		csv_write_text(out, trace->models.at[job->model]);
		break;
	case TYPES:
		write_types(out, trace, job->types);
		break;
	case GANGS:
		write_gangs(out, trace, job);
		break;
	case MEASURED_ON:
		csv_write_text(out, trace->types.at[trace->measured_on[i] - 1]);
		break;
	case CLASS:
		buf_str(out, stint_classes[job->class_]);
		break;
	case AFTER:
		write_after(out, trace, job);
		break;
	case WORK:
		x = work_at(trace, i, column);
		if (isnan(x))
			buf_char(out, '?');
		else
			buf_double(out, x);
		break;
	default:
		write_number(out, job, &stint_fields[column]);
		break;
	}
}

/* The columns that some job needs, and those that a reader of the file expects to see. */
static size_t used_columns(const struct trace *trace, int used[NCOLUMNS])
{
	size_t n = 0;

	for (int column = 0; column < NCOLUMNS; column++) {
		bool use = column == C_ID || column == C_GPUS || column == C_ARRIVAL;

		for (uint32_t i = 0; !use && i < trace->njobs; i++)
			use = says(trace, i, column);
		if (use)
			used[n++] = column;
	}
	return n;
}

void trace_write(const struct trace *trace, struct buf *out)
{
	int used[NCOLUMNS];
	size_t n = used_columns(trace, used);

	for (size_t c = 0; c < n; c++)
		buf_printf(out, "%s%s", c ? "," : "", stint_columns[used[c]].name);
	buf_char(out, '\n');
	for (uint32_t i = 0; i < trace->njobs; i++) {
		for (size_t c = 0; c < n; c++) {
			if (c)
				buf_char(out, ',');
			if (used[c] == C_GPUS || says(trace, i, used[c]))
				write_field(out, trace, i, used[c]);
		}
		buf_char(out, '\n');
	}
}
