/*
 * The sizes of jobs that ended, as policies use them to rank jobs of unknown
 * size: read from a file, or learnt as jobs finish.
 */
#ifndef POLICY_ORDER_SIZES_H
#define POLICY_ORDER_SIZES_H

#include "base/option.h"
#include "model/gittins.h"
#include "model/round.h"

enum index_kind { INDEX_TEXTBOOK, INDEX_PUBLISHED };
extern const char *const index_names[];

struct sizes {
	char history[OPTION_TEXT_MAX]; /* file with one size per line; "": learn */
	double quantum_s;              /* 0: the best one */
	int index;
	struct history known;
};

/* The options above as options of the policy that embeds a `struct sizes` in `field`. */
#define SIZES_OPTIONS(type, field) \
	{ .name = "history", \
		.kind = OPTION_TEXT, \
		.offset = offsetof(type, field.history), \
		.text = "", \
		.file = true, \
		.help = "file of GPU-seconds of past jobs, one per line; none: learn from jobs that finish" }, \
		{ .name = "quantum_s", \
			.kind = OPTION_DOUBLE, \
			.offset = offsetof(type, field.quantum_s), \
			.preset = 3250, \
			.max = 1e12, \
			.help = "service the index looks ahead, in GPU-seconds; 0: the best of all" }, \
	{ \
		.name = "index", .kind = OPTION_CHOICE, .offset = offsetof(type, field.index), \
		.preset = INDEX_TEXTBOOK, .choices = index_names, \
		.help = "Gittins index by the book, or as the published simulator tabulates it" \
	}

int sizes_init(struct sizes *sizes, struct err *err);
void sizes_fini(struct sizes *sizes);
/* Adds the jobs that finished since the last round, unless the sizes come from a file. */
void sizes_learn(struct sizes *sizes, const struct round *round);
/* Larger is more promising. */
double sizes_index(const struct sizes *sizes, double served_s);

#endif
