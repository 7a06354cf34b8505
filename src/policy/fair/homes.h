/*
 * Where jobs are at home: each on one server, whose stride scheduler gives it
 * its quanta, or with the central one if no server can hold it.
 *
 * A new job goes to the type where its tenant has least against what it is
 * entitled to, and there to the server with the least tickets for each device.
 * Jobs move from the server with most to that with least while that brings the
 * two nearer to the average: then what is fair on every server is fair in all.
 */
#ifndef POLICY_FAIR_HOMES_H
#define POLICY_FAIR_HOMES_H

#include "policy/fair/entitled.h"
#include "policy/fair/server_turns.h"

/* Kept for each job. */
struct home_memory {
	double pass, tickets;
	double counted_s; /* GPU-seconds that its pass holds */
	double moved_s;   /* when it came to its home */
	uint32_t home;    /* 1 + the node; 0: none yet, or with the central scheduler */
	uint32_t type;    /* 1 + the type it counts for; 0: none yet */
	bool central;
};

/* A server and its jobs in one decision. */
struct server {
	uint32_t first, n; /* of homes.jobs */
	double tickets;
	double pass; /* mean of its jobs' by tickets: of the server as one; INFINITY: it has none */
	double least;
};

struct homes {
	const struct round *round;
	const struct plan *plan;
	struct entitlements *e;
	double *base; /* by node, then of the central scheduler: where newcomers begin if nobody is there */
	double quantum_s;
	struct server *servers; /* by node, and the central one last */
	uint32_t *jobs;
};

struct home_memory *home_of(const struct homes *h, uint32_t job);
/* Charges what has been used, finds homes for those without and lists everybody; all in the round's scratch. */
void homes_gather(struct homes *homes);
/* Moves jobs to less loaded servers and types, if they have stayed for so long and ten times what it costs them. */
void homes_balance(struct homes *homes, double stay_s);
/* Whether it has been there for so long, and ten times what moving costs it. */
bool homes_may_move(const struct homes *homes, const struct job *job, double stay_s);
/* A job that runs elsewhere stays there, if it is less crowded there (or anyway). */
void homes_adopt(struct homes *homes, const struct job *job, uint32_t node, bool anyway);
/* homes_why.c: tells all who wait why; `next_s` is when the next quantum begins. */
void homes_say_why(const struct homes *homes, struct plan *plan, double next_s);

#endif
