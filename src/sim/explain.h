/*
 * Why a job waits, and the smallest changes that would start it now.
 *
 * "Starts" is what a trial says (sim/trial.h): with the next decision of the very
 * policy.  A constraint (enum constraint) is *binding* if
 *
 *	- lifting it alone starts the job, or
 *	- it is one of the *needed*: of all constraints that apply, lifted together,
 *	  each is put back in the order of the enum, again and again, and stays so if
 *	  the job starts all the same.  Those that could not be put back start the job
 *	  together, and without any one of them they do not.  (So one without which
 *	  nothing helps, whatever else is lifted, is always among them.)
 *
 * Every binding constraint is a cause, and causes are binding, or what the policy
 * itself said, which is always among them.  First comes what the policy said, then
 * what alone would do, then the rest.
 *
 * Every change, made by itself, starts the job; and no smaller one of its kind does:
 *
 *	gpus      so many devices, or at least so many of an elastic job; one more would not do
 *	cpus      so many CPUs; one more would not do
 *	mem       so much memory in whole GiB; one more would not do
 *	types     this type as well; each that would do is listed
 *	time      believed to run so long; the next rung of a ladder of usual times would not do
 *	priority  the next lower one that differs against any other job would not do
 *	wait      for one that runs: of those believed to end sooner none would do.  Or, if none of
 *	          the first few would do alone, for several in order of their ends: one less would not do
 *	guaranteed, borrow  so many for its tenant; one less would not do
 *	hold      one of one's own that runs or waits
 *	release   the job itself
 */
#ifndef SIM_EXPLAIN_H
#define SIM_EXPLAIN_H

#include "base/json.h"
#include "sim/trial.h"

enum change_kind {
	CHANGE_RELEASE,
	CHANGE_GPUS,
	CHANGE_CPUS,
	CHANGE_MEM,
	CHANGE_TYPES,
	CHANGE_TIME,
	CHANGE_PRIORITY,
	CHANGE_GUARANTEED,
	CHANGE_BORROW,
	CHANGE_WAIT,
	CHANGE_HOLD,
	CHANGE_KINDS
};

enum {
	EXPLAIN_TRIES = 64,  /* usual limit */
	EXPLAIN_SINGLES = 8, /* running jobs that are tried one by one, and own ones likewise */
};

struct explain_config {
	const struct snapshot *from; /* kept until explanation_fini() */
	uint32_t job;                /* one that waits, by place */
	const bool *own; /* by job: whoever asks may hold it; NULL: those of the same tenant */
	uint32_t tries;  /* at most; 0: EXPLAIN_TRIES */
	uint32_t types;  /* that it could be allowed, as bits; 0: any */
	bool slots;      /* its devices are CPUs: it asked for no other */
	/* What BY_HOLD is about, in a word and a sentence, where it is not that somebody must let it go; NULL. */
	const char *gate, *gate_text;
};

struct cause {
	const char *word;           /* "busy" */
	enum constraint constraint; /* CONSTRAINTS: only the policy says so */
	bool alone;                 /* lifting it alone starts the job */
	bool needed;                /* see above */
	bool said;                  /* the policy's own */
};

struct change {
	enum change_kind kind;
	double value; /* devices, CPUs, bytes, seconds, priority; the type's or the job's place here */
	const uint32_t *jobs; /* CHANGE_WAIT: for these, by place */
	uint32_t njobs;
};

struct explanation {
	struct explain_config config;
	bool starts;        /* nothing holds it back: it starts with the next decision */
	bool never;         /* not even with everything lifted */
	bool cut;           /* the tries were used up: there may be more changes */
	double decides_s;   /* the next decision */
	struct reason said; /* by the policy, of the job; `other` by place */
	VEC(struct cause) causes;
	VEC(struct change) changes;
	uint32_t tries;
	struct arena memory;
};

/* Release with explanation_fini(), also after a failure. */
int explain(const struct explain_config *config, struct explanation *out, struct err *err);
void explanation_fini(struct explanation *explanation);

/* Seconds from now that a running job is believed to need; never less than 0, nor more than its time limit leaves. */
double explain_left_s(const struct snapshot *snapshot, uint32_t job);
/* Whether it takes several sizes. */
bool explain_is_elastic(const struct job *job);
#define EXPLAIN_GIB 1073741824.0
/* Usual times in seconds, by size; 0 after the last. */
extern const double explain_ladder_s[];

const char *change_name(enum change_kind kind);
/* "it needs 4 devices …": a sentence without its full stop. */
void explain_cause_text(const struct explanation *e, const struct cause *cause, struct buf *out);
/* "2 GPUs instead of 4". */
void explain_change_text(const struct explanation *e, const struct change *change, struct buf *out);
/*
 * Members of the answer explain/1 from "verdict" to "tries".  Zero of the snapshot's time is `born_s`
 * since 1970.
 */
void explain_to_json(const struct explanation *e, double born_s, struct json *j);

#endif
