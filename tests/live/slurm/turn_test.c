#include "live/slurm/turn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "support/property.h"

/* "a1 a2 b1": a node of two devices for each word, of the type of its letter. */
static struct machine machine_of(const char *nodes)
{
	struct machine m = { .devices = mem_alloc(64 * sizeof(struct machine_device)) };

	for (const char *c = nodes; *c; c += c[2] ? 3 : 2) {
		for (int i = 0; i < 2; i++) {
			struct machine_device *d = &m.devices[m.ndevices++];

			snprintf(d->host, sizeof(d->host), "%.2s", c);
			snprintf(d->type, sizeof(d->type), "%c", *c);
			d->index = i;
		}
	}
	return m;
}

static void check(const char *nodes, uint32_t k, uint32_t n, const char *want)
{
	struct machine m = machine_of(nodes);
	char got[256] = "";

	machine_turn(&m, k, n);
	for (uint32_t i = 0; i < m.ndevices; i += 2) {
		assert_string_equal(m.devices[i].host, m.devices[i + 1].host);
		assert_int_equal(m.devices[i].index, 0);
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i ? " " : "",
			m.devices[i].host);
	}
	assert_string_equal(got, want);
	free(m.devices);
}

static void each_begins_elsewhere(void **state)
{
	(void)state;
	check("a1 a2 a3 a4", 0, 1, "a1 a2 a3 a4");
	check("a1 a2 a3 a4", 0, 2, "a1 a2 a3 a4");
	check("a1 a2 a3 a4", 1, 2, "a3 a4 a1 a2");
	check("a1 a2 a3 a4", 3, 4, "a4 a1 a2 a3");
}

static void of_each_type(void **state)
{
	(void)state;
	check("a1 a2 b1 b2", 1, 2, "a2 a1 b2 b1");
	check("a1 b1 a2 b2", 1, 2, "a2 a1 b2 b1");
	check("a1 b1", 1, 2, "a1 b1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_begins_elsewhere),
		cmocka_unit_test(of_each_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
