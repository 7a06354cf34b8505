/*
 * The commands of `stint`: each is one const struct and one line in
 * commands.def.  Parsing, help and completion come from these tables.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "base/vec.h"

/* Words of the command line; not copied. */
struct words {
	const char **at;
	size_t n, cap;
};

/* A flag that is kept with its name, for tables that are read elsewhere. */
struct said {
	const char *name, *value; /* value "" where there is none */
};

struct said_list {
	struct said *at;
	size_t n, cap;
};

/* What a person wrote after the verb.  A flag --start-cost is the field start_cost. */
struct args {
	const struct command *command;
	struct words operands;
	size_t dashes; /* operands before "--"; SIZE_MAX: there was none */

	/* the workload */
	const char *format;
	bool lenient;
	const char *from_sacct, *from_jobcomp; /* the history of Slurm instead of a trace */
	const char *assume_gpus;
	const char *on;      /* who carries the runs of a comparison out */
	const char *part_of; /* this process is one of them: the directory they share */
	const char *trace;   /* replay: read this instead of what the manifest names */

	/* who decides */
	struct words policy, placer;
	const char *admit;
	const char *tenants;

	/* the world */
	const char *cluster, *throughputs, *profiles, *host_profiles;
	double start_cost, resume_cost, resize_cost; /* NAN: what the trace says */
	double mtbf, repair;                         /* 0: no failures */
	const char *failures, *loan;
	double until; /* 0: to the end */
	double at;    /* shares: the moment to look at; NAN: when most jobs are active */

	/* belief and chance */
	int64_t seed, seeds;
	double error;
	bool oracle;
	const char *estimate;
	const char *resample;
	const char *rounds;

	/* fitting */
	const char *goodput;
	const char *optimus_loss, *optimus_speed;
	const char *labels, *worker, *guess, *label_rule;
	double quantile;
	int64_t learn;

	/* generating */
	int64_t jobs;
	double load; /* NAN: as the generator likes it */

	/* output */
	const char *out, *html, *svg;
	bool topology;
	bool json, csv, markdown, yaml, quiet, timings, by_model;
	bool now;
	int64_t top; /* rows of a long table */
	bool all;    /* every row */
	int64_t threads;

	/* top, and sim on its screen */
	bool once, screen;
	double interval;
	double speed; /* simulated seconds in a real one; 0: as fast as it goes */
	int64_t lines;
	const char *color;

	/* the daemon: where it is, and which of its jobs */
	const char *socket;
	const char *state; /* of jobs; for the daemon itself its directory */
	const char *tenant, *name, *reason, *user;
	const char *guaranteed, *borrow, *lend, *parent; /* of a tenant */
	bool mine, dry_run;
	int64_t limit, attempt, tail, after;
	double timeout, since; /* timeout NAN: none */
	const char *by;        /* how usage is grouped */
	bool outputs, errors;  /* which streams */
	bool follow, watch, expand, wait, parsable, stop, pty;
	const char *batch, *like;

	/* what if, how many, which one */
	struct words add, remove, quota; /* changes */
	const char *was, *was_placer;    /* who decided */
	const char *measured_on;
	struct words target, price;
	const char *types, *goal;
	bool keep;
	int64_t most; /* nodes */

	/* forecasts */
	int64_t asks, futures;
	double held_back;
	bool raw;
	double forecast_every;
	int64_t if_unchanged; /* -1: whatever happened */

	/* parallel schedulers */
	struct words mode;
	int64_t machines, schedulers, partitions, levels, classes; /* partitions 0: as schedulers */
	double rate, duration, warm_up, task_s, decision_ms, rtt_ms, period, hot;

	/* fine-grained tasks */
	int64_t workers, cpu, net, disk, gpu;
	const char *mem, *order;
	double ept, noise;
	bool strict;

	/* the daemon itself */
	double older, keep_s; /* retention; older NAN: not said */
	bool yes, vacuum;
	const char *listen, *log_level, *runs, *notify, *idle, *limits, *roles, *output_cap,
		*output_reserve, *output_total;
	int64_t port, slots, avoid_after, drain_after;
	/* Slurm */
	const char *driver, *partition, *take, *scheduler, *slurm_record;
	double slurm_poll, slurm_patience, shadow_every;
	bool report, no_history;
	int64_t slurm_rate;
	int64_t rule; /* of notifications; 0: every one */
	bool system, no_gpus, no_cgroups, no_http, new_token, expose;
	struct said_list said; /* what is said of a job: fields of live/submission_fields.def */
};

enum flag_kind {
	FLAG_SWITCH,  /* bool */
	FLAG_TEXT,    /* const char *, the last one counts */
	FLAG_LIST,    /* struct words: may be given several times */
	FLAG_INT,     /* int64_t */
	FLAG_NUMBER,  /* double */
	FLAG_SECONDS, /* double; units are understood: 90, 15m, 1.5h, 2d */
	FLAG_SAID,    /* struct said_list; a switch if help calls its value nothing */
};

struct flag {
	const char *name; /* as a field of struct args; NULL ends a table */
	enum flag_kind kind;
	char letter; /* "-f" is the same; 0: none */
	size_t offset;
	const char *value; /* how help calls it: "SPEC" */
	double min, max;   /* of numbers, both included */
	double preset;     /* of numbers */
	bool unit;         /* of FLAG_SECONDS: a number without a unit is refused, but for 0 */
	const char *help;
};

#define FLAG_OF(field, kind_, ...) \
	{ \
		.name = #field, .kind = (kind_), .offset = offsetof(struct args, field), __VA_ARGS__ \
	}

/* What --tenants FILE is, wherever it is taken. */
#define TENANTS_HELP "tenants: weights, quotas and cells, YAML"

/* A flag with a letter, or with another name than its field. */
#define LETTER(letter_, ...) FLAG_OF(__VA_ARGS__, .letter = (letter_))
#define SWITCH(field, help_) FLAG_OF(field, FLAG_SWITCH, .help = (help_))
#define TEXT(field, value_, help_) FLAG_OF(field, FLAG_TEXT, .value = (value_), .help = (help_))
#define LIST(field, value_, help_) FLAG_OF(field, FLAG_LIST, .value = (value_), .help = (help_))
#define NUMBER(field, kind_, value_, preset_, min_, max_, help_) \
	FLAG_OF(field, kind_, .value = (value_), .preset = (preset_), .min = (min_), \
		.max = (max_), .help = (help_))

/* Flags that several commands share, under one title in their help. */
struct flag_group {
	const char *title;
	const struct flag *flags;
	/* How results are shown, not what they are: left out of the command that gives them again. */
	bool aside;
};

enum { COMMAND_GROUPS_MAX = 9 };

struct command {
	const char *name;     /* "sim"; "trace check" is written as two words */
	const char *summary;  /* one line */
	const char *operands; /* for the usage line: "TRACE" */
	int min_operands, max_operands;
	/* Whether all that follows this first operand is operands too, flags and all.  NULL: never. */
	bool (*takes_rest)(const char *operand);
	bool live;                                           /* asks the daemon */
	const struct flag_group *groups[COMMAND_GROUPS_MAX]; /* NULL after the last */
	const char *about;                                   /* paragraphs of help, may be NULL */
	const char *const *examples;                         /* NULL-terminated, may be NULL */
	/* Adds what only the code knows (tables of options) to the help.  NULL: nothing. */
	void (*more)(struct buf *out);
	/*
	 * Does it.  Data goes to standard output; a failure's text is printed by main().  More than 0 is an exit
	 * code as it is.
	 */
	int (*run)(const struct args *args, struct err *err);
};

extern const struct command *const commands[]; /* NULL-terminated */

/*
 * The command that argv names, and how many words that took; NULL with "did you mean".
 * A first word that only begins two-word commands ("trace") is ERR_USAGE.
 */
const struct command *command_find(int argc, char **argv, int *words, struct err *err);
/* Whether `word` begins a two-word command. */
bool command_is_family(const char *word);

/*
 * Reads what follows the verb into `out`: release it with args_fini().  Words are borrowed from argv.
 * Numbers not given have their preset.  `help` becomes true if --help is among the words.
 */
int args_parse(const struct command *command, int argc, char **argv, struct args *out, bool *help,
	struct err *err);
void args_fini(struct args *args);
/* "--start-cost" of the flag start_cost, without the dashes in front. */
void flag_word(const struct flag *flag, struct buf *out);

/* Help for people. */
void help_overview(struct buf *out);
void help_family(const char *word, struct buf *out);
void help_command(const struct command *command, struct buf *out);

#endif
