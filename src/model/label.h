/*
 * How much of a resource to give a run of a kind that ran before: the first
 * allocation by what earlier ones used, and the largest for those that need
 * more (Tovar et al., TPDS 2018; Shaffer et al., IPDPS 2021).
 *
 * A run that exceeds its allocation is stopped, at its end in the worst case,
 * and runs again with `most`: that is what an allocation that is too small
 * costs.  Each resource by itself.
 */
#ifndef MODEL_LABEL_H
#define MODEL_LABEL_H

#include <stdbool.h>
#include <stdint.h>

/* A run that ended by itself: the most it used at a time, and how long it took.  Runs that were stopped say less. */
struct label_sample {
	double peak, time_s;
};

enum label_rule {
	LABEL_WASTE,      /* least resource-time that is given and not used, or thrown away */
	LABEL_THROUGHPUT, /* most runs per resource-time; another form of the same */
	LABEL_QUANTILE,   /* enough for a part of the runs */
};
extern const char *const label_rule_names[]; /* "waste", …, NULL */

enum { LABEL_SAMPLES = 10 }; /* before these runs are given the largest */

/* Mean over runs of what an allocation wastes: what is left over, or all of it and what the second leaves over. */
double label_waste(const struct label_sample *samples, uint32_t n, double first, double most);
/* Mean over runs of the resource-time that is taken, by one run or two. */
double label_taken(const struct label_sample *samples, uint32_t n, double first, double most);
/* The part of the runs that would be stopped and run again. */
double label_retries(const struct label_sample *samples, uint32_t n, double first);

/* Puts samples in order of peaks, as label_first() wants them. */
void label_sort(struct label_sample *samples, uint32_t n);
/*
 * One of the peaks, the smallest of equally good ones, never more than `most`.  `samples` in order of peaks, at
 * least one; `part` is of LABEL_QUANTILE.
 */
double label_first(const struct label_sample *samples, uint32_t n, double most,
	enum label_rule rule, double part);

/* How many runs a worker holds at a time if each takes `each[i]` of `size[i]`; each 0: none of it. */
uint32_t label_pack(const double *each, const double *size, uint32_t n);

/* What became of runs in the order in which they came, each label by those before it. */
struct label_course {
	double used, taken; /* resource-time */
	uint32_t learning;  /* runs that had the largest, as too few had ended */
	uint32_t retries;
	double last; /* the label after the last run */
};
struct label_course label_replay(const struct label_sample *samples, uint32_t n, double most,
	enum label_rule rule, double part, uint32_t learn);

#endif
