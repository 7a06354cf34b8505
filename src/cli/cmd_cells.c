/*
 * stint cells: whether every tenant can always get its cells, and what they look like.
 *
 * A file is one of tenants (for the cluster that is named, or the one at hand), or a configuration of HiveD, which has both.
 */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/at_hand.h"
#include "cli/live.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "io/hived_io.h"
#include "io/tenants_io.h"
#include "placement/cell_check.h"
#include "report/table.h"

/* What the person gave. */
struct input {
	const char *path;
	struct cluster cluster;
	struct cell_design design;
	struct cell_conflict conflict;
	bool feasible;
};

static void input_fini(struct input *in)
{
	cell_conflict_fini(&in->conflict);
	cell_design_fini(&in->design);
	cluster_fini(&in->cluster);
}

static int read_ours(const struct args *args, const struct file *file, struct input *in, struct err *err)
{
	struct tenants tenants;
	int rc = tenants_read_yaml(in->path, file->at, file->n, &tenants, err);

	if (rc)
		return rc;
	rc = at_hand_cluster(args, "tenants of which cluster?", &in->cluster, err);
	if (!rc && cell_design_of(&in->cluster, &tenants, &in->design, err) < 0)
		rc = err_prefix(err, "%s", in->path);
	tenants_fini(&tenants);
	return rc;
}

static int read_input(const struct args *args, struct input *in, struct err *err)
{
	enum { BYTES_MAX = 64 << 20 };
	struct file file;
	int rc;

	*in = (struct input){ .path = args->operands.at[0] };
	rc = file_read_upto(in->path, BYTES_MAX, &file, err);
	if (rc)
		return rc;
	if (!hived_looks_like(file.at, file.n))
		rc = read_ours(args, &file, in, err);
	else if (args->cluster)
		rc = err_set(err, ERR_USAGE, "%s has a cluster of its own; leave --cluster out",
			in->path);
	else
		rc = hived_read_yaml(in->path, file.at, file.n, &in->design, err);
	file_fini(&file);
	if (rc)
		input_fini(in);
	else
		in->feasible = cell_check(&in->design, &in->conflict);
	return rc;
}

/* ---- JSON */

static void promise_json(const struct cell_design *d, uint32_t promise, struct json *j)
{
	const struct cell_promise *p = &d->promises.at[promise];

	json_begin_object(j, NULL);
	json_str(j, "tenant", d->vcs.at[p->vc]);
	json_str(j, "chain", d->chains.at[p->chain].name);
	json_str(j, "cell", d->chains.at[p->chain].levels[p->level].name);
	json_int(j, "count", p->count);
	json_str(j, "pinned", p->pin == CELL_NONE ? NULL : d->pins.at[p->pin].name);
	if (p->line)
		json_int(j, "line", p->line);
	json_end(j, '}');
}

static void chain_json(const struct cell_design *d, uint32_t chain, struct json *j)
{
	const struct cell_chain *c = &d->chains.at[chain];

	json_begin_object(j, NULL);
	json_str(j, "name", c->name);
	json_begin_array(j, "levels");
	for (uint32_t level = c->nlevels; level-- > 0;) {
		struct cell_figures f;

		cell_figures(d, chain, level, &f);
		json_begin_object(j, NULL);
		json_str(j, "name", c->levels[level].name);
		json_int(j, "devices", c->levels[level].leaves);
		json_bool(j, "node", level == c->node_level);
		json_int(j, "exist", f.exist);
		json_int(j, "promised", f.promised);
		json_int(j, "pinned", f.pinned);
		json_int(j, "spare", f.spare);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_end(j, '}');
}

static void conflict_json(const struct input *in, struct json *j)
{
	const struct cell_chain *chain = &in->design.chains.at[in->conflict.chain];

	json_begin_object(j, "conflict");
	json_str(j, "chain", chain->name);
	json_str(j, "cell", chain->levels[in->conflict.level].name);
	json_int(j, "need", (int64_t)in->conflict.need);
	json_int(j, "have", (int64_t)in->conflict.have);
	json_begin_array(j, "promises");
	for (size_t i = 0; i < in->conflict.promises.n; i++)
		promise_json(&in->design, in->conflict.promises.at[i], j);
	json_end(j, ']');
	json_end(j, '}');
}

static void input_json(const struct input *in, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "cells/1");
	json_str(&j, "file", in->path);
	json_str(&j, "cluster", in->cluster.spec);
	json_bool(&j, "feasible", in->feasible);
	json_begin_array(&j, "chains");
	for (uint32_t i = 0; i < in->design.chains.n; i++)
		chain_json(&in->design, i, &j);
	json_end(&j, ']');
	json_begin_array(&j, "promises");
	for (uint32_t i = 0; i < in->design.promises.n; i++)
		promise_json(&in->design, i, &j);
	json_end(&j, ']');
	if (!in->feasible)
		conflict_json(in, &j);
	json_end(&j, '}');
	buf_char(out, '\n');
}

/* As JSON if that was asked for, else in the words of `describe`. */
static int print_input(const struct args *args, const struct input *in,
	void (*describe)(const struct input *in, struct buf *out), struct err *err)
{
	struct buf text = { 0 };
	int rc;

	(args->json ? input_json : describe)(in, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	return rc;
}

/* ---- stint cells check */

static void chain_rows(const struct cell_design *d, uint32_t chain, struct table *table)
{
	const struct cell_chain *c = &d->chains.at[chain];

	for (uint32_t level = c->nlevels; level-- > 0;) {
		struct cell_figures f;

		cell_figures(d, chain, level, &f);
		table_cell(table, c->name);
		table_cell(table, c->levels[level].name);
		table_cellf(table, "%u", c->levels[level].leaves);
		table_cellf(table, "%u", f.exist);
		table_cellf(table, "%u", f.promised);
		table_cellf(table, "%lld", (long long)f.spare);
		if (f.spare < 0)
			table_strong(table);
	}
}

static void check_text(const struct input *in, struct buf *out)
{
	struct term term = term_of_stdout();
	struct table table = { 0 };

	buf_printf(out, "%s%s%s: %s\n\n", in->path, in->cluster.spec ? " on " : "",
		in->cluster.spec ? in->cluster.spec : "",
		in->design.promises.n == 0 ? "nobody is promised any cells"
			: in->feasible     ? "every tenant always gets its cells"
					   : "not every tenant can have its cells");
	table_column(&table, "chain", ALIGN_LEFT, 0);
	table_column(&table, "cell", ALIGN_LEFT, 0);
	table_column(&table, "devices", ALIGN_RIGHT, 1);
	table_column(&table, "exist", ALIGN_RIGHT, 0);
	table_column(&table, "promised", ALIGN_RIGHT, 0);
	table_column(&table, "spare", ALIGN_RIGHT, 0);
	for (uint32_t i = 0; i < in->design.chains.n; i++)
		chain_rows(&in->design, i, &table);
	table_write(&table, TABLE_TEXT, &term, out, NULL);
	table_fini(&table);
}

/* The lines of the file that the promises stand on. */
static void tell_lines(const struct input *in, struct buf *out)
{
	const struct cell_design *d = &in->design;
	uint32_t told = 0;

	for (size_t i = 0; i < in->conflict.promises.n; i++) {
		uint32_t line = d->promises.at[in->conflict.promises.at[i]].line;

		if (line)
			buf_printf(out, "%s%u", told++ ? ", " : "; see line ", line);
	}
}

static int refuse(const struct input *in, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	cell_conflict_text(&in->design, &in->conflict, &text);
	tell_lines(in, &text);
	rc = err_set(err, ERR_REFUSED, "%s: more cells are promised than can be kept: %s\n%s",
		in->path, text.at,
		in->conflict.promises.n == 1
			? "make it smaller"
			: "any one of these less, or smaller, and the others can be kept");
	buf_fini(&text);
	return rc;
}

static int run_check(const struct args *args, struct err *err)
{
	struct input in;
	int rc = read_input(args, &in, err);

	if (rc)
		return rc;
	rc = print_input(args, &in, check_text, err);
	if (!rc && !in.feasible)
		rc = refuse(&in, err);
	input_fini(&in);
	return rc;
}

static const struct flag flags[] = {
	TEXT(cluster, "SPEC",
		"the cluster of the tenants: NODESxDEVICES:TYPE or a YAML file; without it the "
		"daemon's, else this machine"),
	SWITCH(json, "print JSON"),
	SWITCH(quiet, "do not say which cluster is meant"),
	{ 0 },
};

static const struct flag_group flags_cells = { .title = "cells", .flags = flags };

static const char *const check_examples[] = {
	"stint cells check tenants.yaml",
	"stint cells check tenants.yaml --cluster cluster.yaml",
	"stint cells check tenants.yaml --cluster 16x8:v100 --json",
	"stint cells check hivedscheduler.yaml",
	NULL,
};

const struct command command_cells_check = {
	.name = "cells check",
	.summary = "whether every tenant can always get its cells",
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_cells, &flags_daemon },
	.about = "FILE names tenants with cells (doc/cells.md), or is a configuration of HiveD. For each kind of cell: how\n"
		 "many exist, are promised, and could still be promised once everybody has theirs. If promises cannot be\n"
		 "kept together, says which: a smallest set of them, and ends with 4.",
	.examples = check_examples,
	.run = run_check,
};

/* ---- stint cells show */

/* rack (2, 32 devices each), and what it is made of below it. */
static void draw_chain(const struct cell_design *d, uint32_t chain, struct buf *out)
{
	const struct cell_chain *c = &d->chains.at[chain];

	buf_printf(out, "%s\n", c->name);
	for (uint32_t level = c->nlevels; level-- > 0;) {
		const struct cell_level *l = &c->levels[level];
		uint32_t depth = c->nlevels - 1 - level;
		struct cell_figures f;

		cell_figures(d, chain, level, &f);
		for (uint32_t i = 0; i < depth; i++)
			buf_str(out, "   ");
		buf_printf(out, "└─ %s: %u", l->name, f.exist);
		if (l->leaves > 1)
			buf_printf(out, " of %u devices", l->leaves);
		if (f.promised)
			buf_printf(out, ", %u promised", f.promised);
		if (f.spare < 0)
			buf_printf(out, ", %lld too many", (long long)-f.spare);
		else
			buf_printf(out, ", %lld spare", (long long)f.spare);
		buf_char(out, '\n');
	}
	buf_char(out, '\n');
}

static void tenant_row(const struct cell_design *d, uint32_t vc, struct table *table)
{
	struct buf text = { 0 };
	uint64_t devices = 0;

	for (size_t i = 0; i < d->promises.n; i++) {
		const struct cell_promise *p = &d->promises.at[i];
		const struct cell_chain *c = &d->chains.at[p->chain];

		if (p->vc != vc)
			continue;
		devices += (uint64_t)p->count * c->levels[p->level].leaves;
		buf_printf(&text, "%s%u %s", text.n ? ", " : "", p->count, c->levels[p->level].name);
		if (d->chains.n > 1)
			buf_printf(&text, " of %s", c->name);
		if (p->pin == CELL_NONE)
			continue;
		buf_str(&text, " (");
		cell_name(d, p->chain, p->level, d->pins.at[p->pin].index, &text);
		buf_char(&text, ')');
	}
	table_cell(table, d->vcs.at[vc]);
	table_cellf(table, "%llu", (unsigned long long)devices);
	table_cell(table, text.n ? text.at : "-");
	buf_fini(&text);
}

static void show_text(const struct input *in, struct buf *out)
{
	struct term term = term_of_stdout();
	struct table table = { 0 };

	for (uint32_t i = 0; i < in->design.chains.n; i++)
		draw_chain(&in->design, i, out);
	table_column(&table, "tenant", ALIGN_LEFT, 0);
	table_column(&table, "devices", ALIGN_RIGHT, 0);
	table_column(&table, "cells", ALIGN_LEFT, 0);
	for (uint32_t i = 0; i < in->design.vcs.n; i++)
		tenant_row(&in->design, i, &table);
	if (in->design.vcs.n)
		table_write(&table, TABLE_TEXT, &term, out, NULL);
	table_fini(&table);
}

static int run_show(const struct args *args, struct err *err)
{
	struct input in;
	int rc = read_input(args, &in, err);

	if (rc)
		return rc;
	rc = print_input(args, &in, show_text, err);
	input_fini(&in);
	return rc;
}

static const char *const show_examples[] = {
	"stint cells show tenants.yaml",
	"stint cells show tenants.yaml --cluster cluster.yaml",
	"stint cells show hivedscheduler.yaml --json",
	NULL,
};

const struct command command_cells_show = {
	.name = "cells show",
	.summary = "how devices make up cells, and who is promised which",
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_cells, &flags_daemon },
	.about = "FILE is as for stint cells check.",
	.examples = show_examples,
	.run = run_show,
};
