/*
 * Equal to the published Tiresias simulator, job by job and to the second.
 *
 * Its outputs are under DATA/tiresias/measured; DATA is STINT_DATA, else
 * ../shared/data.
 */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "io/trace_io.h"
#include "sim/sim.h"
#include "support/data.h"
#include "support/property.h"

static const struct row {
	const char *what, *policy, *file;
} rows[] = {
	{ "fifo: first in, first out, the head blocks", "fifo", "fifo" },
	{ "fjf: first fit in arrival order", "fifo:misfit=skip", "fjf" },
	{ "sjf: fewest GPUs first, preemptive", "sjf:by=gpus,preempt=1", "sjf" },
	{ "shortest: shortest remaining time first", "srtf", "shortest" },
	{ "shortest-gpu: shortest remaining service first", "srsf", "shortest-gpu" },
	{ "dlas-gpu: queues by attained service", "tiresias:limits=3250/7200,order=running", "dlas-gpu" },
	{ "dlas-gpu-gittins: Gittins index inside the queues",
		"tiresias:limits=3250/7200,order=gittins,compat=simulator,index=published,history=%s/tiresias/yarn-gput1000.csv",
		"dlas-gpu-gittins" },
};

/* What is published of one job. */
struct published {
	int64_t id, start_s, end_s;
};

enum { ID = 1, START = 4, END = 5, FIELDS = 13 };

static bool read_published(struct slice line, struct published *out)
{
	struct slice fields[FIELDS];
	const char *at = line.at, *end = line.at + line.n;
	size_t n = 0;

	while (n < FIELDS && at <= end) {
		const char *comma = at < end ? memchr(at, ',', (size_t)(end - at)) : NULL;

		fields[n++] = (struct slice){ at, (size_t)((comma ? comma : end) - at) };
		at = comma ? comma + 1 : end + 1;
	}
	return n == FIELDS && slice_int(fields[ID], &out->id) &&
		slice_int(fields[START], &out->start_s) && slice_int(fields[END], &out->end_s);
}

static const struct job *find_job(const struct outcome *outcome, int64_t id)
{
	char label[32];

	snprintf(label, sizeof(label), "%lld", (long long)id);
	for (uint32_t i = 0; i < outcome->njobs; i++) {
		if (strcmp(outcome->jobs[i].label, label) == 0)
			return &outcome->jobs[i];
	}
	return NULL;
}

/* Compares one line; returns whether job and line agree. */
static bool agrees(const struct published *p, const struct outcome *outcome)
{
	const struct job *job = find_job(outcome, p->id);

	if (job && job->start_s == (double)p->start_s && job->finish_s == (double)p->end_s)
		return true;
	print_error("job %lld: published %lld-%lld, here %g-%g\n", (long long)p->id,
		(long long)p->start_s, (long long)p->end_s, job ? job->start_s : NAN,
		job ? job->finish_s : NAN);
	return false;
}

static void compare(const char *path, const struct outcome *outcome)
{
	struct err err = { 0 };
	uint32_t compared = 0, wrong = 0;
	struct published p;
	struct lines lines;
	struct slice line;
	struct file file;

	if (file_read(path, &file, &err) < 0)
		fail_msg("%s", err.text);
	for (lines = lines_of(file.at, file.n); lines_next(&lines, &line);) {
		if (!read_published(line, &p))
			continue; /* the heading */
		compared++;
		wrong += !agrees(&p, outcome);
	}
	file_fini(&file);
	assert_int_equal(wrong, 0);
	assert_int_equal(compared, outcome->njobs);
}

static void read_trace(struct trace *trace)
{
	char *path = mem_printf("%s/tiresias/60_job.csv", data_dir());
	struct notes notes = { 0 };
	struct err err = { 0 };

	if (trace_read(path, &(struct import_options){ 0 }, NULL, trace, &notes, &err) < 0)
		fail_msg("%s", err.text);
	notes_fini(&notes);
	free(path);
}

static void equals_the_published_simulator(void **state)
{
	const struct row *row = *state;
	char policy[512];
	char *measured = mem_printf("%s/tiresias/measured/60_job-n2g4-count-%s.csv", data_dir(),
		row->file);
	struct trace trace = { 0 };
	struct cluster cluster = { 0 };
	struct sim_config config;
	struct outcome outcome;
	struct err err = { 0 };

	if (!file_exists(measured)) {
		printf("%s is not there (STINT_DATA names the folder of data)\n", measured);
		free(measured);
		skip();
	}
	read_trace(&trace);
	assert_int_equal(cluster_parse("2x4", &cluster, &err), 0);
	sim_config_init(&config);
	snprintf(policy, sizeof(policy), row->policy, data_dir());
	config.trace = &trace;
	config.cluster = &cluster;
	config.policy = policy;
	if (sim_run(&config, &outcome, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(outcome.njobs, 60);
	compare(measured, &outcome);
	outcome_fini(&outcome);
	cluster_fini(&cluster);
	trace_fini(&trace);
	free(measured);
}

int main(void)
{
	struct CMUnitTest tests[COUNT(rows)];

	for (size_t i = 0; i < COUNT(rows); i++)
		tests[i] = (struct CMUnitTest){
			.name = rows[i].what,
			.test_func = equals_the_published_simulator,
			.initial_state = (void *)&rows[i],
		};
	return _cmocka_run_group_tests("sim/parity", tests, COUNT(rows), NULL, NULL);
}
