/*
 * The engine's state, shared by its files and nobody else.
 */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include "base/rng.h"
#include "base/vec.h"
#include "engine/course.h"
#include "engine/engine.h"
#include "placement/plan.h"
#include "placement/quota.h"

/* What the engine keeps of a job beside the job. */
struct shadow {
	double reason_since_s; /* since when it waits for its present reason */
	bool changed;          /* listed in engine.changed */
	bool disturbed;        /* listed in engine.disturbed */
	bool promised; /* it has devices in the plan because they were promised, whatever the policy thinks */
	uint32_t fruitless; /* losses in a row without a step saved in between */
};

/* A node that can be rented. */
struct rented {
	bool asked, up;
	double since_s; /* when it was asked for */
};

struct engine {
	const struct engine_config *config;
	const struct driver *driver;
	void *world;
	double now_s;

	VEC(struct job) jobs;
	VEC(struct shadow) shadows; /* by job */
	VEC(char) job_state;        /* the policy's bytes per job */
	VEC(uint32_t) active;       /* admitted and perhaps ended; in order of arrival */
	uint32_t active_ended;      /* of these, how many have ended */
	VEC(uint32_t) held;         /* wait for admission or dependencies, in order of arrival */
	bool held_for_room;         /* one of them for want of room, not for a dependency */
	VEC(uint32_t) changed;      /* since the last decision */
	bool capacity_changed;
	VEC(uint32_t) disturbed;      /* running jobs whose company changed */
	VEC(struct neighbour) beside; /* scratch: who shares a job's devices */
	uint32_t alive;               /* held, pending and running jobs */
	uint32_t running;
	uint32_t ended;
	int64_t demand; /* GPUs asked for by admitted jobs */

	VEC(bool) on_loan;         /* by node: it is borrowed now; empty unless nodes are */
	VEC(bool) broken;          /* likewise: it failed, wherever it is */
	VEC(struct rented) rented; /* by node; empty unless the policy rents */
	double node_s, money;      /* of nodes that have gone back */
	struct plan plan;
	struct quota *quota; /* NULL: the admission rule keeps none */
	bool shared;         /* some device was, before this decision */
	double period_s;     /* of the policy; 0: decides at every event */
	double decided_s;    /* when it last decided; -INFINITY before */
	double boundary;     /* which multiple of the period that was; -INFINITY before */
	bool dirty;          /* something happened since */
	double dirty_since_s;
	bool unkept; /* something happened since promises were last kept: only of policies with rounds */
	bool lowered;  /* somebody was stopped because its tenant may have less than before */
	uint32_t idle; /* decisions in a row at which nothing ran and nothing came of it */

	struct course course;
	struct arena scratch;
	struct rng rng;
	uint64_t events, event_hash, decisions, timed_decisions;
	uint64_t between; /* times that promises were kept between two decisions */
	double timed_cpu_s;
	double clock_cost_s; /* of reading the clock, taken off again */
	uint32_t node_failures;
	double waited_by_why_s[WHY_COUNT];
};

/* Tells every observer, and counts. */
void engine_tell(struct engine *e, struct event event);
/* What policies and admission may look at now. */
struct round engine_round(struct engine *e);
/* The job is of interest to the next decision. */
void engine_mark(struct engine *e, uint32_t job);
/* The job's reason for waiting from now on; WHY_NONE when it no longer waits. */
void engine_set_reason(struct engine *e, struct job *job, struct reason reason);

/* apply.c: what drivers tell. */
int engine_apply(struct engine *e, const struct event *event, struct err *err);
/* Brings totals up to now; the job makes no more steps on its present grant after this. */
void engine_settle(struct engine *e, struct job *job);

/* A job that policies know and that has no devices shall never have any: it ends as one that was not admitted. */
void engine_refuse(struct engine *e, uint32_t id, struct reason why);

/* intake.c: a job comes; it competes, is held outside, or is refused. */
void engine_submit(struct engine *e, const struct job *spec);
/* Whoever is held outside is asked about again. */
void engine_reconsider(struct engine *e);

/* promise.c: something happened; where the policy decides only in rounds, promises are kept before its next. */
void engine_note_promises(struct engine *e);
/* The rule that keeps promises. */
const char *engine_promise_rule(const struct engine *e);
/* After the policy, what tenants were promised. */
void engine_keep_promises(struct engine *e);
/* After it was carried out: whoever had to go and could never come back. */
void engine_refuse_never(struct engine *e);
/* After the decision: whoever waits outside though its tenant idles is let in.  Whether anybody was. */
bool engine_let_in_idle(struct engine *e);

/* carry.c: makes what runs what the plan says. */
/* Notes that those beside `job` on `grant` may see their company change. */
void engine_disturb(struct engine *e, uint32_t job, const struct grant *grant);
/* Tells the driver about changed company. */
int engine_settle_company(struct engine *e, struct err *err);
int engine_carry_out(struct engine *e, struct err *err);

/* loan.c: by node, whether it is borrowed now; NULL: none ever is. */
const bool *engine_on_loan(struct engine *e);
/* So many nodes of the pool are lent from now on. */
int engine_borrow(struct engine *e, double servers, struct err *err);
/* A node failed or is mended; false: it is not here now, so that this is nobody's news. */
bool engine_node_turns(struct engine *e, uint32_t node, bool up);

/* renting.c: before the first decision nodes that can be rented go. */
void engine_begin_renting(struct engine *e);
/* What the policy asked for in this decision. */
int engine_rent(struct engine *e, struct err *err);
/* A rented node is up (`rented`), or one failed or is mended; false: that is nobody's news. */
bool engine_rented_turns(struct engine *e, uint32_t node, bool up, bool rented);
/* Adds what nodes have cost by now to the numbers of the policy, where nodes have prices. */
uint32_t engine_cost(const struct engine *e, struct figure *out, uint32_t n);

/* decide.c: one decision, checked and carried out. */
int engine_decide(struct engine *e, struct err *err);
/* Between two of them: what tenants were promised, beside what runs, without asking the policy. */
int engine_keep_between(struct engine *e, struct err *err);

#endif
