/*
 * A process that runs already is taken for an attempt, with the devices that it uses.
 */
#include "live/play.h"

#define ON(gpus, devices) \
	"{\"grant\":{\"type\":\"v100\",\"gpus\":" #gpus ",\"on\":[[0," #devices "]]}}"

static uint64_t devices_of(const struct play *p, uint32_t job, uint32_t attempt)
{
	const struct attempt *a = core_attempt(p->core, job, attempt);

	assert_non_null(a);
	return a->grant->slots[0].devices;
}

/* Its device is down as long as the process is foreign, so the policy could not give it any. */
static void a_waiting_job_gets_the_device(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2:v100", "fifo");
	play_do(&p, 1, "devices", 0, 0, "{\"node\":0,\"devices\":2,\"up\":false}");
	play_submit(&p, 2, (struct ask){ .gpus = 1 });
	play_begun(&p, 3, 1, 1);
	play_submit(&p, 4, (struct ask){ .gpus = 1 });
	play_state(&p, 2, "PENDING");
	play_begin(&p, 5);
	assert_int_equal(play_try(&p, "adopted", 2, 1, ON(1, 1)), ERR_REFUSED); /* job 1 has it */
	assert_int_equal(play_try(&p, "adopted", 2, 2, ON(1, 2)), ERR_REFUSED); /* 1 would be next */
	assert_int_equal(play_try(&p, "adopted", 2, 1, ON(2, 3)), ERR_REFUSED); /* it has one device */
	assert_int_equal(play_try(&p, "adopted", 2, 1, ON(1, 4)), ERR_FORMAT); /* no such device */
	assert_int_equal(play_try(&p, "adopted", 7, 1, ON(1, 2)), ERR_MISSING);
	assert_int_equal(play_try(&p, "adopted", 2, 1, ON(1, 2)), 0);
	play_take_notes(&p);
	play_says(&p, "start 2.1, state 2.1");
	assert_int_equal(devices_of(&p, 2, 1), 2);
	play_state(&p, 2, "CONFIGURING");
	play_end(&p);
	play_policy(&p, 6, "fifo"); /* the next epoch has it there, too */
	play_do(&p, 7, "devices", 0, 0, "{\"node\":0,\"devices\":2,\"up\":true}");
	assert_int_equal(devices_of(&p, 2, 1), 2);
	play_submit(&p, 8, (struct ask){ .gpus = 1 });
	play_state(&p, 3, "PENDING");
	play_close(&p);
}

static void what_is_held_or_stops_is_refused(void **state)
{
	struct play p;

	(void)state;
	play_open(&p, "1x2:v100", "fifo");
	play_submit(&p, 1, (struct ask){ .gpus = 1, .hold = true });
	play_submit(&p, 2, (struct ask){ .gpus = 1 });
	play_begun(&p, 3, 2, 1);
	play_change(&p, 4, "cancel", 2);
	play_begin(&p, 5);
	assert_int_equal(play_try(&p, "adopted", 1, 1, ON(1, 2)), ERR_REFUSED);
	assert_int_equal(play_try(&p, "adopted", 2, 1, ON(1, 2)), ERR_REFUSED);
	play_end(&p);
	play_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_waiting_job_gets_the_device),
		cmocka_unit_test(what_is_held_or_stops_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
