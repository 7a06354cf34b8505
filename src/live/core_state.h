/*
 * The core's state, shared by its files and nobody else.
 */
#ifndef LIVE_CORE_STATE_H
#define LIVE_CORE_STATE_H

#include "base/vec.h"
#include "engine/engine.h"
#include "live/core.h"
#include "model/agents.h"

/* Something the engine has yet to be told. */
struct told {
	struct event event;
	struct job spec; /* what event.job_spec points to */
};

struct core {
	struct engine_config engine_config;
	struct rates belief;
	struct engine *engine;
	struct observer watch;
	const struct cluster *cluster;
	char *policy, *placer, *admit;
	struct rule_specs rules;
	struct tenants tenants, bound; /* as given; with every name of this epoch */
	struct names tenant_names, model_names;
	struct hosting *hosting; /* of the epoch; NULL: nothing is known */
	struct profile *speeds;  /* what reports have shown, by model */
	struct agents *agents;   /* the same of each elastic job, by the engine's number */
	double now_s;

	VEC(struct live_job *) jobs; /* by number; ended ones until their notes are forgotten */
	VEC(struct attempt *) attempts;
	VEC(struct live_job *) of_engine; /* by the engine's number; NULL: has left it */
	VEC(struct live_job *) outside;   /* perhaps; not in the engine, and not ended */
	VEC(struct later) later;          /* scratch: those of them that wait for others */
	struct arena later_words;         /* of these */
	VEC(char *) old_names; /* of jobs that were renamed, until the engine has forgotten them */
	VEC(struct told) queue;
	size_t queue_at;
	bool due;         /* something happened since the last step */
	bool gates_moved; /* something happened that may open a gate */
	double next_gate_s;
	struct care care;
	struct health health;
	double start_cost_s; /* between launch and begin, as lately seen; NAN before */

	VEC(struct core_note) notes;
	bool stale;         /* jobs or attempts that have ended are still here */
	struct arena words; /* of the notes */
	struct snapshot_store *copies;
};

/* ---- core.c */
struct live_job *core_find(const struct core *c, uint32_t id);
/* Of the first job with at least this number. */
size_t core_index(const struct core *c, uint32_t id);
/* `body` NULL: "{}". */
void core_note(struct core *c, enum note_kind kind, uint32_t job, uint32_t attempt, const char *body);
/* The engine will be told at its next turn. */
void core_tell(struct core *c, struct event event, const struct job *spec);
void core_tell_progress(struct core *c, struct live_job *job, double done);
/* Puts a job among the others. */
void core_list(struct core *c, struct live_job *job);
/* Begins the epoch if it has not begun. */
struct engine *core_engine(struct core *c);
/* Its state by its attempts. */
void core_restate(struct core *c, struct live_job *job);
void core_end(struct core *c, struct live_job *job, enum live_state state, const char *text);
/* It is no more the engine's. */
void core_leave_engine(struct core *c, struct live_job *job);
/* The same, and the engine is told; nothing if it was not there. */
void core_withdraw(struct core *c, struct live_job *job);

/* ---- core_attempts.c */
struct attempt *core_alive(const struct core *c, uint32_t job); /* the newest that is not over */
struct attempt *core_find_attempt(const struct core *c, uint32_t job, uint32_t number);
/* `by`, here and below: a rule besides the policy, as members of the note (",\"rule\":\"quota\""); NULL: none. */
struct attempt *core_new_attempt(struct core *c, struct live_job *job, const struct grant *grant,
	const char *by);
/* Its attempt has what `grant` says of the hosts from now on. */
void core_renew_attempt(struct core *c, const struct live_job *job, const struct grant *grant);
/* Asks every attempt of the job to stop; those not launched are over at once. */
void core_stop_attempts(struct core *c, struct live_job *job, enum stop why);
void core_stop_attempts_by(struct core *c, struct live_job *job, enum stop why, const char *by);
/*
 * Attempts that were told of another size and have not answered within their grace go on with it after a
 * restart instead.
 */
void core_end_patience(struct core *c);
/* Launches and resizes what can be now. */
void core_launch_ready(struct core *c);
void core_retire(struct core *c, struct attempt *a, const char *text);
/* Whether they have a device in common; NULL has none. */
bool core_overlap(const struct grant *a, const struct grant *b);

/* ---- core_gates.c */
/* What policies see of it, in the numbers of this epoch. */
void core_bind(struct core *c, struct live_job *job);
/* It waits until its gates open. */
void core_wait_outside(struct core *c, struct live_job *job);
/* The same, before those with larger numbers: which elements of an array are next stays so. */
void core_wait_in_order(struct core *c, struct live_job *job);
void core_open_gates(struct core *c);

/* ---- core_speeds.c */
/* What the metrics of a report say of its batch. */
void core_listen(struct core *c, struct live_job *job, const json_t *metrics);
/* Its attempt makes `per_s` steps a second on what it has, as `made` steps have shown. */
void core_measure(struct core *c, struct live_job *job, const struct attempt *a, double per_s,
	double made, double took_s);
/* Its agent shall know what is known of it, once the engine has a number for it. */
void core_teach(struct core *c, const struct live_job *job);
/* Those that say nothing of their speed are not waited for any longer. */
void core_end_silence(struct core *c);
/* Steps a second of the engine's job there, as its agent believes; 0: it has none. */
double core_agent_speed(const struct core *c, const struct job *job, uint32_t type, uint32_t gpus,
	uint32_t nodes);

/* ---- core_endings.c */
int core_exit(struct core *c, uint32_t id, uint32_t number, const json_t *body, struct err *err);

/* ---- core_adopt.c */
/* {"grant"}: a process that uses these devices is this attempt, which is there or would be the job's next. */
int core_adopted(struct core *c, uint32_t id, uint32_t number, const json_t *body, struct err *err);

/* ---- core_health.c */
/* The engine shall know which devices are drained. */
void core_tell_drained(struct core *c);
/* Inputs of people: {"node","devices","reason"}. */
int core_drain(struct core *c, const json_t *body, struct err *err);
int core_resume(struct core *c, const json_t *body, struct err *err);
/*
 * An attempt ended by itself, well or not.  True: from now on its job avoids more devices than the engine
 * was told.
 */
bool core_judge_devices(struct core *c, struct live_job *job, const struct attempt *a, bool failed,
	double ran_s);

/* ---- core_world.c */
struct observer core_observer(struct core *c);
extern const struct driver core_driver;

#endif
