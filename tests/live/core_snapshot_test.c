/*
 * The copy of what the core knows: who runs, who waits, for whom, and under which
 * names; and a copy that was taken stays as it is.
 */
#include "play.h"
#include "policy/fair/gandiva_servers.h"
#include "sim/future.h"

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

/* ---- what policies remember */

/* Who has what at `at_s`, and when those who wait start if nobody ends before `until_s`; by number from 1. */
static void look_ahead(struct play *p, double at_s, double until_s, double *starts, uint32_t njobs)
{
	double work[16];
	struct future_job out[16];
	struct snapshot s;
	struct err err = { 0 };

	core_snapshot(p->core, at_s, &s);
	assert_true(s.jobs.n <= COUNT(work));
	for (size_t i = 0; i < COUNT(work); i++)
		work[i] = 1e18;
	if (future_run(&(struct future_config){ .from = &s, .work = work, .until_s = until_s, .seed = 7 },
		    out, &err) < 0)
		fail_msg("%s", err.text);
	for (uint32_t i = 0; i < njobs; i++) {
		uint32_t place = snapshot_find(&s, 1 + i);

		starts[i] = place == JOB_NONE ? NAN : out[place].start_s;
	}
	snapshot_fini(&s);
}

struct memory_row {
	const char *what, *cluster, *policy;
	struct ask asks[4]; /* one a second */
	uint32_t ends;      /* this one does, at 5; 0: none */
	double at_s, until_s;
	double starts[4]; /* at_s: it has devices then */
};

static const struct memory_row memory_rows[] = {
	{ "leases last", "1x4", "themis:recall=0",
		{ { .gpus = 2, .tenant = "a" }, { .gpus = 2, .tenant = "a" },
			{ .gpus = 2, .tenant = "a" }, { .gpus = 4, .tenant = "b" } },
		.at_s = 30, .until_s = 1300, .starts = { 30, 30, 1200, INFINITY } },
	{ "leases of their own end one after the other", "1x4", "themis:recall=0,align=0",
		{ { .gpus = 2, .tenant = "a" }, { .gpus = 2, .tenant = "a" },
			{ .gpus = 2, .tenant = "b" } },
		.at_s = 30, .until_s = 1300, .starts = { 30, 30, 1200 } },
	{ "whose turn was last has the next one last", "1x1", "gandiva:pack=0",
		{ { .gpus = 1 }, { .gpus = 1 }, { .gpus = 1 } }, .at_s = 70, .until_s = 190,
		.starts = { 180, 70, 120 } },
	{ "who waits for a server of its size has waited", "1x4", "gandiva:pack=0",
		{ { .gpus = 2 }, { .gpus = 2 }, { .gpus = 3 } }, .at_s = 70, .until_s = 190,
		.starts = { 70, 70, 120 } },
	{ "who had its quantum is behind who had none", "1x1", "gandiva-fair",
		{ { .gpus = 1, .tenant = "a" }, { .gpus = 1, .tenant = "b" },
			{ .gpus = 1, .tenant = "b" } },
		.at_s = 70, .until_s = 130, .starts = { INFINITY, 70, 120 } },
	{ "who is owed a turn has it", "1x4", "drf:preempt=1,round_s=60",
		{ { .gpus = 4, .tenant = "a" }, { .gpus = 4, .tenant = "b" },
			{ .gpus = 4, .tenant = "c" } },
		.at_s = 70, .until_s = 190, .starts = { 180, 70, 120 } },
	{ "who has waited for a better queue has waited", "1x1", "tiresias:limit_s=20,promote=0.25",
		{ { .gpus = 1 }, { .gpus = 1 } }, .at_s = 22, .until_s = 60, .starts = { 25, 22 } },
	{ "a tenant whose jobs have ended has its quota", "1x4", "antman:borrow=0",
		{ { .gpus = 1, .tenant = "a" }, { .gpus = 2, .tenant = "b" },
			{ .gpus = 2, .tenant = "b" } },
		.ends = 1, .at_s = 30, .until_s = 60, .starts = { NAN, 30, INFINITY } },
};

static void a_copy_remembers_what_the_policy_does(void **state)
{
	(void)state;
	for (size_t row = 0; row < COUNT(memory_rows); row++) {
		const struct memory_row *r = &memory_rows[row];
		uint32_t n = 0;
		double starts[4];
		struct play p;

		play_open(&p, r->cluster, r->policy);
		for (; n < COUNT(r->asks) && r->asks[n].gpus; n++) {
			struct ask ask = r->asks[n];

			ask.estimate_s = 36000;
			play_submit(&p, n, ask);
		}
		if (r->ends)
			play_exit(&p, 5, r->ends, 1, 0);
		for (double at_s = 10; at_s < r->at_s; at_s += 10)
			play_pass(&p, at_s);
		look_ahead(&p, r->at_s, r->until_s, starts, n);
		for (uint32_t i = 0; i < n; i++) {
			if (starts[i] != r->starts[i] && !(isnan(starts[i]) && isnan(r->starts[i])))
				fail_msg("%s: job %u starts at %g instead of %g", r->what, i + 1,
					starts[i], r->starts[i]);
		}
		play_close(&p);
	}
}

/* Others that a policy's memory speaks of are named by their places, then by the numbers they have there. */
static void those_it_speaks_of_are_found_again(void **state)
{
	const struct slice_memory *memory;
	struct future_job out[3];
	struct snapshot s;
	struct err err = { 0 };
	struct play p;
	uint32_t guest;

	(void)state;
	play_open(&p, "1x1", "gandiva");
	p.shares = true;
	for (int i = 0; i < 3; i++)
		play_submit(&p, i, (struct ask){ .gpus = 1, .estimate_s = 36000 });
	play_exit(&p, 5, 1, 1, 0);
	for (double at_s = 10; at_s <= 310; at_s += 10)
		play_pass(&p, at_s);
	core_snapshot(p.core, 310, &s);
	assert_int_equal(s.nrunning, 2);
	memory = (const struct slice_memory *)s.memory_of_jobs;
	assert_int_equal(s.nremembered, 2);
	guest = memory[0].beside ? 0 : 1;
	assert_int_equal(memory[guest].beside, 1 + !guest);
	assert_int_equal(memory[!guest].guest, 1 + guest);
	/* As a pair they are not stopped, as two that run they would take turns. */
	if (future_run(&(struct future_config){ .from = &s,
			       .work = (const double[]){ 1e18, 1e18 },
			       .until_s = 550 },
		    out, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(out[0].stops + out[1].stops, 0);
	snapshot_fini(&s);
	play_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everyone_has_a_place),
		cmocka_unit_test(a_copy_remembers_what_the_policy_does),
		cmocka_unit_test(those_it_speaks_of_are_found_again),
	};

	return cmocka_run_group_tests_name("live/core_snapshot", tests, NULL, NULL);
}
