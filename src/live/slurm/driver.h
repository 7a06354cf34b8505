/*
 * The inside of a Slurm cluster's hands.
 *
 * What shall be (the attempt that the daemon ordered, a stop, a job that is to go)
 * is kept beside what Slurm last said of each job.  After every look the two are
 * compared: what happened is told (watch.c), and what is still to be done is
 * ordered (orders.c).  Nothing is derived from an order having been sent: one
 * whose answer was lost changes nothing but that a look must come first.
 *
 *	driver.c    the table of functions
 *	open.c      the beginning, and what to do where it fails
 *	look.c      what Slurm has: jobs, nodes, who else uses GPUs
 *	watch.c     what that means for jobs of ours
 *	orders.c    what is asked of Slurm
 *	offers.c    jobs that users submitted to Slurm
 *	paper.c     files, and what is submitted
 */
#ifndef LIVE_SLURM_DRIVER_H
#define LIVE_SLURM_DRIVER_H

#include "live/slurm/bridge.h"
#include "live/slurm/hands.h"
#include "live/slurm/jobs.h"
#include "live/slurm/nodes.h"
#include "live/slurm/wire.h"

struct slurm {
	struct hands base;
	char **command;
	char *partition, *site;
	enum slurm_take take;
	double poll_s, patience_s, opened_s;
	uint32_t scheduler, schedulers; /* as in struct slurm_options */
	double back_s; /* when Slurm last answered again after it had not; 0: never */
	double (*clock)(void);
	struct bridge bridge;
	bool fake; /* a test's transport, with nothing to wait for */
	struct wire *wire;

	/* who the cluster is; from its last hello */
	char cluster[64], version[64];
	double kill_wait_s, min_job_age_s;
	bool greeted, operator;
	char away_kind[32], away_text[512]; /* why there is no hello or no answer; "": there is */

	/* nodes */
	json_t *names;      /* of the partition; NULL: all */
	json_t *partitions; /* all there are, for people */
	struct nodes nodes;
	json_int_t nodes_stamp;
	bool nodes_known, has_partition;
	uint64_t node_looks, nodes_seen; /* sent; the last one answered */
	double nodes_due_s;
	char (*hosts)[64]; /* of each device of the machine, by its place */
	uint32_t nhosts;
	uint64_t guests; /* hash of those last told */

	/* jobs */
	struct slurm_jobs jobs;
	json_int_t stamp;
	bool want_full, expected_all;
	uint64_t looks, seen; /* sent; the last one answered */
	double look_due_s, looked_s, look_sent_s, look_cost_s;
	double looked_before_s; /* the look before the last: what that did not show is younger */
	double resubmit_s;      /* no submission before: one was lost, and may come late */

	/* the order under way */
	enum order order;
	VEC(struct slurm_job *) asked;
	double retry_s; /* the controller did not take orders: not before then */
	uint32_t refusals;
};

static inline struct slurm *of_hands(const struct hands *hands)
{
	return (struct slurm *)hands;
}

double slurm_now(const struct slurm *s);
void slurm_say(struct slurm *s, int level, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* open.c */
/* Waits for a while until it is known who the cluster is. */
int slurm_begin(struct slurm *s, struct err *err);
void slurm_hello(void *ctx, const json_t *hello);
void slurm_away(void *ctx, const char *kind, const char *error);
/* Says so where a look had no answer, and where there is one again. */
void slurm_answered(struct slurm *s, const struct wire_answer *answer);

/* look.c */
void slurm_ask_jobs(struct slurm *s);
void slurm_ask_nodes(struct slurm *s);
void slurm_ask_partitions(struct slurm *s);
/* Who uses GPUs of our nodes and is not ours; free it. */
size_t slurm_guests(const struct slurm *s, struct nodes_guest **out);
void slurm_held(const struct slurm *s, bool *held, uint32_t n);
/* Whether some node of the run takes no jobs, or none at all. */
bool slurm_run_node_bad(const struct slurm *s, const struct run *run, bool *dead);
/* A name in Slurm for a job of ours: it is written down. */
void slurm_bind(struct slurm *s, struct slurm_job *j, const char *name, double submit_s);

/* watch.c */
void slurm_watch(struct slurm *s, struct slurm_job *j);
/* Slurm's present mark is that of the attempt under way. */
bool slurm_is_marked(const struct slurm *s, const struct slurm_job *j);
/* It runs by an order of ours that came late, after we had given it up. */
bool slurm_is_late(const struct slurm *s, const struct slurm_job *j);
void slurm_bounce(struct slurm *s, struct slurm_job *j, const char *why);

/* orders.c */
enum order slurm_decide(struct slurm *s, struct slurm_job *j);
/* Sends the next request if there is one and the line is free. */
void slurm_pump(struct slurm *s);
/* Whether the controller answered: while it does not, it is asked ever less often. */
void slurm_heard(struct slurm *s, bool ok);
/* The order failed for good. */
void slurm_refused(struct slurm *s, struct slurm_job *j, enum order order, const char *error);

/* offers.c */
/* Whether the job that Slurm tells of is one to take in; keeps what is needed for that. */
bool slurm_consider(struct slurm *s, struct slurm_job *j, const char *name, const json_t *told,
	uint32_t at_once);
void slurm_offer(struct slurm *s, struct slurm_job *j);
/* Whether, of what a user asked for, there is something that we cannot do; the reason into `why`. */
bool slurm_why_not(const struct slurm *s, const json_t *told, char *why, size_t size);

/* paper.c */
json_t *paper_content(const struct slurm *s, const struct launch *launch);
void paper_write(struct slurm *s, const struct slurm_job *j);
/* What was written down: false where there is nothing of this cluster. */
struct paper {
	char name[SLURM_NAME_MAX];
	double submit_s;
	uint32_t generation;
	enum user_hold user_held;
};
bool paper_read(const struct slurm *s, uint32_t job, struct paper *out);
char *paper_output(const struct slurm *s, uint32_t job, bool err_out);

#endif
