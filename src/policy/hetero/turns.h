/*
 * Realising shares by turns: who has had least of what it was promised goes
 * next (the round mechanism of Gavel, OSDI 2020).
 *
 * A table keeps, for every job and every pair of jobs that may share devices,
 * its share and the time it has had on each type.  Two mechanisms work on it:
 * Stint's own, and the published simulator's with everything that makes its
 * figures what they are (published.c).
 */
#ifndef POLICY_HETERO_TURNS_H
#define POLICY_HETERO_TURNS_H

#include "base/twister.h"
#include "base/vec.h"
#include "policy/hetero/configs.h"
#include "policy/hetero/program.h"
#include "policy/policy.h"

/* Whose rounds: Stint's own, the published simulator's, or those of the one that Shockwave made of it. */
enum turns_compat { TURNS_OWN, TURNS_GAVEL, TURNS_SHOCKWAVE };
extern const char *const compat_names[]; /* for OPT_CHOICE */

/* What policies that work by shares offer as options; embedded as `turns`. */
struct share_turns {
	/* options */
	double round_s; /* with round_auto: of the present round */
	bool round_auto;
	double expect_s;              /* leave room for jobs likely to come within this; 0: none */
	int compat;                   /* enum turns_compat */
	char replay[OPTION_TEXT_MAX]; /* a log of shares to use instead of computing them */

	/* what the policy is, set in init() */
	bool pack;                   /* pairs are entries, too */
	bool shuffle;                /* published: types are taken in random order */
	bool strict;                 /* published: nobody without a share fills a gap */
	struct config_rules configs; /* Stint's own: what jobs may have besides what they ask for */

	struct share_table *table; /* made when first used */
};

#define SHARE_TURNS_OPTIONS(type) \
	{ .name = "round_s", \
		.kind = OPTION_DOUBLE, \
		.offset = offsetof(type, turns.round_s), \
		.preset = 360, \
		.min = 1, \
		.max = 1e6, \
		.help = "jobs change places at multiples of this" }, \
		{ .name = "round_auto", \
			.kind = OPTION_BOOL, \
			.offset = offsetof(type, turns.round_auto), \
			.max = 1, \
			.help = "choose round_s anew for every round, from costs and crowds" }, \
		{ .name = "compat", \
			.kind = OPTION_CHOICE, \
			.offset = offsetof(type, turns.compat), \
			.preset = TURNS_OWN, \
			.choices = compat_names, \
			.help = "gavel, shockwave: the rounds of that published simulator with all their quirks" }, \
	{ \
		.name = "replay", .kind = OPTION_TEXT, .offset = offsetof(type, turns.replay), \
		.text = "", .file = true, \
		.help = "read shares from this log (JSON lines) instead of computing them" \
	}

/* Computes the shares for the program; 0, or a negative ERR_*. */
typedef int shares_fn(void *self, const struct program *program, struct shares *shares,
	struct err *err);

/* Decides: computes shares when it is time to, and gives turns. */
int share_turns_decide(struct share_turns *turns, shares_fn *compute, void *self,
	const struct round *round, struct plan *plan, struct err *err);
/* What policy.shares answers: the program and the shares computed for it now. */
int share_turns_show(const struct share_turns *turns, shares_fn *compute, void *self,
	const struct round *round, const struct plan *plan, struct program *program,
	struct shares *shares, struct err *err);
uint32_t share_turns_figures(const struct share_turns *turns, struct figure out[FIGURES_MAX]);
void share_turns_fini(struct share_turns *turns);
/* What policy.compat answers. */
enum compat share_turns_compat(const struct share_turns *turns);

#endif
