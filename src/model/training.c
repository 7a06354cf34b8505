/*
 * The tables of what was measured, and the questions that need no mesh.
 */
#include "model/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/training_parts.h"

/* ---- making */

struct training *training_create(const struct cluster *cluster, const struct names *models)
{
	struct training *t = mem_alloc(sizeof(*t));

	t->cluster = cluster;
	t->names = models;
	pthread_mutex_init(&t->mutex, NULL);
	return t;
}

static void model_fini(struct training_of_model *model, uint32_t ntypes)
{
	for (uint32_t type = 0; model->tables && type < ntypes; type++) {
		vec_fini(&model->tables[type].placed);
		vec_fini(&model->tables[type].scaled);
		training_mesh_destroy(model->tables[type].mesh);
		training_fit_destroy(model->tables[type].fit);
	}
	for (size_t i = 0; i < model->ncurves; i++)
		vec_fini(&model->curves[i]);
	free(model->tables);
	free(model->curves);
	free(model->progress);
}

void training_destroy(struct training *training)
{
	if (!training)
		return;
	for (uint32_t i = 0; i < training->nmodels; i++)
		model_fini(&training->models[i], training->cluster->ntypes);
	free(training->models);
	arena_fini(&training->memory);
	pthread_mutex_destroy(&training->mutex);
	free(training);
}

struct training_model *training_add_model(struct training *training, uint32_t model)
{
	struct training_of_model *m;

	if (model >= training->nmodels) {
		uint32_t n = model + 1;

		training->models = mem_resize(training->models, mem_array_size(n, sizeof(*m)));
		memset(training->models + training->nmodels, 0, (n - training->nmodels) * sizeof(*m));
		training->nmodels = n;
	}
	m = &training->models[model];
	if (!m->known) {
		m->known = true;
		m->facts = (struct training_model){ .restart_s = 30,
			.restart_believed_s = 30,
			.slowdown = 1 };
		m->tables = mem_alloc(mem_array_size(training->cluster->ntypes, sizeof(*m->tables)));
	}
	return &m->facts;
}

uint32_t lay_normalise(struct lay lay, uint16_t *out)
{
	uint16_t *at = mem_alloc(2 * lay.nodes * sizeof(*at));
	uint32_t n = 0, best = 0;

	for (uint32_t i = 0; i < lay.nodes; i++) {
		if (lay.on_node[i])
			at[n++] = lay.on_node[i];
	}
	memcpy(at + n, at, n * sizeof(*at));
	for (uint32_t from = 1; from < n; from++) {
		uint32_t k = 0;

		while (k < n && at[from + k] == at[best + k])
			k++;
		if (k < n && at[from + k] < at[best + k])
			best = from;
	}
	memcpy(out, at + best, n * sizeof(*at));
	free(at);
	return n;
}

static uint32_t lay_devices(const uint16_t *on_node, uint32_t nodes)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < nodes; i++)
		sum += on_node[i];
	return sum;
}

void training_add_pass(struct training *training, uint32_t model, uint32_t type, struct lay lay,
	double batch, struct pass pass)
{
	struct training_table *table = &training->models[model].tables[type];
	uint16_t *on_node = arena_array(&training->memory, uint16_t, lay.nodes);
	uint32_t nodes = lay_normalise(lay, on_node);

	vec_push(&table->placed,
		(struct training_row){ on_node, nodes, lay_devices(on_node, nodes), batch, pass });
	if (nodes > training->widest[type])
		training->widest[type] = nodes;
}

void training_add_scaled(struct training *training, uint32_t model, uint32_t type, uint32_t nodes,
	uint32_t replicas, double batch, struct pass pass)
{
	vec_push(&training->models[model].tables[type].scaled,
		(struct training_row){ NULL, nodes, replicas, batch, pass });
	if (nodes > training->widest[type])
		training->widest[type] = nodes;
}

void training_cap_local(struct training *training, uint32_t model, uint32_t type, double max_local)
{
	training->models[model].tables[type].cap_local = max_local;
}

void training_set_widest(struct training *training, uint32_t type, uint32_t nodes)
{
	training->widest_said[type] = nodes;
}

static struct training_curve *curve_of(struct training_of_model *model, double batch)
{
	size_t at = 0;

	while (at < model->ncurves && model->curves[at].batch < batch)
		at++;
	if (at < model->ncurves && model->curves[at].batch == batch)
		return &model->curves[at];
	model->curves = mem_resize(model->curves,
		mem_array_size(model->ncurves + 1, sizeof(*model->curves)));
	memmove(model->curves + at + 1, model->curves + at,
		(model->ncurves - at) * sizeof(*model->curves));
	model->ncurves++;
	model->curves[at] = (struct training_curve){ .batch = batch };
	return &model->curves[at];
}

void training_add_epoch(struct training *training, uint32_t model, double batch,
	struct training_epoch epoch)
{
	struct training_curve *curve = curve_of(&training->models[model], batch);

	vec_push(curve, epoch);
}

const struct cluster *training_cluster(const struct training *training)
{
	return training->cluster;
}

uint32_t training_epochs_read(const struct training *training, uint32_t model, double batch)
{
	const struct training_of_model *m = &training->models[model];

	for (size_t i = 0; i < m->ncurves; i++) {
		if (m->curves[i].batch == batch)
			return (uint32_t)m->curves[i].n;
	}
	return 0;
}

/* ---- order */

static int compare_lays(const uint16_t *a, const uint16_t *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct training_row *p = a, *q = b;
	int order = 0;

	if (p->nodes != q->nodes)
		return p->nodes < q->nodes ? -1 : 1;
	if (p->on_node && q->on_node)
		order = compare_lays(p->on_node, q->on_node, p->nodes);
	if (!order && p->replicas != q->replicas)
		order = p->replicas < q->replicas ? -1 : 1;
	if (!order && p->batch != q->batch)
		order = p->batch < q->batch ? -1 : 1;
	return order;
}

static void rows_finish(struct training_rows *rows)
{
	if (rows->n)
		qsort(rows->at, rows->n, sizeof(*rows->at), compare_rows);
}

static bool same_lay(const struct training_row *a, const struct training_row *b)
{
	return a->nodes == b->nodes && !compare_lays(a->on_node, b->on_node, a->nodes);
}

bool training_lone_batch(const struct training *training, uint32_t model, uint32_t type,
	char text[128], double *batch)
{
	struct training_rows *rows = &training->models[model].tables[type].placed;
	size_t i, end, n = 0;

	rows_finish(rows);
	for (i = 0; i < rows->n; i = end) {
		for (end = i + 1; end < rows->n && same_lay(&rows->at[i], &rows->at[end]); end++)
			;
		if (rows->at[i].batch == rows->at[end - 1].batch)
			break;
	}
	if (i == rows->n)
		return false;
	for (uint32_t k = 0; k < rows->at[i].nodes && n < 110; k++)
		n += (size_t)snprintf(text + n, 128 - n, "%s%u", k ? "-" : "", rows->at[i].on_node[k]);
	*batch = rows->at[i].batch;
	return true;
}

static void progress_finish(struct training_of_model *model)
{
	uint32_t epochs = model->facts.epochs;

	free(model->progress);
	model->progress = mem_alloc(mem_array_size((size_t)epochs + 1, sizeof(*model->progress)));
	for (uint32_t e = 1; e <= epochs; e++) {
		double least = INFINITY;

		for (size_t i = 0; i < model->ncurves; i++) {
			if (e <= model->curves[i].n && model->curves[i].at[e - 1].progress < least)
				least = model->curves[i].at[e - 1].progress;
		}
		model->progress[e] = isfinite(least) ? least : model->progress[e - 1];
	}
}

void training_finish(struct training *training)
{
	for (uint32_t i = 0; i < training->nmodels; i++) {
		struct training_of_model *model = &training->models[i];

		if (!model->known)
			continue;
		for (uint32_t type = 0; type < training->cluster->ntypes; type++)
			rows_finish(&model->tables[type].placed);
		progress_finish(model);
	}
}

/* ---- asking */

static const struct training_of_model *of_model(const struct training *training, uint32_t model)
{
	if (!training || model >= training->nmodels || !training->models[model].known)
		return NULL;
	return &training->models[model];
}

const struct training_model *training_of(const struct training *training, uint32_t model)
{
	const struct training_of_model *m = of_model(training, model);

	return m ? &m->facts : NULL;
}

static const struct training_table *table_of(const struct training *training, uint32_t model,
	uint32_t type)
{
	const struct training_of_model *m = of_model(training, model);

	return m && type < training->cluster->ntypes && m->tables[type].placed.n ? &m->tables[type]
										 : NULL;
}

bool training_knows(const struct training *training, uint32_t model, uint32_t type)
{
	return table_of(training, model, type);
}

struct batch_limits training_limits(const struct training *training, uint32_t model, uint32_t type)
{
	const struct training_table *table = table_of(training, model, type);
	struct batch_limits out = { 0 };

	if (!table)
		return out;
	out.initial = training->models[model].facts.initial_batch;
	out.max = training->models[model].facts.max_batch;
	out.min_local = INFINITY;
	for (size_t i = 0; i < table->placed.n; i++) {
		out.min_local = fmin(out.min_local, table->placed.at[i].batch);
		out.max_local = fmax(out.max_local, table->placed.at[i].batch);
	}
	if (training->models[model].facts.unit[type]) {
		/* Pipelines take micro-batches of the least size only. */
		out.min_local *= TRAINING_MICRO;
		out.max_local = out.min_local;
		out.unit = training->models[model].facts.unit[type];
	}
	if (table->cap_local > 0)
		out.max_local = fmin(out.max_local, table->cap_local);
	return out;
}

struct batch_limits training_limits_as(const struct training *training, uint32_t model,
	uint32_t type, enum compat compat)
{
	struct batch_limits out = training_limits(training, model, type);

	if (compat == COMPAT_OSDI21 && out.max_local > 0 &&
		training->models[model].facts.osdi21_max_local > 0)
		out.max_local = training->models[model].facts.osdi21_max_local;
	return out;
}

int32_t training_batch(const struct training *training, uint32_t model, int32_t batch)
{
	const struct training_model *facts = training_of(training, model);

	if (!facts || batch <= 0)
		return batch;
	return (int32_t)fmin(fmax(batch, facts->initial_batch), fmin(facts->max_batch, INT32_MAX));
}

/* The rows of a normalised lay: the first, and how many. */
static const struct training_row *rows_of(const struct training_rows *rows, const uint16_t *on_node,
	uint32_t nodes, size_t *n)
{
	struct training_row key = { .on_node = on_node,
		.nodes = nodes,
		.batch = -1,
		.replicas = lay_devices(on_node, nodes) };
	size_t low = 0, high = rows->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (compare_rows(&rows->at[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (*n = 0; low + *n < rows->n; (*n)++) {
		const struct training_row *row = &rows->at[low + *n];

		if (row->nodes != nodes || compare_lays(row->on_node, on_node, nodes))
			break;
	}
	return *n ? &rows->at[low] : NULL;
}

enum { LAY_SMALL = 64 };

double training_max_local(const struct training *training, uint32_t model, uint32_t type, struct lay lay)
{
	const struct training_table *table = table_of(training, model, type);
	uint16_t small[LAY_SMALL], *on_node = small;
	const struct training_row *rows;
	double most = 0;
	uint32_t nodes;
	size_t n;

	if (!table)
		return 0;
	if (training->models[model].facts.unit[type])
		return training_limits(training, model, type).max_local;
	if (lay.nodes > LAY_SMALL)
		on_node = mem_alloc(lay.nodes * sizeof(*on_node));
	nodes = lay_normalise(lay, on_node);
	rows = rows_of(&table->placed, on_node, nodes, &n);
	if (rows)
		most = rows[n - 1].batch;
	for (size_t i = 0; !rows && i < table->scaled.n; i++) {
		const struct training_row *row = &table->scaled.at[i];

		if (row->nodes >= nodes && row->replicas >= lay_devices(on_node, nodes))
			most = fmax(most, row->batch);
	}
	if (on_node != small)
		free(on_node);
	return most;
}

double training_max_local_of(const struct training *training, uint32_t model, uint32_t type,
	uint32_t replicas)
{
	const struct training_table *table = table_of(training, model, type);
	double most = 0;

	for (size_t i = 0; table && i < table->placed.n; i++) {
		if (table->placed.at[i].replicas == replicas)
			most = fmax(most, table->placed.at[i].batch);
	}
	return most;
}

/* Linear between the rows, which are in order of batch. */
static bool between_rows(const struct training_row *rows, size_t n, double batch, struct pass *out)
{
	const struct training_row *a, *b;
	size_t i = 1;
	double part;

	if (!(batch >= rows[0].batch && batch <= rows[n - 1].batch))
		return false;
	if (n == 1) {
		*out = rows[0].pass;
		return true;
	}
	while (i + 1 < n && rows[i].batch < batch)
		i++;
	a = &rows[i - 1];
	b = &rows[i];
	part = b->batch > a->batch ? (batch - a->batch) / (b->batch - a->batch) : 0;
	out->step_s = a->pass.step_s + part * (b->pass.step_s - a->pass.step_s);
	out->sync_s = a->pass.sync_s + part * (b->pass.sync_s - a->pass.sync_s);
	return true;
}

static const struct training_mesh *mesh_for(const struct training *training,
	const struct training_table *table)
{
	/* What is asked is the same whenever it is made, so this is no change that anybody sees. */
	struct training_table *made = (struct training_table *)table;
	pthread_mutex_t *mutex = &((struct training *)training)->mutex;
	struct training_mesh *mesh;

	pthread_mutex_lock(mutex);
	if (!made->mesh)
		made->mesh = training_mesh_create(table);
	mesh = made->mesh;
	pthread_mutex_unlock(mutex);
	return mesh;
}

static bool pass_of(const struct training *training, const struct training_table *table,
	const uint16_t *on_node, uint32_t nodes, double batch, struct pass *out)
{
	const struct training_row *rows;
	size_t n;

	if (!nodes)
		return false;
	rows = rows_of(&table->placed, on_node, nodes, &n);
	if (rows)
		return between_rows(rows, n, batch, out);
	return training_mesh_pass(mesh_for(training, table), nodes, lay_devices(on_node, nodes),
		batch, out);
}

/* Whichever of both ways is asked for, with the lay in its normal form. */
static bool pass_as(const struct training *training, uint32_t model, uint32_t type, struct lay lay,
	double atomic, bool beyond, struct pass *out)
{
	const struct training_table *table = table_of(training, model, type);
	uint16_t small[LAY_SMALL], *on_node = small;
	uint32_t nodes, unit;
	bool known;

	*out = (struct pass){ 0 };
	if (!table)
		return false;
	if (lay.nodes > LAY_SMALL)
		on_node = mem_alloc(lay.nodes * sizeof(*on_node));
	nodes = lay_normalise(lay, on_node);
	unit = training->models[model].facts.unit[type];
	if (unit)
		atomic /= TRAINING_MICRO;
	known = !beyond && pass_of(training, table, on_node, nodes, atomic, out);
	/* A stage's forward pass does not depend on where the others are. */
	if (!known && (beyond || unit))
		known = training_table_beyond(training, table, nodes, lay_devices(on_node, nodes),
			atomic, !unit, out);
	if (on_node != small)
		free(on_node);
	/* Forward and twice as long backward through all stages; the all-reduce hides behind them. */
	if (known && unit)
		*out = (struct pass){ 3 * (unit - 1 + TRAINING_MICRO) * out->step_s, 0 };
	return known;
}

bool training_pass(const struct training *training, uint32_t model, uint32_t type, struct lay lay,
	double atomic, struct pass *out)
{
	return pass_as(training, model, type, lay, atomic, false, out);
}

bool training_pass_beyond(const struct training *training, uint32_t model, uint32_t type,
	struct lay lay, double atomic, struct pass *out)
{
	return pass_as(training, model, type, lay, atomic, true, out);
}

double training_single(const struct training *training, uint32_t model, uint32_t type)
{
	const struct training_table *table = table_of(training, model, type);
	uint32_t unit = table ? training->models[model].facts.unit[type] : 0;
	double batch = 0, step_s = 0;

	for (size_t i = 0; table && i < table->placed.n; i++) {
		const struct training_row *row = &table->placed.at[i];

		if (row->replicas > 1 && unit <= 1)
			break; /* rows are in order: those of one device are the first */
		if (row->replicas != (unit ? unit : 1))
			continue;
		batch = fmax(batch, row->batch);
		step_s = fmax(step_s, row->pass.step_s);
	}
	if (!(step_s > 0))
		return 0;
	/* Of a pipeline: what one of its devices contributes. */
	return unit ? batch * TRAINING_MICRO / (3 * (unit - 1 + TRAINING_MICRO) * step_s) / unit
		    : batch / step_s;
}

uint32_t training_widest(const struct training *training, uint32_t type)
{
	return training->widest_said[type] ? training->widest_said[type] : training->widest[type];
}

/* ---- epochs */

/* The curves around `batch`, and how far it is from the first to the second. */
static double curves_around(const struct training_of_model *model, double batch,
	const struct training_curve **a, const struct training_curve **b)
{
	size_t i = 0;

	while (i + 1 < model->ncurves && model->curves[i + 1].batch <= batch)
		i++;
	*a = &model->curves[i];
	*b = i + 1 < model->ncurves ? &model->curves[i + 1] : *a;
	if (*a == *b || batch <= (*a)->batch)
		return 0;
	return (batch - (*a)->batch) / ((*b)->batch - (*a)->batch);
}

static const struct training_epoch *epoch_at(const struct training_curve *curve, uint32_t epoch)
{
	static const struct training_epoch none = { 0 };

	if (!curve->n)
		return &none;
	return &curve->at[epoch < curve->n ? epoch : curve->n - 1];
}

struct gradient training_gradient(const struct training *training, uint32_t model, double batch,
	uint32_t epoch)
{
	const struct training_of_model *m = of_model(training, model);
	const struct training_curve *a, *b;
	struct gradient p, q;
	double part;

	if (!m || !m->ncurves)
		return (struct gradient){ 0 };
	part = curves_around(m, batch, &a, &b);
	p = epoch_at(a, epoch)->gradient;
	q = epoch_at(b, epoch)->gradient;
	return (struct gradient){ p.sqr + part * (q.sqr - p.sqr), p.var + part * (q.var - p.var) };
}

double training_progress(const struct training *training, uint32_t model, uint32_t epochs)
{
	const struct training_of_model *m = of_model(training, model);

	if (!m)
		return 0;
	return m->progress[epochs < m->facts.epochs ? epochs : m->facts.epochs];
}

double training_iterations(const struct training *training, uint32_t model, double batch, uint32_t epochs)
{
	const struct training_of_model *m = of_model(training, model);
	const struct training_curve *a, *b;
	double part, p, q;

	if (!m || !m->ncurves || !epochs)
		return 0;
	part = curves_around(m, batch, &a, &b);
	p = epoch_at(a, epochs - 1)->iteration;
	q = epoch_at(b, epochs - 1)->iteration;
	return p + part * (q - p);
}

double training_work(const struct training *training, uint32_t model)
{
	const struct training_of_model *m = of_model(training, model);

	return m ? m->progress[m->facts.epochs] : 0;
}
