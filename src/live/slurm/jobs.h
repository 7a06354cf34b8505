/*
 * The jobs of a Slurm cluster that concern us: ours, those that somebody offers
 * us, and those of others that hold GPUs of our nodes.
 */
#ifndef LIVE_SLURM_JOBS_H
#define LIVE_SLURM_JOBS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "live/hands.h"
#include "live/slurm/fact.h"

/* What can be asked of Slurm about one job; in the order in which it is asked. */
enum order {
	ORDER_NONE,
	ORDER_REQUEUE, /* what frees GPUs comes first */
	ORDER_SIGNAL,
	ORDER_CANCEL,
	ORDER_START,
	ORDER_HOLD,
	ORDER_RELEASE,
	ORDER_NOTE,
	ORDER_SUBMIT,
	ORDERS
};

enum slurm_kind {
	KIND_OWN,   /* we submitted it, or will */
	KIND_TAKEN, /* a user submitted it to Slurm, and we took it in */
	KIND_OFFER, /* a user did, and the daemon was asked to take it in */
	KIND_BACK,  /* it was not taken in and goes back to Slurm */
	KIND_GUEST, /* it is not ours */
	KIND_STRAY, /* ours once and nobody's now: it shall go */
};

/* Whose hold the daemon was told of, and how its end is seen. */
enum user_hold {
	HOLD_NONE,
	HOLD_SLURM, /* Slurm's own: until the job is not held */
	HOLD_WORD,  /* the hook's word in the comment: until it is gone */
};

/* One attempt under way: what was ordered and how far it is.  `attempt` 0: there is none. */
struct run {
	uint32_t attempt;
	uint32_t *devices;
	uint32_t ndevices;
	json_t *nodes;       /* names, for the order */
	double limit_s;      /* 0: none */
	bool claimed;        /* from before a restart: perhaps it was ordered */
	bool stopped_before; /* and was asked to stop before it */
	bool ordered;        /* sent to Slurm at least once */
	bool settled;        /* Slurm shows its mark */
	bool begun;
	bool restarted;      /* Slurm ran it again, which nobody had ordered */
	bool back;           /* it is to be taken back before it begins */
	bool hopeless;       /* because Slurm would never start it */
	uint64_t need_nodes; /* look at nodes that tells why it was put back; 0: not asked */
	uint32_t restarts;   /* of the job when it was ordered */
	double ordered_s, begun_s;
	char why[128]; /* it is taken back */
	/* stopping */
	bool stop, now, signalled, killed, requeued;
	struct {
		bool signalled, killed, requeued;
	} before;         /* the order that is under way, should it not be carried out */
	bool never_again; /* Slurm does not put it back: it can only be ended */
	int stop_signal;
	double grace_s, asked_s;
};

struct slurm_job {
	uint32_t job;              /* our number; 0: none */
	char name[SLURM_NAME_MAX]; /* Slurm's; "": it has none yet */
	enum slurm_kind kind;
	uint32_t generation; /* of the key it was last submitted under; 0: never */
	double submit_s;     /* as it was when we got to know it */
	struct fact fact;
	struct run run;

	json_t *content; /* what to submit; NULL: it has been */
	bool forgotten;  /* the daemon wants it to be gone */
	bool spent; /* it ended in Slurm and has to be put back there before it can run again */
	double spent_s;
	enum user_hold user_held;
	bool overruled;    /* the daemon let it go all the same, as long as the word is there */
	bool outside;      /* the daemon was told so */
	bool told_end;     /* and that it ended or is gone without an attempt */
	bool shown;        /* the look in full that is being read showed it */
	bool typed;        /* it asks for GPUs of a type, which Slurm lets nobody change */
	uint32_t per_node; /* GPUs that it asks for */
	double told_limit_s;
	/* as the daemon last said, for attempts from before a restart */
	int stop_signal;
	double grace_s, limit_s;
	bool never_again;
	uint32_t bounces;    /* in a row */
	double not_before_s; /* no order before then */

	/* offers */
	json_t *offer; /* as Slurm told it */
	double offered_s;
	bool offered_held; /* with a hold of its user's */
	uint32_t at_once;  /* so many tasks of its array; 0: no limit */
	char *why;         /* it goes back */
	bool released;

	/* the order under way, and what has to be seen before the next */
	enum order order;
	uint64_t need_look;
	double sent_s;
	uint32_t failures;     /* in a row */
	double doubted_hold_s; /* when a hold of ours was lost, which may still come */
	int signal;            /* to pass on, once; 0: none */
	bool dead;             /* to be dropped */
};

struct index {
	struct slurm_job **slots;
	size_t n, nslots;
};

/* A zeroed table is valid and empty. */
struct slurm_jobs {
	VEC(struct slurm_job *) at;
	struct index by_job, by_name;
};

void jobs_fini(struct slurm_jobs *jobs);
struct slurm_job *jobs_find(const struct slurm_jobs *jobs, uint32_t job);          /* or NULL */
struct slurm_job *jobs_find_name(const struct slurm_jobs *jobs, const char *name); /* or NULL */
/* With neither number nor name. */
struct slurm_job *jobs_add(struct slurm_jobs *jobs, enum slurm_kind kind);
/* Each may be given once more; no other has it. */
void jobs_set_number(struct slurm_jobs *jobs, struct slurm_job *j, uint32_t job);
void jobs_set_name(struct slurm_jobs *jobs, struct slurm_job *j, const char *name);
/* Drops those that are dead. */
void jobs_sweep(struct slurm_jobs *jobs);

/* The attempt is over. */
void run_fini(struct run *run);

#endif
