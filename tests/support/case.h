/*
 * Text cases: a scheduling example written down, run and compared.
 *
 *	case: a short late job overtakes a long early one
 *	cluster: 1 node, 2 gpu
 *	job a: at 0, gpus 2, work 100
 *	job b: at 10, gpus 2, work 5
 *	policy: las round=1
 *	expect: a 0-10, b 10-15, a 15-105
 *
 * Lines, each at most once but for `job`, `tenant`, `fail`, `speed`, `belief` and `expect`:
 *
 *	cluster: N node[s], M gpu[s] [of TYPE] [, cpus C] [, mem BYTES] [, racks R] [, topology PRESET] | 2x4:v100,1x8:a100 [, cpus C] …
 *	job NAME: FIELD VALUE, …       at gpus work est tenant weight priority deadline model class cpus
 *	                               mem after types min max epochs batch start resume resize
 *	                               checkpoint rate steps; lists as a|b; work and est may be times (1h)
 *	tenant NAME: FIELD VALUE, …    weight within parent (on an earlier line) cells (2 node|1 device:v100|1 pair@n0:2)
 *	policy: NAME [OPTION=VALUE …]  `round` means round_s
 *	placer: NAME [OPTION=VALUE …]
 *	admit: NAME [OPTION=VALUE …]
 *	cost: start S, resume S, resize S
 *	error: DEVIATION               of believed run times
 *	seed: N
 *	oracle: yes
 *	until: SECONDS
 *	fail: node N at S [up S]
 *	speed: MODEL TYPE RATE, …      steps per second and device; belief: the same, of the belief alone
 *	expect: JOB WHAT, …
 *
 * What a job is expected to do:
 *
 *	0-10             holds devices then; all its times, in order.  15- lasts to the end of the run
 *	on n0+n1         has devices of these nodes and no others
 *	waits REASON     was once told this reason (busy, behind, reserved, outranked, …)
 *	rejected [REASON], unfinished
 *	preempted N, moves N, resizes N, fails N    so many times
 *	loses S, pays S  seconds of work lost, of holding devices without steps
 *
 * Every job must be expected to do something.  # begins a comment line.
 */
#ifndef TESTS_SUPPORT_CASE_H
#define TESTS_SUPPORT_CASE_H

#include "base/vec.h"
#include "model/profile.h"
#include "sim/sim.h"

enum expected {
	EXPECT_STAY,
	EXPECT_ON,
	EXPECT_WAITS,
	EXPECT_REJECTED,
	EXPECT_UNFINISHED,
	EXPECT_PREEMPTED,
	EXPECT_MOVES,
	EXPECT_RESIZES,
	EXPECT_FAILS,
	EXPECT_LOSES,
	EXPECT_PAYS,
};

struct expectation {
	enum expected what;
	uint32_t job;        /* by position in the text */
	double from_s, to_s; /* EXPECT_STAY; to_s INFINITY: to the end.  from_s is the number of others */
	const char *word; /* a reason or a list of nodes */
};

struct node_failure {
	uint32_t node;
	double at_s, up_s; /* up_s INFINITY: never */
};

struct speed {
	uint32_t model, type;
	double rate;
	bool belief;
};

struct text_case {
	const char *title;
	const char *path;
	size_t line;         /* where it begins */
	struct err err;      /* what is wrong with its text; code 0: nothing */
	struct arena memory; /* owns the words */
	struct names labels; /* of jobs, by position */
	struct cluster cluster;
	struct trace trace;
	struct tenants tenants;
	struct sim_config config;
	VEC(struct node_failure) failures;
	VEC(struct speed) speeds;
	VEC(struct expectation) expected;
};

struct text_cases {
	VEC(struct text_case *) at;
};

/* Adds the cases of a text; mistakes are kept with the case they are in. */
void cases_read_text(struct text_cases *cases, const char *path, struct slice text);
/* Adds those of every DIR/NAME.case, by name. */
int cases_read(struct text_cases *cases, const char *dir, struct err *err);
void cases_fini(struct text_cases *cases);

/* Runs a case.  On a difference returns false and says in `out` what was expected and what came. */
bool case_run(struct text_case *c, struct buf *out);

#endif
