/*
 * The figures of a comparison by model, for tables, pages and JSON.
 */
#ifndef REPORT_COMPARE_MODELS_H
#define REPORT_COMPARE_MODELS_H

#include "report/compare.h"

struct json;

/* How the figures of a model are called. */
struct model_column {
	const char *title; /* a column's heading */
	const char *key;   /* in JSON and CSV */
	enum unit unit;
	int rank; /* in terminal tables, as in struct metric */
};
extern const struct model_column model_columns[MODEL_FIGURES];

/* The models of the first policy, those that take most GPU-time first.  To be freed; `n` of them. */
const struct model_sums **comparison_models(const struct comparison *c, uint32_t *n);
/* NAN: not known. */
double comparison_model(const struct comparison *c, uint32_t policy, const char *model,
	enum model_figure figure);
/* Whether it is other than 0 and known for somebody. */
bool comparison_model_shows(const struct comparison *c, enum model_figure figure);
/* One unit for a whole column, with digits enough for its smallest. */
struct scale comparison_model_scale(const struct comparison *c, enum model_figure figure);

/* The table of `stint compare --by-model`: for each model a row for each policy. */
void comparison_models_table(const struct comparison *c, const struct compare_style *style,
	const struct term *term, struct buf *out);
/* "models": [ { "model": …, "jobs": …, … }, … ] of a policy. */
void comparison_models_json(struct json *j, const struct compare_policy *p);

#endif
