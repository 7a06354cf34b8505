#include "io/import/slurm.h"

#include <math.h>
#include <string.h>

static bool takes(struct slice *s, const char *prefix)
{
	size_t n = strlen(prefix);

	if (s->n < n || memcmp(s->at, prefix, n) != 0)
		return false;
	*s = (struct slice){ s->at + n, s->n - n };
	return true;
}

/* Cuts what is behind the last `c` off. */
static bool cut_last(struct slice *s, char c, struct slice *tail)
{
	const char *at = s->n ? memrchr(s->at, c, s->n) : NULL;

	if (!at)
		return false;
	*tail = (struct slice){ at + 1, (size_t)(s->at + s->n - at - 1) };
	s->n = (size_t)(at - s->at);
	return true;
}

/* The count without a type is the sum of those with one. */
static void add_gpus(struct tres *tres, struct slice key, double count, double *typed)
{
	if (key.n == 0)
		tres->gpus = count;
	if (!takes(&key, ":") || !key.n)
		return;
	tres->type = key;
	*typed += count;
}

static bool is_count(struct slice text, double *out)
{
	return slice_double(text, out) && *out >= 0 && *out <= 1e9;
}

/* "gpu:v100:2", "gres:gpu:2" */
static void add_gres(struct tres *tres, struct slice item, double *typed)
{
	struct slice number;
	double x;

	takes(&item, "gres:");
	if (!takes(&item, "gpu"))
		return;
	if (!item.n) {
		x = 1; /* "gpu" alone is one */
	} else if (!cut_last(&item, ':', &number) || !is_count(number, &x)) {
		return;
	}
	tres->per_node = true;
	add_gpus(tres, item, x, typed);
}

static void add_item(struct tres *tres, struct slice item, double *typed)
{
	struct slice value;
	double x;

	if (!cut_last(&item, '=', &value)) {
		add_gres(tres, item, typed);
		return;
	}
	if (slice_is(item, "mem"))
		slice_bytes(value, &tres->mem_bytes);
	if (!is_count(value, &x))
		return;
	if (slice_is(item, "cpu"))
		tres->cpus = x;
	else if (slice_is(item, "node"))
		tres->nodes = x;
	else if (takes(&item, "gres/gpu"))
		add_gpus(tres, item, x, typed);
}

struct tres tres_read(struct slice list)
{
	struct tres tres = { 0 };
	double typed = 0;

	while (list.n)
		add_item(&tres, slice_trim(slice_cut(&list, ',')), &typed);
	if (tres.gpus == 0)
		tres.gpus = typed;
	return tres;
}

double tres_gpus(const struct tres *tres, double nodes, const struct import_options *options)
{
	if (!(nodes >= 1))
		nodes = tres->nodes >= 1 ? tres->nodes : 1;
	if (tres->gpus > 0)
		return tres->per_node ? tres->gpus * nodes : tres->gpus;
	if (options->gpus_per_node > 0)
		return options->gpus_per_node * nodes;
	if (options->cpus_per_gpu > 0)
		return ceil(tres->cpus / options->cpus_per_gpu);
	return 0;
}

void slurm_limit(struct slice minutes, struct job *job)
{
	double x;

	if (slice_double(minutes, &x) && x * 60 >= 1 && x < 1e10)
		job->work_est = x * 60;
}

bool slurm_time(struct slice text, double *out)
{
	return (slice_double(text, out) || slice_timestamp(text, out)) && fabs(*out) < 1e12;
}

void slurm_ran(struct rows *rows, struct slice start, double end_s, struct slice nodes,
	const struct job *job)
{
	struct past_run *run = &rows->run;
	double start_s;

	if (rows->fate != ROW_GOOD || !slurm_time(start, &start_s))
		return;
	/* A clock that was set back between both must not shorten it. */
	end_s = isnan(end_s) ? start_s + rows->work : fmax(end_s, start_s + rows->work);
	*run = (struct past_run){ .start_s = start_s,
		.end_s = end_s,
		.gpus = job->gpus,
		.type = rows->measured_on };
	if (nodes.n && nodes.at[0] != '(' && !slice_is_nocase(nodes, "None assigned"))
		run->nodes = trace_text(rows->out, nodes.at, nodes.n);
}
