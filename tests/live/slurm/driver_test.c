/*
 * The hands of a Slurm cluster, with a Slurm that is not there.
 */
#include "live/slurm/play.h"

static void begin(struct play *p)
{
	play_init(p, 1);
	play_open(p);
	hands_expected_all(p->hands);
}

/* ---- the plain course */

static void test_runs(void **state)
{
	struct play p;
	const struct news *n;
	char *alias;

	(void)state;
	begin(&p);
	play_expect(&p, 7, NULL);
	play_pass(&p, 2);
	assert_int_equal(p.fake.submitted, 1);
	assert_true(fake_of(&p.fake, "x", 7)->held);
	alias = hands_alias(p.hands, 7);
	assert_string_equal(alias, "101");
	free(alias);
	play_launch(&p, 7, 1, 4, 2);
	assert_int_equal(hands_running(p.hands), 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	assert_string_equal(fake_of(&p.fake, "x", 7)->on.at[0], "v2");
	assert_string_equal(fake_of(&p.fake, "x", 7)->mark, "stint:x:7:1:0");
	n = play_until(&p, NEWS_ENDED, 7, 1, 200);
	assert_true(n->ending.known && n->ending.code == 0 && !n->ending.asked && !n->ending.bounced);
	assert_true(n->ending.ended_s - n->ending.begun_s > 97 &&
		n->ending.ended_s - n->ending.begun_s < 102);
	hands_forget(p.hands, 7);
	play_pass(&p, 5);
	assert_int_equal(hands_running(p.hands), 0);
	assert_int_equal(p.fake.submitted, 1);
	play_fini(&p);
}

static void test_launch_without_expect(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	play_fini(&p);
}

static void test_stop_puts_back(void **state)
{
	struct play p;
	const struct news *n;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 0, 2);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	play_stop(&p, 7, 1, false);
	n = play_until(&p, NEWS_ENDED, 7, 1, 3);
	assert_true(n->ending.known && n->ending.asked && !n->ending.bounced && !n->ending.node_failed);
	assert_true(n->ending.asked_s > 0);
	/* Elsewhere, without the two minutes that Slurm would wait. */
	play_launch(&p, 7, 2, 8, 2);
	play_until(&p, NEWS_BEGUN, 7, 2, 3);
	assert_string_equal(fake_of(&p.fake, "x", 7)->on.at[0], "k1");
	assert_int_equal(p.fake.submitted, 1);
	play_fini(&p);
}

static void test_long_grace_by_signal(void **state)
{
	struct play p;
	const struct news *n;
	uint32_t devices[] = { 0 };
	struct launch l = play_launch_of(7, 1, devices, 1);
	struct err err = { 0 };

	(void)state;
	begin(&p);
	l.grace_s = 60;
	l.stop_signal = 12;
	assert_int_equal(hands_launch(p.hands, &l, &err), 0);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	fake_of(&p.fake, "x", 7)->term_s = 20;
	fake_of(&p.fake, "x", 7)->term_code = 85;
	play_stop(&p, 7, 1, false);
	play_pass(&p, 15);
	assert_null(play_find(&p, NEWS_ENDED, 7, 1));
	n = play_until(&p, NEWS_ENDED, 7, 1, 10);
	assert_int_equal(n->ending.code, 85);
	assert_true(n->ending.asked);
	/* It ended in Slurm: it is put back there before it runs again, as the same job. */
	play_launch(&p, 7, 2, 8, 1);
	play_until(&p, NEWS_BEGUN, 7, 2, 3);
	assert_int_equal(p.fake.submitted, 1);
	play_fini(&p);
}

static void test_grace_is_over(void **state)
{
	struct play p;
	const struct news *n;
	uint32_t devices[] = { 0 };
	struct launch l = play_launch_of(7, 1, devices, 1);
	struct err err = { 0 };

	(void)state;
	begin(&p);
	l.grace_s = 20;
	l.stop_signal = 12;
	assert_int_equal(hands_launch(p.hands, &l, &err), 0);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	fake_of(&p.fake, "x", 7)->term_code = -1;
	play_stop(&p, 7, 1, false);
	play_pass(&p, 18);
	assert_null(play_find(&p, NEWS_ENDED, 7, 1));
	n = play_until(&p, NEWS_ENDED, 7, 1, 10);
	assert_true(n->ending.asked && n->ending.known);
	play_fini(&p);
}

static void test_stop_now(void **state)
{
	struct play p;
	const struct news *n;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	fake_of(&p.fake, "x", 7)->term_code = -1;
	play_stop(&p, 7, 1, true);
	n = play_until(&p, NEWS_ENDED, 7, 1, 2);
	assert_int_equal(n->ending.signal, 9);
	assert_true(n->ending.asked);
	assert_null(play_told_of(&p, 7, "cancel"));
	play_fini(&p);
}

static void test_exit_code(void **state)
{
	struct play p;
	const struct news *n;
	struct fake_job *j;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	j = fake_of(&p.fake, "x", 7);
	j->term_code = 3;
	j->term_at_s = p.fake.now_s + 1;
	n = play_until(&p, NEWS_ENDED, 7, 1, 5);
	assert_int_equal(n->ending.code, 3);
	assert_false(n->ending.asked);
	/* The daemon lets it try again. */
	play_pass(&p, 3);
	assert_int_equal(j->state, FAKE_PENDING);
	assert_true(j->held);
	play_launch(&p, 7, 2, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 2, 3);
	play_fini(&p);
}

static void test_stopped_before_begun(void **state)
{
	struct play p;
	const struct news *n;

	(void)state;
	begin(&p);
	p.fake.start_delay_s = 1000;
	play_launch(&p, 7, 1, 0, 1);
	play_pass(&p, 2);
	assert_false(fake_of(&p.fake, "x", 7)->held);
	play_stop(&p, 7, 1, false);
	n = play_until(&p, NEWS_ENDED, 7, 1, 3);
	assert_true(n->ending.bounced && n->ending.begun_s == 0);
	assert_true(fake_of(&p.fake, "x", 7)->held);
	hands_forget(p.hands, 7);
	play_pass(&p, 2);
	assert_string_equal(fake_of(&p.fake, "x", 7)->word, "CANCELLED");
	play_fini(&p);
}

static void test_forget_cancels(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	play_expect(&p, 7, NULL);
	play_expect(&p, 8, NULL);
	hands_forget(p.hands, 8); /* before it was submitted */
	play_pass(&p, 2);
	assert_int_equal(p.fake.submitted, 1);
	hands_forget(p.hands, 7);
	play_pass(&p, 2);
	assert_string_equal(fake_of(&p.fake, "x", 7)->word, "CANCELLED");
	assert_null(play_told_of(&p, 7, "cancel"));
	play_fini(&p);
}

static void test_several_nodes(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 2, 4); /* two of each of v1 and v2 */
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	assert_int_equal(fake_of(&p.fake, "x", 7)->on.n, 2);
	play_launch(&p, 8, 1, 8, 1);
	play_until(&p, NEWS_BEGUN, 8, 1, 3);
	play_fini(&p);
}

static void test_unequal_parts(void **state)
{
	struct play p;
	const struct news *n;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 3, 4); /* one of v1, three of v2 */
	n = play_until(&p, NEWS_ENDED, 7, 1, 5);
	assert_true(n->ending.bounced);
	assert_non_null(strstr(n->ending.text, "same number of GPUs"));
	play_fini(&p);
}

/* ---- bouncing */

static void test_impatience(void **state)
{
	struct play p;
	const struct news *n;
	struct fake_job *other;

	(void)state;
	begin(&p);
	other = fake_user_job(&p.fake, "bob", 4);
	vec_push(&other->pins, mem_strdup("v1"));
	fake_pass(&p.fake, 1);
	assert_int_equal(other->state, FAKE_RUNNING);
	play_launch(&p, 7, 1, 0, 2);
	n = play_until(&p, NEWS_ENDED, 7, 1, 20);
	assert_true(n->ending.bounced);
	assert_non_null(strstr(n->ending.text, "Resources"));
	assert_true(fake_of(&p.fake, "x", 7)->held);
	play_fini(&p);
}

static void test_hopeless(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	p.fake.start_delay_s = 1000;
	for (uint32_t attempt = 1; attempt <= 4; attempt++) {
		play_launch(&p, 7, attempt, 0, 1);
		for (int i = 0; i < 400 && !play_find(&p, NEWS_ENDED, 7, attempt); i++) {
			struct fake_job *j = fake_of(&p.fake, "x", 7);

			if (j && !j->held && strcmp(j->reason, "BadConstraints") != 0) {
				snprintf(j->reason, sizeof(j->reason), "BadConstraints");
				fake_changed(&p.fake, j);
			}
			play_pass(&p, 0.1);
		}
		assert_true(play_find(&p, NEWS_ENDED, 7, attempt)->ending.bounced);
		assert_true(!play_told_of(&p, 7, "hold") == (attempt < 4));
	}
	play_fini(&p);
}

static void test_refused_submission(void **state)
{
	struct play p;
	struct launch l = play_launch_of(7, 0, NULL, 0);
	const char *const argv[] = { "refuse me", NULL };
	struct err err = { 0 };
	const struct news *n;

	(void)state;
	begin(&p);
	l.argv = argv;
	assert_int_equal(hands_expect(p.hands, &l, &err), 0);
	play_pass(&p, 2);
	n = play_told_of(&p, 7, "outside");
	assert_non_null(n);
	assert_string_equal(member_text(n->body, "state"), "FAILED");
	assert_int_equal(p.fake.submitted, 0);
	play_fini(&p);
}

/* ---- what users and nodes do */

static void test_cancelled_by_user(void **state)
{
	struct play p;
	const struct news *n;

	(void)state;
	begin(&p);
	play_expect(&p, 6, NULL);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	fake_cancel(&p.fake, fake_of(&p.fake, "x", 7));
	n = play_until(&p, NEWS_ENDED, 7, 1, 3);
	assert_true(n->ending.known && n->ending.asked);
	assert_true(play_told_of(&p, 7, "cancel") && play_told_of(&p, 7, "cancel") < n);
	fake_cancel(&p.fake, fake_of(&p.fake, "x", 6));
	play_pass(&p, 3);
	assert_non_null(play_told_of(&p, 6, "cancel"));
	play_fini(&p);
}

static void test_requeued_by_user(void **state)
{
	struct play p;
	const struct news *n;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	fake_requeue(&p.fake, fake_of(&p.fake, "x", 7), false);
	n = play_until(&p, NEWS_ENDED, 7, 1, 5);
	assert_true(n->ending.asked && !n->ending.node_failed);
	assert_non_null(play_told_of(&p, 7, "requeue"));
	play_pass(&p, 2);
	assert_true(fake_of(&p.fake, "x", 7)->held);
	play_fini(&p);
}

static void test_node_failure(void **state)
{
	struct play p;
	const struct news *n;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	fake_fail_node(&p.fake, "v1");
	n = play_until(&p, NEWS_ENDED, 7, 1, 5);
	assert_true(n->ending.node_failed && !n->ending.asked);
	assert_true(hands_refresh(p.hands, &p.machine) & MACHINE_UP);
	assert_false(p.machine.devices[0].up);
	assert_non_null(strstr(p.machine.devices[0].why, "DOWN"));
	assert_true(p.machine.devices[4].up);
	play_pass(&p, 2);
	assert_true(fake_of(&p.fake, "x", 7)->held);
	play_launch(&p, 7, 2, 4, 1);
	play_until(&p, NEWS_BEGUN, 7, 2, 3);
	play_fini(&p);
}

static void test_node_failure_unseen(void **state)
{
	struct play p;
	const struct news *n;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	/* Slurm puts it back and starts it again while nobody can look. */
	p.fake.down = true;
	fake_requeue(&p.fake, fake_of(&p.fake, "x", 7), false);
	play_pass(&p, 130);
	assert_int_equal(fake_of(&p.fake, "x", 7)->state, FAKE_RUNNING);
	p.fake.down = false;
	n = play_until(&p, NEWS_ENDED, 7, 1, 20);
	assert_true(n->ending.node_failed);
	assert_true(fake_of(&p.fake, "x", 7)->held);
	play_fini(&p);
}

static void test_drained_node_lets_run(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	p.fake.nodes.at[0].drained = true;
	play_pass(&p, 8);
	hands_refresh(p.hands, &p.machine);
	assert_true(p.machine.devices[0].up);
	assert_false(p.machine.devices[1].up);
	assert_string_equal(p.machine.devices[1].why, "Slurm: drained: fan");
	p.fake.nodes.at[0].drained = false;
	play_pass(&p, 8);
	hands_refresh(p.hands, &p.machine);
	assert_true(p.machine.devices[1].up);
	play_fini(&p);
}

static void test_guests(void **state)
{
	struct play p;
	struct fake_job *other;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 3, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	other = fake_user_job(&p.fake, "bob", 2);
	vec_push(&other->pins, mem_strdup("v1"));
	p.changed = 0;
	play_pass(&p, 3);
	assert_true(p.changed > 0);
	hands_refresh(p.hands, &p.machine);
	assert_true(p.machine.devices[0].up && p.machine.devices[3].up);
	assert_true(!p.machine.devices[1].up && !p.machine.devices[2].up);
	assert_string_equal(p.machine.devices[1].why,
		"used by job 102 of bob, which Stint does not manage");
	fake_cancel(&p.fake, other);
	play_pass(&p, 3);
	hands_refresh(p.hands, &p.machine);
	assert_true(p.machine.devices[1].up);
	play_fini(&p);
}

static void test_leaked_gpus(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	p.fake.nodes.at[0].leaked = 2;
	play_pass(&p, 30);
	hands_refresh(p.hands, &p.machine);
	assert_true(p.machine.devices[0].up && p.machine.devices[1].up);
	assert_false(p.machine.devices[2].up || p.machine.devices[3].up);
	p.fake.nodes.at[0].leaked = 0;
	play_pass(&p, 30);
	hands_refresh(p.hands, &p.machine);
	assert_true(p.machine.devices[3].up);
	play_fini(&p);
}

static void test_outside_run(void **state)
{
	struct play p;
	const struct news *n;
	struct fake_job *j;

	(void)state;
	begin(&p);
	play_expect(&p, 7, NULL);
	play_pass(&p, 2);
	j = fake_of(&p.fake, "x", 7);
	p.fake.start_delay_s = 0;
	fake_release(&p.fake, j);
	fake_pass(&p.fake, 0.25);
	assert_int_equal(j->state, FAKE_RUNNING);
	play_pass(&p, 2);
	assert_non_null(play_told_of(&p, 7, "hold"));
	hands_refresh(p.hands, &p.machine);
	assert_false(p.machine.devices[3].up);
	play_pass(&p, 110);
	n = play_told_of(&p, 7, "outside");
	assert_non_null(n);
	assert_string_equal(member_text(n->body, "state"), "COMPLETED");
	assert_null(play_find(&p, NEWS_ENDED, 7, 1));
	play_fini(&p);
}

static void test_released_by_user(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	play_expect(&p, 7, NULL);
	play_pass(&p, 2);
	fake_release(&p.fake, fake_of(&p.fake, "x", 7));
	p.fake.start_delay_s = 5;
	play_pass(&p, 3);
	assert_true(fake_of(&p.fake, "x", 7)->held);
	assert_string_equal(fake_of(&p.fake, "x", 7)->reason, "JobHeldAdmin");
	play_fini(&p);
}

static void test_held_by_user(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	p.fake.start_delay_s = 1000;
	play_launch(&p, 7, 1, 0, 1);
	play_pass(&p, 2);
	fake_hold(&p.fake, fake_of(&p.fake, "x", 7));
	assert_true(play_until(&p, NEWS_ENDED, 7, 1, 3)->ending.bounced);
	assert_non_null(play_told_of(&p, 7, "hold"));
	play_pass(&p, 3);
	fake_release(&p.fake, fake_of(&p.fake, "x", 7));
	play_pass(&p, 3);
	assert_non_null(play_told_of(&p, 7, "release"));
	assert_true(fake_of(&p.fake, "x", 7)->held);
	play_fini(&p);
}

static void test_forgotten_by_slurm(void **state)
{
	struct play p;
	const struct news *n;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	fake_forget(&p.fake, fake_of(&p.fake, "x", 7));
	n = play_until(&p, NEWS_ENDED, 7, 1, 3);
	assert_false(n->ending.known);
	assert_non_null(strstr(n->ending.text, "does not know job 101 any more"));
	/* The next attempt is another job of Slurm's. */
	play_launch(&p, 7, 2, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 2, 5);
	assert_string_equal(fake_of(&p.fake, "x", 7)->comment, "stint:x:7:2");
	play_fini(&p);
}

/* ---- jobs of users */

static const struct news *arrival(const struct play *p)
{
	for (size_t i = 0; i < p->news.n; i++) {
		if (p->news.at[i].kind == NEWS_ARRIVED)
			return &p->news.at[i];
	}
	return NULL;
}

static struct fake_job *marked_job(struct play *p, uint32_t gpus)
{
	struct fake_job *j = fake_user_job(&p->fake, "ann", gpus);

	snprintf(j->mark, sizeof(j->mark), SLURM_MARK);
	j->held = true;
	snprintf(j->reason, sizeof(j->reason), "JobHeldUser");
	return j;
}

static void test_arrival(void **state)
{
	struct play p;
	struct fake_job *j;
	const struct news *n;
	char key[96];

	(void)state;
	begin(&p);
	j = marked_job(&p, 2);
	j->limit_s = 3600;
	play_pass(&p, 2);
	n = arrival(&p);
	assert_non_null(n);
	snprintf(key, sizeof(key), "slurm:%s@%.0f", j->name, j->submit_s);
	assert_string_equal(n->key, key);
	assert_string_equal(n->word, "ann");
	assert_int_equal(member_int(n->body, "gpus", 0), 2);
	assert_true(member_number(n->body, "time_s", 0) == 3600);
	hands_taken(p.hands, key, 9, NULL);
	play_expect(&p, 9, key);
	play_pass(&p, 2);
	assert_string_equal(j->reason, "JobHeldAdmin");
	play_launch(&p, 9, 1, 0, 2);
	play_until(&p, NEWS_BEGUN, 9, 1, 3);
	assert_int_equal(p.fake.submitted, 0);
	play_stop(&p, 9, 1, false);
	play_until(&p, NEWS_ENDED, 9, 1, 3);
	play_launch(&p, 9, 2, 4, 2);
	play_until(&p, NEWS_BEGUN, 9, 2, 3);
	play_fini(&p);
}

static void test_arrival_refused(void **state)
{
	struct play p;
	struct fake_job *j, *no_gpus;

	(void)state;
	begin(&p);
	j = marked_job(&p, 2);
	no_gpus = marked_job(&p, 0);
	play_pass(&p, 2);
	hands_taken(p.hands, arrival(&p)->key, 0, "no such tenant");
	play_pass(&p, 2);
	assert_string_equal(j->mark, "stint: no such tenant");
	assert_int_equal(j->state, FAKE_RUNNING);
	assert_string_equal(no_gpus->mark, "stint: left to Slurm: it asks for no GPUs");
	play_fini(&p);
}

static void test_take_all(void **state)
{
	struct play p;
	struct fake_job *j;

	(void)state;
	play_init(&p, 1);
	p.take = SLURM_TAKE_ALL;
	play_open(&p);
	hands_expected_all(p.hands);
	p.fake.start_delay_s = 5;
	j = fake_user_job(&p.fake, "ann", 2);
	play_pass(&p, 2);
	assert_true(j->held);
	assert_non_null(arrival(&p));
	hands_taken(p.hands, arrival(&p)->key, 9, NULL);
	play_launch(&p, 9, 1, 0, 2);
	play_until(&p, NEWS_BEGUN, 9, 1, 10);
	play_fini(&p);
}

static void test_dependency_waits(void **state)
{
	struct play p;
	struct fake_job *j;

	(void)state;
	begin(&p);
	j = marked_job(&p, 1);
	snprintf(j->dependency, sizeof(j->dependency), "afterok:5");
	play_pass(&p, 3);
	assert_null(arrival(&p));
	j->dependency[0] = '\0';
	fake_changed(&p.fake, j);
	play_pass(&p, 3);
	assert_non_null(arrival(&p));
	play_fini(&p);
}

static void test_typed(void **state)
{
	struct play p;
	struct fake_job *j;

	(void)state;
	begin(&p);
	j = marked_job(&p, 2);
	snprintf(j->type, sizeof(j->type), "k80");
	play_pass(&p, 2);
	assert_string_equal(member_text(arrival(&p)->body, "types"), "k80");
	hands_taken(p.hands, arrival(&p)->key, 9, NULL);
	play_launch(&p, 9, 1, 8, 2);
	play_until(&p, NEWS_BEGUN, 9, 1, 3);
	play_fini(&p);
}

static void test_array(void **state)
{
	struct play p;
	struct fake_job *j;
	uint32_t taken = 0;

	(void)state;
	begin(&p);
	j = marked_job(&p, 1);
	j->array = (uint32_t)atoi(j->name);
	snprintf(j->tasks, sizeof(j->tasks), "0,1,2%%2");
	play_pass(&p, 3);
	for (size_t i = 0; i < p.news.n; i++) {
		if (p.news.at[i].kind == NEWS_ARRIVED && taken < 2)
			hands_taken(p.hands, p.news.at[i].key, 20 + taken++, NULL);
	}
	assert_int_equal(taken, 2);
	play_clear(&p);
	play_pass(&p, 10);
	assert_null(arrival(&p)); /* two at once */
	play_launch(&p, 20, 1, 0, 1);
	play_launch(&p, 21, 1, 1, 1);
	play_until(&p, NEWS_BEGUN, 20, 1, 3);
	play_until(&p, NEWS_BEGUN, 21, 1, 3);
	play_until(&p, NEWS_ENDED, 20, 1, 120);
	hands_forget(p.hands, 20);
	play_pass(&p, 3);
	assert_non_null(arrival(&p));
	assert_non_null(strstr(arrival(&p)->key, "_2@"));
	play_fini(&p);
}

static void test_time_limit_changed(void **state)
{
	struct play p;
	struct fake_job *j;

	(void)state;
	begin(&p);
	j = marked_job(&p, 1);
	j->limit_s = 600;
	play_pass(&p, 2);
	hands_taken(p.hands, arrival(&p)->key, 9, NULL);
	play_pass(&p, 2);
	j->limit_s = 1200;
	fake_changed(&p.fake, j);
	play_pass(&p, 2);
	assert_non_null(play_told_of(&p, 9, "update"));
	assert_true(member_number(play_told_of(&p, 9, "update")->body, "time_s", 0) == 1200);
	play_fini(&p);
}

/* ---- restarts of the daemon */

static void restart(struct play *p)
{
	play_close(p);
	play_clear(p);
	play_open(p);
}

static void test_restart_running(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	play_expect(&p, 6, NULL);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	restart(&p);
	play_expect(&p, 6, NULL);
	play_expect(&p, 7, NULL);
	hands_expected_all(p.hands);
	play_claim(&p, 7, 1, 0, 1, false);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	assert_int_equal(play_until(&p, NEWS_ENDED, 7, 1, 120)->ending.code, 0);
	assert_int_equal(p.fake.submitted, 2);
	play_fini(&p);
}

static void test_restart_ended_meanwhile(void **state)
{
	struct play p;
	const struct news *n;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	play_close(&p);
	play_clear(&p);
	fake_pass(&p.fake, 150);
	play_open(&p);
	play_expect(&p, 7, NULL);
	hands_expected_all(p.hands);
	play_claim(&p, 7, 1, 0, 1, false);
	n = play_until(&p, NEWS_ENDED, 7, 1, 3);
	assert_true(n->ending.known && n->ending.code == 0);
	assert_true(n->ending.ended_s < p.fake.now_s - 40);
	play_fini(&p);
}

static void test_restart_forgotten_meanwhile(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 3);
	play_close(&p);
	play_clear(&p);
	fake_pass(&p.fake, 1000);
	play_open(&p);
	play_expect(&p, 7, NULL);
	hands_expected_all(p.hands);
	play_claim(&p, 7, 1, 0, 1, false);
	assert_false(play_until(&p, NEWS_ENDED, 7, 1, 3)->ending.known);
	hands_forget(p.hands, 7);
	play_pass(&p, 5);
	assert_int_equal(p.fake.submitted, 1);
	play_fini(&p);
}

static void test_restart_never_ordered(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	play_expect(&p, 7, NULL);
	play_expect(&p, 8, NULL);
	play_pass(&p, 2);
	restart(&p);
	play_expect(&p, 7, NULL);
	play_expect(&p, 8, NULL);
	hands_expected_all(p.hands);
	play_claim(&p, 7, 1, 0, 1, false); /* written down, and never sent */
	play_claim(&p, 8, 1, 1, 1, true);
	play_until(&p, NEWS_BEGUN, 7, 1, 5);
	assert_true(play_until(&p, NEWS_ENDED, 8, 1, 3)->ending.bounced);
	assert_int_equal(p.fake.submitted, 2);
	play_fini(&p);
}

static void test_restart_strays(void **state)
{
	struct play p;

	(void)state;
	begin(&p);
	play_expect(&p, 7, NULL);
	play_expect(&p, 8, NULL);
	play_pass(&p, 2);
	restart(&p);
	play_expect(&p, 8, NULL);
	hands_expected_all(p.hands);
	play_pass(&p, 3);
	assert_string_equal(fake_of(&p.fake, "x", 7)->word, "CANCELLED");
	assert_int_equal(fake_of(&p.fake, "x", 8)->state, FAKE_PENDING);
	assert_int_equal(p.fake.submitted, 2);
	play_fini(&p);
}

/* The answer came, the note of it was not written: the key tells. */
static void test_restart_without_note(void **state)
{
	struct play p;
	char path[128];

	(void)state;
	begin(&p);
	play_expect(&p, 7, NULL);
	play_pass(&p, 2);
	snprintf(path, sizeof(path), "%s/jobs/7/slurm", p.dir);
	assert_int_equal(unlink(path), 0);
	restart(&p);
	play_expect(&p, 7, NULL);
	hands_expected_all(p.hands);
	play_launch(&p, 7, 1, 0, 1);
	play_until(&p, NEWS_BEGUN, 7, 1, 5);
	assert_int_equal(p.fake.submitted, 1);
	play_fini(&p);
}

/* ---- opening */

static void test_opening_fails(void **state)
{
	static const struct {
		const char *kind;
		int code;
		const char *advice;
	} rows[] = {
		{ "unreachable", ERR_UNREACHABLE, "slurmctld" },
		{ "auth", ERR_REFUSED, "munge" },
		{ "version", ERR_REFUSED, "libslurm-dev" },
		{ "denied", ERR_REFUSED, "root" },
		{ "protocol", ERR_REFUSED, "package" },
	};
	struct play p;
	struct err err;

	(void)state;
	play_init(&p, 1);
	p.fake.tick_s = 0.01;
	for (size_t i = 0; i < COUNT(rows); i++) {
		p.fake.hello_kind = rows[i].kind;
		assert_int_equal(play_try_open(&p, "gpu", &err), rows[i].code);
		assert_non_null(strstr(err.text, rows[i].advice));
	}
	p.fake.hello_kind = NULL;
	assert_int_equal(play_try_open(&p, "cpu", &err), ERR_MISSING);
	assert_string_equal(err.text, "Slurm has no partition 'cpu'; there is gpu");
	p.fake.stranger = true;
	assert_int_equal(play_try_open(&p, "gpu", &err), ERR_REFUSED);
	p.fake.nodes.n = 0;
	assert_int_equal(play_try_open(&p, "gpu", &err), ERR_MISSING);
	assert_non_null(strstr(err.text, "gres.conf"));
	play_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_launch_without_expect),
		cmocka_unit_test(test_stop_puts_back),
		cmocka_unit_test(test_long_grace_by_signal),
		cmocka_unit_test(test_grace_is_over),
		cmocka_unit_test(test_stop_now),
		cmocka_unit_test(test_exit_code),
		cmocka_unit_test(test_stopped_before_begun),
		cmocka_unit_test(test_forget_cancels),
		cmocka_unit_test(test_several_nodes),
		cmocka_unit_test(test_unequal_parts),
		cmocka_unit_test(test_impatience),
		cmocka_unit_test(test_hopeless),
		cmocka_unit_test(test_refused_submission),
		cmocka_unit_test(test_cancelled_by_user),
		cmocka_unit_test(test_requeued_by_user),
		cmocka_unit_test(test_node_failure),
		cmocka_unit_test(test_node_failure_unseen),
		cmocka_unit_test(test_drained_node_lets_run),
		cmocka_unit_test(test_guests),
		cmocka_unit_test(test_leaked_gpus),
		cmocka_unit_test(test_outside_run),
		cmocka_unit_test(test_released_by_user),
		cmocka_unit_test(test_held_by_user),
		cmocka_unit_test(test_forgotten_by_slurm),
		cmocka_unit_test(test_arrival),
		cmocka_unit_test(test_arrival_refused),
		cmocka_unit_test(test_take_all),
		cmocka_unit_test(test_dependency_waits),
		cmocka_unit_test(test_typed),
		cmocka_unit_test(test_array),
		cmocka_unit_test(test_time_limit_changed),
		cmocka_unit_test(test_restart_running),
		cmocka_unit_test(test_restart_ended_meanwhile),
		cmocka_unit_test(test_restart_forgotten_meanwhile),
		cmocka_unit_test(test_restart_never_ordered),
		cmocka_unit_test(test_restart_strays),
		cmocka_unit_test(test_restart_without_note),
		cmocka_unit_test(test_opening_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
