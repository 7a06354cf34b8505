/*
 * The line to the bridge: with a Slurm that is not there, and with programs.
 */
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "live/slurm/bridge.h"
#include "live/slurm/wire.h"
#include "support/fake_slurm.h"
#include "support/property.h"

struct seen {
	int hellos, aways, answers, lost;
	char kind[32], failed[32];
};

static void hello(void *ctx, const json_t *body)
{
	(void)body;
	((struct seen *)ctx)->hellos++;
}

static void away(void *ctx, const char *kind, const char *error)
{
	struct seen *seen = ctx;

	assert_true(*error);
	seen->aways++;
	snprintf(seen->kind, sizeof(seen->kind), "%s", kind);
}

static void answered(void *ctx, const struct wire_answer *answer)
{
	struct seen *seen = ctx;

	seen->answers++;
	seen->lost += answer->lost;
	snprintf(seen->failed, sizeof(seen->failed), "%s", answer->kind);
}

static struct wire *open_wire(struct fake_slurm *fake, struct seen *seen)
{
	struct wire_config config = { .transport = &fake_transport,
		.transport_self = fake,
		.now_s = fake_now,
		.ctx = seen,
		.hello = hello,
		.away = away };
	struct wire *wire;
	struct err err;

	*seen = (struct seen){ 0 };
	fake_init(fake, 1);
	assert_int_equal(wire_open(&config, &wire, &err), 0);
	return wire;
}

static void send_ping(struct wire *wire, struct seen *seen)
{
	wire_send(wire, json_pack("{s:s,s:[]}", "op", "note", "jobs"), 30, answered, seen);
}

static void pass(struct wire *wire, struct fake_slurm *fake, double seconds)
{
	struct err err;

	for (double end_s = fake->now_s + seconds; fake->now_s < end_s;) {
		fake_pass(fake, 0.05);
		assert_int_equal(wire_poll(wire, &err), 0);
	}
}

static void test_answers(void **state)
{
	struct fake_slurm fake;
	struct seen seen;
	struct wire *wire = open_wire(&fake, &seen);

	(void)state;
	send_ping(wire, &seen);
	send_ping(wire, &seen);
	assert_int_equal(wire_waiting(wire), 2);
	pass(wire, &fake, 0.1);
	assert_true(wire_ready(wire));
	assert_int_equal(seen.hellos, 1);
	assert_int_equal(seen.answers, 2);
	assert_int_equal(seen.lost, 0);
	assert_int_equal(wire_waiting(wire), 0);
	fake.down = true;
	send_ping(wire, &seen);
	pass(wire, &fake, 0.1);
	assert_string_equal(seen.failed, "unreachable");
	wire_close(wire);
	fake_fini(&fake);
}

/* One is lost; what waited goes to the next bridge. */
static void test_death_and_garbage(void **state)
{
	struct fake_slurm fake;
	struct seen seen;
	struct wire *wire = open_wire(&fake, &seen);

	(void)state;
	for (int garbage = 0; garbage < 2; garbage++) {
		pass(wire, &fake, 0.1);
		fake.faults = garbage ? (struct fake_faults){ .garbage = 1 }
				      : (struct fake_faults){ .death = 1 };
		send_ping(wire, &seen);
		send_ping(wire, &seen);
		pass(wire, &fake, 0.05);
		assert_int_equal(seen.lost, 1 + garbage);
		assert_int_equal(wire_waiting(wire), 1);
		assert_string_equal(seen.kind, "bridge");
		fake.faults = (struct fake_faults){ 0 };
		pass(wire, &fake, 1);
		assert_int_equal(seen.answers, 2 + 2 * garbage);
	}
	assert_int_equal(fake.opens, 3);
	wire_close(wire);
	fake_fini(&fake);
}

static void test_deadline(void **state)
{
	struct fake_slurm fake;
	struct seen seen;
	struct wire *wire = open_wire(&fake, &seen);

	(void)state;
	pass(wire, &fake, 0.1);
	fake.faults.late = 1;
	send_ping(wire, &seen);
	pass(wire, &fake, 0.05);
	fake.late_s.at[0] = fake.now_s + 60;
	fake.faults.late = 0;
	pass(wire, &fake, 29);
	assert_int_equal(seen.answers, 0);
	pass(wire, &fake, 2);
	assert_int_equal(seen.lost, 1);
	/* The answer that comes all the same is nobody's. */
	send_ping(wire, &seen);
	pass(wire, &fake, 60);
	assert_int_equal(seen.answers, 2);
	assert_int_equal(fake.opens, 2);
	wire_close(wire);
	fake_fini(&fake);
}

static void test_hello_is_repeated(void **state)
{
	struct fake_slurm fake;
	struct seen seen;
	struct wire *wire = open_wire(&fake, &seen);

	(void)state;
	fake.hello_kind = "auth";
	pass(wire, &fake, 60);
	assert_int_equal(seen.aways, 1);
	assert_string_equal(seen.kind, "auth");
	assert_true(fake.requests > 10 && fake.requests < 30);
	assert_int_equal(fake.opens, 1);
	fake.hello_kind = NULL;
	pass(wire, &fake, 6);
	assert_int_equal(seen.hellos, 1);
	wire_close(wire);
	fake_fini(&fake);
}

/* A program that ends at once, one that never speaks, and none at all. */
static void test_programs(void **state)
{
	const char *const none[] = { "/no/such/stint-slurm", NULL }, *const ends[] = { "true", NULL };
	const char *const says[] = { "sh", "-c",
		"while read -r line; do id=${line##*:}; echo \"{\\\"id\\\":${id%\\}},\\\"ok\\\":true}\"; done",
		NULL };
	const struct {
		const char *const *command;
		const char *kind;
		int answers;
	} rows[] = { { none, "program", 0 }, { ends, "bridge", 0 }, { says, "", 1 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bridge bridge = { .command = rows[i].command, .pid = -1, .in = -1, .out = -1 };
		struct seen seen = { 0 };
		struct wire_config config = { .transport = &bridge_transport,
			.transport_self = &bridge,
			.now_s = clock_wall_s,
			.ctx = &seen,
			.hello = hello,
			.away = away };
		struct wire *wire;
		struct err err;

		assert_int_equal(wire_open(&config, &wire, &err), 0);
		send_ping(wire, &seen);
		for (int k = 0; k < 500 && !seen.aways && !seen.answers; k++) {
			struct pollfd on = { wire_fd(wire), POLLIN, 0 };

			assert_int_equal(wire_poll(wire, &err), 0);
			poll(&on, 1, 20);
		}
		assert_string_equal(seen.kind, rows[i].kind);
		assert_int_equal(seen.answers, rows[i].answers);
		wire_close(wire);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_death_and_garbage),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_hello_is_repeated),
		cmocka_unit_test(test_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
