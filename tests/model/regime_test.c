/*
 * Batch sizes by epoch: the measured tables, and counting steps anew.
 */
#include "model/regime.h"

#include "support/property.h"

static struct adaptation of(const char *model, uint32_t gpus, enum adapting how, double steps)
{
	struct adaptation a;

	assert_true(adaptation_init(&a, slice_of(model), gpus, how, steps));
	return a;
}

/* The batch of an epoch as profiled. */
static const struct {
	const char *model;
	uint32_t gpus;
	enum adapting how;
	double steps;
	uint32_t epochs, epoch, batch;
} profiles[] = {
	/* 50,000 samples by 32: 1,563 steps an epoch */
	{ "ResNet-18 (batch size 32)", 1, ADAPTING_NOT, 1563 * 60, 60, 59, 32 },
	{ "ResNet-18 (batch size 32)", 1, ADAPTING_NOISE, 1563 * 60, 60, 20, 32 },
	{ "ResNet-18 (batch size 32)", 1, ADAPTING_NOISE, 1563 * 60, 60, 21, 64 },
	{ "ResNet-18 (batch size 32)", 1, ADAPTING_NOISE, 1563 * 60, 60, 31, 128 },
	{ "ResNet-18 (batch size 32)", 1, ADAPTING_NOISE, 1563 * 60, 60, 51, 256 },
	/* the last epoch of several doublings is at the first batch, of one it is not */
	{ "ResNet-18 (batch size 32)", 1, ADAPTING_NOISE, 1563 * 60, 60, 59, 32 },
	{ "ResNet-18 (batch size 32)", 1, ADAPTING_NOISE, 1563 * 25, 25, 24, 64 },
	/* other devices, other epochs */
	{ "ResNet-18 (batch size 32)", 2, ADAPTING_NOISE, 1563 * 60, 60, 11, 64 },
	{ "ResNet-18 (batch size 32)", 8, ADAPTING_NOISE, 1563 * 60, 60, 50, 32 },
	/* Accordion: critical at the start, at 150 and 250, and always for three tenths */
	{ "ResNet-18 (batch size 32)", 1, ADAPTING_ACCORDION, 1563 * 300, 300, 90, 32 },
	{ "ResNet-18 (batch size 32)", 1, ADAPTING_ACCORDION, 1563 * 300, 300, 91, 256 },
	{ "ResNet-18 (batch size 32)", 1, ADAPTING_ACCORDION, 1563 * 300, 300, 155, 32 },
	{ "ResNet-18 (batch size 32)", 1, ADAPTING_ACCORDION, 1563 * 300, 300, 160, 256 },
	{ "Recommendation (batch size 512)", 1, ADAPTING_ACCORDION, 231 * 100, 100, 65, 512 },
	{ "Recommendation (batch size 512)", 1, ADAPTING_ACCORDION, 231 * 100, 100, 70, 8192 },
	{ "Transformer (batch size 64)", 1, ADAPTING_ACCORDION, 157 * 40, 40, 39, 64 },
	{ "LM (batch size 80)", 1, ADAPTING_NOISE, 746 * 90, 90, 80, 80 },
};

static void profiles_are_as_measured(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(profiles); i++) {
		struct adaptation a = of(profiles[i].model, profiles[i].gpus, profiles[i].how,
			profiles[i].steps);

		assert_int_equal(a.epochs, profiles[i].epochs);
		if (a.regime[adaptation_profiled(&a, profiles[i].epoch)].batch != profiles[i].batch)
			fail_msg("row %zu: batch %u in epoch %u", i,
				a.regime[adaptation_profiled(&a, profiles[i].epoch)].batch,
				profiles[i].epoch);
	}
}

static void a_running_job_turns_one_doubling_at_a_time(void **state)
{
	struct adaptation a = of("LM (batch size 10)", 1, ADAPTING_NOISE, 5968 * 60);

	(void)state;
	assert_int_equal(a.nregimes, 4);
	assert_int_equal(adaptation_turn(&a, 0, 9), 0);
	assert_int_equal(adaptation_turn(&a, 0, 10), 1); /* the next epoch may be larger */
	assert_int_equal(adaptation_turn(&a, 0, 50), 1);
	assert_int_equal(adaptation_turn(&a, 2, 50), 3);
	assert_int_equal(adaptation_turn(&a, 3, 50), 3);
	a = of("ResNet-50 (batch size 16)", 1, ADAPTING_ACCORDION, 6250 * 100);
	assert_int_equal(adaptation_turn(&a, 0, 10), 1);
	assert_int_equal(adaptation_turn(&a, 1, 31), 0);
}

/* 3,500 steps of 4,096 are 121 epochs of 29; at 8,192 these are 121 times 15. */
static void epochs_stay_when_steps_are_counted_anew(void **state)
{
	struct adaptation a = of("Recommendation (batch size 4096)", 1, ADAPTING_NOISE, 3500);
	struct tally tally = adaptation_recount(&a, 0, 1, (struct tally){ 3500, 1190 });

	(void)state;
	assert_int_equal(a.epochs, 121);
	assert_float_equal(tally.work, 1815, 0);
	assert_float_equal(tally.done, 42 * 15, 0); /* 1,190 steps are 41 epochs and a part */
}

static void what_is_not_known_is_said(void **state)
{
	static const char *const models[] = { "", "LM", "LM (batch size 10", "LM (batch size x)",
		"Bert (batch size 8)", "LM (batch size 0)", "LM (batch size -5)" };
	struct adaptation a;

	(void)state;
	for (size_t i = 0; i < COUNT(models); i++)
		assert_false(adaptation_init(&a, slice_of(models[i]), 1, ADAPTING_NOISE, 100));
	assert_false(adaptation_init(&a, slice_of("LM (batch size 10)"), 1, ADAPTING_NOISE, NAN));
	assert_int_equal(adapting_of(slice_of("gns")), ADAPTING_NOISE);
	assert_int_equal(adapting_of(slice_of("GNS")), ADAPTING_COUNT);
}

static void regimes_have_names(void **state)
{
	struct adaptation a = of("LM (batch size 10)", 2, ADAPTING_ACCORDION, 5968 * 60);
	struct buf name = { 0 };

	(void)state;
	adaptation_name(&a, slice_of("LM (batch size 10)"), 1, &name);
	assert_string_equal(name.at, "LM (batch size 80)");
	buf_fini(&name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profiles_are_as_measured),
		cmocka_unit_test(a_running_job_turns_one_doubling_at_a_time),
		cmocka_unit_test(epochs_stay_when_steps_are_counted_anew),
		cmocka_unit_test(what_is_not_known_is_said),
		cmocka_unit_test(regimes_have_names),
	};

	return cmocka_run_group_tests_name("model/regime", tests, NULL, NULL);
}
