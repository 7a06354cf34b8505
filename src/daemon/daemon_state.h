/*
 * The daemon's state, shared by its files and nobody else.
 */
#ifndef DAEMON_DAEMON_STATE_H
#define DAEMON_DAEMON_STATE_H

#include <pthread.h>

#include "base/json.h"
#include "base/vec.h"
#include "daemon/daemon.h"
#include "daemon/limits.h"
#include "daemon/launch_retry.h"
#include "daemon/metrics.h"
#include "daemon/reasons.h"
#include "daemon/verbs.h"
#include "daemon/worker.h"
#include "live/core.h"
#include "live/epoch.h"
#include "live/hands.h"
#include "store/record.h"
#include "store/record_clock.h"
#include "store/state_lock.h"

#define DAEMON_LOOK_S 5.0 /* so often it looks at devices, unless it is told of a change */

#define WORLD_KEY \
	"slurm:" /* what keys of jobs begin with that came from there, and what people write before their names */

/* How far threads that work things out step back for the loop. */
enum { NICENESS = 10 };

/* A job of a submission, until its row is durable and the core gets it; NULL: it was there before. */
struct made {
	uint32_t id;
	struct live_job *job;
};

struct call_list;
struct desk;
struct idle_seen;
struct idle_look;
struct library;
struct forecaster;
struct shadow;
struct retain;

/* One thing asked for, until it is answered. */
struct call {
	const struct verb *verb;
	struct caller caller;
	json_t *args;
	daemon_answer *answer;
	void *ctx;
	struct call *next;
	double came_s;     /* by the clock */
	double until_s;    /* of one that waits; INFINITY */
	uint32_t job;      /* that it waits for */
	struct task *task; /* that works it out; NULL: none */
	uint64_t forecast; /* number of the forecast that it waits for; 0: none */
	int status;        /* 0: not decided yet */
	double retry_s; /* of a refusal: when it may be asked again; 0: nothing is known, below: asking again is of no use */
	struct buf body;        /* of the answer */
	struct call_list *list; /* of jobs, as far as it was written; NULL: none */
	VEC(struct made) made;  /* of a submission: its jobs */
	/* of one that the library answers: daemon/library.h */
	void (*reader)(struct record *record, const struct desk *desk, struct call *call);
	struct desk *desk;
};

/* A row to be written, with what it makes of its job and attempt. */
struct row {
	struct record_event event;
	bool has_job, has_attempt;
	struct record_job job;
	struct record_attempt attempt;
	/* what followers see of the job; NULL: nothing */
	const char *state, *name, *tenant, *user;
	/* of a job that has ended, as in its status */
	bool has_end;
	int code, signal;
	const char *end_text;
};

/* A job, and the event that has its submission. */
struct submitted {
	uint32_t job;
	uint64_t seq;
};

/* Something to be carried out once it is written down. */
enum errand_kind {
	ERRAND_LAUNCH,
	ERRAND_STOP,
	ERRAND_RESIZE,   /* tell it of its new size */
	ERRAND_RENEW,    /* it has other CPUs and memory */
	ERRAND_FIND_OUT, /* what became of an attempt */
	ERRAND_EXPECT,   /* the world gets to know a job that waits */
	ERRAND_FORGET,   /* and that it has ended */
};

struct errand {
	enum errand_kind kind;
	uint32_t job, attempt;
	uint64_t seq; /* last event when it was first tried */
};

/* What the machine told since the last cycle. */
struct news {
	const char *kind; /* an input of the core */
	uint32_t job, attempt;
	json_t *body;
};

/* What an attempt reported of its progress: daemon/reports.h. */
struct report {
	uint32_t job, attempt;
	double taken_s; /* when the last row was made */
	json_t *held;   /* that came since; NULL: nothing */
};

struct daemon {
	struct daemon_config config; /* text is copied */
	struct machine machine;
	struct epoch epoch; /* the present one */
	uint32_t *device_of;
	struct core *core;
	struct record *record;
	struct hands *hands;
	struct library *library; /* NULL: not needed yet */
	struct forecaster *forecaster;
	struct shadow *shadow; /* NULL: nobody decides beside the others */
	struct retain *retain; /* daemon/retain.h */
	struct kept_use *kept; /* daemon/kept_use.h; NULL: kept output has no bounds */
	struct audit *audit;   /* daemon/audit.h */
	struct stream *stream;
	struct metrics *metrics;
	struct worker *worker;
	struct worker *whatif;  /* for what takes minutes; NULL: not needed yet */
	struct worker *watcher; /* of what jobs do; the same */
	atomic_bool closing;    /* whoever works must come to an end */
	struct reasons *reasons;
	struct log *log;
	const struct notify *notify; /* NULL: nobody to tell */
	double told_s;               /* when it last was */
	double born_s;               /* the record's zero by the wall clock of its first start */
	struct record_clock clock; /* how the core's time becomes wall time; boot_s for daemon_now_s() */
	double clock_seen_s; /* offset at the last look, to tell a jump from a clock that is slewed */
	double opened_offset_s; /* offset when this daemon opened */
	bool clock_armed;       /* the kernel tells when the clock is set */
	bool clock_moved;       /* `clock` is to be written with the next rows */
	double epoch_s;         /* the core's time when the present epoch began */
	double last_s;          /* the core's time of the last cycle: time never goes back */
	uint32_t next_job;
	struct limits limits;
	struct tally tally; /* of what is limited */
	uid_t user_uid;     /* whose name `user` is */
	char *user;
	uint64_t last_seq;
	uint64_t stamp; /* the last of what may change decisions: not what jobs report of themselves */
	struct state_lock lock;
	int epoll_fd, wake_fd, timer_fd, signal_fd, clock_fd;
	bool stopping;
	double looked_s;             /* at the machine */
	VEC(struct idle_seen) idle;  /* attempts that are watched, by job and attempt */
	double idle_looked_s;        /* at them */
	struct idle_look *idle_look; /* under way, or NULL */

	VEC(struct news) news;
	VEC(struct report) reports;
	VEC(struct row) rows; /* not durable yet */
	struct arena row_words;
	struct buf row_text; /* room to write a row's JSON in */
	bool spare;          /* much memory was needed and is free now */
	bool epoch_due;      /* a new epoch could not be begun, and has to be */
	size_t most_jobs;    /* that were here since memory was last given back */
	VEC(struct errand) errands;
	uint64_t refused;                   /* jobs whose deadlines could not be promised */
	VEC(const struct live_job *) asked; /* that calls of this cycle have made so far */
	VEC(struct submitted) submitted;    /* by the last transaction, in order of numbers */
	VEC(struct call *) done;            /* answered once the rows are durable */
	VEC(struct call *) waiting;         /* long polls */
	char trouble[1100];                 /* why rows cannot be written; "": they can */
	double retry_s;                     /* when to try again */
	VEC(struct failed_launch) failed_launches;
	bool disk_low; /* less is free than the reserve of kept output */

	pthread_mutex_t mutex; /* of those below */
	struct call *calls, **calls_end;
	char health[1100]; /* "ok", or what is wrong */
	char degraded[512]; /* what does not work though jobs are accepted and decided on; "": nothing */
	bool closed;        /* calls are refused */
};

/* ---- daemon.c */
double daemon_now_s(struct daemon *d); /* the core's time, never before the last cycle */
void daemon_wake(struct daemon *d);    /* from any thread */
/* By a worker of the caller's choice, made if there is none yet; the loop wakes when it is done. */
void daemon_give_beside(struct daemon *d, struct worker **worker, struct task *task);
/* The call is asked again once the worker has done the task, which is the call's from now on. */
void daemon_give(struct daemon *d, struct call *call, struct task *task);
/* The same by a worker of the caller's choice, made if there is none yet. */
void daemon_give_to(struct daemon *d, struct worker **worker, struct call *call, struct task *task);

/* ---- clock.c */
/* Where record time stands now, from the record and the machine's clocks. */
int daemon_open_clock(struct daemon *d, struct err *err);
/* Arms the notice of a clock that is set: readable then. */
void daemon_arm_clock(struct daemon *d);
/* Reads the wall clock again; an offset that has changed is an input, recorded and logged. */
void daemon_read_clock(struct daemon *d);
/* Seconds since 1970 of a moment of record time. */
double daemon_wall_s(const struct daemon *d, double at_s);
/* Record time of a moment that the machine told of an attempt. */
double daemon_told_s(const struct daemon *d, const struct attempt *a, double wall_s);

/* ---- cycle.c */
/* One turn of the loop: everything that came, decided, written down and carried out. */
int daemon_cycle(struct daemon *d, struct err *err);
/* Appends a row; text is copied.  With `after`, statuses of job and attempt go along. */
void daemon_row(struct daemon *d, const char *kind, uint32_t job, uint32_t attempt, double at_s,
	const char *body, bool after);
/* What followers see of the job that the last row is about. */
void daemon_row_of(struct daemon *d, const struct live_job *job);
/* Whether the row may change decisions: what jobs report of themselves does not. */
bool row_matters(const struct row *row);
/* Writes the rows; false: they wait, and d->trouble says why. */
bool daemon_flush(struct daemon *d);
/* The record failed: nothing new is taken until it is found to work again. */
void daemon_trouble(struct daemon *d, const char *text);
/* Forgets rows that are written, or never will be; what a great many of them took is freed. */
void daemon_drop_rows(struct daemon *d);
/* Rows of the core's notes, and errands for those to be carried out. */
void daemon_take_notes(struct daemon *d);

/* ---- publish.c */
/* Tells followers of a row that is durable. */
void daemon_publish(struct daemon *d, const struct row *row);

/* ---- epochs.c */
/* What the record has last; false: none yet.  epoch_fini(). */
bool daemon_last_epoch(struct daemon *d, struct epoch *out);
int daemon_first_epoch(struct daemon *d, struct err *err);
/* Other rules or tenants from now on; d->epoch has them, `why` is for the record. */
int daemon_new_epoch(struct daemon *d, const char *why, struct err *err);

/* Into the log, what tenants are promised that the rules do not keep, and the reverse. */
void daemon_tell_promises(struct daemon *d);

void daemon_tell_devices(struct daemon *d, uint32_t node, uint64_t devices, bool up);

/* ---- places.c */
/* After the machine was looked at, before it becomes a cluster. */
int daemon_keep_places(struct daemon *d, struct err *err);
/* As they are now, for the next daemon. */
int daemon_remember_places(struct daemon *d, struct err *err);

/* ---- old_links.c */
/* Links of devices that are down since before this daemon, as the last epoch has them. */
void daemon_recall_links(struct daemon *d);

/* ---- care.c */
/* What the record has last of the devices that are here, into the epoch that begins. */
void daemon_find_health(struct daemon *d);
/* The same of the core's, before another epoch. */
void daemon_keep_health(struct daemon *d);

/* ---- errands.c */
/* Carries out what is durable; keeps what the machine does not let us do yet. */
void daemon_run_errands(struct daemon *d);
/* A pending launch worked, or not: then it is tried again, or the attempt that was there before is taken over. */
void daemon_hands_launched(void *ctx, uint32_t job, uint32_t attempt, const struct err *failed);
/* Of these the stops that users asked for, though they are not durable: nothing is lost if they are asked again. */
void daemon_run_cancels(struct daemon *d);

/* Seconds until an errand is to be tried again; INFINITY: there is none. */
double daemon_errand_in_s(const struct daemon *d);
/* ---- degraded.c */
bool daemon_disk_is_low(const struct daemon *d);
/* Sets d->degraded. */
void daemon_look_degraded(struct daemon *d);
/* Of one that cannot write: with the room that is kept for it; false: it still cannot. */
bool daemon_use_reserve(struct daemon *d);

void daemon_errand(struct daemon *d, enum errand_kind kind, uint32_t job, uint32_t attempt);
void daemon_claim_attempts(struct daemon *d);

/* ---- identity.c */
/* Before the record at `db` is opened: ERR_REFUSED if there must have been one. */
int daemon_expect_record(const struct daemon *d, const char *db, struct err *err);
/* What the hands must know of the record; `foreign` keeps the text. */
void daemon_tell_identity(struct daemon *d, struct hands_config *config, struct buf *foreign);
/* After the hands were opened: ERR_REFUSED if attempts know more than the record; else what is not ours is told. */
int daemon_meet_foreign(struct daemon *d, struct err *err);
/* The record has the list of these for the next daemon. */
int daemon_note_foreign(struct daemon *d, struct err *err);
/* Attempts of before there were ids have been taken over, and none will be any more. */
void daemon_adopted_unmarked(struct daemon *d);

/* ---- world.c */
int daemon_open_hands(struct daemon *d, struct err *err);
/* What the hands tell becomes news for the next cycle. */
void daemon_hands_begun(void *ctx, uint32_t job, uint32_t attempt, double at_s);
void daemon_hands_ended(void *ctx, const struct ending *ending);
/* The places of a grant's devices in the machine's list; how many. */
uint32_t daemon_places(const struct daemon *d, const struct grant *grant, uint32_t *out);
/* Devices that fell off the bus or went with their node, or came back. */
void daemon_look_at_machine(struct daemon *d);

/* ---- verbs_submit.c */
/* A user's name, or the number of one that has none.  Until it is asked for another. */
const char *verb_user_name(struct daemon *d, uid_t uid);

/* ---- words.c */
/* The job's submission; ERR_MISSING if the record has it not.  submission_fini(). */
int daemon_submission(struct daemon *d, uint32_t job, struct submission *out, struct err *err);
/* A file of the job's own, with the signs in its name replaced; NULL if it names none.  malloc'ed. */
char *daemon_output(const struct daemon *d, const struct live_job *job, const char *pattern,
	const char *cwd);

/* ---- environment.c */
struct environment {
	struct arena words;
	VEC(const char *) at; /* NULL after the last; some are the submission's */
};
void daemon_environment(struct daemon *d, struct environment *env, const struct live_job *job,
	const struct attempt *a, const struct submission *what, const char *dir);

/* ---- guests.c */
/* Whether the job has only what others on its devices leave. */
bool daemon_is_guest(const struct daemon *d, uint32_t job);
/* Others that are on the same devices, as an array "beside". */
void daemon_put_beside(const struct daemon *d, const struct attempt *attempt, struct json *j);

/* ---- grant_file.c */
int daemon_write_grant(struct daemon *d, const struct live_job *job, uint32_t attempt,
	const struct grant *grant, struct err *err);

/* ---- devices.c */
/* "0,1" of a grant, by what `of` says of each device. */
void daemon_devices(const struct daemon *d, const struct grant *grant,
	const char *(*of)(const struct machine_device *device), struct buf *out);
const char *device_index(const struct machine_device *device);
const char *device_visible(const struct machine_device *device);
const char *device_uuid(const struct machine_device *device);
/* As the file `grant` of an attempt names it: as CUDA does, else by its uuid. */
const char *device_word(const struct machine_device *device);

/* ---- verbs.c */
/* Does a call: sets status and body, or leaves status 0 for one that waits. */
void verb_run(struct daemon *d, struct call *call);
bool verb_is_submit(const struct verb *verb);
/* Where the daemon only looks on: answered with that, unless the call asks only or comes from the world. */
bool verb_refuse_change(const struct daemon *d, struct call *call);
void call_destroy(struct call *call);
void call_list_destroy(struct call_list *list); /* verbs_look.c; takes NULL */
/* Tenants that the table does not know yet make a new epoch, before anything of this cycle. */
void verb_meet_tenants(struct daemon *d, const struct call *calls);
/* Forgets the jobs of a submission that the core did not get. */
void verb_drop_made(struct call *call);
/* Checks a submission call and appends its rows; false: it is answered with why not. */
bool verb_prepare_submit(struct daemon *d, struct call *call);
/* The same for jobs that are not to be submitted: call->made has them, and nothing else is left of it. */
bool verb_draft(struct daemon *d, struct call *call);
/* After the rows are durable: the core gets them. */
void verb_finish_submit(struct daemon *d, struct call *call);
void call_fail(struct call *call, int rc, const char *text);
void call_problem(struct call *call, int status, int exit_code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* ---- job_json.c */
enum job_detail {
	JOB_BRIEF,  /* who waits for what, and why */
	JOB_LINE,   /* as the queue has it */
	JOB_PUBLIC, /* with its attempts */
	JOB_OWNERS, /* and with its command, which is its user's own to see */
};

/* Of an element of an array, which; else nothing. */
void job_put_array(const struct live_job *job, struct json *j);
/*
 * Why the job does not run, as core_reason() has it; a launch that fails, of which the core does not know, comes first.
 * Returns the reason's word, NULL for none.
 */
const char *daemon_reason(const struct daemon *d, const struct live_job *job, double now_s,
	struct buf *text, uint32_t *about);
/* A job that was just changed: who it is, and how it stands now. */
void job_put_changed(const struct daemon *d, uint32_t id, struct json *j);
/* One job as the API shows it to the caller: `key` and `comment` only to its user and to admins. */
void job_to_json(struct daemon *d, const struct live_job *job, const struct caller *caller,
	struct json *j, enum job_detail detail);
/* The same of a job that has ended, from its status. */
void ended_to_json(struct daemon *d, const struct record_job *row, const struct caller *caller,
	struct json *j, enum job_detail detail);

#endif
