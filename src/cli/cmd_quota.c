/*
 * stint quota: tenants, what they are promised, and what they have and used.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/at_hand.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/setup.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "io/tenants_io.h"
#include "io/tenants_quota.h"
#include "model/quota.h"

/* ---- the table, as a tree */

enum { DEPTH_MAX = 32 };

struct view {
	const json_t *tenants;
	struct table table;
	struct buf name;
	bool cells; /* somebody has some */
};

/* Empty where it is not there. */
static const char *text_of(const json_t *object, const char *name)
{
	const char *text = live_text(object, name);

	return text ? text : "";
}

/* A number of devices, "all" for no limit. */
static void limit_cell(struct table *table, const json_t *tenant, const char *key)
{
	double n = live_number(tenant, key);

	if (isnan(n))
		table_cell(table, "all");
	else
		table_cellf(table, "%.4g", n);
}

/* "50%", of which its own jobs have some where others stand below it: "50%, own 12.5%". */
static void share_cell(struct table *table, const json_t *tenant)
{
	double part = live_number(tenant, "share"), own = live_number(tenant, "own_share");

	if (isnan(part))
		table_cell(table, "-");
	else if (isnan(own))
		table_cellf(table, "%.3g%%", part * 100);
	else
		table_cellf(table, "%.3g%%, own %.3g%%", part * 100, own * 100);
}

/* "0.70 of its share". */
static void standing_cell(struct table *table, double standing)
{
	if (isnan(standing))
		table_cell(table, "-");
	else
		table_cellf(table, "%.2f", standing);
}

static void tenant_row(struct view *v, const json_t *tenant, int depth)
{
	char used[DURATION_SIZE];
	const char *name = text_of(tenant, "name"), *said = text_of(tenant, "guaranteed_as_said");

	v->name.n = 0;
	for (int i = 0; i < depth; i++)
		buf_str(&v->name, "  ");
	buf_str(&v->name, *name ? name : "(none)");
	table_cell(&v->table, v->name.at);
	table_cellf(&v->table, "%g", live_number(tenant, "weight"));
	if (strchr(said, ':'))
		table_cell(&v->table, said);
	else
		table_cellf(&v->table, "%.4g", live_number(tenant, "guaranteed"));
	if (v->cells)
		table_cell(&v->table, text_of(tenant, "cells"));
	limit_cell(&v->table, tenant, "borrow");
	limit_cell(&v->table, tenant, "lend");
	table_cellf(&v->table, "%.4g", live_number(tenant, "held_gpus"));
	table_cellf(&v->table, "%.4g", live_number(tenant, "borrowed_gpus"));
	table_cellf(&v->table, "%.0f", live_number(tenant, "running"));
	table_cellf(&v->table, "%.0f", live_number(tenant, "pending"));
	table_cell(&v->table, live_duration(live_number(tenant, "used_gpu_s"), used));
	share_cell(&v->table, tenant);
	standing_cell(&v->table, live_number(tenant, "standing"));
}

/* Those below `parent` (empty: at the top), each followed by those below it. */
static void rows_below(struct view *v, const char *parent, int depth)
{
	const json_t *tenant;
	size_t i;

	json_array_foreach(v->tenants, i, tenant)
	{
		const char *name = text_of(tenant, "name");

		if (strcmp(text_of(tenant, "parent"), parent) != 0)
			continue;
		tenant_row(v, tenant, depth);
		if (*name && depth < DEPTH_MAX)
			rows_below(v, name, depth + 1);
	}
}

static int show(const json_t *reply, struct err *err)
{
	struct view v = { .tenants = json_object_get(reply, "tenants") };
	struct term term = term_of_stdout();
	struct buf text = { 0 };
	const char *note = live_text(reply, "note");
	int rc;

	for (size_t i = 0; i < json_array_size(v.tenants); i++)
		v.cells |= live_text(json_array_get(v.tenants, i), "cells") != NULL;
	table_column(&v.table, "TENANT", ALIGN_LEFT, 0);
	table_column(&v.table, "WEIGHT", ALIGN_RIGHT, 1);
	table_column(&v.table, "GUARANTEED", ALIGN_RIGHT, 0);
	if (v.cells)
		table_column(&v.table, "CELLS", ALIGN_LEFT, 0);
	table_column(&v.table, "BORROW", ALIGN_RIGHT, 2);
	table_column(&v.table, "LEND", ALIGN_RIGHT, 3);
	table_column(&v.table, "GPUS", ALIGN_RIGHT, 0);
	table_column(&v.table, "BORROWED", ALIGN_RIGHT, 0);
	table_column(&v.table, "RUNNING", ALIGN_RIGHT, 4);
	table_column(&v.table, "PENDING", ALIGN_RIGHT, 2);
	table_column(&v.table, "GPU TIME", ALIGN_RIGHT, 3);
	table_column(&v.table, "SHARE", ALIGN_RIGHT, 5);
	table_column(&v.table, "STANDING", ALIGN_RIGHT, 6);
	rows_below(&v, "", 0);
	if (json_array_size(v.tenants))
		table_write(&v.table, TABLE_TEXT, &term, &text, NULL);
	else
		ui_err("no tenants yet: the first job of one makes it known\n");
	rc = ui_print(&text, err);
	if (!rc && json_array_size(v.tenants) && note)
		ui_err("%s\n", note);
	table_fini(&v.table);
	buf_fini(&v.name);
	buf_fini(&text);
	return rc;
}

/* ---- set */

static void put(json_t *body, const char *key, const char *value)
{
	if (value)
		json_object_set_new(body, key, json_string(value));
}

/* "tenant vision: weight 2, guaranteed 8": as it is now. */
static int told(const struct args *args, const json_t *reply)
{
	const json_t *tenant;
	size_t i;

	json_array_foreach(json_object_get(reply, "tenants"), i, tenant)
	{
		double borrow = live_number(tenant, "borrow"), lend = live_number(tenant, "lend");
		const char *parent = text_of(tenant, "parent"), *name = text_of(tenant, "name");

		if (strcmp(name, args->operands.at[1]) != 0)
			continue;
		ui_out("tenant %s: weight %g", name, live_number(tenant, "weight"));
		if (*text_of(tenant, "guaranteed_as_said"))
			ui_out(", guaranteed %s", text_of(tenant, "guaranteed_as_said"));
		if (!isnan(borrow))
			ui_out(", borrow %g", borrow);
		if (!isnan(lend))
			ui_out(", lend %g", lend);
		ui_out("%s%s\n", *parent ? ", below " : "", parent);
	}
	return 0;
}

static int set(const struct args *args, json_t **reply, struct err *err)
{
	json_t *body;

	if (args->operands.n != 2 ||
		(isnan(args->load) && !args->guaranteed && !args->borrow && !args->lend && !args->parent))
		return err_set(err, ERR_USAGE,
			"write: stint quota set TENANT with what to change: --weight W, --guaranteed N, "
			"--borrow N, --lend N, --parent TENANT");
	body = json_pack("{s:s}", "tenant", args->operands.at[1]);
	if (!body)
		return err_set(err, ERR_USAGE, "the tenant's name is not UTF-8");
	if (!isnan(args->load))
		json_object_set_new(body, "weight", json_real(args->load));
	put(body, "guaranteed", args->guaranteed);
	put(body, "borrow", args->borrow);
	put(body, "lend", args->lend);
	put(body, "parent", args->parent);
	return live_post(args, "/v1/quota", body, reply, err);
}

/* ---- files */

static const char *file_of(const struct args *args, struct err *err)
{
	if (args->operands.n == 2)
		return args->operands.at[1];
	err_set(err, ERR_USAGE, "write: stint quota %s FILE", args->operands.at[0]);
	return NULL;
}

/* What is wrong with a file is found here, where its lines are known. */
static int load(const struct args *args, json_t **reply, struct err *err)
{
	const char *path = file_of(args, err);
	struct tenants tenants = { 0 };
	struct buf yaml = { 0 };
	json_t *body;
	int rc;

	if (!path)
		return err->code;
	rc = tenants_read(path, &tenants, err);
	if (rc < 0)
		return rc;
	tenants_write_yaml(&tenants, &yaml);
	body = json_pack("{s:s}", "yaml", yaml.at);
	rc = body ? live_post(args, "/v1/quota", body, reply, err)
		  : err_set(err, ERR_FORMAT, "%s: a name is not UTF-8", path);
	tenants_fini(&tenants);
	buf_fini(&yaml);
	return rc;
}

static void check_json(const struct tenants *tenants, const struct promises *promises,
	uint32_t devices, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "quota-check/1");
	json_bool(&j, "ok", true);
	json_int(&j, "devices", devices);
	json_begin_array(&j, "tenants");
	for (uint32_t i = 0; i < tenants->n; i++) {
		const struct tenant *t = &tenants->at[i];

		json_begin_object(&j, NULL);
		json_str(&j, "name", t->name);
		json_double(&j, "weight", t->weight);
		json_int(&j, "guaranteed", (int64_t)promises->of[i].total);
		json_double(&j, "borrow", t->borrow == QUOTA_ALL ? INFINITY : t->borrow);
		json_double(&j, "lend", t->lend == QUOTA_ALL ? INFINITY : t->lend);
		if (t->parent != TENANT_NONE)
			json_str(&j, "parent", tenants->at[t->parent].name);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
	buf_char(out, '\n');
}

/* What cannot be kept: of whom, and the sentence. */
static void conflict_json(const struct quota_conflict *conflict, uint32_t devices, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "quota-check/1");
	json_bool(&j, "ok", false);
	json_int(&j, "devices", devices);
	json_begin_object(&j, "conflict");
	json_begin_array(&j, "tenants");
	for (uint32_t i = 0; i < conflict->who.n; i++)
		json_str(&j, NULL, conflict->who.at[i]);
	json_end(&j, ']');
	/* Who does not hold what is below it is the last of them; else it is the cluster. */
	json_str(&j, "above",
		conflict->above == TENANT_NONE ? NULL : conflict->who.at[conflict->who.n - 1]);
	json_str(&j, "text", conflict->text.at);
	json_end(&j, '}');
	json_end(&j, '}');
	buf_char(out, '\n');
}

static void check_text(const struct tenants *tenants, const struct promises *promises,
	uint32_t devices, struct buf *out)
{
	uint64_t promised = 0;

	for (uint32_t i = 0; i < tenants->n; i++)
		promised += tenants->at[i].parent == TENANT_NONE ? promises->of[i].total : 0;
	buf_printf(out, "%u tenant%s, %llu of %u devices promised: can be kept\n", tenants->n,
		tenants->n == 1 ? "" : "s", (unsigned long long)promised, devices);
}

/* Whoever reads JSON gets some also where it cannot be kept; the answer is still the error's. */
static int told_conflict(const struct args *args, const struct quota_conflict *conflict,
	uint32_t devices, struct err *err)
{
	struct buf text = { 0 };
	struct err failed;

	if (args->json && conflict->who.n) {
		conflict_json(conflict, devices, &text);
		if (ui_print(&text, &failed) < 0)
			*err = failed;
	}
	buf_fini(&text);
	return err->code;
}

/* Devices that a promise of any type may be kept with. */
static uint32_t counted_devices(const struct tenants *tenants, const struct cluster *cluster)
{
	uint32_t counted = quota_types(tenants, cluster), n = 0;

	for (uint32_t k = 0; k < cluster->ntypes; k++)
		n += counted >> k & 1 ? cluster->types[k].devices : 0;
	return n;
}

static int told_promises(const struct args *args, const struct tenants *tenants,
	const struct cluster *cluster, const struct cell_design *cells, struct err *err)
{
	struct promises promises;
	struct buf text = { 0 };
	int rc;

	promises_make(tenants, cluster, &promises);
	promises_add_cells(tenants, cells, &promises);
	(args->json ? check_json : check_text)(tenants, &promises,
		counted_devices(tenants, cluster), &text);
	rc = ui_print(&text, err);
	promises_fini(&promises);
	buf_fini(&text);
	return rc;
}

/* With the devices of cells, which a file may promise beside quotas. */
static int check_both(const struct args *args, const char *path, const struct tenants *tenants,
	const struct cluster *cluster, struct err *err)
{
	struct quota_conflict conflict = { 0 };
	struct cell_design cells = { 0 };
	int rc;

	if (cell_design_of(cluster, tenants, &cells, err) < 0) {
		rc = err_prefix(err, "%s", path);
	} else if (quota_conflicts(tenants, cluster, &cells, &conflict)) {
		err_set(err, ERR_REFUSED, "%s: with the devices of its cells, %s", path,
			conflict.text.at);
		rc = told_conflict(args, &conflict, counted_devices(tenants, cluster), err);
	} else {
		rc = told_promises(args, tenants, cluster, &cells, err);
	}
	quota_conflict_fini(&conflict);
	cell_design_fini(&cells);
	return rc;
}

/* ERR_REFUSED: the cluster has not what is promised, or the file promises below more than above. */
static int check(const struct args *args, struct err *err)
{
	const char *path = file_of(args, err);
	struct quota_conflict conflict = { 0 };
	struct tenants tenants = { 0 };
	struct cluster cluster = { 0 };
	int rc;

	if (!path)
		return err->code;
	rc = at_hand_cluster(args, "quotas of which cluster?", &cluster, err);
	if (rc < 0)
		return rc;
	if (tenants_read_for(&cluster, path, &tenants, &conflict, err) < 0)
		rc = told_conflict(args, &conflict, counted_devices(&tenants, &cluster), err);
	else
		rc = check_both(args, path, &tenants, &cluster, err);
	quota_conflict_fini(&conflict);
	tenants_fini(&tenants);
	cluster_fini(&cluster);
	return rc;
}

static int export(const json_t *reply, struct err *err)
{
	const char *yaml = text_of(reply, "yaml");
	struct buf text = { 0 };
	int rc;

	if (!*yaml)
		return err_set(err, ERR_MISSING,
			"nothing was said of any tenant yet; write: stint quota set TENANT --guaranteed N");
	buf_str(&text, yaml);
	rc = ui_print(&text, err);
	buf_fini(&text);
	return rc;
}

/* ---- limits */

/* "3 of 200000", "3" where there is no limit. */
static void of_limit(struct table *table, const json_t *row, const char *have, const char *most,
	bool bytes)
{
	double limit = live_number(row, most), is = live_number(row, have);
	char size[32], whole[32];

	if (bytes && isnan(limit))
		table_cell(table, text_size(is, size));
	else if (bytes)
		table_cellf(table, "%s of %s", text_size(is, size), text_size(limit, whole));
	else if (isnan(limit))
		table_cellf(table, "%.0f", is);
	else
		table_cellf(table, "%.0f of %.0f", is, limit);
}

static void bare_limit(struct table *table, double limit)
{
	if (isnan(limit))
		table_cell(table, "-");
	else
		table_cellf(table, "%g", limit);
}

static int show_limits(const json_t *reply, struct err *err)
{
	const json_t *limits = json_object_get(reply, "limits"), *row;
	struct term term = term_of_stdout();
	struct table table = { 0 };
	struct buf text = { 0 };
	size_t i;
	int rc;

	if (!limits)
		return err_set(err, ERR_MISSING,
			"this daemon has no limits; it is of an older version");
	table_column(&table, "OF", ALIGN_LEFT, 0);
	table_column(&table, "NAME", ALIGN_LEFT, 0);
	table_column(&table, "QUEUED", ALIGN_RIGHT, 0);
	table_column(&table, "BYTES", ALIGN_RIGHT, 0);
	table_column(&table, "KEPT OUTPUT", ALIGN_RIGHT, 0);
	table_column(&table, "A SECOND", ALIGN_RIGHT, 1);
	table_column(&table, "AT ONCE", ALIGN_RIGHT, 2);
	table_column(&table, "WHAT-IFS", ALIGN_RIGHT, 3);
	json_array_foreach(json_object_get(limits, "of"), i, row)
	{
		table_cell(&table, text_of(row, "of"));
		table_cell(&table, text_of(row, "name"));
		of_limit(&table, row, "queued", "queued_limit", false);
		of_limit(&table, row, "bytes", "bytes_limit", true);
		if (json_object_get(row, "kept_bytes"))
			of_limit(&table, row, "kept_bytes", "kept_limit", true);
		else
			table_cell(&table, "-");
		bare_limit(&table, live_number(row, "rate_limit"));
		bare_limit(&table, live_number(row, "burst_limit"));
		bare_limit(&table, live_number(row, "whatifs_limit"));
	}
	table_write(&table, TABLE_TEXT, &term, &text, NULL);
	if (json_is_true(json_object_get(limits, "exempt")))
		buf_str(&text,
			"You are an administrator: limits of jobs, bytes and submissions do not hold for you.\n");
	rc = ui_print(&text, err);
	table_fini(&table);
	buf_fini(&text);
	return rc;
}

/* ---- the command */

enum { DO_SET, DO_LOAD, DO_CHECK, DO_EXPORT, DO_LIMITS, DO_SHOW };

static const char *const words[] = { "set", "load", "check", "export", "limits", NULL };

static int choose(const struct args *args, struct err *err)
{
	const char *word = args->operands.n ? args->operands.at[0] : NULL;
	int near;

	for (int i = 0; word && words[i]; i++) {
		if (!strcmp(word, words[i]))
			return i;
	}
	if (!word && isnan(args->load) && !args->guaranteed && !args->borrow && !args->lend &&
		!args->parent)
		return DO_SHOW;
	if (!word)
		return err_set(err, ERR_USAGE,
			"of whom? write: stint quota set TENANT --weight W --guaranteed N");
	near = text_nearest(word, words, DO_SHOW);
	return err_set(err, ERR_USAGE,
		"stint quota has no '%s'%s%s%s; there are set, load, check, export and limits",
		word, near >= 0 ? " (did you mean " : "", near >= 0 ? words[near] : "",
		near >= 0 ? "?)" : "");
}

static int run(const struct args *args, struct err *err)
{
	int what = choose(args, err), rc;
	json_t *reply = NULL;

	if (what < 0)
		return what;
	if (what == DO_CHECK)
		return check(args, err);
	rc = what == DO_SET       ? set(args, &reply, err)
		: what == DO_LOAD ? load(args, &reply, err)
				  : live_get(args, "/v1/quota", &reply, err);
	if (rc)
		return rc;
	if (args->json)
		rc = live_print_json(reply, err);
	else if (what == DO_SET)
		rc = told(args, reply);
	else if (what == DO_EXPORT)
		rc = export(reply, err);
	else if (what == DO_LIMITS)
		rc = show_limits(reply, err);
	else
		rc = show(reply, err);
	json_decref(reply);
	return rc;
}

static const struct flag flags[] = {
	{
		.name = "weight",
		.kind = FLAG_NUMBER,
		.offset = offsetof(struct args, load),
		.value = "W",
		.preset = NAN,
		.min = 1e-6,
		.max = 1e6,
		.help = "weight against the other tenants of the same parent",
	},
	TEXT(guaranteed, "N", "guaranteed devices: 8, v100:8,a100:4, or none"),
	TEXT(borrow, "N", "idle devices it may borrow beyond that: a number, or all"),
	TEXT(lend, "N", "idle devices it lends to others: a number, all, or v100:2"),
	TEXT(parent, "TENANT", "parent tenant; none: top level"),
	TEXT(cluster, "SPEC",
		"check: the cluster that shall keep it; else the daemon's, else this machine"),
	SWITCH(json, "print the daemon's answer, or what was checked"),
	{ 0 },
};

static const struct flag_group flags_quota = { .title = "tenants", .flags = flags };
static const char *const examples[] = { "stint quota",
	"stint quota set vision --weight 2 --guaranteed 8 --borrow 4",
	"stint quota check tenants.yaml --cluster 4x8:v100", "stint quota load tenants.yaml",
	"stint quota export > tenants.yaml", "stint quota limits", NULL };

const struct command command_quota = {
	.name = "quota",
	.summary = "tenants: what they are promised, borrow, lend and use",
	.operands = "[set TENANT | load FILE | check FILE | export | limits]",
	.max_operands = 2,
	.live = true,
	.groups = { &flags_quota, &flags_daemon },
	.about = "Without an operand: every tenant as a tree. GPUS and BORROWED count all below a tenant; "
		 "STANDING is what it used of late over its share. Quotas are kept under the admission "
		 "rule quota (stint daemon --admit quota, stint policy set --admit quota). limits: how many "
		 "jobs and bytes you have queued, and how many you may (stint daemon --limits).",
	.examples = examples,
	.run = run,
};
