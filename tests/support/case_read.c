/*
 * Reading text cases.
 */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "io/topology.h"
#include "support/case.h"

/* ---- words */

static struct slice cut(struct slice *rest, char at)
{
	const char *end = rest->n ? memchr(rest->at, at, rest->n) : NULL;
	struct slice piece = { rest->at, end ? (size_t)(end - rest->at) : rest->n };

	rest->at += piece.n + (end != NULL);
	rest->n -= piece.n + (end != NULL);
	return slice_trim(piece);
}

/* The first word; `rest` becomes what follows it. */
static struct slice word(struct slice *rest)
{
	struct slice first;

	*rest = slice_trim(*rest);
	first = cut(rest, ' ');
	*rest = slice_trim(*rest);
	return first;
}

static char *keep(struct text_case *c, struct slice s)
{
	return arena_strndup(&c->memory, s.at, s.n);
}

static int wrong(struct slice s, const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT, "'%.*s' is not %s", (int)s.n, s.at, what);
}

static int number(struct slice s, double *out, struct err *err)
{
	return slice_double(s, out) ? 0 : wrong(s, "a number", err);
}

static int seconds(struct slice s, double *out, struct err *err)
{
	return slice_seconds(s, out) ? 0 : wrong(s, "a time", err);
}

static int find_job(const struct text_case *c, struct slice name, uint32_t *out, struct err *err)
{
	*out = names_find(&c->labels, name.at, name.n);
	if (*out == NAME_NONE)
		return err_set(err, ERR_FORMAT, "there is no job '%.*s' before this line",
			(int)name.n, name.at);
	return 0;
}

/* ---- cluster: 2 nodes, 4 gpus of v100, cpus 8, mem 64G, racks 2, topology nvlink-pairs-4 */

struct node_line {
	double nodes, gpus, cpus, racks;
	int64_t mem_bytes;
	struct slice type, short_form, topology;
};

static int read_node_field(struct node_line *line, struct slice field, struct err *err)
{
	struct slice rest = field, first = word(&rest), second = word(&rest);

	if (slice_is(first, "cpus"))
		return number(second, &line->cpus, err);
	if (slice_is(first, "racks"))
		return number(second, &line->racks, err);
	if (slice_is(first, "topology")) {
		line->topology = second;
		return 0;
	}
	if (slice_is(first, "mem"))
		return slice_bytes(second, &line->mem_bytes) ? 0 : wrong(second, "a size", err);
	if (slice_is(second, "node") || slice_is(second, "nodes"))
		return number(first, &line->nodes, err);
	if (slice_is(second, "gpu") || slice_is(second, "gpus")) {
		if (slice_is(word(&rest), "of"))
			line->type = rest;
		return number(first, &line->gpus, err);
	}
	if (second.n == 0 && first.n > 0) { /* a piece of a short form, up to here */
		const char *from = line->short_form.n ? line->short_form.at : first.at;

		line->short_form = (struct slice){ from, (size_t)(first.at + first.n - from) };
		return 0;
	}
	return wrong(field,
		"known here; write N nodes, M gpus [of TYPE], cpus C, mem BYTES, racks R, topology PRESET",
		err);
}

/* The nodes in so many racks, as many in each; and links by the name of a preset. */
static int lay_out(struct text_case *c, const struct node_line *line, struct err *err)
{
	struct cluster *cluster = &c->cluster;
	uint32_t racks = (uint32_t)line->racks, topology = TOPOLOGY_NONE;

	if (line->topology.n) {
		const struct topology_preset *preset = topology_preset_find(keep(c, line->topology));

		if (!preset || preset->devices != cluster->types[0].max_per_node)
			return wrong(line->topology, "a preset for so many devices", err);
		topology = topology_preset_add(preset, cluster, preset->name);
	}
	for (uint32_t i = 1; i < racks; i++)
		cluster_add_rack(cluster, NULL, 0);
	for (uint32_t i = 0; i < cluster->nnodes; i++) {
		cluster->nodes[i].topology = topology;
		if (racks > 1)
			cluster->nodes[i].rack = i * racks / cluster->nnodes;
	}
	return 0;
}

static int read_cluster(struct text_case *c, struct slice text, struct err *err)
{
	struct node_line line = { .type = slice_of("gpu") };
	char *spec;

	while (text.n > 0) {
		if (read_node_field(&line, cut(&text, ','), err) < 0)
			return err->code;
	}
	spec = line.short_form.n ? keep(c, line.short_form)
				 : arena_printf(&c->memory, "%gx%g:%.*s", line.nodes, line.gpus,
					   (int)line.type.n, line.type.at);
	cluster_fini(&c->cluster);
	if (cluster_parse(spec, &c->cluster, err) < 0)
		return err->code;
	for (uint32_t i = 0; i < c->cluster.nnodes; i++) {
		c->cluster.nodes[i].cpus = line.cpus;
		c->cluster.nodes[i].mem_bytes = line.mem_bytes;
	}
	return lay_out(c, &line, err);
}

/* ---- job NAME: FIELD VALUE, … */

enum kind { NUMBER, INTEGER, SECONDS, BYTES };

#define FIELD(name_, kind_, field_) \
	{ \
		name_, kind_, offsetof(struct job, field_) \
	}

static const struct job_field {
	const char *name;
	enum kind kind;
	size_t offset;
} job_fields[] = {
	FIELD("at", SECONDS, arrival_s),
	FIELD("gpus", INTEGER, gpus),
	FIELD("min", INTEGER, min_gpus),
	FIELD("max", INTEGER, max_gpus),
	FIELD("est", SECONDS, work_est),
	FIELD("weight", NUMBER, weight),
	FIELD("priority", INTEGER, priority),
	FIELD("deadline", SECONDS, deadline_s),
	FIELD("cpus", NUMBER, cpus),
	FIELD("mem", BYTES, mem_bytes),
	FIELD("share", NUMBER, share),
	FIELD("gpumem", BYTES, gpu_mem_bytes),
	FIELD("util", NUMBER, util),
	FIELD("moves", NUMBER, moves_Bps),
	FIELD("calls", NUMBER, calls_ps),
	FIELD("stays", INTEGER, stays),
	FIELD("epochs", NUMBER, epochs),
	FIELD("batch", INTEGER, batch),
	FIELD("rate", NUMBER, nominal_rate),
	FIELD("start", SECONDS, start_cost_s),
	FIELD("resume", SECONDS, resume_cost_s),
	FIELD("resize", SECONDS, resize_cost_s),
	FIELD("checkpoint", SECONDS, checkpoint_every_s),
};

static int store(const struct job_field *field, struct job *job, struct slice value, struct err *err)
{
	void *to = (char *)job + field->offset;
	int64_t whole = 0;

	switch (field->kind) {
	case NUMBER:
		return number(value, to, err);
	case SECONDS:
		return seconds(value, to, err);
	case BYTES:
		return slice_bytes(value, to) ? 0 : wrong(value, "a size", err);
	case INTEGER:
		if (!slice_int(value, &whole))
			return wrong(value, "a whole number", err);
		*(int32_t *)to = (int32_t)whole;
		return 0;
	}
	return 0;
}

static int read_deps(struct text_case *c, uint32_t position, struct slice list, struct err *err)
{
	while (list.n > 0) {
		uint32_t other;

		if (find_job(c, cut(&list, '|'), &other, err) < 0)
			return err->code;
		trace_add_dep(&c->trace, position, other);
	}
	return 0;
}

static uint32_t read_types(struct text_case *c, struct slice list)
{
	uint32_t types = 0;

	while (list.n > 0) {
		struct slice name = cut(&list, '|');

		types |= UINT32_C(1) << names_add(&c->trace.types, name.at, name.n);
	}
	return types;
}

/* Fields that are not simply a number of the job. */
static int read_special(struct text_case *c, struct job *job, struct slice name, struct slice value,
	struct err *err)
{
	uint32_t position = c->trace.njobs - 1;

	if (slice_is(name, "work"))
		return seconds(value, &c->trace.work[position], err);
	if (slice_is(name, "after"))
		return read_deps(c, position, value, err);
	if (slice_is(name, "types"))
		job->types = read_types(c, value);
	else if (slice_is(name, "tenant"))
		job->tenant = names_add(&c->trace.tenants, value.at, value.n);
	else if (slice_is(name, "model"))
		job->model = names_add(&c->trace.models, value.at, value.n);
	else if (slice_is(name, "class"))
		job->class_ = slice_is(value, "opportunistic") ? JOB_OPPORTUNISTIC : JOB_GUARANTEED;
	else if (slice_is(name, "steps"))
		job->by_steps = true;
	else
		return err_set(err, ERR_FORMAT, "a job has no field '%.*s'", (int)name.n, name.at);
	return 0;
}

static int read_field(struct text_case *c, struct job *job, struct slice field, struct err *err)
{
	struct slice name = word(&field);

	for (size_t i = 0; i < sizeof(job_fields) / sizeof(*job_fields); i++) {
		if (slice_is(name, job_fields[i].name))
			return store(&job_fields[i], job, field, err);
	}
	return read_special(c, job, name, field, err);
}

static int read_job(struct text_case *c, struct slice name, struct slice fields, struct err *err)
{
	uint32_t position = c->trace.njobs;
	struct job *job;

	if (name.n == 0 || names_add(&c->labels, name.at, name.n) != position)
		return err_set(err, ERR_FORMAT, "a job needs a name of its own: 'job a: at 0, …'");
	job = trace_add(&c->trace);
	job->label = trace_text(&c->trace, name.at, name.n);
	while (fields.n > 0) {
		if (read_field(c, job, cut(&fields, ','), err) < 0)
			return err->code;
	}
	return isnan(c->trace.work[position]) ? err_set(err, ERR_FORMAT, "a job needs its work") : 0;
}

/* ---- tenant NAME: weight 2, within fifo, parent OTHER, guaranteed 4, borrow 2, lend 1; or guaranteed 4 of v100 [, lend 1] */

static int read_quota(struct text_case *c, struct tenant *tenant, struct slice name,
	struct slice value, struct err *err)
{
	struct slice count = word(&value);
	struct slice of = word(&value);
	char type[64] = { 0 };
	double n;

	if (number(count, &n, err) < 0)
		return err->code;
	if (slice_is(name, "borrow"))
		return tenant->borrow = (uint32_t)n, 0;
	if (slice_is(name, "lend") && tenant->nparts) {
		tenant->parts[tenant->nparts - 1].lend = (uint32_t)n;
		return 0;
	}
	if (slice_is(name, "lend"))
		return tenant->lend = (uint32_t)n, 0;
	if (!slice_is(of, "of")) {
		tenants_promise(&c->tenants, (uint32_t)(tenant - c->tenants.at), (uint32_t)n);
		return 0;
	}
	memcpy(type, value.at, value.n < sizeof(type) ? value.n : sizeof(type) - 1);
	tenants_promise_part(&c->tenants, (uint32_t)(tenant - c->tenants.at), type, (uint32_t)n,
		QUOTA_ALL);
	return 0;
}

static int read_within(struct slice value, enum within *out, struct err *err)
{
	for (int i = 0; within_names[i]; i++) {
		if (slice_is(value, within_names[i])) {
			*out = (enum within)i;
			return 0;
		}
	}
	return wrong(value, "fair or fifo", err);
}

/* "2 node|1 device:v100|1 pair@n0:2": count, cell, type, pinned. */
static int read_cells(struct text_case *c, struct tenant *tenant, struct slice value, struct err *err)
{
	struct tenant_cell cells[8] = { 0 };
	uint32_t n = 0;

	while (value.n > 0 && n < 8) {
		struct slice one = cut(&value, '|'), count = word(&one), what = slice_cut(&one, '@');
		struct slice cell = slice_cut(&what, ':');
		double number_of;

		if (number(count, &number_of, err) < 0 || !cell.n)
			return wrong(value, "cells as '2 node|1 device'", err);
		cells[n++] = (struct tenant_cell){
			.cell = arena_strndup(&c->memory, cell.at, cell.n),
			.type = what.n ? arena_strndup(&c->memory, what.at, what.n) : NULL,
			.pinned = one.n ? arena_strndup(&c->memory, one.at, one.n) : NULL,
			.count = (uint32_t)number_of,
		};
	}
	tenants_set_cells(&c->tenants, (uint32_t)(tenant - c->tenants.at), cells, n);
	return 0;
}

static int read_tenant_field(struct text_case *c, struct tenant *tenant, struct slice value,
	struct err *err)
{
	struct slice name = word(&value);

	if (slice_is(name, "weight"))
		return number(value, &tenant->weight, err);
	if (slice_is(name, "within"))
		return read_within(value, &tenant->within, err);
	if (slice_is(name, "cells"))
		return read_cells(c, tenant, value, err);
	if (slice_is(name, "guaranteed") || slice_is(name, "borrow") || slice_is(name, "lend"))
		return read_quota(c, tenant, name, value, err);
	if (!slice_is(name, "parent"))
		return err_set(err, ERR_FORMAT, "a tenant has no field '%.*s'", (int)name.n, name.at);
	tenant->parent = tenants_find(&c->tenants, value.at, value.n);
	if (tenant->parent == TENANT_NONE || &c->tenants.at[tenant->parent] == tenant)
		return wrong(value, "a tenant of an earlier line", err);
	return 0;
}

static int read_tenant(struct text_case *c, struct slice name, struct slice fields, struct err *err)
{
	uint32_t i = name.n ? tenants_add(&c->tenants, name.at, name.n) : TENANT_NONE;

	if (i == TENANT_NONE)
		return err_set(err, ERR_FORMAT,
			"a tenant needs a name of its own: 'tenant a: weight 2, …'");
	while (fields.n > 0) {
		if (read_tenant_field(c, &c->tenants.at[i], cut(&fields, ','), err) < 0)
			return err->code;
	}
	return 0;
}

/* ---- rules and settings */

/* "las round=1 misfit=skip" as "las:round_s=1,misfit=skip". */
static const char *rule(struct text_case *c, struct slice text)
{
	struct slice name = word(&text);
	struct buf out = { 0 };
	const char *kept;
	char between = ':';

	buf_add(&out, name.at, name.n);
	while (text.n > 0) {
		struct slice option = word(&text), key = cut(&option, '=');

		buf_char(&out, between);
		buf_add(&out, key.at, key.n);
		buf_str(&out, slice_is(key, "round") ? "_s=" : "=");
		buf_add(&out, option.at, option.n);
		between = ',';
	}
	kept = arena_strdup(&c->memory, out.at ? out.at : "");
	buf_fini(&out);
	return kept;
}

static int read_costs(struct text_case *c, struct slice text, struct err *err)
{
	while (text.n > 0) {
		struct slice value = cut(&text, ','), name = word(&value);
		double *to = slice_is(name, "start") ? &c->config.costs.start_s
			: slice_is(name, "resume")   ? &c->config.costs.resume_s
			: slice_is(name, "resize")   ? &c->config.costs.resize_s
						     : NULL;

		if (!to)
			return wrong(name, "a cost; there are start, resume and resize", err);
		if (seconds(value, to, err) < 0)
			return err->code;
	}
	return 0;
}

/* node N at S [up S] */
static int read_failure(struct text_case *c, struct slice text, struct err *err)
{
	struct node_failure f = { .up_s = INFINITY };
	struct slice all = text, a = word(&text), node = word(&text), at = word(&text),
		     at_s = word(&text);
	struct slice up = word(&text);
	double n = 0;

	if (!slice_is(a, "node") || !slice_is(at, "at") || (up.n > 0 && !slice_is(up, "up")))
		return wrong(all, "a failure; write 'node 0 at 50 up 80'", err);
	if (number(node, &n, err) < 0 || seconds(at_s, &f.at_s, err) < 0)
		return err->code;
	if (up.n > 0 && seconds(text, &f.up_s, err) < 0)
		return err->code;
	f.node = (uint32_t)n;
	vec_push(&c->failures, f);
	return 0;
}

static int read_speeds(struct text_case *c, struct slice text, bool belief, struct err *err)
{
	while (text.n > 0) {
		struct slice piece = cut(&text, ','), model = word(&piece), type_name = word(&piece);
		struct speed s = { .belief = belief,
			.model = names_add(&c->trace.models, model.at, model.n) };
		int type = cluster_find_type(&c->cluster, keep(c, type_name));

		if (type < 0)
			return wrong(type_name, "a type of the cluster (which comes first)", err);
		if (number(piece, &s.rate, err) < 0)
			return err->code;
		s.type = (uint32_t)type;
		vec_push(&c->speeds, s);
	}
	return 0;
}

/* ---- expect: a 0-10, b rejected, … */

static const struct expect_word {
	const char *word;
	enum expected what;
	bool counts; /* a number follows */
	bool needs_word;
} expect_words[] = {
	{ "on", EXPECT_ON, false, true },
	{ "waits", EXPECT_WAITS, false, true },
	{ "rejected", EXPECT_REJECTED, false, false },
	{ "unfinished", EXPECT_UNFINISHED, false, false },
	{ "preempted", EXPECT_PREEMPTED, true, false },
	{ "moves", EXPECT_MOVES, true, false },
	{ "resizes", EXPECT_RESIZES, true, false },
	{ "fails", EXPECT_FAILS, true, false },
	{ "loses", EXPECT_LOSES, true, false },
	{ "pays", EXPECT_PAYS, true, false },
};

static bool known_reason(const char *name)
{
	for (int why = 0; why < WHY_COUNT; why++) {
		if (strcmp(why_name((enum why)why), name) == 0)
			return true;
	}
	return false;
}

static int read_expect_word(struct text_case *c, struct expectation *e, const struct expect_word *w,
	struct slice rest, struct err *err)
{
	e->what = w->what;
	e->word = rest.n > 0 ? keep(c, rest) : NULL;
	if (w->counts)
		return number(rest, &e->from_s, err);
	if (w->needs_word && !e->word)
		return err_set(err, ERR_FORMAT, "'%s' needs a word after it", w->word);
	if (e->word && w->what != EXPECT_ON && !known_reason(e->word))
		return wrong(rest, "a reason", err);
	return 0;
}

static int read_stay(struct expectation *e, struct slice text, struct err *err)
{
	struct slice rest = text, from = cut(&rest, '-');

	if (from.n == text.n)
		return wrong(text, "something a job can be expected to do", err);
	e->what = EXPECT_STAY;
	e->to_s = INFINITY;
	if (number(from, &e->from_s, err) < 0)
		return err->code;
	return rest.n > 0 ? number(rest, &e->to_s, err) : 0;
}

static int read_expectation(struct text_case *c, struct slice text, struct err *err)
{
	struct slice rest = text, name = word(&rest), all = rest, first = word(&rest);
	struct expectation e = { 0 };
	int rc = find_job(c, name, &e.job, err);

	for (size_t i = 0; rc == 0 && i < sizeof(expect_words) / sizeof(*expect_words); i++) {
		if (!slice_is(first, expect_words[i].word))
			continue;
		rc = read_expect_word(c, &e, &expect_words[i], rest, err);
		if (rc == 0)
			vec_push(&c->expected, e);
		return rc;
	}
	if (rc < 0 || read_stay(&e, all, err) < 0)
		return err->code;
	vec_push(&c->expected, e);
	return 0;
}

static int read_expectations(struct text_case *c, struct slice text, struct err *err)
{
	while (text.n > 0) {
		if (read_expectation(c, cut(&text, ','), err) < 0)
			return err->code;
	}
	return 0;
}

/* ---- lines */

static int read_setting(struct text_case *c, struct slice key, struct slice value, struct err *err)
{
	double seed = 0;
	int rc;

	if (slice_is(key, "error"))
		return number(value, &c->config.error, err);
	if (slice_is(key, "until"))
		return seconds(value, &c->config.until_s, err);
	if (slice_is(key, "oracle")) {
		c->config.oracle = slice_is(value, "yes");
		return c->config.oracle ? 0 : wrong(value, "yes", err);
	}
	if (slice_is(key, "seed")) {
		rc = number(value, &seed, err);
		c->config.seed = (uint64_t)seed;
		return rc;
	}
	return err_set(err, ERR_FORMAT, "there is no '%.*s:' in a case", (int)key.n, key.at);
}

static int read_line(struct text_case *c, struct slice line, struct err *err)
{
	struct slice value = line, key = cut(&value, ':'), name = key, what = word(&name);

	value = slice_trim(value);
	if (slice_is(what, "job"))
		return read_job(c, name, value, err);
	if (slice_is(what, "tenant"))
		return read_tenant(c, name, value, err);
	if (slice_is(key, "cluster"))
		return read_cluster(c, value, err);
	if (slice_is(key, "policy"))
		return c->config.policy = rule(c, value), 0;
	if (slice_is(key, "placer"))
		return c->config.placer = rule(c, value), 0;
	if (slice_is(key, "admit"))
		return c->config.admit = rule(c, value), 0;
	if (slice_is(key, "cost"))
		return read_costs(c, value, err);
	if (slice_is(key, "fail"))
		return read_failure(c, value, err);
	if (slice_is(key, "speed") || slice_is(key, "belief"))
		return read_speeds(c, value, slice_is(key, "belief"), err);
	if (slice_is(key, "expect"))
		return read_expectations(c, value, err);
	return read_setting(c, key, value, err);
}

/* What only shows at the end of a case. */
static int check_whole(const struct text_case *c, struct err *err)
{
	if (!c->cluster.nnodes)
		return err_set(err, ERR_FORMAT, "the case has no cluster");
	if (!c->config.policy)
		return err_set(err, ERR_FORMAT, "the case has no policy");
	if (!c->expected.n)
		return err_set(err, ERR_FORMAT, "the case expects nothing");
	for (uint32_t job = 0; job < c->trace.njobs; job++) {
		bool mentioned = false;

		for (size_t i = 0; i < c->expected.n; i++)
			mentioned |= c->expected.at[i].job == job;
		if (!mentioned)
			return err_set(err, ERR_FORMAT, "nothing is expected of job %s",
				c->labels.at[job]);
	}
	return 0;
}

static struct text_case *begin_case(struct text_cases *cases, const char *path, size_t line,
	struct slice title)
{
	struct text_case *c = mem_alloc(sizeof(*c));

	sim_config_init(&c->config);
	c->config.seed = 1;
	c->title = title.n > 0 ? keep(c, title) : arena_printf(&c->memory, "%s:%zu", path, line);
	c->path = arena_strdup(&c->memory, path);
	c->line = line;
	vec_push(&cases->at, c);
	return c;
}

static void end_case(struct text_case *c)
{
	if (c && c->err.code == 0 && check_whole(c, &c->err) < 0)
		err_prefix(&c->err, "%s:%zu", c->path, c->line);
}

void cases_read_text(struct text_cases *cases, const char *path, struct slice text)
{
	struct lines lines = lines_of(text.at, text.n);
	struct text_case *c = NULL;
	struct slice line;

	while (lines_next(&lines, &line)) {
		struct slice value = line = slice_trim(line);

		if (line.n == 0 || line.at[0] == '#')
			continue;
		if (slice_is(cut(&value, ':'), "case")) {
			end_case(c);
			c = begin_case(cases, path, lines.number, slice_trim(value));
			continue;
		}
		if (!c)
			c = begin_case(cases, path, lines.number, slice_of(""));
		if (c->err.code == 0 && read_line(c, line, &c->err) < 0)
			err_prefix(&c->err, "%s:%zu", path, lines.number);
	}
	end_case(c);
}

/* ---- files */

static int is_case(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 5 && strcmp(entry->d_name + n - 5, ".case") == 0;
}

static int read_file(struct text_cases *cases, const char *dir, const char *name, struct err *err)
{
	char *path = path_join(dir, name);
	struct file file;
	int rc = file_read(path, &file, err);

	if (rc == 0) {
		cases_read_text(cases, path, (struct slice){ file.at, file.n });
		file_fini(&file);
	}
	free(path);
	return rc;
}

int cases_read(struct text_cases *cases, const char *dir, struct err *err)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, is_case, alphasort), rc = 0;

	if (n < 0)
		return err_set(err, ERR_IO, "cannot read the folder %s", dir);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = read_file(cases, dir, entries[i]->d_name, err);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

void cases_fini(struct text_cases *cases)
{
	for (size_t i = 0; i < cases->at.n; i++) {
		struct text_case *c = cases->at.at[i];

		vec_fini(&c->failures);
		vec_fini(&c->speeds);
		vec_fini(&c->expected);
		trace_fini(&c->trace);
		tenants_fini(&c->tenants);
		cluster_fini(&c->cluster);
		names_fini(&c->labels);
		arena_fini(&c->memory);
		free(c);
	}
	vec_fini(&cases->at);
}
