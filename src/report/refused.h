/*
 * Jobs that were refused at submission, and why.
 */
#ifndef REPORT_REFUSED_H
#define REPORT_REFUSED_H

#include "base/json.h"
#include "engine/outcome.h"

/* Texts are its own. */
struct refused_job {
	char *label, *why;
	int32_t gpus;
};

struct refused {
	struct refused_job *at; /* the first few */
	uint32_t n, all;
};

void refused_of(const struct outcome *outcome, uint32_t most, struct refused *out);
void refused_fini(struct refused *refused);

/* All of them: "rejected": [{"job": …, "gpus": …, "why": …, "reason": …, "need": …, "have": …, "fits_at": …}]. */
void refused_json(const struct outcome *outcome, struct json *j);

#endif
