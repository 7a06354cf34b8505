/*
 * The published test vectors of ../shared/data/sia/vectors, or of STINT_DATA:
 * fits, and what follows from them.
 */
#ifndef TESTS_MODEL_SIA_VECTORS_H
#define TESTS_MODEL_SIA_VECTORS_H

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "io/csv.h"
#include "model/goodput_fit.h"
#include "support/data.h"
#include "support/property.h"

enum { VECTOR_SAMPLES_MAX = 64, VECTOR_CASES_MAX = 256 };

struct vector_fit {
	char model[16];
	struct goodput_sample samples[VECTOR_SAMPLES_MAX];
	uint32_t n;
	struct goodput_params params;
	double objective;
};

struct vectors {
	struct file file;
	struct csv csv;
};

/* False, and says so loudly: the file is not there. */
static inline bool vectors_open(struct vectors *v, const char *name)
{
	char *path = mem_printf("%s/sia/vectors/%s", data_dir(), name);
	int rc = file_read(path, &v->file, NULL);

	if (rc)
		print_message("SKIPPED: there is no %s; set STINT_DATA to compare with it\n", path);
	free(path);
	if (rc)
		return false;
	csv_init(&v->csv, (struct slice){ v->file.at, v->file.n }, (struct csv_style)CSV_COMMAS);
	assert_int_equal(csv_next(&v->csv, NULL), 1); /* the header */
	return true;
}

static inline void vectors_close(struct vectors *v)
{
	csv_fini(&v->csv);
	file_fini(&v->file);
}

static inline double vector_number(struct slice text)
{
	double x;

	assert_true(slice_double(text, &x));
	return x;
}

static inline double vector_field(const struct vectors *v, size_t i)
{
	return vector_number(v->csv.fields[i]);
}

static inline void vector_word(const struct vectors *v, size_t i, char out[16])
{
	snprintf(out, 16, "%.*s", (int)v->csv.fields[i].n, v->csv.fields[i].at);
}

static inline double vector_initial(const char *model)
{
	static const struct {
		const char *model;
		double initial;
	} table[] = { { "cifar10", 128 }, { "deepspeech2", 20 }, { "bert", 12 }, { "yolov3", 8 },
		{ "imagenet", 200 }, { "ncf", 256 } };

	for (size_t i = 0; i < COUNT(table); i++)
		if (!strcmp(table[i].model, model))
			return table[i].initial;
	fail_msg("no initial batch of %s", model);
	return 0;
}

/* The fits by their number; returns how many, 0: the file is not there. */
static inline uint32_t vectors_fits(struct vector_fit *fits)
{
	struct vectors v;
	uint32_t n = 0;

	if (!vectors_open(&v, "fit.csv"))
		return 0;
	while (csv_next(&v.csv, NULL) == 1) {
		struct slice points = v.csv.fields[3];
		struct vector_fit *f = &fits[n];

		assert_true(n < VECTOR_CASES_MAX);
		assert_int_equal(vector_field(&v, 0), n++);
		vector_word(&v, 1, f->model);
		for (f->n = 0; points.n > 0; f->n++) {
			struct slice point = slice_cut(&points, ' ');
			double x[5];

			assert_true(f->n < VECTOR_SAMPLES_MAX);
			for (int i = 0; i < 5; i++)
				x[i] = vector_number(slice_cut(&point, ':'));
			f->samples[f->n] = (struct goodput_sample){ x[0], x[1], x[2], x[3], x[4] };
		}
		f->params = (struct goodput_params){ vector_field(&v, 4), vector_field(&v, 5),
			vector_field(&v, 6), vector_field(&v, 7), vector_field(&v, 8),
			vector_field(&v, 9), vector_field(&v, 10) };
		f->objective = vector_field(&v, 11);
	}
	vectors_close(&v);
	return n;
}

#endif
