#include "cli/top/scene_fixture.h"

#include "base/mem.h"
#include "cli/top/grid.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static void is_screen(struct screen_test *t, int columns, int lines, bool utf8, const char *want)
{
	char *have = screen_of(t, columns, lines, utf8);

	if (strcmp(have, want) != 0)
		fail_msg("%d x %d is not as it should be:\n%s", columns, lines, have);
	free(have);
}

/* Twenty seconds in which ever more was held. */
static struct screen_test busy_box(void)
{
	struct screen_test t = { 0 };

	trend_init(&t.trend, 1, false);
	for (int i = 0; i < 20; i++)
		trend_add(&t.trend, i, i / 20., i % 7);
	take(&t, box_nodes, box_jobs, box_forecast);
	return t;
}

static void a_screen_shows_devices_and_jobs(void **state)
{
	struct screen_test t = busy_box();

	(void)state;
	is_screen(&t, 100, 22, true,
		"stint on box, policy fair-share:preempt=1                                                   12:00:00\n"
		"5 running, 3 waiting; 5 of 8 devices held, 1 down, 2 drained, 1 idle\n"
		"held  ▁▁▁▂▂▂▃▃▄▄▄▅▅▆▆▆▇▇█ 95%  waiting  ▁▃▄▅▇█ ▁▃▄▅▇█ ▁▃▄▅▇ 5                           the last 20s\n"
		"\n"
		"box a a c!2 x / e/·\n"
		"\n"
		"RUNNING 5\n"
		"     JOB  NAME                             USER         GPUS  WHERE         DONE   TIME    LEFT\n"
		"> a    7  train-resnet50-with-a-long-name  ann/vision      2  0,1            80%  1h02m  15m05s\n"
		"  b  8_3  e?[31mvil                        bob         1x0.5  3                   1m01s\n"
		"  c    9  訓練名前                         cyd             1  2      idle 10m00s  2h00m\n"
		"  d   10  half                             bob         1x0.5  3                   1m00s\n"
		"  e   11  new                              ann           1/4  6         starting     0s\n"
		"\n"
		"WAITING 3\n"
		"  JOB  NAME     USER        GPUS  WAITED     STARTS IN  WHY\n"
		"   12  big      ann/vision     8  10m00s  15m00s-1h00m  it needs 8 devices and 1 is free\n"
		"   13  elastic  bob          1-4     30s         never  its tenant is above its share\n"
		"   14  late     cyd            1      5s                job 13 is ahead\n"
		"\n"
		"\n"
		"arrows, Tab  Enter details  s sort  / filter  t mine  p pause  ? help  q quit\n");
	is_screen(&t, 80, 22, false,
		"stint on box, policy fair-share:preempt=1                               12:00:00\n"
		"5 running, 3 waiting; 5 of 8 devices held, 1 down, 2 drained, 1 idle\n"
		"held  .....::::::##### 95%  waiting  .::## .::## .::# 5             the last 20s\n"
		"\n"
		"box a a c!2 x / e/.\n"
		"\n"
		"RUNNING 5\n"
		"     JOB  NAME              USER         GPUS  WHERE         DONE   TIME    LEFT\n"
		"> a    7  train-resnet50-~  ann/vision      2  0,1            80%  1h02m  15m05s\n"
		"  b  8_3  e?[31mvil         bob         1x0.5  3                   1m01s\n"
		"  c    9  ????              cyd             1  2      idle 10m00s  2h00m\n"
		"  d   10  half              bob         1x0.5  3                   1m00s\n"
		"  e   11  new               ann           1/4  6         starting     0s\n"
		"\n"
		"WAITING 3\n"
		"  JOB  NAME     USER        GPUS  WAITED     STARTS IN  WHY\n"
		"   12  big      ann/vision     8  10m00s  15m00s-1h00m  it needs 8 devices and ~\n"
		"   13  elastic  bob          1-4     30s         never  its tenant is above its~\n"
		"   14  late     cyd            1      5s                job 13 is ahead\n"
		"\n"
		"\n"
		"arrows, Tab  Enter details  s sort  / filter  t mine  p pause  ? help  q quit\n");
	screen_test_fini(&t);
}

static void a_small_screen_shows_what_matters_most(void **state)
{
	struct screen_test t = busy_box();

	(void)state;
	is_screen(&t, 40, 10, true,
		"stint on box, policy fair-shar… 12:00:00\n"
		"5 running, 3 waiting; 5 of 8 devices he…\n"
		"held ▁▃▅▇ 95%  waiting ▄▆█▇ 5\n"
		"box a a c!2 x / e/·\n"
		"RUNNING 5\n"
		"> a    7  train-re…          80%  15m05s\n"
		"  b  8_3  e?[31mvil\n"
		"  c    9  訓練名前   idle 10m00s\n"
		"  d   10  half\n"
		"? help, q quit\n");
	press(&t, "\t");
	is_screen(&t, 40, 10, true,
		"stint on box, policy fair-shar… 12:00:00\n"
		"5 running, 3 waiting; 5 of 8 devices he…\n"
		"held ▁▃▅▇ 95%  waiting ▄▆█▇ 5\n"
		"box a a c!2 x / e/·\n"
		"WAITING 3\n"
		"> 12  big      10m00s  it needs 8 devic…\n"
		"  13  elastic     30s  its tenant is ab…\n"
		"  14  late         5s  job 13 is ahead\n"
		"\n"
		"? help, q quit\n");
	is_screen(&t, 20, 5, true,
		"stint on box, poli…\n"
		"5 running, 3 waitin…\n"
		"WAITING 3\n"
		"> 12  big  it needs…\n"
		"? help, q quit\n");
	screen_test_fini(&t);
}

static void nothing_to_show_is_said(void **state)
{
	struct screen_test t = { .board = { .acts = true } };

	(void)state;
	take(&t, "{'host':'box','nodes':[]}", "{'jobs':[],'counts':{}}", NULL);
	is_screen(&t, 70, 10, true,
		"stint on box\n"
		"0 running, 0 waiting; no devices\n"
		"RUNNING 0\n"
		"  none; submit one: stint submit --gpus 1 -- python train.py\n"
		"WAITING 0\n"
		"  none\n"
		"\n"
		"\n"
		"\n"
		"? help, q quit\n");
	screen_test_fini(&t);
}

/* Answers of a daemon that is older, newer or broken. */
static void odd_answers_do_no_harm(void **state)
{
	static const char *const answers[] = { "{}", "[]", "{'nodes':{},'jobs':{}}",
		"{'nodes':[1,{},{'devices':[1,{},{'jobs':['x',-1]}]}],'jobs':[1,{},{'id':'x','state':7}]}",
		"{'jobs':[{'id':1,'state':'RUNNING','devices':[],'progress':{'total':0},'idle':true,'eta':{}}],"
		"'counts':{'RUNNING':'x'}}" };

	(void)state;
	for (size_t i = 0; i < COUNT(answers); i++) {
		struct screen_test t = { 0 };

		take(&t, answers[i], answers[i], answers[i]);
		free(screen_of(&t, 80, 24, true));
		free(screen_of(&t, 1, 1, true));
		screen_test_fini(&t);
	}
}

static void every_size_can_be_drawn(void **state)
{
	struct screen_test t = busy_box();

	(void)state;
	for (int columns = 0; columns < 130; columns += columns < 50 ? 1 : 7)
		for (int lines = 0; lines < 40; lines++)
			free(screen_of(&t, columns, lines, true));
	board_show(&t.board, "a text", "with\nlines that are longer than that\n\nand more\n");
	for (int columns = 0; columns < 40; columns++)
		for (int lines = 0; lines < 12; lines++)
			free(screen_of(&t, columns, lines, true));
	screen_test_fini(&t);
}

static void a_text_is_wrapped_and_scrolled(void **state)
{
	struct screen_test t = busy_box();

	(void)state;
	board_show(&t.board, "job 7", "one\ntwo words and then some more of them\nthree\nfour\nfive\n");
	is_screen(&t, 30, 7, true,
		"stint on box, policy… 12:00:00\n"
		"5 running, 3 waiting; 5 of 8 …\n"
		"job 7  line 1 of 6\n"
		"one\n"
		"two words and then some more\n"
		"of them\n"
		"arrows scroll, q back\n");
	press(&t, "jj");
	is_screen(&t, 30, 7, true,
		"stint on box, policy… 12:00:00\n"
		"5 running, 3 waiting; 5 of 8 …\n"
		"job 7  line 3 of 6\n"
		"of them\n"
		"three\n"
		"four\n"
		"arrows scroll, q back\n");
	press(&t, "Gjq");
	assert_int_equal(t.board.mode, MODE_LIST);
	screen_test_fini(&t);
}

/* ---- large clusters */

static void make_nodes(struct view *view, uint32_t nodes, uint32_t devices, const char *type)
{
	view->nodes = arena_array(&view->memory, struct view_node, nodes);
	view->devices = arena_array(&view->memory, struct view_device, nodes * devices);
	for (uint32_t i = 0; i < nodes; i++) {
		view->nodes[view->nnodes++] = (struct view_node){
			.name = arena_printf(&view->memory, "n%u", i),
			.type = type,
			.first = view->ndevices,
			.ndevices = devices,
		};
		for (uint32_t k = 0; k < devices; k++)
			view->devices[view->ndevices++] = (struct view_device){
				.job = VIEW_NONE,
				.holders = k < i % (devices + 1),
				.down = i == 100,
			};
	}
}

static void what_does_not_fit_is_summed_up(void **state)
{
	static const struct {
		const char *what;
		uint32_t nodes, devices;
		int columns, lines;
		enum grid_form form;
		int takes;
	} rows[] = {
		{ "one node", 1, 8, 80, 4, GRID_WIDE, 1 },
		{ "nodes side by side", 12, 8, 80, 4, GRID_WIDE, 4 },
		{ "closer together", 20, 8, 80, 4, GRID_NARROW, 4 },
		{ "a long node takes several lines", 1, 64, 40, 4, GRID_WIDE, 4 },
		{ "or is closer together", 1, 64, 40, 3, GRID_NARROW, 2 },
		{ "4096 devices, a sign for each node", 512, 8, 80, 7, GRID_NODES, 7 },
		{ "4096 devices, a bar", 512, 8, 80, 6, GRID_TYPES, 1 },
		{ "on a large screen, all of them", 512, 8, 300, 39, GRID_NARROW, 26 },
		{ "none", 0, 0, 80, 6, GRID_ALL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct view view = { 0 };
		struct grid grid;

		make_nodes(&view, rows[i].nodes, rows[i].devices, "v100");
		grid = grid_plan(&view, rows[i].columns, rows[i].lines);
		if (grid.form != rows[i].form || grid.lines != rows[i].takes)
			fail_msg("%s: form %d in %d lines", rows[i].what, grid.form, grid.lines);
		view_fini(&view);
	}
}

static void thousands_of_devices_fit(void **state)
{
	struct screen_test t = { 0 };

	(void)state;
	make_nodes(&t.view, 512, 8, "v100");
	view_finish(&t.view, &t.letters);
	is_screen(&t, 80, 28, true,
		"\n"
		"0 running, 0 waiting; 2044 of 4096 devices held, 8 down\n"
		"\n"
		"v100 ·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂\n"
		"     ▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·x▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅\n"
		"     ▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█\n"
		"     ·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂\n"
		"     ▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅\n"
		"     ▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█\n"
		"     ·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇█·▁▂▃▄▅▆▇\n"
		"\n"
		"RUNNING 0\n"
		"  none\n"
		"\n"
		"WAITING 0\n"
		"  none\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"arrows, Tab  Enter details  s sort  / filter  t mine  p pause  ? help  q quit\n");
	is_screen(&t, 60, 14, false,
		"\n"
		"0 running, 0 waiting; 2044 of 4096 devices held, 8 down\n"
		"v100 [############.............] 2044 of 4096 held, 8 down\n"
		"RUNNING 0\n"
		"  none\n"
		"WAITING 0\n"
		"  none\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"\n"
		"? help, q quit\n");
	screen_test_fini(&t);
}

static void on_paper_everything_is_there(void **state)
{
	struct screen_test t = busy_box();
	struct scene scene = { .view = &t.view, .board = &t.board, .plain = true };
	struct canvas canvas = { 0 };
	struct buf out = { 0 };

	(void)state;
	canvas_reset(&canvas, 100, draw_height(&scene, 100, 1000), true);
	draw_scene(&scene, &canvas);
	canvas_text(&canvas, false, &out);
	assert_string_equal(out.at,
		"stint on box, policy fair-share:preempt=1                                                   12:00:00\n"
		"5 running, 3 waiting; 5 of 8 devices held, 1 down, 2 drained, 1 idle\n"
		"\n"
		"box a a c!2 x / e/·\n"
		"\n"
		"RUNNING 5\n"
		"     JOB  NAME                             USER         GPUS  WHERE         DONE   TIME    LEFT\n"
		"  a    7  train-resnet50-with-a-long-name  ann/vision      2  0,1            80%  1h02m  15m05s\n"
		"  b  8_3  e?[31mvil                        bob         1x0.5  3                   1m01s\n"
		"  c    9  訓練名前                         cyd             1  2      idle 10m00s  2h00m\n"
		"  d   10  half                             bob         1x0.5  3                   1m00s\n"
		"  e   11  new                              ann           1/4  6         starting     0s\n"
		"\n"
		"WAITING 3\n"
		"  JOB  NAME     USER        GPUS  WAITED     STARTS IN  WHY\n"
		"   12  big      ann/vision     8  10m00s  15m00s-1h00m  it needs 8 devices and 1 is free\n"
		"   13  elastic  bob          1-4     30s         never  its tenant is above its share\n"
		"   14  late     cyd            1      5s                job 13 is ahead\n");
	assert_int_equal(draw_height(&scene, 100, 8), 8);
	buf_fini(&out);
	canvas_fini(&canvas);
	screen_test_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_screen_shows_devices_and_jobs),
		cmocka_unit_test(a_small_screen_shows_what_matters_most),
		cmocka_unit_test(nothing_to_show_is_said),
		cmocka_unit_test(odd_answers_do_no_harm),
		cmocka_unit_test(every_size_can_be_drawn),
		cmocka_unit_test(a_text_is_wrapped_and_scrolled),
		cmocka_unit_test(what_does_not_fit_is_summed_up),
		cmocka_unit_test(thousands_of_devices_fit),
		cmocka_unit_test(on_paper_everything_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
