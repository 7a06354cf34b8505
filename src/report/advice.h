/*
 * Which policy would have been better: a verdict on each, from a comparison
 * whose first arm is the present one.
 *
 * Several are looked at, so that p-values are corrected for that (Holm), and a
 * policy is called better only if it is so by more than a trifle.
 */
#ifndef REPORT_ADVICE_H
#define REPORT_ADVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "report/compare.h"
#include "report/effect.h"
#include "report/term.h"

#define ADVICE_SURE 0.05   /* corrected p below this */
#define ADVICE_TRIFLE 0.01 /* a change smaller than this is none */

enum advice_verdict {
	ADVICE_PRESENT,
	ADVICE_BETTER,
	ADVICE_SAME, /* nothing that could be told apart */
	ADVICE_WORSE,
	ADVICE_DROPPED, /* looked at with one seed, and not among the best, or the same as another */
	ADVICE_CANNOT,  /* does not run here */
};
extern const char *const advice_words[]; /* by enum advice_verdict */

struct advice_entry {
	const char *label; /* borrowed */
	enum advice_verdict verdict;
	struct effect effect; /* on the goal, against the present policy */
	double p;             /* corrected; NAN: unknown */
	char *why;            /* CANNOT: the reason */
};

struct advice {
	const struct comparison *result;
	size_t goal; /* in metrics[] */
	struct advice_entry *entries;
	uint32_t n;
	int best; /* index of the one to change to; -1: stay */
};

/* Whether x is better than y in the metric; what is no number is never. */
bool advice_prefers(size_t metric, double x, double y);

/*
 * Judges arms 1 to n - 1 of a finished comparison against arm 0.  Entries whose verdict is CANNOT or
 * DROPPED stay as they are.
 */
void advice_judge(struct advice *advice);

/* The recommendation in a sentence. */
void advice_lead(const struct advice *advice, struct buf *out);
/* A table of all, the best first. */
void advice_text(const struct advice *advice, const struct term *term, struct buf *out);
struct json;
/* Members "goal", "present", "recommend", "policies" and "cannot" of an object. */
void advice_members(struct json *j, const struct advice *advice, const char *command);

#endif
