/*
 * Measured steps of training jobs, for fitting the goodput model: a table with
 * one configuration in each row.  doc/goodput.md describes it.
 *
 * The published profiles (placements-TYPE.csv, scalability-TYPE.csv in a folder
 * named by the model) are such tables too; what has no column comes from their
 * names.
 */
#ifndef IO_GOODPUT_SAMPLES_H
#define IO_GOODPUT_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/names.h"
#include "model/goodput_fit.h"

struct goodput_measure {
	uint32_t model, type;
	struct goodput_sample sample;
	struct gradient gradient; /* zeroed: not measured */
	double initial; /* total batch that the gradient's variance belongs to; 0: not said */
};

/* A zeroed one is valid and empty. */
struct goodput_samples {
	struct names models, types;
	struct goodput_measure *at;
	size_t n, cap;
};

/* Adds what the file has.  ERR_FORMAT names line and column. */
int goodput_samples_read(const char *path, struct goodput_samples *out, struct err *err);
/* The same from memory; `path` is for messages and names. */
int goodput_samples_read_text(const char *path, const char *text, size_t n,
	struct goodput_samples *out, struct err *err);
void goodput_samples_fini(struct goodput_samples *samples);

#endif
