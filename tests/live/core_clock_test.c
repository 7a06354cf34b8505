/*
 * The input "clock": moments that users gave as wall time move, lengths of time do not.
 */
#include "play.h"

static void begins_and_deadlines_move(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1, .begin_s = 50 });
	play_submit(&p, 1, (struct ask){ .gpus = 1, .deadline_s = 500 });
	play_begun(&p, 2, 2, 1);
	play_do(&p, 10, "clock", 0, 0, "{\"shift_s\":100}");
	assert_true(core_job(p.core, 1)->begin_s == 150 && core_job(p.core, 2)->deadline_s == 600);
	play_pass(&p, 149);
	play_state(&p, 1, "PENDING");
	play_state(&p, 2, "RUNNING");
	play_restart(&p, 149);
	assert_true(core_job(p.core, 1)->begin_s == 150 && core_job(p.core, 2)->deadline_s == 600);
	play_do(&p, 149, "clock", 0, 0, "{\"shift_s\":-1e9}");
	assert_true(core_job(p.core, 1)->begin_s > 0);
	play_pass(&p, 149.5);
	play_state(&p, 1, "CONFIGURING");
	play_close(&p);
}

static void a_begin_that_has_come_stays(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	play_submit(&p, 0, (struct ask){ .gpus = 1, .begin_s = 5 });
	play_do(&p, 10, "clock", 0, 0, "{\"shift_s\":3600}");
	assert_true(core_job(p.core, 2)->begin_s == 5);
	play_close(&p);
}

/* A job that saves and leaves again and again pauses in between. */
static void a_pause_keeps_its_length(void **state)
{
	struct play p;
	double begin_s;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 1 });
	for (uint32_t i = 1; i <= 2; i++) {
		play_begun(&p, 10 * i, 1, i);
		play_do(&p, 10 * i + 1, "exit", 1, i, "{\"known\":true,\"code\":85,\"ran_s\":1}");
	}
	begin_s = core_job(p.core, 1)->begin_s;
	assert_true(begin_s > 21);
	play_do(&p, 21.5, "clock", 0, 0, "{\"shift_s\":3600}");
	assert_true(core_job(p.core, 1)->begin_s == begin_s);
	play_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_and_deadlines_move),
		cmocka_unit_test(a_begin_that_has_come_stays),
		cmocka_unit_test(a_pause_keeps_its_length),
	};

	return cmocka_run_group_tests_name("live/core_clock", tests, NULL, NULL);
}
