/*
 * A daemon's answers, made up, and screens of them as text: what the tests of
 * the screen share.
 */
#ifndef TESTS_CLI_TOP_SCENE_FIXTURE_H
#define TESTS_CLI_TOP_SCENE_FIXTURE_H

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cli/top/draw.h"
#include "cli/top/keys.h"

/* Noon of 2024-01-01. */
#define NOW "1704110400"

/* Eight devices: one shared, one down, two drained, of which one is held, one free; job 9 does not use what it has. */
static const char box_nodes[] =
	"{'host':'box','nodes':[{'name':'box','type':'a100','devices':["
	"{'up':true,'jobs':[7]},{'up':true,'jobs':[7]},{'up':true,'jobs':[9]},"
	"{'up':true,'jobs':[8,10]},{'up':false,'jobs':[]},{'up':true,'drained':true,'jobs':[]},"
	"{'up':true,'drained':true,'jobs':[11]},{'up':true,'jobs':[]}]}]}";

static const char box_jobs[] =
	"{'now':" NOW ",'policy':'fair-share:preempt=1','total':9,"
	"'counts':{'PENDING':3,'CONFIGURING':1,'RUNNING':4,'COMPLETING':0},'jobs':["
	"{'id':7,'name':'train-resnet50-with-a-long-name','user':'ann','tenant':'vision','state':'RUNNING',"
	"'gpus':2,'held_gpus':2,'min_gpus':2,'max_gpus':2,'devices':['0','1'],'run_s':3723,'eta_s':905,"
	"'progress':{'step':804,'total':1000}},"
	"{'id':8,'array_id':8,'array_index':3,'name':'e\\u001b[31mvil','user':'bob','tenant':'bob','state':'RUNNING',"
	"'gpus':1,'held_gpus':1,'min_gpus':1,'max_gpus':1,'share':0.5,'devices':['3'],'run_s':61},"
	"{'id':9,'name':'\\u8a13\\u7df4\\u540d\\u524d','user':'cyd','tenant':'cyd','state':'RUNNING','gpus':1,"
	"'held_gpus':1,'min_gpus':1,'max_gpus':1,'devices':['2'],'run_s':7200,"
	"'idle':{'since':1704109800}},"
	"{'id':10,'name':'half','user':'bob','tenant':'bob','state':'RUNNING','gpus':1,'held_gpus':1,"
	"'min_gpus':1,'max_gpus':1,'share':0.5,'devices':['3'],'run_s':60},"
	"{'id':11,'name':'new','user':'ann','tenant':'ann','state':'CONFIGURING','gpus':4,'held_gpus':1,"
	"'min_gpus':1,'max_gpus':4,'devices':['6'],'run_s':0},"
	"{'id':12,'name':'big','user':'ann','tenant':'vision','state':'PENDING','gpus':8,'min_gpus':8,"
	"'max_gpus':8,'wait_s':600,'reason':{'text':'it needs 8 devices and 1 is free'}},"
	"{'id':13,'name':'elastic','user':'bob','tenant':'bob','state':'PENDING','gpus':4,'min_gpus':1,"
	"'max_gpus':4,'wait_s':30,'reason':{'text':'its tenant is above its share'}},"
	"{'id':14,'name':'late','user':'cyd','tenant':'cyd','state':'PENDING','gpus':1,'min_gpus':1,"
	"'max_gpus':1,'wait_s':5,'reason':{'text':'job 13 is ahead'}}]}";

static const char box_forecast[] =
	"{'at':" NOW
	",'jobs':[{'id':12,'start':{'p10':1704111000,'p50':1704111300,'p90':1704114000},'finish':null,'never':0.25},"
	"{'id':13,'start':null,'finish':null,'never':1},{'id':999,'start':{'p10':1,'p50':2,'p90':3}}]}";

/* JSON with the quotes of C out of the way. */
static inline json_t *read_text(const char *text)
{
	char *json = strdup(text);
	json_t *value;

	for (char *c = json; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	value = json_loads(json, 0, NULL);
	free(json);
	assert_non_null(value);
	return value;
}

struct screen_test {
	struct view view;
	struct trend trend;
	struct letters letters;
	struct board board;
};

static inline void take(struct screen_test *t, const char *nodes, const char *jobs, const char *forecast)
{
	json_t *n = read_text(nodes), *j = read_text(jobs), *f = forecast ? read_text(forecast) : NULL;

	setenv("TZ", "UTC", 1);
	tzset();
	view_clear(&t->view);
	view_read(&t->view, n, j, f, "ann");
	view_finish(&t->view, &t->letters);
	board_settle(&t->board, &t->view);
	json_decref(n);
	json_decref(j);
	json_decref(f);
}

static inline void screen_test_fini(struct screen_test *t)
{
	view_fini(&t->view);
	board_fini(&t->board);
}

/* The screen as text; release it. */
static inline char *screen_of(struct screen_test *t, int columns, int lines, bool utf8)
{
	struct scene scene = { .view = &t->view, .trend = &t->trend, .board = &t->board };
	struct canvas canvas = { 0 };
	struct buf out = { 0 };

	canvas_reset(&canvas, columns, lines, utf8);
	draw_scene(&scene, &canvas);
	canvas_text(&canvas, false, &out);
	canvas_fini(&canvas);
	return out.at;
}

static inline void press(struct screen_test *t, const char *keys)
{
	uint32_t job;

	for (; *keys; keys++)
		board_key(&t->board, &t->view, (unsigned char)*keys, &job);
}

#endif
