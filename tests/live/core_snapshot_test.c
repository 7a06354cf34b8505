/*
 * The copy of what the core knows: who runs, who waits, for whom, and under which
 * names; and a copy that was taken stays as it is.
 */
#include "play.h"

static const struct snapshot_job *find(const struct snapshot *s, uint32_t number)
{
	uint32_t i = snapshot_find(s, number);

	if (i == JOB_NONE)
		fail_msg("job %u is not in it", number);
	return &s->jobs.at[i];
}

static const char *name_in(const struct names *names, uint32_t number)
{
	return number < names->n ? names->at[number] : "none";
}

static void everyone_has_a_place(void **state)
{
	struct play p;
	struct snapshot s;
	const struct snapshot_job *one;

	(void)state;
	play_open(&p, "1x2:v100,1x1:k80", "fifo");
	play_submit(&p, 0, (struct ask){ .gpus = 2, .tenant = "ann", .model = "bert" });
	play_submit(&p, 1, (struct ask){ .gpus = 2, .tenant = "bob", .priority = 3, .estimate_s = 60 });
	play_submit(&p, 2, (struct ask){ .gpus = 1, .hold = true, .tenant = "cyd", .types = "k80" });
	play_submit(&p, 3,
		(struct ask){ .gpus = 1,
			.tenant = "ann",
			.after = { { AFTER_ANY, 1 }, { AFTER_ANY, 2 } } });
	play_submit(&p, 4, (struct ask){ .gpus = 1, .begin_s = 5000 });
	core_snapshot(p.core, 6, &s);
	assert_int_equal(s.jobs.n, 5);
	assert_int_equal(s.nrunning, 1);
	one = find(&s, 1);
	assert_non_null(one->grant);
	assert_int_equal(one->grant->gpus, 2);
	assert_string_equal(name_in(&s.tenant_names, one->job.tenant), "ann");
	assert_string_equal(name_in(&s.model_names, one->job.model), "bert");
	one = find(&s, 2);
	assert_null(one->grant);
	assert_int_equal(one->job.priority, 3);
	assert_true(one->known == 0.5 && one->opens_s == -INFINITY);
	/* Neither was ever bound to this epoch: it has its names and types all the same. */
	one = find(&s, 3);
	assert_true(isinf(one->opens_s) && one->opens_s > 0);
	assert_string_equal(name_in(&s.tenant_names, one->job.tenant), "cyd");
	assert_int_equal(one->job.types, 2);
	assert_non_null(one->job.name);
	one = find(&s, 4);
	assert_int_equal(one->nafter, 2);
	assert_int_equal(s.jobs.at[one->after[0]].number, 1);
	assert_int_equal(s.jobs.at[one->after[1]].number, 2);
	assert_string_equal(name_in(&s.tenant_names, one->job.tenant), "ann");
	assert_true(find(&s, 5)->opens_s == 5000);
	play_close(&p);
	assert_string_equal(name_in(&s.tenant_names, find(&s, 2)->job.tenant), "bob");
	snapshot_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everyone_has_a_place),
	};

	return cmocka_run_group_tests_name("live/core_snapshot", tests, NULL, NULL);
}
