#include "io/capacity.h"

#include "base/property.h"

/* Two nodes of 8 with 32 CPUs and 64 GiB, two of 4 without such limits, all of one type; one of 2 of another. */
static struct cluster lab(void)
{
	struct cluster c = { 0 };
	uint32_t big = cluster_add_type(&c, "big"), small = cluster_add_type(&c, "small");
	struct node node = { .type = big, .topology = TOPOLOGY_NONE };

	for (int i = 0; i < 4; i++) {
		node.devices = i % 2 ? 4 : 8;
		node.cpus = i % 2 ? 0 : 32;
		node.mem_bytes = i % 2 ? 0 : INT64_C(64) << 30;
		cluster_add_node(&c, node);
	}
	cluster_add_node(&c, (struct node){ .type = small, .devices = 2, .topology = TOPOLOGY_NONE });
	return c;
}

static const struct {
	const char *what;
	int32_t min_gpus, gpus;
	double cpus;
	int64_t mem_gib;
	uint32_t types, want;
} rows[] = {
	{ "all there is", 24, 24, 0, 0, 1, 24 },
	{ "one too many", 25, 25, 0, 0, 1, 0 },
	{ "fewer will do", 1, 99, 0, 0, 1, 24 },
	{ "the larger type", 1, 99, 0, 0, 3, 24 },
	{ "the smaller type", 1, 99, 0, 0, 2, 2 },
	{ "types do not add up", 26, 26, 0, 0, 3, 0 },
	{ "no type", 1, 1, 0, 0, 0, 0 },
	{ "CPUs for all", 24, 24, 96, 0, 1, 24 },
	{ "eight CPUs each: half of the nodes with limits", 16, 16, 128, 0, 1, 16 },
	{ "one device more they cannot feed", 17, 17, 136, 0, 1, 0 },
	{ "memory likewise", 16, 16, 0, 16 * 16, 1, 16 },
	{ "and beyond", 17, 17, 0, 17 * 16, 1, 0 },
	{ "spread over fewer, each needs more", 4, 24, 1000, 0, 1, 8 },
};

static void the_most_that_fits(void **state)
{
	struct cluster cluster = lab();
	struct capacity capacity;

	(void)state;
	capacity_init(&capacity, &cluster);
	assert_int_equal(capacity.n, 3);
	assert_int_equal(capacity_devices(&capacity, 3), 24);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct job job;

		job_init(&job);
		job.min_gpus = rows[i].min_gpus;
		job.gpus = rows[i].gpus;
		job.cpus = rows[i].cpus;
		job.mem_bytes = rows[i].mem_gib << 30;
		print_message("%s\n", rows[i].what);
		assert_int_equal(capacity_gpus(&capacity, &job, rows[i].types), rows[i].want);
	}
	capacity_fini(&capacity);
	cluster_fini(&cluster);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_most_that_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
