/*
 * The figures by model of all policies together.
 */
#include "report/compare_models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

const struct model_column model_columns[MODEL_FIGURES] = {
	[MODEL_JOBS] = { "jobs", "jobs", UNIT_COUNT, 5 },
	[MODEL_JCT] = { "mean JCT", "jct_mean_s", UNIT_SECONDS, 1 },
	[MODEL_WAIT] = { "wait", "wait_mean_s", UNIT_SECONDS, 4 },
	[MODEL_GPUS] = { "GPUs", "gpus_mean", UNIT_RATIO, 2 },
	[MODEL_RESTARTS] = { "restarts per job", "restarts_mean", UNIT_RATIO, 6 },
	[MODEL_GPU_TIME] = { "GPU-time", "held_gpu_s", UNIT_GPU_SECONDS, 3 },
	[MODEL_EFFICIENCY] = { "efficiency", "efficiency", UNIT_SHARE, 7 },
};

double comparison_model(const struct comparison *c, uint32_t policy, const char *model,
	enum model_figure figure)
{
	const struct by_model *list = &c->policies[policy].models;
	const struct model_sums *sums = by_model_find(list, model);

	return sums ? model_figure(sums, list->runs, figure) : NAN;
}

/* Those that take most GPU-time first; what counts together as the others last. */
static int larger_first(const void *a, const void *b)
{
	const struct model_sums *x = *(const struct model_sums *const *)a;
	const struct model_sums *y = *(const struct model_sums *const *)b;
	int xo = !strcmp(x->name, OTHER_MODELS), yo = !strcmp(y->name, OTHER_MODELS);

	if (xo != yo)
		return xo - yo;
	if (x->held_gpu_s != y->held_gpu_s)
		return x->held_gpu_s < y->held_gpu_s ? 1 : -1;
	return strcmp(x->name, y->name);
}

const struct model_sums **comparison_models(const struct comparison *c, uint32_t *n)
{
	const struct by_model *list = &c->policies[0].models;
	const struct model_sums **order = mem_alloc(mem_array_size(list->n + 1, sizeof(*order)));

	for (uint32_t i = 0; i < list->n; i++)
		order[i] = &list->at[i];
	qsort(order, list->n, sizeof(*order), larger_first);
	*n = list->n;
	return order;
}

/* The least and the largest but 0 of a column; 0 if there is none. */
static void range_of(const struct comparison *c, enum model_figure figure, double *least, double *most)
{
	*least = *most = 0;
	for (uint32_t p = 0; p < c->npolicies; p++) {
		const struct by_model *list = &c->policies[p].models;

		for (uint32_t i = 0; i < list->n; i++) {
			double x = model_figure(&list->at[i], list->runs, figure);

			if (!(x > 0))
				continue;
			*least = *least > 0 ? fmin(*least, x) : x;
			*most = fmax(*most, x);
		}
	}
}

/* A column of zeros and of what is not known says nothing. */
bool comparison_model_shows(const struct comparison *c, enum model_figure figure)
{
	double least, most;

	range_of(c, figure, &least, &most);
	return most > 0;
}

/* One unit for a column, with digits enough for its smallest. */
struct scale comparison_model_scale(const struct comparison *c, enum model_figure figure)
{
	double least, most;
	struct scale scale;
	int enough;

	range_of(c, figure, &least, &most);
	scale = scale_for(model_columns[figure].unit, most);
	if (figure == MODEL_WAIT) {
		struct scale jct = comparison_model_scale(c, MODEL_JCT); /* so that both can be compared */

		scale = scale_with(&jct, most);
	}
	least /= scale.per;
	enough = least >= 10 ? 0 : least >= 1 ? 1 : 2;
	if (model_columns[figure].unit == UNIT_RATIO)
		scale.decimals = 2;
	else if (scale.decimals >= 0 && scale.decimals < enough)
		scale.decimals = enough;
	return scale;
}

/* ---- the table of a terminal */

static void put_number(struct table *table, const struct scale *scale, double x)
{
	struct buf text = { 0 };

	if (isfinite(x))
		scale_number(scale, x, &text);
	else
		buf_char(&text, '-');
	table_cell(table, text.at);
	buf_fini(&text);
}

static void put_plain(struct table *table, double x)
{
	struct buf text = { 0 };

	if (isfinite(x))
		buf_double(&text, x);
	table_cell(table, text.at);
	buf_fini(&text);
}

static void put_columns(const struct comparison *c, bool plain, struct table *table)
{
	table_column(table, "model", ALIGN_LEFT, 0);
	table_column(table, "policy", ALIGN_LEFT, 0);
	for (int k = 0; k < MODEL_FIGURES; k++) {
		const struct model_column *column = &model_columns[k];

		if (plain) {
			table_column(table, column->key, ALIGN_RIGHT, 0);
		} else if (comparison_model_shows(c, (enum model_figure)k)) {
			table_column(table, column->title, ALIGN_RIGHT, column->rank);
			table_unit(table, comparison_model_scale(c, (enum model_figure)k).name);
		}
	}
}

static void put_row(const struct comparison *c, uint32_t policy, const char *model, bool plain,
	struct table *table)
{
	table_cell(table, model);
	table_cell(table, c->policies[policy].label);
	for (int k = 0; k < MODEL_FIGURES; k++) {
		struct scale scale = comparison_model_scale(c, (enum model_figure)k);
		double x = comparison_model(c, policy, model, (enum model_figure)k);

		if (plain)
			put_plain(table, x);
		else if (comparison_model_shows(c, (enum model_figure)k))
			put_number(table, &scale, x);
	}
}

void comparison_models_table(const struct comparison *c, const struct compare_style *style,
	const struct term *term, struct buf *out)
{
	bool plain = style->form == TABLE_CSV;
	struct buf left_out = { 0 };
	struct table table = { 0 };
	const struct model_sums **models;
	uint32_t n;

	models = comparison_models(c, &n);
	put_columns(c, plain, &table);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t p = 0; p < c->npolicies; p++)
			put_row(c, p, models[i]->name, plain, &table);
	}
	table_write(&table, style->form, term, out, plain ? NULL : &left_out);
	if (!n && style->form == TABLE_TEXT)
		buf_str(out, "no job says what model it trains\n");
	if (!plain && c->nfailed)
		comparison_failures(c, "\n", "\n", out);
	if (left_out.n)
		buf_printf(out, "no room for: %s\n", left_out.at);
	buf_fini(&left_out);
	table_fini(&table);
	free(models);
}

/* ---- JSON */

void comparison_models_json(struct json *j, const struct compare_policy *p)
{
	json_begin_array(j, "models");
	for (uint32_t i = 0; i < p->models.n; i++) {
		json_begin_object(j, NULL);
		json_str(j, "model", p->models.at[i].name);
		for (int k = 0; k < MODEL_FIGURES; k++)
			json_double(j, model_columns[k].key,
				model_figure(&p->models.at[i], p->models.runs, (enum model_figure)k));
		json_end(j, '}');
	}
	json_end(j, ']');
}
