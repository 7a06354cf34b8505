/*
 * stint trace check, stats, convert, synth, formats: work on workloads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/html_file.h"
#include "cli/setup.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "io/synth.h"
#include "io/trace_io.h"
#include "model/dag.h"
#include "report/trace_report.h"

/* A trace read for its own sake, and the cluster it is held against, if one is. */
struct reading {
	struct cluster cluster;
	bool has_cluster;
	struct trace trace;
	struct notes notes;
};

static const struct cluster *cluster_in(const struct reading *r)
{
	return r->has_cluster ? &r->cluster : NULL;
}

static int read_cluster(const struct args *args, struct reading *r, struct err *err)
{
	int rc;

	if (!args->cluster)
		return 0;
	rc = setup_cluster(args->cluster, &r->cluster, err);
	r->has_cluster = !rc;
	return rc;
}

static int read_trace(const struct args *args, const char *path, bool lenient, struct reading *r,
	struct err *err)
{
	struct import_options options = { .format = args->format, .lenient = lenient };
	int rc = check_format(args, err);

	if (!rc)
		rc = read_cluster(args, r, err);
	if (!rc && !workload_is_drawn(path))
		rc = input_exists("trace", path, err);
	if (!rc)
		rc = trace_read(path, &options, cluster_in(r), &r->trace, &r->notes, err);
	return rc;
}

static void reading_fini(struct reading *r)
{
	trace_fini(&r->trace);
	notes_fini(&r->notes);
	cluster_fini(&r->cluster);
}

static const struct flag trace_flags[] = {
	TEXT(format, "NAME", "read the trace as this format ('stint trace formats')"),
	SWITCH(lenient, "leave out rows with problems instead of stopping"),
	{ 0 },
};

static const struct flag check_flags[] = {
	TEXT(format, "NAME", "read the trace as this format ('stint trace formats')"),
	TEXT(cluster, "SPEC", "also say which jobs do not fit there"),
	{ 0 },
};

static const struct flag cluster_flags[] = {
	TEXT(cluster, "SPEC", "also say how the workload loads it"),
	{ 0 },
};

static const struct flag_group flags_trace = { .title = "workload", .flags = trace_flags };
static const struct flag_group flags_check = { .title = "workload", .flags = check_flags };
static const struct flag_group flags_cluster = { .title = "against", .flags = cluster_flags };

/* ---- check */

static void note_json(const char *path, const struct note *note, struct json *j)
{
	json_begin_object(j, NULL);
	json_str(j, "level", ui_note_level(note->level));
	json_str(j, "path", path);
	if (note->line)
		json_int(j, "line", (int64_t)note->line);
	json_int(j, "count", (int64_t)note->count);
	json_str(j, "field", note->field);
	json_str(j, "text", note->text);
	json_str(j, "fix", note->fix);
	json_end(j, '}');
}

/* What a linter has found. */
struct checking {
	const char *path;
	struct reading r;
	struct err strict; /* why a run would refuse the trace; code 0: it would not */
};

static bool is_good(const struct checking *c)
{
	return !c->strict.code && !notes_count(&c->r.notes, NOTE_PROBLEM);
}

/* Of a trace that was read: circles were refused, or broken. */
static struct dag_shape pipelines_of(const struct trace *trace)
{
	struct arena arena = { 0 };
	struct dag_shape shape = { 0 };
	struct dag dag;

	if (!trace->ndeps)
		return shape;
	dag_of_jobs(&dag, &arena, trace->jobs, trace->njobs, trace->deps);
	if (dag_is_acyclic(&dag))
		shape = dag_shape_of(&dag, &arena, NULL);
	arena_fini(&arena);
	return shape;
}

static void check_json(const struct checking *c, struct buf *out)
{
	struct dag_shape shape = pipelines_of(&c->r.trace);
	const struct notes *notes = &c->r.notes;
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "trace-check/1");
	json_str(&j, "path", c->path);
	json_str(&j, "format", c->r.trace.format);
	json_int(&j, "jobs", c->r.trace.njobs);
	json_int(&j, "pipelines", shape.dags);
	json_int(&j, "pipeline_depth", shape.depth);
	json_bool(&j, "ok", is_good(c));
	json_str(&j, "refused", c->strict.code ? c->strict.text : NULL);
	json_begin_array(&j, "notes");
	for (size_t i = 0; i < notes->n; i++)
		note_json(c->path, &notes->at[i], &j);
	json_end(&j, ']');
	json_end(&j, '}');
}

static void check_text(const struct checking *c, struct buf *out)
{
	struct dag_shape shape = pipelines_of(&c->r.trace);
	const struct notes *notes = &c->r.notes;
	size_t warnings = notes_count(notes, NOTE_WARNING);

	for (size_t i = 0; i < notes->n; i++)
		ui_note(c->path, &notes->at[i], out);
	buf_printf(out, "%s: %s, ", c->path, c->r.trace.format ? c->r.trace.format : "generated");
	add_grouped(out, c->r.trace.njobs);
	buf_printf(out, " job%s: %s, %zu warning%s\n", c->r.trace.njobs == 1 ? "" : "s",
		is_good(c) ? "good" : "has problems", warnings, warnings == 1 ? "" : "s");
	if (shape.dags)
		buf_printf(out, "%s: %u pipeline%s of %u jobs, up to %u deep and %u wide\n", c->path,
			shape.dags, shape.dags == 1 ? "" : "s", shape.jobs, shape.depth, shape.width);
}

/* Reads as a run would; if that stops at a problem, reads again and goes on after each. */
static int check_read_text(const struct args *args, struct checking *c, struct slice text,
	struct err *err)
{
	struct import_options options = { .format = args->format };

	if (!trace_read_text(c->path, text, &options, &c->r.trace, &c->r.notes, &c->strict))
		return 0;
	notes_fini(&c->r.notes);
	options.lenient = true;
	return trace_read_text(c->path, text, &options, &c->r.trace, &c->r.notes, err);
}

static int check_read(const struct args *args, struct checking *c, struct err *err)
{
	struct file file;
	int rc;

	if (workload_is_drawn(c->path))
		return read_trace(args, c->path, false, &c->r, err);
	rc = check_format(args, err);
	if (!rc)
		rc = read_cluster(args, &c->r, err);
	if (!rc)
		rc = input_exists("trace", c->path, err);
	if (!rc)
		rc = file_read(c->path, &file, err);
	if (rc)
		return rc;
	rc = check_read_text(args, c, (struct slice){ file.at, file.n }, err);
	file_fini(&file);
	return rc;
}

static int check_tell(const struct args *args, const struct checking *c, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	if (args->json)
		check_json(c, &text);
	else
		check_text(c, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	if (rc || is_good(c))
		return rc;
	/* What a strict reader stops at is among the notes, if any are. */
	if (c->strict.code && notes_count(&c->r.notes, NOTE_PROBLEM) == 0)
		return err_set(err, ERR_FORMAT, "%s", c->strict.text);
	return err_set(err, ERR_FORMAT, "%s has problems", c->path);
}

static int trace_check_run(const struct args *args, struct err *err)
{
	struct checking c = { .path = args->operands.at[0] };
	int rc = check_read(args, &c, err);

	if (rc) {
		/* What was found before it could not go on is still worth reading. */
		ui_notes(args, c.path, &c.r.notes);
	} else {
		trace_check(&c.r.trace, cluster_in(&c.r), &c.r.notes);
		rc = check_tell(args, &c, err);
	}
	reading_fini(&c.r);
	return rc;
}

static const struct flag json_flags[] = { SWITCH(json, "as JSON"), { 0 } };
static const struct flag_group flags_json = {
	.title = "output",
	.flags = json_flags,
	.aside = true,
};

static const char *const check_examples[] = {
	"stint trace check trace.csv",
	"stint trace check cluster_log.csv --format helios --cluster 16x8:v100",
	NULL,
};

const struct command command_trace_check = {
	.name = "trace check",
	.summary = "say what is wrong with a trace, line by line, and what to do",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_check, &flags_json },
	.about = "Exit code 1 means that there are problems; warnings and assumptions are none.",
	.examples = check_examples,
	.run = trace_check_run,
};

/* ---- stats */

static void stats_html(const struct args *args, const struct reading *r,
	const struct trace_stats *stats, struct buf *out)
{
	struct buf title = { 0 }, command = { 0 }, trace = { 0 };

	buf_printf(&title, "Workload %s", path_base(args->operands.at[0]));
	args_command(args, &command);
	trace_title(&r->trace, &trace);
	trace_report_html(stats,
		&(struct html_info){
			.title = title.at,
			.command = command.at,
			.version = STINT_VERSION,
			.trace = trace.at,
			.cluster = r->has_cluster ? r->cluster.spec : NULL,
		},
		out);
	buf_fini(&title);
	buf_fini(&command);
	buf_fini(&trace);
}

static int stats_write(const struct args *args, const struct reading *r,
	const struct trace_stats *stats, struct err *err)
{
	struct term term = term_of_stdout();
	struct buf text = { 0 }, html = { 0 };
	int rc = 0;

	if (args->html) {
		stats_html(args, r, stats, &html);
		rc = file_write(args->html, html.at, html.n, err);
	}
	if (args->json)
		trace_report_json(stats, &text);
	else
		trace_report_text(stats, &term, &text);
	if (!rc)
		rc = ui_print(&text, err);
	if (!rc && args->html)
		ui_say(args, "wrote %s", args->html);
	buf_fini(&text);
	buf_fini(&html);
	return rc;
}

static int trace_stats_run(const struct args *args, struct err *err)
{
	const char *path = args->operands.at[0];
	struct reading r = { 0 };
	struct trace_stats stats;
	int rc = read_trace(args, path, args->lenient, &r, err);

	ui_notes(args, path, &r.notes);
	if (!rc) {
		trace_stats_of(&r.trace, cluster_in(&r), &stats);
		ui_guard();
		rc = stats_write(args, &r, &stats, err);
		trace_stats_fini(&stats);
	}
	reading_fini(&r);
	return rc;
}

static const struct flag stats_flags[] = {
	TEXT(html, "FILE", "write a page with plots"),
	SWITCH(json, "as JSON"),
	SWITCH(quiet, "no messages"),
	{ 0 },
};

static const struct flag_group flags_stats = {
	.title = "output",
	.flags = stats_flags,
	.aside = true,
};

static const char *const stats_examples[] = {
	"stint trace stats trace.csv",
	"stint trace stats trace.csv --cluster 16x8:v100 --html workload.html",
	NULL,
};

const struct command command_trace_stats = {
	.name = "trace stats",
	.summary = "what a workload looks like: sizes, run times, arrivals, tenants",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_trace, &flags_cluster, &flags_stats },
	.examples = stats_examples,
	.run = trace_stats_run,
};

/* ---- convert and synth */

static void written_json(const char *schema, const struct trace *trace, const char *to, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", schema);
	json_str(&j, "source", trace->source);
	json_str(&j, "format", trace->format);
	json_int(&j, "jobs", trace->njobs);
	json_str(&j, "out", to);
	json_end(&j, '}');
	buf_char(out, '\n');
}

/* Writes the trace as our CSV, and says so in the way that was asked for. */
static int write_trace(const struct args *args, const struct trace *trace, const char *to,
	const char *schema, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	ui_guard();
	trace_write(trace, &text);
	if (ui_interrupted())
		rc = err_set(err, ERR_REFUSED, "interrupted");
	else
		rc = file_write(to, text.at, text.n, err);
	if (!rc && args->json) {
		buf_clear(&text);
		written_json(schema, trace, to, &text);
		rc = ui_print(&text, err);
	} else if (!rc && strcmp(to, "-") != 0) {
		ui_say(args, "wrote %u job%s to %s", trace->njobs, trace->njobs == 1 ? "" : "s", to);
	}
	buf_fini(&text);
	return rc;
}

/* --json tells about a file; on standard output the CSV itself is the data. */
static int check_json_goes_beside(const struct args *args, const char *to, struct err *err)
{
	if (args->json && !strcmp(to, "-"))
		return err_set(err, ERR_USAGE,
			"--json describes the file that was written, and the CSV goes to standard output: "
			"name a file");
	return 0;
}

/* What is written is plain: a name that says otherwise would mislead every other program. */
static int check_is_plain(const char *to, struct err *err)
{
	const char *dot = strrchr(to, '.');

	if (dot && !strcmp(dot, ".gz"))
		return err_set(err, ERR_USAGE,
			"%s would not be compressed: leave out OUT.csv and say ... | gzip > %s", to,
			to);
	return 0;
}

static int trace_convert_run(const struct args *args, struct err *err)
{
	const char *from = args->operands.at[0];
	const char *to = args->operands.n > 1 ? args->operands.at[1] : "-";
	struct reading r = { 0 };
	int rc = check_json_goes_beside(args, to, err);

	if (!rc)
		rc = check_is_plain(to, err);
	if (!rc) {
		rc = read_trace(args, from, args->lenient, &r, err);
		ui_notes(args, from, &r.notes);
	}
	if (!rc)
		rc = write_trace(args, &r.trace, to, "trace-convert/1", err);
	reading_fini(&r);
	return rc;
}

static const struct flag convert_flags[] = {
	SWITCH(json, "say what was written as JSON"),
	SWITCH(quiet, "no messages"),
	{ 0 },
};

static const struct flag_group flags_convert = {
	.title = "output",
	.flags = convert_flags,
	.aside = true,
};

static const char *const convert_examples[] = {
	"stint trace convert cluster_job_log trace.csv",
	"stint trace convert jobs.swf.gz - --format swf | head",
	NULL,
};

const struct command command_trace_convert = {
	.name = "trace convert",
	.summary = "read any known format, write Stint's CSV",
	.operands = "IN [OUT.csv]",
	.min_operands = 1,
	.max_operands = 2,
	.groups = { &flags_trace, &flags_convert },
	.about = "Without OUT.csv, or with '-', the CSV goes to standard output.",
	.examples = convert_examples,
	.run = trace_convert_run,
};

static char *synth_source(const struct args *args)
{
	struct buf text = { 0 };
	const char *given = args->operands.n ? args->operands.at[0] : "";

	if (workload_is_drawn(given))
		given += strlen("synth:");
	buf_printf(&text, "synth:%s", given);
	if (args->jobs)
		buf_printf(&text, "%sjobs=%lld", *given ? "," : "", (long long)args->jobs);
	if (!isnan(args->load))
		buf_printf(&text, "%sload=%.17g", text.at[text.n - 1] == ':' ? "" : ",", args->load);
	return text.at;
}

static int trace_synth_run(const struct args *args, struct err *err)
{
	const char *to = args->out ? args->out : "-";
	struct reading r = { 0 };
	char *asked = synth_source(args), *source = workload_seeded(asked, (uint64_t)args->seed);
	int rc = check_json_goes_beside(args, to, err);

	if (!rc)
		rc = check_is_plain(to, err);
	if (!rc)
		rc = read_trace(args, source, false, &r, err);
	if (!rc)
		rc = write_trace(args, &r.trace, to, "trace-synth/1", err);
	reading_fini(&r);
	free(source);
	free(asked);
	return rc;
}

static void synth_more(struct buf *out)
{
	buf_str(out, "OPTIONS, as name=value,name=value:\n");
	synth_help(out);
}

static const struct flag synth_flags[] = {
	NUMBER(jobs, FLAG_INT, "N", 0, 1, 2e7, "same as jobs=N"),
	NUMBER(load, FLAG_NUMBER, "L", NAN, 1e-6, 1000, "same as load=L"),
	NUMBER(seed, FLAG_INT, "N", 0, 0, 9e15, "which of the workloads (default 0)"),
	TEXT(cluster, "SPEC", "what the load refers to (default: 64 devices)"),
	{ 0 },
};

static const struct flag synth_output[] = {
	TEXT(out, "FILE", "write there instead of standard output"),
	SWITCH(json, "say what was written as JSON (with --out)"),
	SWITCH(quiet, "no messages"),
	{ 0 },
};

static const struct flag_group flags_synth = { .title = "what to draw", .flags = synth_flags };
static const struct flag_group flags_synth_output = {
	.title = "output",
	.flags = synth_output,
	.aside = true,
};

static const char *const synth_examples[] = {
	"stint trace synth --jobs 1000 --load 0.9 --seed 7 > trace.csv",
	"stint trace synth jobs=1000,arrivals=diurnal,gpus=helios --cluster 16x8:v100 --out trace.csv",
	NULL,
};

const struct command command_trace_synth = {
	.name = "trace synth",
	.summary = "draw a workload from published distributions",
	.operands = "[OPTIONS]",
	.max_operands = 1,
	.groups = { &flags_synth, &flags_synth_output },
	.about = "Every verb that reads a trace also takes synth:OPTIONS in its place.",
	.more = synth_more,
	.examples = synth_examples,
	.run = trace_synth_run,
};

/* ---- formats */

static void formats_json(struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "trace-formats/1");
	json_begin_array(&j, "formats");
	for (size_t i = 0; importers[i]; i++) {
		json_begin_object(&j, NULL);
		json_str(&j, "name", importers[i]->name);
		json_str(&j, "summary", importers[i]->summary);
		json_str(&j, "origin", importers[i]->origin);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_end(&j, '}');
	buf_char(out, '\n');
}

static void formats_text(struct buf *out)
{
	struct term term = term_of_stdout();
	struct table table = { 0 };

	table_column(&table, "format", ALIGN_LEFT, 0);
	table_column(&table, "what it is", ALIGN_LEFT, 0);
	table_column(&table, "whose", ALIGN_LEFT, 1);
	for (size_t i = 0; importers[i]; i++) {
		table_cell(&table, importers[i]->name);
		table_cell(&table, importers[i]->summary);
		table_cell(&table, importers[i]->origin);
	}
	table_write(&table, TABLE_TEXT, &term, out, NULL);
	table_fini(&table);
}

static int trace_formats_run(const struct args *args, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	if (args->json)
		formats_json(&text);
	else
		formats_text(&text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	return rc;
}

static const char *const formats_examples[] = { "stint trace formats", NULL };

const struct command command_trace_formats = {
	.name = "trace formats",
	.summary = "the trace formats that can be read",
	.operands = "",
	.groups = { &flags_json },
	.examples = formats_examples,
	.run = trace_formats_run,
};
