/*
 * snapshot [JOBS]...: what copying the live state costs, which the daemon's loop does for every
 * explanation and forecast (live/core_snapshot.c); without numbers 1,000, 10,000 and 100,000.
 *
 * Some jobs run on 256 devices, the others wait; they have names, tenants, models and
 * priorities, a few follow others.  Once all are of a fixed size, once all are elastic, so that
 * each has an agent.  CPU milliseconds: of a first copy, the best and the median of those that
 * follow, and of giving one back.  Between two copies 64 MiB of other memory are walked through,
 * as a daemon does other things in between, too.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "live/core.h"

enum { REPEATS = 21, TENANTS = 16, MODELS = 12 };

static void must(int rc, const struct err *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "snapshot: %s\n", err->text);
	exit(1);
}

/* ---- the state */

static void submit(struct core *core, uint32_t id, bool elastic)
{
	const char *argv[] = { "train", NULL }, *env[] = { NULL };
	struct dependency after = { AFTER_ANY, id - 1 };
	char name[32], tenant[16], model[16];
	struct submission s;
	struct live_job *job;
	struct err err = { 0 };

	snprintf(name, sizeof(name), "resnet50-lr%u", id % 97);
	snprintf(tenant, sizeof(tenant), "team%u", id % TENANTS);
	snprintf(model, sizeof(model), "model%u", id % MODELS);
	submission_init(&s);
	s.name = name;
	s.argv = argv;
	s.env = env;
	s.cwd = "/";
	s.tenant = tenant;
	s.model = model;
	s.gpus = 1 << id % 4;
	s.min_gpus = elastic ? 1 : -1;
	s.max_gpus = elastic ? 8 : -1;
	s.estimate_s = 600 + id % 7919;
	s.priority = (int32_t)(id % 5);
	if (id % 50 == 0) {
		s.after = &after;
		s.nafter = 1;
	}
	must(submission_check(&s, &err), &err);
	job = live_job_create(id, &s, 0, 0);
	job->user = mem_strdup("ana");
	must(core_submit(core, job, 0, &err), &err);
	submission_fini(&s);
}

static struct core *fill(const struct cluster *cluster, uint32_t jobs, bool elastic)
{
	struct core_config config = { .cluster = cluster, .rules = { .policy = "fifo" } };
	struct core *core;
	struct err err = { 0 };

	must(core_open(&config, 0, &core, &err), &err);
	for (uint32_t id = 1; id <= jobs; id++)
		submit(core, id, elastic);
	must(core_turn(core, 1, &err), &err);
	core_forget_notes(core);
	return core;
}

/* ---- measuring */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quickest(double *ms, double q)
{
	qsort(ms, REPEATS, sizeof(*ms), by_size);
	return ms[(size_t)(q * REPEATS)];
}

static double copy_ms(struct core *core, double now_s, struct snapshot *out)
{
	double before_s = clock_thread_cpu_s();

	core_snapshot(core, now_s, out);
	return (clock_thread_cpu_s() - before_s) * 1e3;
}

/* Nothing of the state is in any cache any more. */
static void do_other_things(void)
{
	static volatile char other[64 << 20];

	for (size_t i = 0; i < sizeof(other); i += 64)
		other[i]++;
}

static double drop_ms(struct snapshot *s)
{
	double before_s = clock_thread_cpu_s();

	snapshot_fini(s);
	return (clock_thread_cpu_s() - before_s) * 1e3;
}

static void measure(const struct cluster *cluster, uint32_t jobs, bool elastic)
{
	struct core *core = fill(cluster, jobs, elastic);
	double copies[REPEATS], drops[REPEATS], first = 0;
	struct err err = { 0 };

	for (int i = -1; i < REPEATS; i++) {
		struct snapshot s;
		double ms = copy_ms(core, i + 2, &s);

		if (i < 0) {
			first = ms;
			snapshot_fini(&s);
			continue;
		}
		copies[i] = ms;
		drops[i] = drop_ms(&s);
		must(core_turn(core, i + 2, &err), &err);
		do_other_things();
	}
	printf("%7u jobs, %-8s first %6.2f   best %6.2f   median %6.2f   give back %6.2f\n", jobs,
		elastic ? "elastic" : "fixed", first, quickest(copies, 0), quickest(copies, 0.5),
		quickest(drops, 0.5));
	core_close(core);
}

int main(int argc, char **argv)
{
	static const uint32_t usual[] = { 1000, 10000, 100000 };
	struct cluster cluster;
	struct err err = { 0 };
	int n = argc > 1 ? argc - 1 : 3;

	must(cluster_parse("16x8:v100,16x8:a100", &cluster, &err), &err);
	printf("copies of the live state, ms of CPU\n");
	for (int i = 0; i < n; i++) {
		uint32_t jobs = argc > 1 ? (uint32_t)strtoul(argv[i + 1], NULL, 10) : usual[i];

		measure(&cluster, jobs, false);
		measure(&cluster, jobs, true);
	}
	cluster_fini(&cluster);
	return 0;
}
