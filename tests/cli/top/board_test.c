#include "cli/top/scene_fixture.h"

#include "base/mem.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* The numbers of the jobs that are listed, in order: "7 8 9 | 12". */
static void is_list(const struct screen_test *t, const char *want)
{
	struct buf have = { 0 };

	for (int part = 0; part < PARTS; part++) {
		buf_str(&have, part ? "|" : "");
		for (size_t i = 0; i < t->board.rows[part].n; i++)
			buf_printf(&have, "%s%u", i ? " " : "",
				t->view.jobs[t->board.rows[part].at[i]].id);
	}
	assert_string_equal(have.at, want);
	buf_fini(&have);
}

static uint32_t chosen(const struct screen_test *t)
{
	const struct view_job *job = board_chosen(&t->board, &t->view);

	return job ? job->id : 0;
}

static enum board_ask key(struct screen_test *t, uint32_t code, uint32_t *job)
{
	*job = 0;
	return board_key(&t->board, &t->view, code, job);
}

static struct screen_test box(void)
{
	struct screen_test t = { 0 };

	take(&t, box_nodes, box_jobs, box_forecast);
	return t;
}

static void jobs_are_sorted_as_asked(void **state)
{
	struct screen_test t = box();

	(void)state;
	is_list(&t, "7 8 9 10 11|12 13 14");
	press(&t, "s");
	is_list(&t, "8 10 11 7 9|12 13 14");
	press(&t, "s");
	is_list(&t, "11 7 8 10 9|12 13 14");
	press(&t, "s");
	is_list(&t, "7 8 9 10 11|12 13 14");
	press(&t, "s");
	is_list(&t, "9 7 8 10 11|12 13 14");
	press(&t, "s");
	is_list(&t, "7 8 9 10 11|12 13 14");
	press(&t, "sS");
	assert_int_equal(t.board.sort, SORT_LEFT);
	screen_test_fini(&t);
}

/* A forecast tells in which share of the futures a job does not start. */
static void never_is_most_futures(void **state)
{
	static const struct {
		const char *said;
		bool never;
	} rows[] = {
		{ "1", true },
		{ "0.5", true },
		{ "0.49", false },
		{ "0", false },
		{ "null", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct screen_test t = { 0 };
		char *forecast = mem_printf(
			"{'at':" NOW ",'jobs':[{'id':12,'start':null,'finish':null,'never':%s}]}",
			rows[i].said);

		take(&t, box_nodes, box_jobs, forecast);
		for (size_t k = 0; k < t.view.njobs; k++)
			assert_int_equal(t.view.jobs[k].never,
				t.view.jobs[k].id == 12 && rows[i].never);
		screen_test_fini(&t);
		free(forecast);
	}
}

static void a_filter_leaves_out_jobs(void **state)
{
	struct screen_test t = box();

	(void)state;
	press(&t, "/BOB");
	is_list(&t, "8 10|13");
	press(&t, "\x7f\x7f\x7fq");
	is_list(&t, "|");
	press(&t, "\x7f\x7f\r");
	is_list(&t, "7 8 9 10 11|12 13 14");
	press(&t, "fahead\r");
	assert_int_equal(t.board.mode, MODE_LIST);
	is_list(&t, "|14");
	press(&t, "\033");
	is_list(&t, "7 8 9 10 11|12 13 14");
	press(&t, "t");
	is_list(&t, "7 11|12");
	screen_test_fini(&t);
}

static void moving_goes_from_list_to_list(void **state)
{
	static const struct {
		const char *what, *keys;
		uint32_t at;
	} rows[] = {
		{ "at first", "", 7 },
		{ "down", "jj", 9 },
		{ "up", "jjk", 8 },
		{ "not past the beginning", "kkk", 7 },
		{ "to the end", "G", 11 },
		{ "into the jobs that wait", "Gj", 12 },
		{ "and back", "Gjk", 11 },
		{ "not past the end", "\tGjjj", 14 },
		{ "to the other list", "\t", 12 },
		{ "and back", "j\tj\t", 8 },
		{ "to the beginning", "Gg", 7 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct screen_test t = box();

		press(&t, rows[i].keys);
		if (chosen(&t) != rows[i].at)
			fail_msg("%s: on %u, not %u", rows[i].what, chosen(&t), rows[i].at);
		screen_test_fini(&t);
	}
}

static void the_chosen_job_stays_chosen(void **state)
{
	static const char without_7[] = "{'jobs':[{'id':8,'state':'RUNNING'},{'id':9,'state':'RUNNING'}]}";
	static const char without_9[] = "{'jobs':[{'id':8,'state':'RUNNING'}]}";
	struct screen_test t = box();

	(void)state;
	press(&t, "jj");
	assert_int_equal(chosen(&t), 9);
	take(&t, box_nodes, without_7, NULL);
	assert_int_equal(chosen(&t), 9);
	take(&t, box_nodes, without_9, NULL);
	assert_int_equal(chosen(&t), 8);
	take(&t, box_nodes, "{}", NULL);
	assert_int_equal(chosen(&t), 0);
	press(&t, "jkG\r?q\t");
	screen_test_fini(&t);
}

static void letters_stay_with_their_jobs(void **state)
{
	static const char later[] =
		"{'jobs':[{'id':9,'state':'RUNNING'},{'id':20,'state':'RUNNING'},{'id':7,'state':'PENDING'}]}";
	struct screen_test t = box();

	(void)state;
	assert_int_equal(t.view.jobs[0].letter, 'a');
	assert_int_equal(t.view.jobs[2].letter, 'c');
	assert_int_equal(t.view.jobs[5].letter, 0);
	take(&t, box_nodes, later, NULL);
	assert_int_equal(t.view.jobs[0].letter, 'c');
	assert_int_equal(t.view.jobs[1].letter, 'a');
	assert_int_equal(t.view.jobs[2].letter, 0);
	screen_test_fini(&t);
}

static void keys_ask_for_things(void **state)
{
	struct screen_test t = box();
	uint32_t job;

	(void)state;
	assert_int_equal(key(&t, 'q', &job), ASK_QUIT);
	assert_int_equal(key(&t, KEY_REDRAW, &job), ASK_REDRAW);
	assert_int_equal(key(&t, KEY_ENTER, &job), ASK_DETAILS);
	assert_int_equal(job, 7);
	assert_int_equal(key(&t, '+', &job), ASK_NOTHING);
	t.board.runs = true;
	assert_int_equal(key(&t, '+', &job), ASK_FASTER);
	assert_int_equal(key(&t, '-', &job), ASK_SLOWER);
	assert_int_equal(key(&t, '?', &job), ASK_NOTHING);
	assert_int_equal(t.board.mode, MODE_TEXT);
	assert_int_equal(key(&t, 'q', &job), ASK_NOTHING);
	assert_int_equal(t.board.mode, MODE_LIST);
	press(&t, "p");
	assert_true(t.board.paused);
	screen_test_fini(&t);
}

static void nothing_is_changed_without_a_yes(void **state)
{
	struct screen_test t = box();
	uint32_t job;

	(void)state;
	assert_int_equal(key(&t, 'c', &job), ASK_NOTHING);
	assert_int_equal(t.board.mode, MODE_LIST);
	t.board.acts = true;
	press(&t, "j");
	assert_int_equal(key(&t, 'c', &job), ASK_NOTHING);
	assert_int_equal(t.board.mode, MODE_CONFIRM);
	assert_int_equal(key(&t, 'c', &job), ASK_NOTHING);
	assert_int_equal(t.board.mode, MODE_LIST);
	assert_int_equal(key(&t, 'c', &job), ASK_NOTHING);
	/* the job that was asked about, whatever has happened to the list */
	take(&t, box_nodes, "{'jobs':[{'id':7,'state':'RUNNING'}]}", NULL);
	assert_int_equal(key(&t, 'y', &job), ASK_CANCEL);
	assert_int_equal(job, 8);
	key(&t, 'h', &job);
	assert_true(t.board.ask_stops);
	assert_int_equal(key(&t, 'y', &job), ASK_HOLD);
	key(&t, 'r', &job);
	assert_false(t.board.ask_stops);
	assert_int_equal(key(&t, 'y', &job), ASK_RELEASE);
	screen_test_fini(&t);
}

static void a_job_that_waits_is_moved_up_and_down(void **state)
{
	struct screen_test t = box();
	uint32_t job = 0;

	(void)state;
	t.board.acts = true;
	take(&t, box_nodes,
		"{'jobs':[{'id':7,'state':'RUNNING','priority':0},{'id':9,'state':'PENDING','priority':3}]}",
		NULL);
	t.board.part = PART_RUNNING;
	assert_int_equal(key(&t, '+', &job), ASK_NOTHING);
	assert_true(strstr(t.board.message, "a job that waits") != NULL);
	t.board.part = PART_WAITING;
	assert_int_equal(key(&t, '+', &job), ASK_PRIORITY);
	assert_int_equal(job, 9);
	assert_int_equal(t.board.ask_priority, 4);
	assert_int_equal(key(&t, '-', &job), ASK_PRIORITY);
	assert_int_equal(t.board.ask_priority, 2);
	assert_string_equal(board_verb(ASK_PRIORITY), "update");
	t.board.acts = false;
	assert_int_equal(key(&t, '+', &job), ASK_NOTHING);
	screen_test_fini(&t);
}

static void a_trend_keeps_the_last_or_the_whole(void **state)
{
	struct trend last, whole;

	(void)state;
	trend_init(&last, 1, false);
	trend_init(&whole, 1, true);
	for (int i = 0; i < 1000; i++) {
		trend_add(&last, i, i / 1000., i);
		trend_add(&whole, i, i / 1000., i);
	}
	assert_int_equal(last.n, TREND_STEPS);
	assert_true(last.waiting[0] == 700 && last.waiting[TREND_STEPS - 1] == 999);
	assert_int_equal(whole.n, 250);
	assert_true(whole.step_s == 4 && whole.waiting[0] == 1.5 && whole.waiting[249] == 997.5);
	/* what was not looked at was as before */
	trend_add(&last, 1003.5, 1, 0);
	assert_true(last.waiting[TREND_STEPS - 2] == 999 && last.waiting[TREND_STEPS - 1] == 0);
	/* means of a step */
	trend_add(&last, 1003.9, 0, 10);
	assert_true(last.waiting[TREND_STEPS - 1] == 5 && last.held[TREND_STEPS - 1] == 0.5);
	trend_add(&last, 1e7, 1, 3);
	assert_int_equal(last.n, 1);
	trend_add(&whole, 1e9, 1, 3);
	assert_true(whole.n <= TREND_STEPS && whole.from_s + whole.n * whole.step_s > 1e9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_are_sorted_as_asked),
		cmocka_unit_test(never_is_most_futures),
		cmocka_unit_test(a_filter_leaves_out_jobs),
		cmocka_unit_test(moving_goes_from_list_to_list),
		cmocka_unit_test(the_chosen_job_stays_chosen),
		cmocka_unit_test(letters_stay_with_their_jobs),
		cmocka_unit_test(keys_ask_for_things),
		cmocka_unit_test(nothing_is_changed_without_a_yes),
		cmocka_unit_test(a_job_that_waits_is_moved_up_and_down),
		cmocka_unit_test(a_trend_keeps_the_last_or_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
