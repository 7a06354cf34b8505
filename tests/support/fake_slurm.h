/*
 * A Slurm in this process that speaks the bridge's protocol, by a clock of its
 * own and with whatever goes wrong on the way.
 *
 * Jobs are held, released, run for as long as they have work, are put back with
 * what a requeue brings along, end, and are forgotten after a while.
 */
#ifndef TESTS_SUPPORT_FAKE_SLURM_H
#define TESTS_SUPPORT_FAKE_SLURM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/text.h"
#include "base/vec.h"
#include "live/slurm/wire.h"

enum fake_state { FAKE_PENDING, FAKE_RUNNING, FAKE_ENDED };

struct fake_job {
	char name[32], comment[96], mark[96], user[16], reason[32], word[20], dependency[32],
		features[16];
	char script[64], type[16];
	enum fake_state state;
	bool held, requeue;
	uint32_t restarts, gpus, nodes, uid;
	double submit_s, begin_s, start_s, end_s, limit_s, released_s;
	double completing_s; /* until then; 0: not */
	VEC(char *) pins, on;
	int exit, signal;
	/* what it does: so much work is left; SIGTERM is heeded after so long, with that code; -1: not at all */
	double work_s, term_s;
	int term_code;
	double term_at_s; /* it leaves then; 0: it does not */
	uint32_t runs, completions;
	uint64_t version;
	uint32_t array; /* 0: no task */
	char tasks[32]; /* an array that is not told apart */
};

struct fake_node {
	char name[16], type[16];
	uint32_t gpus;
	bool down, drained;
	uint32_t leaked; /* used by nobody */
};

/* Chances of each request. */
struct fake_faults {
	double after;   /* done, and a time-out answered */
	double before;  /* not done, and a time-out answered */
	double death;   /* the bridge dies, before or after */
	double garbage; /* done, and nonsense answered */
	double late; /* no answer; it is done some seconds later, and answered to whoever listens then */
	double away; /* nobody answers: not done */
};

struct fake_slurm {
	double now_s, tick_s; /* asking the time moves it a little */
	VEC(struct fake_node) nodes;
	VEC(struct fake_job *) jobs;
	VEC(char *) gone;
	VEC(uint64_t) gone_at;
	uint32_t last_id;
	uint64_t version;
	double start_delay_s, min_job_age_s, kill_wait_s, work_s;
	bool down;              /* the controller */
	const char *hello_kind; /* fails so; NULL: not */
	bool stranger;          /* not an operator */
	struct fake_faults faults;
	struct rng rng;
	/* the line */
	bool up, alive;
	struct buf in, out;
	VEC(char *) late;
	VEC(double) late_s;
	bool knows_stamp;
	/* counted */
	VEC(uint32_t) completed; /* by the number of the job in its key or mark */
	uint64_t requests, submitted, double_runs, opens, mute;
	uint64_t by_op[16];
};

/* The clock of all of them: transports and options know no other way. */
extern struct fake_slurm *fake_the;
double fake_now(void);
extern const struct transport fake_transport;

void fake_init(struct fake_slurm *f, uint64_t seed);
void fake_fini(struct fake_slurm *f);
void fake_node(struct fake_slurm *f, const char *name, const char *type, uint32_t gpus);
/* Lets time pass: jobs start, end and are forgotten. */
void fake_pass(struct fake_slurm *f, double seconds);

struct fake_job *fake_find(struct fake_slurm *f, const char *name);
/* That with this key or mark's job number among our site's; the one that is alive first. */
struct fake_job *fake_of(struct fake_slurm *f, const char *site, uint32_t job);
/* A job of a user: pending and not held. */
struct fake_job *fake_user_job(struct fake_slurm *f, const char *user, uint32_t gpus);
/* What people and nodes do. */
void fake_cancel(struct fake_slurm *f, struct fake_job *j);
void fake_hold(struct fake_slurm *f, struct fake_job *j);
void fake_release(struct fake_slurm *f, struct fake_job *j);
void fake_requeue(struct fake_slurm *f, struct fake_job *j, bool hold);
void fake_fail_node(struct fake_slurm *f, const char *name);
void fake_changed(struct fake_slurm *f, struct fake_job *j);
void fake_forget(struct fake_slurm *f, struct fake_job *j);

#endif
