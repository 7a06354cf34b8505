/*
 * This machine, with GPUs that a stand-in for NVML makes up.
 */
#include "live/local/discover.h"

#include <libgen.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "live/local/machine_limits.h"
#include "live/local/machine_type.h"
#include "model/links.h"
#include "support/property.h"

#define GIB (INT64_C(1) << 30)

/* ---- a world of GPUs */

#define A "gpu|GPU-a|NVIDIA A100-SXM4-80GB|85899345920|0:1:0"
#define B "gpu|GPU-b|NVIDIA A100-SXM4-80GB|85899345920|0:2:0"
#define C "gpu|GPU-c|Tesla V100-SXM2-32GB|34359738368|0:3:0"

struct bench {
	char dir[64];
	char *file;    /* $FAKE_NVML */
	char *library; /* the stand-in */
};

static char *beside_this_program(const char *name)
{
	char path[4096] = "";
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(n > 0);
	return mem_printf("%s/../../%s", dirname(path), name);
}

static int setup(void **state)
{
	struct bench *b = mem_alloc(sizeof(*b));
	const char *tmp = getenv("TMPDIR");

	snprintf(b->dir, sizeof(b->dir), "%s/machine.XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	if (!mkdtemp(b->dir))
		return -1;
	b->file = path_join(b->dir, "gpus");
	b->library = beside_this_program("fake/libnvidia-ml.so.1");
	setenv("FAKE_NVML", b->file, 1);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	unlink(b->file);
	rmdir(b->dir);
	free(b->file);
	free(b->library);
	free(b);
	return 0;
}

static void now_there_is(const struct bench *b, const char *lines)
{
	struct err err;

	if (file_write(b->file, lines, strlen(lines), &err) < 0)
		fail_msg("%s", err.text);
}

static struct machine discover(const struct bench *b, const char *lines, int32_t slots)
{
	const struct machine_options options = { .nvml = b->library, .slots = slots };
	struct machine m;
	struct err err;

	now_there_is(b, lines);
	assert_int_equal(machine_discover(&options, &m, &err), 0);
	return m;
}

/* ---- GPUs */

static void gpus_of_two_types(void **state)
{
	struct machine m = discover(*state, "driver|550.54.15\n" C "\n" B "\n" A "\n", 0);

	assert_true(m.has_gpus);
	assert_string_equal(m.driver, "NVML 550.54.15");
	assert_int_equal(m.ndevices, 3); /* in the order of the bus */
	assert_string_equal(m.devices[0].uuid, "GPU-a");
	assert_string_equal(m.devices[0].type, "a100-80g");
	assert_string_equal(m.devices[0].title, "NVIDIA A100-SXM4-80GB");
	assert_string_equal(m.devices[0].visible, "0");
	assert_true(m.devices[0].mem_bytes == 80 * GIB);
	assert_string_equal(m.devices[2].uuid, "GPU-c");
	assert_string_equal(m.devices[2].type, "v100-32g");
	assert_string_equal(m.devices[2].visible, "2");
	assert_int_equal(m.devices[2].index, 2);
	assert_true(m.devices[2].up);
	assert_true(m.cpus > 0 && m.host[0]);
	machine_fini(&m);
}

static void gpus_and_slots_as_a_cluster(void **state)
{
	struct machine m = discover(*state, A "\n" C "\n" B "\n", 70);
	struct cluster cluster;
	uint32_t *device_of;
	struct err err;

	assert_int_equal(m.ndevices, 73);
	assert_int_equal(machine_cluster(&m, &cluster, &device_of, &err), 0);
	assert_int_equal(cluster.nnodes, 4); /* slots are two: a node has 64 at most */
	assert_int_equal(cluster.ntypes, 3);
	assert_int_equal(cluster.nodes[0].devices, 2);
	assert_int_equal(cluster.nodes[1].devices, 1);
	assert_int_equal(cluster.nodes[2].devices, 64);
	assert_int_equal(cluster.nodes[3].devices, 6);
	assert_string_equal(cluster.types[cluster.nodes[1].type].name, "v100-32g");
	assert_string_equal(cluster.types[cluster.nodes[3].type].name, "cpu");
	assert_string_equal(cluster.nodes[3].name, m.host);
	assert_true(cluster.nodes[0].cpus == 0); /* two nodes of GPUs: whose would they be? */
	assert_string_equal(m.devices[device_of[0 * NODE_DEVICES_MAX + 1]].uuid, "GPU-b");
	assert_string_equal(m.devices[device_of[1 * NODE_DEVICES_MAX]].uuid, "GPU-c");
	assert_string_equal(m.devices[device_of[3 * NODE_DEVICES_MAX + 5]].uuid, "cpu-69");
	assert_true(cluster.types[0].mem_bytes == 80 * GIB);
	assert_true(cluster.types[0].flops > 0);
	assert_int_equal(cluster_find_type(&cluster, "A100-SXM4-80GB"), 0);
	free(device_of);
	cluster_fini(&cluster);
	machine_fini(&m);
}

static void one_node_has_what_the_host_has(void **state)
{
	struct machine m = discover(*state, A "\n" B "\n", 2);
	struct cluster cluster;
	uint32_t *device_of;
	struct err err;

	assert_int_equal(machine_cluster(&m, &cluster, &device_of, &err), 0);
	assert_int_equal(cluster.nnodes, 2);
	assert_true(cluster.nodes[0].cpus == m.cpus);
	assert_true(cluster.nodes[0].mem_bytes == m.mem_bytes);
	assert_true(cluster.nodes[1].cpus == 0 && cluster.nodes[1].mem_bytes == 0);
	free(device_of);
	cluster_fini(&cluster);
	machine_fini(&m);
}

static void instances(void **state)
{
	struct machine m = discover(*state,
		B "\n"
		  "gpu|GPU-x|NVIDIA A100-SXM4-40GB|42949672960|0:1:0\n"
		  "mig|MIG-1|NVIDIA A100-SXM4-40GB MIG 3g.20gb|20937965568\n"
		  "none\n"
		  "mig|MIG-2|NVIDIA A100-SXM4-40GB MIG 1g.5gb|5100273664\n",
		0);
	struct cluster cluster;
	uint32_t *device_of;
	struct err err;

	assert_int_equal(m.ndevices, 3);
	assert_string_equal(m.devices[0].uuid, "MIG-1");
	assert_string_equal(m.devices[0].type, "a100-40g.3g.20gb");
	assert_string_equal(m.devices[0].title, "NVIDIA A100-SXM4-40GB MIG 3g.20gb");
	assert_string_equal(m.devices[0].visible, "MIG-1");
	assert_string_equal(m.devices[1].type, "a100-40g.1g.5gb");
	assert_true(m.devices[1].mem_bytes == 5100273664);
	assert_string_equal(m.devices[2].type, "a100-80g");
	assert_string_equal(m.devices[2].visible, "GPU-b"); /* numbers mislead beside instances */
	assert_int_equal(machine_cluster(&m, &cluster, &device_of, &err), 0);
	assert_int_equal(cluster.nnodes, 3);
	assert_true(cluster.types[1].mem_bytes == 5100273664);
	assert_true(fabs(cluster.types[0].flops / cluster.types[2].flops - 3.0 / 7) < 1e-9);
	free(device_of);
	cluster_fini(&cluster);
	machine_fini(&m);
}

static void a_gpu_goes_and_comes_back(void **state)
{
	struct machine m = discover(*state, A "\n" B "\n" C "\n", 1);

	assert_int_equal(machine_refresh(&m), 0);
	now_there_is(*state, A "\n" C "\n");
	assert_int_equal(machine_refresh(&m), MACHINE_UP);
	assert_true(m.devices[0].up && !m.devices[1].up && m.devices[2].up && m.devices[3].up);
	assert_string_equal(m.devices[2].visible, "GPU-c");
	assert_int_equal(machine_refresh(&m), 0);
	now_there_is(*state, A "\n" B "\n" C "\n");
	assert_int_equal(machine_refresh(&m), MACHINE_UP);
	assert_true(m.devices[1].up);
	assert_string_equal(m.devices[1].visible, "1");
	assert_string_equal(m.devices[2].visible, "2");
	machine_fini(&m);
}

static const struct {
	const char *what, *state;
} deaths[] = {
	{ "it has no handle", "|lost" },
	{ "it answers nothing", "|dying" },
};

static void a_gpu_is_lost(void **state)
{
	for (size_t i = 0; i < COUNT(deaths); i++) {
		struct machine m = discover(*state, A "\n" B "\n", 0);
		char *lines = mem_printf("%s%s\n%s\n", A, deaths[i].state, B);

		now_there_is(*state, lines);
		if (machine_refresh(&m) != MACHINE_UP || m.devices[0].up || !m.devices[1].up)
			fail_msg("%s", deaths[i].what);
		assert_string_equal(m.devices[1].visible, "GPU-b");
		assert_int_equal(m.devices[1].index, 1);
		free(lines);
		machine_fini(&m);
	}
}

/* A library that runs does not see what has come back: it has to be started again. */
static void started_again_it_sees_more(void **state)
{
	struct machine m = discover(*state, A "\n" B "\n", 0);

	now_there_is(*state, A "|lost\n" B "\n");
	assert_int_equal(machine_refresh(&m), MACHINE_UP);
	now_there_is(*state, A "|start=1000000\n" B "\n");
	assert_int_equal(machine_refresh(&m), 0);
	now_there_is(*state, A "|start=2\n" B "\n");
	assert_int_equal(machine_refresh(&m), MACHINE_UP);
	assert_true(m.devices[0].up);
	machine_fini(&m);
}

static void a_new_gpu_is_not_added(void **state)
{
	struct machine m = discover(*state, A "\n", 0);

	now_there_is(*state, A "\n" B "\n");
	assert_int_equal(machine_refresh(&m), MACHINE_NEW);
	assert_int_equal(m.ndevices, 1);
	now_there_is(*state, B "\n");
	assert_int_equal(machine_refresh(&m), MACHINE_UP | MACHINE_NEW);
	machine_fini(&m);
}

static void where_nvml_fails_nothing_is_news(void **state)
{
	struct machine m = discover(*state, A "\n", 0);

	now_there_is(*state, "fail|nvmlDeviceGetCount_v2|999\n" A "\n");
	assert_int_equal(machine_refresh(&m), 0);
	assert_true(m.devices[0].up);
	now_there_is(*state, "fail|nvmlDeviceGetCount_v2|9\n" A "\n"); /* but the driver is gone here */
	assert_int_equal(machine_refresh(&m), MACHINE_UP);
	assert_false(m.devices[0].up);
	now_there_is(*state, "fail|nvmlInit_v2|9\n" A "\n");
	assert_int_equal(machine_refresh(&m), 0);
	now_there_is(*state, A "\n");
	assert_int_equal(machine_refresh(&m), MACHINE_UP);
	assert_true(m.devices[0].up);
	machine_fini(&m);
}

/* ---- without GPUs */

static void only_slots(struct machine *m, const char *why)
{
	assert_false(m->has_gpus);
	assert_null(m->nvml);
	assert_int_equal(m->ndevices, 3);
	assert_string_equal(m->devices[0].type, "cpu");
	assert_string_equal(m->devices[2].uuid, "cpu-2");
	assert_string_equal(m->devices[2].visible, "");
	assert_int_equal(m->devices[2].index, 2);
	assert_true(m->devices[2].mem_bytes == m->mem_bytes / 3);
	if (!strstr(m->driver, why))
		fail_msg("'%s' does not say '%s'", m->driver, why);
	assert_int_equal(machine_refresh(m), 0);
	machine_fini(m);
}

static void without_gpus(void **state)
{
	struct bench *b = *state;
	struct machine m;
	struct err err;

	m = discover(b, "driver|1\n", 3);
	only_slots(&m, "no GPUs");
	m = discover(b, "fail|nvmlInit_v2|9\n" A "\n", 3);
	only_slots(&m, "Driver Not Loaded");
	m = discover(b, "fail|nvmlDeviceGetCount_v2|999\n" A "\n", 3);
	only_slots(&m, "Unknown Error");
	assert_int_equal(
		machine_discover(&(struct machine_options){ .nvml = "/nowhere/nvml.so", .slots = 3 },
			&m, &err),
		0);
	only_slots(&m, "/nowhere/nvml.so");
	assert_int_equal(machine_discover(&(struct machine_options){ .nvml = "libm.so.6", .slots = 3 },
				 &m, &err),
		0);
	only_slots(&m, "nvmlInit_v2");
	now_there_is(b, A "\n");
	assert_int_equal(
		machine_discover(
			&(struct machine_options){ .nvml = b->library, .no_gpus = true, .slots = 3 },
			&m, &err),
		0);
	only_slots(&m, "not used");
}

static void the_environment_names_the_library(void **state)
{
	struct bench *b = *state;
	struct machine m;
	struct err err;

	now_there_is(b, A "\n");
	setenv("STINT_NVML", b->library, 1);
	assert_int_equal(machine_discover(&(struct machine_options){ 0 }, &m, &err), 0);
	unsetenv("STINT_NVML");
	assert_int_equal(m.ndevices, 1);
	machine_fini(&m);
}

static void slots(void **state)
{
	struct cluster cluster;
	uint32_t *device_of;
	struct machine m;
	struct err err;

	m = discover(*state, "", -1);
	assert_int_equal(m.ndevices, m.cpus);
	assert_int_equal(machine_cluster(&m, &cluster, &device_of, &err), 0);
	assert_int_equal(cluster.devices, m.cpus);
	assert_true(cluster.types[0].mem_bytes == 0);
	free(device_of);
	cluster_fini(&cluster);
	machine_fini(&m);

	m = discover(*state, "", 0);
	assert_int_equal(m.ndevices, 0);
	assert_int_equal(machine_cluster(&m, &cluster, &device_of, &err), ERR_USAGE);
	machine_fini(&m);
	assert_int_equal(machine_discover(&(struct machine_options){ .slots = -2 }, &m, &err),
		ERR_USAGE);
	machine_fini(&(struct machine){ 0 });
}

/* ---- names */

static const struct {
	const char *product, *profile;
	double gib;
	const char *want;
} types[] = {
	{ "NVIDIA A100-SXM4-80GB", "", 79.3, "a100-80g" },
	{ "NVIDIA A100 80GB PCIe", "", 80, "a100-80g" },
	{ "NVIDIA A100-PCIE-40GB", "", 39.6, "a100-40g" },
	{ "Tesla V100-SXM2-16GB", "", 15.8, "v100" },
	{ "Tesla V100-SXM2-32GB", "", 31.7, "v100-32g" },
	{ "Tesla V100-DGXS-32GB", "", 31.7, "v100-32g" },
	{ "NVIDIA H100 80GB HBM3", "", 79.6, "h100" },
	{ "NVIDIA H100 PCIe", "", 79.6, "h100" },
	{ "NVIDIA H200", "", 140.4, "h200" },
	{ "Tesla T4", "", 15, "t4" },
	{ "NVIDIA GeForce RTX 3090", "", 24, "rtx3090" },
	{ "NVIDIA L4", "", 22.5, "l4" },
	{ "NVIDIA RTX 6000 Ada Generation", "", 48, "rtx-6000-ada-generation" },
	{ "NVIDIA GeForce RTX 5090", "", 32, "rtx-5090" },
	{ "NVIDIA GH200 480GB", "", 95.6, "gh200-480gb" },
	{ "NVIDIA B200", "", 180, "b200" },
	{ "Graphics Device", "", 8, "graphics-device" },
	{ "NVIDIA ", "", 8, "nvidia" },
	{ "¿?", "", 8, "gpu" },
	{ "NVIDIA A100-SXM4-40GB", "1g.5gb+me", 4.75, "a100-40g.1g.5gb+me" },
	{ "NVIDIA H100 80GB HBM3", "1c.3g.40gb", 39, "h100.1c.3g.40gb" },
	{ "NVIDIA Something With A Very Long Name That Does Not End Soon Enough", "7g.80gb", 80,
		"something-with-a-very-long.7g.80gb" },
};

static void names_of_types(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(types); i++) {
		char got[48];

		machine_type(types[i].product, types[i].profile,
			(int64_t)(types[i].gib * (double)GIB), got, sizeof(got));
		if (strcmp(got, types[i].want) != 0)
			fail_msg("%s: %s", types[i].product, got);
		assert_true(cluster_is_type_name(slice_of(got)));
	}
}

static void facts_of_another_product_are_not_taken(void **state)
{
	struct cluster cluster = { 0 };
	uint32_t ada = cluster_add_type(&cluster, "rtx-6000-ada-generation");
	uint32_t known = cluster_add_type(&cluster, "rtx3090");

	(void)state;
	machine_type_facts(&cluster.types[ada], 48 * GIB);
	assert_true(cluster.types[ada].flops == 0);
	assert_true(cluster.types[ada].mem_bytes == 48 * GIB);
	machine_type_facts(&cluster.types[known], 24 * GIB - 5);
	assert_true(cluster.types[known].flops > 0);
	assert_true(cluster.types[known].mem_bytes == 24 * GIB - 5);
	cluster_fini(&cluster);
}

/* ---- limits */

static void put(const char *root, const char *path, const char *text)
{
	char *file = path_join(root, path), *dir = mem_strdup(file);
	struct err err;

	assert_int_equal(dir_make(dirname(dir), &err), 0);
	assert_int_equal(file_write(file, text, strlen(text), &err), 0);
	free(dir);
	free(file);
}

static struct limits limits_in(const char *dir, const char *name)
{
	char *root = path_join(dir, name);
	struct limits limits;

	limits_read(root, &limits);
	free(root);
	return limits;
}

static void groups_limit(void **state)
{
	struct bench *b = *state;
	char *command = mem_printf("rm -rf '%s'/?", b->dir);
	struct limits all = limits_in(b->dir, "nothing"), got;

	assert_true(all.cpus >= 1 && all.mem_bytes == 0);

	put(b->dir, "1/proc/meminfo", "MemFree: 1 kB\nMemTotal:       1000 kB\n");
	put(b->dir, "1/proc/self/cgroup", "0::/a/b\n");
	put(b->dir, "1/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	put(b->dir, "1/sys/fs/cgroup/a/b/memory.max", "max\n");
	got = limits_in(b->dir, "1");
	assert_int_equal(got.cpus, all.cpus);
	assert_int_equal(got.mem_bytes, 1024000);
	put(b->dir, "1/sys/fs/cgroup/a/cpu.max", "150000 100000\n"); /* what limits those above limits it */
	put(b->dir, "1/sys/fs/cgroup/a/memory.max", "4096\n");
	got = limits_in(b->dir, "1");
	assert_int_equal(got.cpus, 1);
	assert_int_equal(got.mem_bytes, 4096);

	put(b->dir, "2/proc/self/cgroup", "4:memory:/m\n1:cpu,cpuacct:/c\nodd\n0::/\n");
	put(b->dir, "2/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "9223372036854771712\n");
	put(b->dir, "2/sys/fs/cgroup/memory/memory.limit_in_bytes", "8192\n");
	put(b->dir, "2/sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "-1\n");
	put(b->dir, "2/sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
	got = limits_in(b->dir, "2");
	assert_int_equal(got.cpus, all.cpus);
	assert_int_equal(got.mem_bytes, 8192);
	put(b->dir, "2/sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "50000\n");
	got = limits_in(b->dir, "2");
	assert_int_equal(got.cpus, 1); /* half of one is all there is */
	assert_int_equal(system(command), 0);
	free(command);
}

/* A GPU that computes shows it; an instance, a lost one and a slot show nothing. */
static void who_computes_shows_it(void **state)
{
	const struct bench *b = *state;
	struct machine m = discover(b, A "\n" B "\nbusy|GPU-b|37\n", 1);

	assert_int_equal(m.ndevices, 3);
	assert_int_equal(machine_busy(&m, 0), 0);
	assert_int_equal(machine_busy(&m, 1), 37);
	assert_int_equal(machine_busy(&m, 2), -1);
	now_there_is(b, A "\n" B "|lost\n");
	assert_int_equal(machine_busy(&m, 1), -1);
	now_there_is(b, "fail|nvmlDeviceGetUtilizationRates|3\n" A "\n" B "\n");
	assert_int_equal(machine_busy(&m, 0), -1);
	machine_fini(&m);
}

/* ---- links */

#define D "gpu|GPU-d|NVIDIA A100-SXM4-80GB|85899345920|0:4:0"

static void links_become_a_topology(void **state)
{
	struct machine m = discover(*state,
		A "\n" B "\n" D "\nnear|GPU-a|GPU-b|10\nnear|GPU-a|GPU-d|50\nnear|GPU-b|GPU-d|50\n"
		  "link|GPU-a|GPU-b|4\nlink|GPU-b|GPU-d|1\n",
		1);
	struct cluster cluster;
	const struct topology *t;
	uint32_t *device_of;
	struct err err;

	assert_int_equal(m.nlinked, 3);
	assert_int_equal(machine_cluster(&m, &cluster, &device_of, &err), 0);
	assert_int_equal(cluster.ntopologies, 1);
	assert_int_equal(cluster.nodes[0].topology, 0);
	assert_int_equal(cluster.nodes[1].topology, TOPOLOGY_NONE); /* the slot */
	t = &cluster.topologies[0];
	assert_int_equal(topology_links(t, 0, 1), 4);
	assert_int_equal(topology_links(t, 1, 2), 1);
	assert_int_equal(topology_links(t, 0, 2), 0);
	assert_true(topology_Bps(t, 0, 1) == 100e9 && topology_Bps(t, 0, 2) == 10e9);
	assert_int_equal(topology_nearness(t, 0, 1), NEAR_SWITCH);
	assert_int_equal(topology_nearness(t, 1, 2), NEAR_NODE);
	free(device_of);
	cluster_fini(&cluster);
	machine_fini(&m);
}

static void switches_join_all(void **state)
{
	struct machine m = discover(*state,
		A "\n" B "\n" D "\nswitch|GPU-a|12\nswitch|GPU-b|12\nswitch|GPU-d|6\n", 0);

	assert_int_equal(m.links[0 * 3 + 1].links, 12);
	assert_int_equal(m.links[0 * 3 + 2].links, 6);
	machine_fini(&m);
}

/* As before links were asked for. */
static void without_answers_there_is_none(void **state)
{
	struct machine m = discover(*state, A "\n" B "\nnear|GPU-a|GPU-a|0\n", 0);
	struct cluster cluster;
	uint32_t *device_of;
	struct err err;

	assert_null(m.links);
	assert_int_equal(machine_cluster(&m, &cluster, &device_of, &err), 0);
	assert_int_equal(cluster.ntopologies, 0);
	assert_int_equal(cluster.nodes[0].topology, TOPOLOGY_NONE);
	free(device_of);
	cluster_fini(&cluster);
	machine_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_of_two_types),
		cmocka_unit_test(gpus_and_slots_as_a_cluster),
		cmocka_unit_test(one_node_has_what_the_host_has),
		cmocka_unit_test(instances),
		cmocka_unit_test(a_gpu_goes_and_comes_back),
		cmocka_unit_test(a_gpu_is_lost),
		cmocka_unit_test(started_again_it_sees_more),
		cmocka_unit_test(a_new_gpu_is_not_added),
		cmocka_unit_test(where_nvml_fails_nothing_is_news),
		cmocka_unit_test(without_gpus),
		cmocka_unit_test(the_environment_names_the_library),
		cmocka_unit_test(slots),
		cmocka_unit_test(who_computes_shows_it),
		cmocka_unit_test(names_of_types),
		cmocka_unit_test(facts_of_another_product_are_not_taken),
		cmocka_unit_test(groups_limit),
		cmocka_unit_test(links_become_a_topology),
		cmocka_unit_test(switches_join_all),
		cmocka_unit_test(without_answers_there_is_none),
	};

	return cmocka_run_group_tests_name("live/local/machine", tests, setup, teardown);
}
