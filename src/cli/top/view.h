/*
 * What the screen of `top` shows: devices, jobs and a few figures at one
 * moment.  Filled from the daemon's answers (view_json.c) or from a simulation
 * as it goes (sim_watch.h); drawn by draw.c, which knows neither.
 */
#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

enum top_part { PART_RUNNING, PART_WAITING, PARTS };

#define VIEW_NONE UINT32_MAX

struct view_job {
	uint32_t id;
	enum top_part part;
	/* Texts are as they came: the canvas makes them safe.  NULL: there is none. */
	const char *label; /* "7", "7_3", "7_[4-9]", or a trace's own */
	const char *first; /* of several elements of an array: "7_4"; NULL: it is one job */
	const char *ids;   /* of these: their numbers, as the daemon reads them */
	uint32_t others;   /* jobs that this row stands for, beside the first */
	const char *name, *user, *gpus, *where, *why;
	const char *stage;  /* of one that has devices and does not run: "starting", "stopping" */
	bool mine;          /* whoever looks asked for it */
	double devices;     /* that it has, or asks for */
	double progress;    /* 0..1; NAN: unknown */
	double priority;    /* NAN: unknown */
	double time_s;      /* ran or waited so far */
	double left_s;      /* until its end; NAN: unknown */
	double starts_s[3]; /* of one that waits, from now: early, likely, late; NAN: unknown */
	bool never;         /* it will not start as things are */
	bool idle;          /* it has devices and does not use them */
	double idle_s;      /* for so long; NAN: unknown */
	char letter;        /* view_finish(): its sign among the devices; 0: it has none */
};

struct view_device {
	uint32_t job;     /* the first that has it, of `jobs`; VIEW_NONE: not listed, or none */
	uint32_t holders; /* jobs on it; several share it */
	bool down, drained;
};

struct view_node {
	const char *name, *type; /* type may be NULL */
	uint32_t first, ndevices;
};

/* A zeroed view is valid and empty. */
struct view {
	struct arena memory; /* owns all texts and arrays */
	const char *title;   /* "stint on box" */
	const char *policy, *clock;
	const char *note;    /* of the run as a whole; NULL: nothing */
	const char *trouble; /* NULL: none */
	struct view_node *nodes;
	struct view_device *devices;
	struct view_job *jobs;
	uint32_t nnodes, ndevices, njobs;
	uint32_t count[PARTS]; /* also those that are not in `jobs` */
	/* view_finish() counts devices: */
	uint32_t held, down, drained, idle;
};

void view_fini(struct view *view);
/* Empties it and keeps its memory. */
void view_clear(struct view *view);

/* Who has which letter: jobs keep theirs as long as they have devices.  Zeroed is valid. */
enum { LETTERS = 50 };
struct letters {
	uint64_t job[LETTERS]; /* 1 + its number, 0: free */
};

/* Gives letters and counts, when all else is filled in. */
void view_finish(struct view *view, struct letters *letters);
/* Which of the colours goes with a letter. */
int letter_number(char letter);

/*
 * Fills an empty view from GET /v1/nodes, /v1/jobs and /v1/forecast (NULL: there is none).  `user` is who looks.
 * Members that are not there are not shown; nothing fails.
 */
void view_read(struct view *view, const json_t *nodes, const json_t *jobs, const json_t *forecast,
	const char *user);

/* ---- how things have been lately */

enum { TREND_STEPS = 300 };

/*
 * Means over equal steps of time, the oldest first.  When there are too many, either the oldest go or steps
 * become twice as long, so that all of a run is there.
 */
struct trend {
	double held[TREND_STEPS], waiting[TREND_STEPS];
	uint32_t weight; /* of the last step: what its means are made of */
	uint32_t n;
	double from_s, step_s;
	bool whole;
};

void trend_init(struct trend *trend, double step_s, bool whole);
/* `held` is a part of all devices, 0..1.  Time does not go back. */
void trend_add(struct trend *trend, double at_s, double held, double waiting);

#endif
