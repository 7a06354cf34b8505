/*
 * The brain of the daemon: jobs, their attempts, and the engine that decides.
 *
 * It is deterministic and touches nothing: inputs with a time go in, notes come
 * out.  The same inputs give the same notes, so the record of what went in is
 * enough to run it all again (live/replay.h).  Whoever owns it writes notes down
 * before carrying them out.
 *
 *	core_open(), core_adopt_job(), core_adopt_attempt()     an epoch begins
 *	core_apply("exit", job, attempt, body), …               what happened
 *	core_turn(now_s)                                        gates, then decisions
 *	core_notes()                                            what came of it
 *
 * An epoch is a time under one policy on one machine.  A new one takes jobs and
 * attempts over by their statuses, whether the daemon was restarted or the policy
 * changed.
 *
 * What the engine stops may take its grace to go, so devices the engine has given
 * away are held back here: an attempt is launched when every attempt that was asked
 * to leave its devices has left them.
 */
#ifndef LIVE_CORE_H
#define LIVE_CORE_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "engine/rules.h"
#include "live/attempt.h"
#include "live/health.h"
#include "live/live_job.h"
#include "model/snapshot.h"
#include "model/tenant.h"

/* The exit status that says "checkpointed, run me again". */
enum { EXIT_CHECKPOINTED = 85 };

struct core_config {
	const struct cluster *cluster; /* kept */
	struct rule_specs rules;       /* copied */
	const struct tenants *tenants; /* not bound; copied; NULL or empty: none */
	const char *hosts; /* text of what CPUs and memory do to models (io/hosting_io.h); NULL: nothing is known */
	const char *tenants_file, *hosts_file; /* where these come from, for errors; NULL: from no file */
	uint64_t seed;
	struct care care;
	const struct health *health; /* of the cluster's devices; copied; NULL: nothing is known */
};

enum note_kind {
	NOTE_START,   /* decided: attempt `attempt` shall have these devices */
	NOTE_LAUNCH,  /* carry out: its devices are free */
	NOTE_STOP,    /* carry out: the attempt shall end; body says why */
	NOTE_RESIZE,  /* carry out: tell it of its new size */
	NOTE_RENEW,   /* carry out: it has other CPUs and memory from now on, on the same devices */
	NOTE_STATE,   /* the job's status changed otherwise */
	NOTE_OVER,    /* the attempt has ended */
	NOTE_END,     /* so has the job */
	NOTE_DRAINED, /* devices go to nobody new from now on; of no job */
	NOTE_RESUMED, /* they do again */
	NOTE_HEALTH,  /* all that is known of devices now */
	NOTE_KINDS
};

const char *note_name(enum note_kind kind);
int note_kind_of(const char *name); /* -1: none of these */

struct core_note {
	enum note_kind kind;
	uint32_t job, attempt;
	double at_s;
	const char *body; /* JSON; lives until core_forget_notes() */
};

struct core;

int core_open(const struct core_config *config, double now_s, struct core **out, struct err *err);
void core_close(struct core *core);

/* ---- taking over, before the first turn; in order of job numbers */
int core_adopt_job(struct core *core, const json_t *status, struct err *err);
int core_adopt_attempt(struct core *core, const json_t *status, struct err *err);

/* ---- inputs.  Names are those of the record; ERR_MISSING for a job that is not here, ERR_REFUSED where it makes no sense. */
int core_apply(struct core *core, const char *input, uint32_t job, uint32_t attempt, double at_s,
	const json_t *body, struct err *err);
/* As the input "submit" with the job's status, for one just made from a submission.  Takes it over, also if it fails. */
int core_submit(struct core *core, struct live_job *job, double at_s, struct err *err);
bool core_is_input(const char *name);
const char *core_input_name(size_t i); /* NULL after the last */
/* Whether a job of this status could ever run here; else why not, in words.  Changes nothing. */
bool core_could_run(struct core *core, const struct live_job *job, struct buf *why);
/*
 * How many of these new jobs, all together and in order, the policy would promise their deadlines, now or at their
 * begin: n, or those before one that it would not; then why not and what would do, in words.  Those that wait for
 * something else are not asked about.  Changes nothing.
 */
size_t core_welcome(struct core *core, const struct live_job *const *jobs, size_t n, double now_s,
	struct buf *why);
/* What the job says that the policy does not go by (enum policy_uses). */
unsigned core_unused(struct core *core, const struct live_job *job);
/* What is not promised of its deadline where some are, in words; nothing: all is, or it has none. */
void core_promise(struct core *core, const struct live_job *job, double now_s, struct buf *out);
/* A tenant nobody spoke of before needs a new epoch where there is a table of tenants. */
bool core_knows_tenant(const struct core *core, const char *tenant);

int core_turn(struct core *core, double now_s, struct err *err);
/* When it wants its next turn if nothing happens. */
double core_wake_s(const struct core *core);

/* ---- what came of it, in order */
const struct core_note *core_notes(const struct core *core, size_t *n);
/* Statuses as of now, for writing down with a note; false: there is no such job or attempt. */
bool core_job_status(const struct core *core, uint32_t job, struct buf *out);
bool core_attempt_status(const struct core *core, uint32_t job, uint32_t attempt, struct buf *out);
/* Forgets the notes, and the jobs and attempts that have ended with them. */
void core_forget_notes(struct core *core);
/* Everything alive is to be written down, before an epoch ends: a note with this body for each job. */
#define CORE_NOTE_ALL "{\"all\":true}"
void core_note_all(struct core *core);

/* ---- looking */
/* By number; NULL: not here (ended jobs are forgotten with their notes). */
const struct live_job *core_job(const struct core *core, uint32_t id);
/* All that are here, by number. */
const struct live_job *const *core_jobs(const struct core *core, size_t *n);
/* The same job as the engine sees it now; the outside totals if it is not in the engine. */
const struct job *core_engine_job(const struct core *core, const struct live_job *job);
/* Attempts that are not over, in the order they were made. */
const struct attempt *const *core_attempts(const struct core *core, size_t *n);
const struct attempt *core_attempt(const struct core *core, uint32_t job, uint32_t number);
/* Why it does not run, or not as it shall, in words, and which job that is about (0: none). */
const char *core_reason(const struct core *core, const struct live_job *job, double now_s,
	struct buf *text, uint32_t *about);
/* Seconds until it is through if it keeps its devices or gets them now; NAN: nobody knows. */
double core_left_s(const struct core *core, const struct live_job *job, double now_s);
/* Steps a second that are believed of an elastic job on so many devices of a type in one node; 0: nothing is. */
double core_believed_per_s(const struct core *core, const struct live_job *job, uint32_t type,
	uint32_t gpus);
/* What is known of devices, and when failures count. */
const struct health *core_health(const struct core *core);
const struct care *core_care(const struct core *core);
uint64_t core_decisions(const struct core *core);
/* Everything a forecast or a trial needs to go on from here; release with snapshot_fini(). */
void core_snapshot(struct core *core, double now_s, struct snapshot *out);
/* Of a long queue, as many jobs that wait are looked at where every one would take too long. */
enum { CORE_FIRST_JOBS = 1000 };

/* What a snapshot has of a long queue, and besides. */
struct snapshot_want {
	size_t most; /* jobs that wait, about: the first ones of every kind (live/core_part.h); 0: all */
	uint32_t keep;                       /* this one in any case; 0: none */
	const struct live_job *const *added; /* jobs that are not here yet, as if they came now: its last */
	size_t nadded;
};
void core_snapshot_of(struct core *core, double now_s, const struct snapshot_want *want,
	struct snapshot *out);
/* Jobs that the engine keeps though they have left it. */
size_t core_forgotten(const struct core *core);
const struct rule_specs *core_rules(const struct core *core);
const struct tenants *core_tenants(const struct core *core); /* as given; may be empty */
struct quota;
/* What tenants hold, and may (placement/quota.h), by the same numbers; NULL: quotas are not kept. */
const struct quota *core_quota(struct core *core);
struct cells;
/* The books of tenants' cells (placement/cells.h), of jobs by their numbers in the engine; NULL: cells are not kept. */
const struct cells *core_cells(struct core *core);
/* Of its policy: enum policy_traits. */
unsigned core_traits(const struct core *core);
/* After new rules: what runs is taken over now and not with the next turn, so that looking shows it. */
void core_take_over(struct core *core);
const struct cluster *core_cluster(const struct core *core);

#endif
