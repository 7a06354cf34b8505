/*
 * Questions to the daemon in a thread of their own, so that keys are answered
 * while a daemon is slow, busy or away.
 */
#ifndef CLI_TOP_FEED_H
#define CLI_TOP_FEED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/command.h"

enum feed_kind {
	FEED_LOOK,    /* devices and jobs */
	FEED_DETAILS, /* one job, and why it waits */
	FEED_CHANGE,  /* POST /v1/jobs/JOB/VERB */
	FEED_KINDS
};

enum { FEED_NAME_SIZE = 40 };

struct feed_answer {
	enum feed_kind kind;
	int rc; /* as of live_get() */
	struct err err;
	double took_s;
	json_t *nodes, *jobs, *forecast; /* FEED_LOOK; forecast NULL: the daemon makes none */
	uint32_t job;
	char name[FEED_NAME_SIZE]; /* FEED_CHANGE: "7" or "7_0", as its row says */
	struct buf text;           /* FEED_DETAILS: for people */
	const char *verb;          /* FEED_CHANGE */
};

void feed_answer_fini(struct feed_answer *answer);

/* One look at the daemon, here and now, without its forecast.  Release `out` in any case. */
void feed_look(const struct args *args, struct feed_answer *out);
/* A new reference; NULL: there is none, which is no failure, since not every daemon makes them. */
json_t *feed_forecast(const struct args *args);

struct feed;

/* Keeps no reference to `args`.  screen_wake() tells that an answer is there. */
struct feed *feed_create(const struct args *args);
/* Does not wait for a daemon that does not answer. */
void feed_destroy(struct feed *feed);

/* One question of a kind at a time: false if one is under way. */
bool feed_ask(struct feed *feed, enum feed_kind kind, uint32_t job);
/* Changes the job that is called so.  Its number alone might be that of a whole array. */
bool feed_change(struct feed *feed, const char *name, const char *verb);
/* An answer, if there is one: release it. */
bool feed_take(struct feed *feed, struct feed_answer *out);

#endif
