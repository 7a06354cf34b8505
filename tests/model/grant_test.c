/*
 * Grants: devices by type, and devices that others have, too.
 */
#include "model/grant.h"

#include "base/mem.h"
#include "model/cluster.h"
#include "support/property.h"

enum { SLOTS = 4 };

union devices {
	struct grant grant;
	char room[sizeof(struct grant) + SLOTS * sizeof(struct slot)];
};

/* Slots end with one that has no devices. */
static struct grant *grant(union devices *d, const struct slot *slots)
{
	d->grant = (struct grant){ .share = 1 };
	for (; d->grant.nslots < SLOTS && slots[d->grant.nslots].devices; d->grant.nslots++) {
		d->grant.slots[d->grant.nslots] = slots[d->grant.nslots];
		d->grant.gpus += (uint32_t)__builtin_popcountll(slots[d->grant.nslots].devices);
	}
	return &d->grant;
}

static const struct {
	const char *what;
	struct slot slots[SLOTS]; /* nodes 0 and 1 are of type 0, 2 and 3 of type 1 */
	uint32_t type;
	bool mixed;
	uint32_t first_gpus, nparts;
} kinds[] = {
	{ "one node", { { 2, 7 } }, 1, false, 3, 1 },
	{ "two nodes of a type", { { 0, 3 }, { 1, 1 } }, 0, false, 3, 1 },
	{ "most are of the second", { { 0, 1 }, { 3, 6 } }, 1, true, 1, 2 },
	{ "most are of the first", { { 2, 1 }, { 0, 2 }, { 1, 4 } }, 0, true, 1, 2 },
	{ "of equals the first", { { 3, 2 }, { 0, 1 } }, 1, true, 1, 2 },
	{ "types by turns", { { 0, 1 }, { 2, 1 }, { 1, 1 }, { 3, 8 } }, 0, true, 2, 2 },
};

static void types_of_a_grant(void **state)
{
	struct cluster cluster;
	struct err err;

	(void)state;
	assert_int_equal(cluster_parse("2x4:a,2x4:b", &cluster, &err), 0);
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct grant_part parts[TYPES_MAX];
		union devices d;
		struct grant *g = grant(&d, kinds[i].slots);
		uint32_t n = grant_parts(g, &cluster, parts);

		grant_set_type(g, &cluster);
		if (g->type != kinds[i].type || g->mixed != kinds[i].mixed ||
			n != kinds[i].nparts || parts[0].gpus != kinds[i].first_gpus ||
			parts[0].type != cluster.nodes[kinds[i].slots[0].node].type)
			fail_msg("%s", kinds[i].what);
	}
	cluster_fini(&cluster);
}

static const struct {
	const char *what;
	struct slot mine[SLOTS], other[SLOTS], third[SLOTS];
	bool within;
	double lent; /* of mine */
} rows[] = {
	{ "the same", { { 0, 3 } }, { { 0, 3 } }, { { 0, 0 } }, true, 1 },
	{ "one of two", { { 0, 3 } }, { { 0, 2 } }, { { 0, 0 } }, false, 0.5 },
	{ "two of one's one", { { 0, 2 } }, { { 0, 3 } }, { { 0, 0 } }, true, 0.5 },
	{ "apart", { { 0, 3 } }, { { 1, 3 } }, { { 0, 0 } }, false, 0 },
	{ "nodes in another order", { { 0, 3 }, { 1, 1 } }, { { 1, 1 }, { 0, 7 } }, { { 0, 0 } },
		true, 1.5 },
	{ "each device with another", { { 0, 3 } }, { { 0, 1 } }, { { 0, 2 } }, false, 1 },
	{ "one device with both", { { 0, 7 } }, { { 0, 1 } }, { { 0, 5 } }, false, 2.0 / 3 + 0.5 },
};

static void devices_beside_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		union devices a, b, c;
		struct grant *mine = grant(&a, rows[i].mine), *other = grant(&b, rows[i].other);
		struct grant *third = grant(&c, rows[i].third);
		struct neighbour beside[] = { { NULL, other }, { NULL, third } };

		if (grant_within(mine, other) != rows[i].within)
			fail_msg("%s: within", rows[i].what);
		if (grant_lent(mine, beside, 2) != rows[i].lent)
			fail_msg("%s: lent %g", rows[i].what, grant_lent(mine, beside, 2));
		assert_true(grant_lent(mine, NULL, 0) == 0);
	}
}

static void without_a_grant_it_has_the_same(void **state)
{
	struct neighbour same = { NULL, NULL };
	struct slot slots[] = { { 0, 3 }, { 1, 4 }, { 0, 0 } };
	union devices d;

	(void)state;
	assert_true(neighbour_devices(&same, 7) == UINT64_MAX);
	assert_true(grant_lent(grant(&d, slots), &same, 1) == 1.5);
	assert_true(slot_alike(slots[0], &same, 1) == 3);
	d.grant.share = 0.25; /* what it takes does not depend on who has the rest */
	assert_true(grant_lent(&d.grant, &same, 1) == 2.25);
	assert_true(grant_lent(&d.grant, NULL, 0) == 2.25);
}

static void alike_devices_make_up_the_slot(void **state)
{
	struct rng rng = property("devices split by company");

	(void)state;
	for (size_t round = 0; round < rounds(2000); round++) {
		union devices d[3];
		struct neighbour beside[3];
		struct slot slot = { 0, rng_u64(&rng) | 1 };
		uint64_t left = slot.devices;

		for (int i = 0; i < 3; i++)
			beside[i].grant = grant(&d[i],
				(struct slot[]){ { 0, rng_u64(&rng) & rng_u64(&rng) }, { 0, 0 } });
		while (left) {
			uint64_t alike = slot_alike((struct slot){ 0, left }, beside, 3);

			assert_true(alike && (alike & ~left) == 0);
			for (int i = 0; i < 3; i++) {
				uint64_t has = neighbour_devices(&beside[i], 0) & alike;

				assert_true(has == 0 || has == alike);
			}
			left &= ~alike;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_of_a_grant),
		cmocka_unit_test(devices_beside_others),
		cmocka_unit_test(without_a_grant_it_has_the_same),
		cmocka_unit_test(alike_devices_make_up_the_slot),
	};

	return cmocka_run_group_tests_name("model/grant", tests, NULL, NULL);
}
