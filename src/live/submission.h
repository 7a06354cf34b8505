/*
 * What a person asks the daemon to run: a command, where, on what, and how it
 * wants to be treated.  Flags, job files, #SBATCH lines and HTTP bodies all
 * become one of these, and its JSON form is what travels and what is recorded.
 */
#ifndef LIVE_SUBMISSION_H
#define LIVE_SUBMISSION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

struct notes; /* io/notes.h */

enum { SUBMISSION_ARRAY_MAX = 10000, SUBMISSION_BYTES_MAX = 4 << 20 };

enum dependency_kind {
	AFTER_OK,     /* it completed */
	AFTER_ANY,    /* it ended */
	AFTER_NOT_OK, /* it ended otherwise */
	AFTER_START,  /* it began: Slurm's "after" */
};

struct dependency {
	enum dependency_kind kind;
	uint32_t job;
};

/* A zeroed one is not valid: submission_init() sets what is not said. */
struct submission {
	struct arena memory; /* owns everything below */

	/* what */
	const char *name; /* never NULL once checked: the command's last path part unless said */
	const char *const *argv; /* NULL-terminated */
	const char *const *env;  /* "NAME=value", NULL-terminated; the job gets these and STINT_* */
	const char *cwd;         /* absolute */
	const char *script; /* text of a script to run with argv as its arguments; NULL: argv is the command */
	/* Files of stdout and stderr, relative to cwd; NULL: the daemon keeps them.  See submission_output(). */
	const char *out, *err_out;
	/* Until submission_export(): what of the submitter's environment goes along.  NULL: all.  Not in JSON. */
	const char *export;

	/* for whom */
	const char *tenant; /* NULL: the user's name */
	const char *model; /* what it trains, for speeds that are shared between jobs; NULL: its own alone */
	const char *key; /* the same key from the same user is the same job; NULL: none */
	const char *comment;

	/* on what */
	int32_t gpus; /* devices; 0: none, CPU slots only; -1: not said, which submission_check() settles */
	int32_t min_gpus, max_gpus; /* equal to gpus once checked, unless elastic; -1: not said */
	const char *types;          /* "v100,a100": any of these; NULL: any */
	double share;               /* of each device's compute, 0 < share <= 1 */
	int64_t gpu_mem_bytes;      /* of each device; 0: not said */
	int32_t nodes;              /* on so many, as many devices on each; 0: as it comes */
	double cpus;                /* of the whole job; 0: not said */
	int64_t mem_bytes;          /* likewise */
	int32_t mem_auto; /* it gets what earlier ones of its name had, once so many have ended; 0: mem_bytes is meant as it is */
	int64_t mem_most; /* and this if that was too little: the daemon says */

	/* when */
	double time_s;      /* ends it after so long in all its attempts; 0: no limit */
	double estimate_s;  /* how long it is believed to run as asked; 0: unknown */
	double deadline_s;  /* seconds since 1970; 0: none */
	double begin_s;     /* not before, seconds since 1970; 0: at once */
	double submitted_s; /* seconds since 1970, to another scheduler; 0: it comes now */
	bool hold;
	const struct dependency *after;
	uint32_t nafter;

	/* how */
	double weight;
	int32_t priority;
	bool opportunistic;
	int stop_signal;            /* SIGTERM unless said */
	double grace_s;             /* between the signal and the kill */
	const char *checkpoint;     /* a shell command run before the signal; NULL: none */
	bool requeue;               /* runs again after preemption or the loss of its machine */
	int32_t retries;            /* times it runs again after it failed */
	bool allow_idle;            /* it may hold devices and do nothing */
	int32_t pty_rows, pty_cols; /* size of the terminal it runs on; 0: it has none */

	/* an array: one job for each index */
	const int32_t *array; /* indices, ascending, each once; NULL: a single job */
	uint32_t narray;
	uint32_t array_limit; /* so many at once; 0: all */
};

/* One device, weight 1, SIGTERM and 30 s, requeue, no limits. */
void submission_init(struct submission *s);
void submission_fini(struct submission *s);

/*
 * Whether it makes sense in itself, and settles what was left open (name, gpus).  ERR_USAGE with the
 * member's name in front and what to do; ERR_REFUSED: an argument or variable is longer than the system passes on.
 */
int submission_check(struct submission *s, struct err *err);

/* What the kernel counts for these arguments or variables when a program is started. */
size_t submission_exec_bytes(const char *const *words);

/*
 * Schema "submission/1"; members that are absent or null stay as submission_init() left them, unknown
 * ones are errors.  It is not checked yet.  ERR_USAGE; `out` needs no submission_fini() then.
 */
int submission_from_json(struct submission *out, const json_t *json, struct err *err);
/* What differs from submission_init().  A new reference. */
json_t *submission_to_json(const struct submission *s);

/*
 * Whether `again` asks for what `first`, under the same key, has asked for; both were checked.  Else `member`
 * gets the name of one that differs.  Dates count as given or not, and variables that shells, logins,
 * terminals and running jobs have of their own do not count.
 */
bool submission_same(const struct submission *first, const struct submission *again, char *member,
	size_t size);

/* For what older versions took: replaces in names, key and comment what is not plain (base/plain.h). */
void submission_make_plain(struct submission *s);

/* Whether JSON can hold the text: it is UTF-8. */
bool submission_travels(const char *text);

/* ---- output files */

/* What the signs in a file's name stand for: %j id, %A array, %a index, %x name, %u user, %N node, %% itself. */
struct output_words {
	uint32_t id, array_id;
	int32_t index; /* of the array; -1: it is in none */
	const char *name, *user, *node;
};
/* The path with its signs replaced: absolute if `cwd` is.  "%4j" pads with zeros, as Slurm does. */
void submission_output(const char *pattern, const char *cwd, const struct output_words *words,
	struct buf *out);
/* Whether elements of an array have a file each: the pattern has the index or the job's number. */
bool submission_output_is_own(const char *pattern);

/* ---- the words people use, for flags, files and #SBATCH lines alike */

int submission_set_array(struct submission *s, const char *text,
	struct err *err); /* "0-9%2", "1,3,5-7", "0-8:2" */
void submission_array_text(const struct submission *s, struct buf *out); /* the same as text */
int submission_set_dependency(struct submission *s, const char *text,
	struct err *err);                               /* "afterok:7:8,afterany:9" */
const char *dependency_name(enum dependency_kind kind); /* "afterok" */
int submission_set_signal(struct submission *s, const char *text,
	struct err *err); /* "USR2@60", "SIGTERM", "10@30", "B:USR1@60" */
/*
 * "now+6h", "2026-11-20T08:00", "08:00", "tomorrow", "1763366400" against `now_s`; seconds since 1970.
 * Where no zone is said it is the local one.
 */
int submission_moment(const char *text, double now_s, double *out, struct err *err);
/* Name or number of a signal, with or without SIG; 0: none. */
int signal_of_name(const char *text);
const char *signal_name(int number); /* "TERM"; "?" where there is none */

/* What is said beside a word. */
struct submission_context {
	double now_s;        /* what "now+6h" counts from */
	const char *cwd;     /* what a relative chdir starts from */
	struct notes *notes; /* gets what is ignored; may be NULL */
	size_t line;         /* where it is said; 0: nowhere */
};
/*
 * Sets the field of submission_fields.def that is called `name` ("min_gpus"; "min-gpus" too) from its
 * text.  Later calls win.  ERR_USAGE with "name: " in front; an unknown name says which is near.
 */
int submission_set(struct submission *s, const char *name, const char *text,
	const struct submission_context *context, struct err *err);

/* A field that is set by text: what help says of it. */
struct submission_field {
	const char *name;  /* NULL after the last */
	char letter;       /* "-J"; 0: none */
	const char *value; /* how help calls it: "N"; NULL: a switch, whose text may be left out */
	const char *help;
};
extern const struct submission_field submission_fields[];

/*
 * Makes `env` from the submitter's (NULL-terminated "NAME=value"), as `export` says, with what `env` holds
 * already on top.  What cannot travel (no UTF-8) is left out and noted.
 */
void submission_export(struct submission *s, const char *const *environment, struct notes *notes);

#endif
