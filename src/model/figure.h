/*
 * A number with a name that a policy reports of itself: how often it solved,
 * how many leases it extended.
 */
#ifndef MODEL_FIGURE_H
#define MODEL_FIGURE_H

enum { FIGURES_MAX = 8 };

struct figure {
	const char *name; /* as in summary.json, e.g. "leases_kept" */
	double value;
};

#endif
