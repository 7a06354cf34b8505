/*
 * Gandiva's introspection: packing, moving and growing on trial.  Whatever was
 * done is measured for a window, and undone if it did not pay.
 */
#ifndef POLICY_FAIR_GANDIVA_TRIALS_H
#define POLICY_FAIR_GANDIVA_TRIALS_H

#include "policy/fair/gandiva_servers.h"

struct trial_rules {
	bool pack, migrate, grow;
	double window_s; /* how long something is tried, and how long nothing else is done to the job */
};

struct trial_counts {
	double packed, unpacked, moved, moved_back, grown, shrunk;
};

/* Whether jobs that share devices make more than they would in turns: the sum of their speeds over those alone. */
bool trial_pays(double a, double a_alone, double b, double b_alone);

/* Looks at what was tried long enough: keeps it or undoes it. */
void trials_judge(struct slice_servers *s, const struct trial_rules *rules,
	struct trial_counts *counts);
/* Packs jobs of crowded servers, the least busy ones first; one pair for each server. */
void trials_pack(struct slice_servers *s, const struct trial_rules *rules, struct trial_counts *counts);
/* Jobs that share devices part where their server has room for both. */
void trials_spread(struct slice_servers *s);
/* Moves jobs off crowded servers to room elsewhere, those that lie apart to one server, and off the emptiest that is not idle. */
void trials_migrate(struct slice_servers *s, const struct trial_rules *rules,
	struct trial_counts *counts);
/*
 * Growable jobs take what is idle on their server; and give it back at once when others came.  Says whether somebody
 * could grow, but not yet.
 */
bool trials_grow(struct slice_servers *s, const struct trial_rules *rules, struct trial_counts *counts);
/* When the next trial ends; INFINITY: there is none. */
double trials_end_s(const struct slice_servers *s, const struct trial_rules *rules);

#endif
