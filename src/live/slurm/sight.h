/*
 * What Slurm shows of jobs, told apart into runs; inside of the observer.
 *
 * A job keeps its name for life, but not its time of submission: Slurm sets that
 * anew when it puts a job back into the queue.  So a name with another time is
 * the same job if it was restarted, and another job with an old number if not.
 */
#ifndef LIVE_SLURM_SIGHT_H
#define LIVE_SLURM_SIGHT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"

enum { SIGHT_NAME_MAX = 32, SIGHT_TASKS_MAX = 1000 };

/* How a run, or a job, ended. */
enum fate {
	FATE_OPEN,     /* it has not */
	FATE_OVER,     /* in a state that Slurm names */
	FATE_REQUEUED, /* the run is over and the job waits again */
	FATE_VANISHED, /* Slurm has forgotten it before we saw how */
};

struct slurm_end {
	enum fate fate;
	char state[24]; /* "TIMEOUT" */
	int code, signal;
	double ended_s;
};

struct run {
	json_t *on;       /* [["v100-1", 2], …]; NULL: not known */
	int64_t restarts; /* of the job before it; -1: not known yet */
	double begun_s;   /* 0: not known yet */
	struct slurm_end end;
	bool told; /* where it runs */
	double told_s;
	uint32_t attempt; /* 0: not launched yet */
	bool told_begun;
	bool asked; /* to stop */
};

enum standing {
	SIGHT_NEW,     /* nobody was told of it yet */
	SIGHT_ASKED,   /* whether it is taken in */
	SIGHT_TAKEN,   /* it is `job` */
	SIGHT_IGNORED, /* not taken in, or forgotten */
};

struct sight {
	char name[SIGHT_NAME_MAX]; /* "4711_3" */
	int64_t key_submit;        /* when it was submitted, as in its key */
	int64_t submit, restarts;  /* as Slurm says now */
	int64_t array;             /* 0: none */
	enum standing standing;
	uint32_t job;
	double asked_s;
	json_t *shown;        /* the last of it, or of the array it is in; NULL: not shown yet */
	bool own;             /* that is about itself */
	bool seen;            /* in the answer that is being read */
	bool gone;            /* Slurm does not know it any more */
	bool dirty;           /* there may be something to tell */
	bool ended_told;      /* that the job is over */
	struct slurm_end end; /* of the job */
	char reason[64];      /* that was told last */
	VEC(struct run) runs; /* that are not told to their end, oldest first */
	struct sight *next_name, *next_job;
};

/* All of them.  A zeroed one is valid and empty. */
struct sights {
	VEC(struct sight *) all;
	struct sight **by_name, **by_job; /* chains, as many as `nslots` */
	size_t nslots, named;
	VEC(int64_t) large; /* arrays of which not all tasks are shown */
	bool began;
	int64_t since; /* what ended before that is none of our business */
};

void sights_fini(struct sights *sights);
struct sight *sights_find(const struct sights *sights, const char *name);
struct sight *sights_find_job(const struct sights *sights, uint32_t job);
/* Known before it is shown: "slurm:4711_3@1763366400".  NULL: that is no such key. */
struct sight *sights_expect(struct sights *sights, const char *key);
/* By its key; NULL: there is none. */
struct sight *sights_find_key(const struct sights *sights, const char *key);
void sights_bind(struct sights *sights, struct sight *sight, uint32_t job);

/*
 * Takes in an answer to `jobs`.  Those of which something may be told are dirty then; what is for people is
 * added to `say`, a sentence a line.
 */
void sights_read(struct sights *sights, const json_t *answer, double now_s, struct buf *say);
/* Drops those that are gone and of which nothing is left to tell. */
void sights_sweep(struct sights *sights);

void sight_key(const struct sight *sight, char *out, size_t size);
/* Whether Slurm shows it waiting, and why; NULL: it is not, or there is no reason. */
const char *sight_reason(const struct sight *sight);
/* The oldest run, NULL: none; and it is told to its end. */
struct run *sight_run(struct sight *sight);
void sight_drop_run(struct sight *sight);
/* A run that was launched before it was seen. */
struct run *sight_add_run(struct sight *sight, int64_t restarts, double begun_s);

#endif
