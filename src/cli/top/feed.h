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

enum { FEED_LABEL = 40 };

/* What is asked about a job. */
struct feed_question {
	uint32_t job;
	char label[FEED_LABEL]; /* "7_3": a number alone may be a whole array */
	char *ids;        /* FEED_CHANGE of several jobs: their numbers, owned; NULL: it is one */
	const char *verb; /* FEED_CHANGE; kept */
	bool stop;        /* hold: also if it runs */
	bool sets_priority;
	int32_t priority; /* update: the new one */
};

struct feed_answer {
	enum feed_kind kind;
	struct feed_question question;
	int rc; /* as of live_get() */
	struct err err;
	double took_s;
	json_t *nodes, *jobs, *forecast; /* FEED_LOOK; forecast NULL: the daemon makes none */
	struct buf text;                 /* FEED_DETAILS: for people */
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

/* One question of a kind at a time: false if one is under way.  `about` NULL: no job.  Takes over its `ids` if it is true. */
bool feed_ask(struct feed *feed, enum feed_kind kind, const struct feed_question *about);
/* An answer, if there is one: release it. */
bool feed_take(struct feed *feed, struct feed_answer *out);

#endif
