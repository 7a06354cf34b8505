/*
 * Whose attempts are: claims of another record, of a moment that the record does not have, and of before
 * there were ids.
 */
#include "live/local/attempt.h"
#include "live/local/hands_fixture.h"

static struct lineage first = { .id = "0123456789abcdef0123456789abcdef", .generation = 1 };
static struct lineage other = { .id = "fedcba9876543210fedcba9876543210", .generation = 1 };
static struct lineage_past up_to_20 = { 1, 20 };
static struct lineage second = { .id = "0123456789abcdef0123456789abcdef",
	.generation = 2,
	.past = &up_to_20,
	.npast = 1 };

static int changes;

static void see_change(void *ctx)
{
	(void)ctx;
	changes++;
}

static void as_record(struct fixture *f, const struct lineage *lineage, bool adopt)
{
	struct hands_config config = { .state_dir = f->state,
		.ctx = f,
		.launched = told_launched,
		.begun = told_begun,
		.ended = told_ended,
		.changed = see_change,
		.lineage = lineage,
		.seq = 30,
		.adopt_unmarked = adopt };
	struct local_options options = { .guard = f->guard };
	struct err err = { 0 };

	hands_close(f->hands);
	if (local_hands_open(&config, &options, &f->hands, &err) < 0)
		fail_msg("%s", err.text);
}

static enum claim claim_of(struct fixture *f, uint32_t job, struct ending *ending)
{
	enum claim claim;
	struct err err = { 0 };

	if (hands_claim(f->hands, &(struct holding){ .job = job, .attempt = 1 }, false, &claim,
		    ending, &err) < 0)
		fail_msg("%s", err.text);
	return claim;
}

static void launch_at(struct fixture *f, uint32_t job, uint64_t seq, const char *text)
{
	const char *argv[4];
	struct launch l = shell(job, text, argv);

	l.seq = seq;
	launch(f, &l);
}

static size_t foreign_count(struct fixture *f)
{
	size_t n;

	hands_foreign(f->hands, &n);
	return n;
}

static void stop_all(struct fixture *f, uint32_t job)
{
	struct err err = { 0 };

	assert_int_equal(hands_stop(f->hands, job, 1, true, &err), 0);
	ending_of(f, job);
}

static void another_records_are_foreign(void **state)
{
	struct fixture *f = fixture_create(false);
	struct ending ending;
	struct err err = { 0 };

	(void)state;
	as_record(f, &first, false);
	launch_at(f, 1, 10, "sleep 1000");
	launch_at(f, 2, 10, "echo theirs");
	ending_of(f, 2);
	as_record(f, &other, false);
	assert_int_equal(foreign_count(f), 1);
	assert_int_equal(hands_running(f->hands), 0);
	assert_int_equal(claim_of(f, 1, &ending), CLAIM_FOREIGN);
	assert_int_equal(hands_clear(f->hands, 1, 1, &err), ERR_REFUSED);
	/* What has ended is not this one's ending, and makes way. */
	assert_int_equal(claim_of(f, 2, &ending), CLAIM_NEVER);
	f->nendings = 0;
	launch_at(f, 2, 30, "echo ours");
	assert_int_equal(ending_of(f, 2)->code, 0);
	assert_output(f, 2, "ours\n");
	assert_int_equal(hands_last_dir(f->hands), 2);
	/* By a person's word. */
	assert_int_equal(hands_end_foreign(f->hands, 9, 1, true, &err), ERR_MISSING);
	assert_int_equal(hands_adopt_foreign(f->hands, 1, 1, &err), 0);
	assert_int_equal(foreign_count(f), 0);
	assert_int_equal(claim_of(f, 1, &ending), CLAIM_RUNS);
	stop_all(f, 1);
	fixture_destroy(f);
}

static void a_restored_record_finds_its_own(void **state)
{
	struct fixture *f = fixture_create(false);
	struct ending ending;
	struct err err = { 0 };

	(void)state;
	as_record(f, &first, false);
	launch_at(f, 1, 20, "sleep 1000");
	launch_at(f, 2, 21, "sleep 1000"); /* after the copy was made */
	launch_at(f, 3, 20, "exit 7");
	ending_of(f, 3);
	as_record(f, &second, false);
	assert_int_equal(claim_of(f, 1, &ending), CLAIM_RUNS);
	assert_int_equal(claim_of(f, 2, &ending), CLAIM_FOREIGN);
	assert_int_equal(claim_of(f, 3, &ending), CLAIM_ENDED);
	assert_int_equal(ending.code, 7);
	assert_int_equal(foreign_count(f), 1);
	assert_int_equal(hands_end_foreign(f->hands, 2, 1, true, &err), 0);
	while (claim_of(f, 2, &ending) == CLAIM_FOREIGN)
		pause_ms(5);
	assert_int_equal(claim_of(f, 2, &ending), CLAIM_NEVER);
	stop_all(f, 1);
	fixture_destroy(f);
}

static void claims_without_an_id_are_adopted_once(void **state)
{
	struct fixture *f = fixture_create(false);
	struct ending ending;

	(void)state;
	launch_at(f, 1, 0, "sleep 1000"); /* by hands without a record: a claim as of before */
	launch_at(f, 2, 0, "sleep 1000");
	as_record(f, &first, true);
	assert_int_equal(claim_of(f, 1, &ending), CLAIM_RUNS);
	as_record(f, &first, false);
	assert_int_equal(claim_of(f, 1, &ending), CLAIM_RUNS); /* it is this record's since */
	assert_int_equal(claim_of(f, 2, &ending), CLAIM_FOREIGN);
	assert_int_equal(foreign_count(f), 1);
	as_record(f, &other, true); /* nor does a second one adopt it */
	assert_int_equal(claim_of(f, 1, &ending), CLAIM_FOREIGN);
	assert_int_equal(claim_of(f, 2, &ending), CLAIM_RUNS);
	stop_all(f, 2);
	as_record(f, &first, false);
	assert_int_equal(claim_of(f, 1, &ending), CLAIM_RUNS);
	stop_all(f, 1);
	fixture_destroy(f);
}

static void shell_with(const char *command, const char *path)
{
	setenv("at", path, 1);
	assert_int_equal(system(command), 0);
}

/* Its devices are looked at then, not with the next look. */
static void the_end_of_a_foreign_one_is_seen(void **state)
{
	struct fixture *f = fixture_create(false);
	struct err err = { 0 };

	(void)state;
	as_record(f, &first, false);
	launch_at(f, 1, 10, "sleep 1000");
	as_record(f, &other, false);
	changes = 0;
	assert_int_equal(hands_end_foreign(f->hands, 1, 1, true, &err), 0);
	for (int i = 0; i < 60000 && !changes; i++) {
		assert_int_equal(hands_poll(f->hands, &err), 0);
		pause_ms(1);
	}
	assert_int_equal(changes, 1);
	assert_int_equal(foreign_count(f), 0);
	fixture_destroy(f);
}

/* The same record in a copy of the directory, as cp makes it. */
static void a_copy_of_the_directory_adopts_nothing(void **state)
{
	struct fixture *f = fixture_create(false);
	char *original = f->state, *copy = mem_printf("%s.copy", f->state);
	const struct foreign_attempt *at;
	struct ending ending;
	struct err err = { 0 };
	size_t n;

	(void)state;
	as_record(f, &first, false);
	launch_at(f, 1, 10, "sleep 1000");
	launch_at(f, 2, 10, "exit 7");
	ending_of(f, 2);
	shell_with("cp -a $at $at.copy", original);
	f->state = copy;
	as_record(f, &first, false);
	at = hands_foreign(f->hands, &n);
	assert_int_equal(n, 1);
	assert_true(at[0].job == 1 && at[0].elsewhere);
	assert_int_equal(claim_of(f, 1, &ending), CLAIM_FOREIGN);
	assert_int_equal(hands_clear(f->hands, 1, 1, &err), ERR_REFUSED);
	assert_int_equal(hands_adopt_foreign(f->hands, 1, 1, &err), ERR_REFUSED);
	assert_int_equal(hands_stop(f->hands, 1, 1, true, &err), 0); /* it is not reached */
	assert_int_equal(claim_of(f, 2, &ending), CLAIM_ENDED);
	assert_int_equal(ending.code, 7);
	/* Moved away and back it is the same. */
	shell_with("mv $at $at.moved && mv $at.moved $at", original);
	f->state = original;
	as_record(f, &first, false);
	assert_int_equal(foreign_count(f), 0);
	assert_int_equal(claim_of(f, 1, &ending), CLAIM_RUNS);
	stop_all(f, 1);
	/* In the copy it is over, too, and not known how. */
	f->state = copy;
	as_record(f, &first, false);
	assert_int_equal(claim_of(f, 1, &ending), CLAIM_ENDED);
	assert_false(ending.known);
	f->state = original;
	remove_tree(copy);
	free(copy);
	fixture_destroy(f);
}

/* Guards of before wrote no directory: what they say is taken as it was. */
static void claims_without_a_directory_are_taken_over(void **state)
{
	struct fixture *f = fixture_create(false);
	struct ending ending;

	(void)state;
	as_record(f, &first, false);
	launch_at(f, 1, 10, "sleep 1000");
	shell_with("cd $at/jobs/1/1 && grep -q '^directory [0-9]' begun && sed -i '/^directory /d' begun",
		f->state);
	as_record(f, &first, false);
	assert_int_equal(claim_of(f, 1, &ending), CLAIM_RUNS);
	stop_all(f, 1);
	fixture_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_records_are_foreign),
		cmocka_unit_test(a_restored_record_finds_its_own),
		cmocka_unit_test(claims_without_an_id_are_adopted_once),
		cmocka_unit_test(the_end_of_a_foreign_one_is_seen),
		cmocka_unit_test(a_copy_of_the_directory_adopts_nothing),
		cmocka_unit_test(claims_without_a_directory_are_taken_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
