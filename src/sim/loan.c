#include "sim/loan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "io/loan_io.h"

struct loan_options {
	char type[OPTION_TEXT_MAX];
	int nodes;
	double headroom;
};

static const struct option options[] = {
	OPT_TEXT(struct loan_options, type, "", "nodes of this type are the inference side's"),
	OPT_INT(struct loan_options, nodes, 0, 0, NODES_MAX, "the last N nodes are borrowed ones"),
	OPT_DOUBLE(struct loan_options, headroom, 0.02, 0, 1,
		"part of its servers that inference keeps beyond its demand"),
	{ 0 },
};

/* Where the options begin: the last colon that such a name follows; NULL: there are none. */
static const char *options_in(const char *spec)
{
	const char *colon = strrchr(spec, ':');

	return colon && strchr(colon, '=') && !strchr(colon, '/') ? colon + 1 : NULL;
}

char *loan_path(const char *spec)
{
	const char *after = options_in(spec);

	return after ? mem_strndup(spec, (size_t)(after - spec) - 1) : mem_strdup(spec);
}

/* ---- which nodes */

static void take_node(struct loan *loan, uint32_t node)
{
	loan->pool[node] = true;
	loan->servers++;
}

static int take_type(struct loan *loan, const struct cluster *cluster, const char *name, struct err *err)
{
	int type = cluster_find_type(cluster, name);
	struct buf known = { 0 };

	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		if (type >= 0 && cluster->nodes[i].type == (uint32_t)type)
			take_node(loan, i);
	}
	if (type >= 0)
		return 0;
	for (uint32_t i = 0; i < cluster->ntypes; i++)
		buf_printf(&known, "%s%s", i ? ", " : "", cluster->types[i].name);
	err_set(err, ERR_USAGE, "loan: no node of the cluster is of type '%s'; its types are %s",
		name, known.at);
	buf_fini(&known);
	return err->code;
}

static int take_last(struct loan *loan, const struct cluster *cluster, uint32_t n, struct err *err)
{
	if (n > cluster->nnodes)
		return err_set(err, ERR_USAGE,
			"loan: nodes=%u, but the cluster has %u; those that are lent are among them",
			n, cluster->nnodes);
	for (uint32_t i = cluster->nnodes - n; i < cluster->nnodes; i++)
		take_node(loan, i);
	return 0;
}

static double most_lent(const struct loan_series *series)
{
	double most = 0;

	for (size_t i = 0; i < series->rows.n; i++)
		most = fmax(most, series->rows.at[i].value);
	return most;
}

static int choose_nodes(struct loan *loan, const struct loan_options *o,
	const struct loan_series *series, const struct cluster *cluster, struct err *err)
{
	if (o->type[0] && o->nodes)
		return err_set(err, ERR_USAGE, "loan: type= and nodes= both say which nodes: give one");
	if (o->type[0])
		return take_type(loan, cluster, o->type, err);
	if (o->nodes)
		return take_last(loan, cluster, (uint32_t)o->nodes, err);
	if (series->demand)
		return err_set(err, ERR_USAGE,
			"loan: a demand is a part of all inference servers: say which these are, "
			"FILE:type=TYPE or FILE:nodes=N");
	/* More than there are is found, with its line, when the steps are made. */
	return take_last(loan, cluster, (uint32_t)fmin(most_lent(series), cluster->nnodes), err);
}

/* ---- how many when */

static uint32_t lent_at(const struct loan *loan, const struct loan_series *series, double headroom,
	double value)
{
	if (!series->demand)
		return (uint32_t)value;
	return (uint32_t)fmax(0, floor(loan->servers * (1 - value - headroom) + 1e-9));
}

static int make_steps(struct loan *loan, const struct loan_series *series, double headroom,
	const char *path, struct err *err)
{
	for (size_t i = 0; i < series->rows.n; i++) {
		const struct loan_row *row = &series->rows.at[i];
		struct loan_step step = { row->at_s, lent_at(loan, series, headroom, row->value) };

		if (step.servers > loan->servers)
			return err_set(err, ERR_FORMAT,
				"%s:%zu: %u servers are lent, but there are only %u in the pool; a larger "
				"cluster, or fewer servers, is what it takes",
				path, row->line, step.servers, loan->servers);
		if (loan->steps.n == 0 || loan->steps.at[loan->steps.n - 1].servers != step.servers)
			vec_push(&loan->steps, step);
	}
	return 0;
}

int loan_create(const char *spec, const struct cluster *cluster, struct loan *out, struct err *err)
{
	const char *text = options_in(spec);
	struct loan_series series = { 0 };
	struct loan_options o = { .nodes = 0 };
	struct loan loan = { 0 };
	char *path = loan_path(spec);
	int rc;

	option_defaults(options, &o);
	rc = text ? option_parse(options, &o, "loan", text, err) : 0;
	if (rc == 0)
		rc = loan_read(path, &series, err);
	if (rc == 0) {
		loan.pool = mem_alloc(cluster->nnodes + 1u);
		rc = choose_nodes(&loan, &o, &series, cluster, err);
	}
	if (rc == 0)
		rc = make_steps(&loan, &series, o.headroom, path, err);
	if (rc == 0)
		*out = loan;
	else
		loan_fini(&loan);
	loan_series_fini(&series);
	free(path);
	return rc;
}

void loan_fini(struct loan *loan)
{
	free(loan->pool);
	vec_fini(&loan->steps);
	*loan = (struct loan){ 0 };
}
