/*
 * Jobs that another scheduler runs: the core follows, and endings that it had no
 * part in.
 */
#include "play.h"

static void who_is_run_outside_runs_here(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "2x2", "observed");
	play_submit(&p, 1, (struct ask){ .gpus = 2 });
	play_submit(&p, 2, (struct ask){ .gpus = 1 });
	play_state(&p, 1, "PENDING");
	play_reason(&p, 1, "outside");
	play_do(&p, 3, "observed", 2, 0, "{\"on\":[[\"n1\",1]]}");
	play_says(&p, "state 2, start 2.1, launch 2.1");
	play_begun(&p, 4, 2, 1);
	play_state(&p, 2, "RUNNING");
	play_state(&p, 1, "PENDING");
	play_do(&p, 5, "observed", 1, 0, "{\"on\":[[\"n0\",2]]}");
	play_begun(&p, 6, 1, 1);
	play_state(&p, 1, "RUNNING");
	play_do(&p, 7, "exit", 1, 1, "{\"known\":true,\"code\":0}");
	play_state(&p, 1, "COMPLETED");
	play_close(&p);
}

static void who_is_put_back_outside_stops_here(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "2x2", "observed");
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_do(&p, 2, "observed", 1, 0, "{\"on\":[[\"n0\",1]]}");
	play_begun(&p, 3, 1, 1);
	play_do(&p, 4, "observed", 1, 0, "{\"on\":[],\"reason\":\"BeginTime\"}");
	play_state(&p, 1, "COMPLETING");
	play_do(&p, 5, "exit", 1, 1, "{\"known\":true,\"code\":-1,\"signal\":15,\"asked\":true}");
	play_state(&p, 1, "PENDING");
	play_do(&p, 6, "observed", 1, 0, "{\"on\":[[\"n1\",1]]}");
	play_begun(&p, 7, 1, 2);
	play_state(&p, 1, "RUNNING");
	play_close(&p);
}

static void it_got_more_than_it_asked_for(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "2x2", "observed");
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_do(&p, 2, "observed", 1, 0, "{\"on\":[[\"n0\",2],[\"n1\",2]]}");
	play_begun(&p, 3, 1, 1);
	assert_int_equal(core_attempt(p.core, 1, 1)->grant->gpus, 4);
	play_close(&p);
}

static void nodes_that_are_not_known(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "2x2", "observed");
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	play_do(&p, 2, "observed", 1, 0, "{\"on\":[[\"elsewhere\",1]]}");
	play_state(&p, 1, "PENDING");
	play_do(&p, 3, "outside", 1, 0,
		"{\"state\":\"FAILED\",\"code\":3,\"text\":\"it ran elsewhere\"}");
	play_state(&p, 1, "FAILED");
	play_close(&p);
}

static void what_bounced_is_tried_again(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	play_submit(&p, 1, (struct ask){ .gpus = 1 });
	for (uint32_t i = 1; i < 20; i++) {
		play_do(&p, i + 1, "exit", 1, i, "{\"known\":true,\"bounced\":true,\"code\":-1}");
		play_state(&p, 1, "CONFIGURING");
	}
	play_begun(&p, 30, 1, 20);
	play_do(&p, 31, "exit", 1, 20, "{\"known\":true,\"node_failed\":true,\"code\":0}");
	play_state(&p, 1, "CONFIGURING");
	play_close(&p);
}

static void its_end_came_before_the_stop(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x1", "fifo");
	for (uint32_t i = 1; i <= 2; i++) {
		play_submit(&p, 10 * i, (struct ask){ .gpus = 1 });
		play_begun(&p, 10 * i + 1, i, 1);
		play_do(&p, 10 * i + 2, "requeue", i, 0, "{}");
		play_do(&p, 10 * i + 3, "exit", i, 1,
			i == 1 ? "{\"known\":true,\"code\":3,\"asked\":false,\"ran_s\":2}"
			       : "{\"known\":true,\"code\":3,\"asked\":true,\"ran_s\":2}");
		play_state(&p, i, i == 1 ? "FAILED" : "CONFIGURING");
	}
	play_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_run_outside_runs_here),
		cmocka_unit_test(who_is_put_back_outside_stops_here),
		cmocka_unit_test(it_got_more_than_it_asked_for),
		cmocka_unit_test(nodes_that_are_not_known),
		cmocka_unit_test(what_bounced_is_tried_again),
		cmocka_unit_test(its_end_came_before_the_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
