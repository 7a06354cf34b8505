/*
 * stint db check, db export: the daemon's record without the daemon.
 *
 * The record is only read, so both work on a copy that cannot be written and while the
 * daemon runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/plain.h"
#include "cli/command.h"
#include "cli/db_pruned.h"
#include "cli/db_trace.h"
#include "cli/live.h"
#include "cli/ui.h"
#include "store/record.h"

/* ---- which record */

static char *db_in(const char *dir)
{
	/* A copy is often a file by itself. */
	return file_is_dir(dir) || !file_exists(dir) ? path_join(dir, "stint.db") : mem_strdup(dir);
}

static char *db_of(const char *said, bool system)
{
	char *dir = live_state_dir(said, system), *db = db_in(dir);

	free(dir);
	return db;
}

char *db_find(const char *state)
{
	char *own = db_of(state, false), *common = db_of(state, true);
	bool use_common = !file_exists(own) && file_exists(common);

	free(use_common ? own : common);
	return use_common ? common : own;
}

int db_open(const char *state, char **path, struct record **out, struct err *err)
{
	char *asked;
	int rc = live_find_state(state, &asked, err);

	*path = rc ? NULL : db_find(asked ? asked : state);
	free(asked);
	if (rc)
		return rc;
	rc = record_open(*path, true, out, err);
	if (rc == ERR_MISSING)
		err_set(err, rc, "%s; say where the daemon keeps its state with --state DIR",
			err->text);
	return rc;
}

static const struct flag state_flags[] = {
	TEXT(state, "DIR",
		"the daemon's directory, or a copy of its stint.db (default: $STINT_STATE, or of the daemon of $STINT_SOCKET, or the usual one)"),
	{ 0 },
};

const struct flag_group flags_db = { .title = "record", .flags = state_flags };

/* ---- check */

struct checked {
	const char *path;
	int differences;
	uint64_t events;
	uint32_t jobs;
	struct buf lines;
	struct record *record;
	struct record_pruned pruned;
};

static void checked_json(const struct checked *c, struct buf *out)
{
	struct lines it = lines_of(c->lines.at, c->lines.n);
	struct slice line;
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "db-check/1");
	json_str(&j, "path", c->path);
	json_bool(&j, "ok", c->differences == 0);
	json_int(&j, "events", (int64_t)c->events);
	json_int(&j, "jobs", c->jobs);
	if (c->pruned.seq)
		pruned_to_json(c->record, &c->pruned, &j);
	json_begin_array(&j, "differences");
	while (c->lines.n && lines_next(&it, &line)) {
		char *text = mem_strndup(line.at, line.n);

		json_str(&j, NULL, text);
		free(text);
	}
	json_end(&j, ']');
	json_end(&j, '}');
}

static void checked_text(const struct checked *c, struct buf *out)
{
	if (c->lines.n)
		buf_add(out, c->lines.at, c->lines.n);
	buf_printf(out, "%s: %s, %llu event%s, last job %u\n", c->path,
		c->differences ? "has differences" : "sound", (unsigned long long)c->events,
		c->events == 1 ? "" : "s", c->jobs);
	if (c->pruned.seq)
		pruned_sentence(c->record, &c->pruned, out);
}

static int tell_checked(const struct args *args, const struct checked *c, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	if (args->json)
		checked_json(c, &text);
	else
		checked_text(c, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	if (rc || !c->differences)
		return rc;
	return err_set(err, ERR_DIFFER,
		"%s: %d difference%s; stop the daemon and keep a copy of the file before anything else",
		c->path, c->differences, c->differences == 1 ? "" : "s");
}

static int check_run(const struct args *args, struct err *err)
{
	struct checked c = { 0 };
	struct record *record = NULL;
	char *path;
	int rc = db_open(args->state, &path, &record, err);

	if (!rc) {
		c.path = path;
		c.record = record;
		record_view_begin(record);
		record_pruned(record, &c.pruned);
		c.events = record_last_seq(record);
		c.jobs = record_last_job(record);
		c.differences = record_check(record, &c.lines, err);
		rc = c.differences < 0 ? c.differences : tell_checked(args, &c, err);
	}
	record_close(record);
	buf_fini(&c.lines);
	free(path);
	return rc;
}

static const struct flag check_flags[] = {
	SWITCH(json, "as JSON"),
	{ 0 },
};

static const struct flag_group flags_check = {
	.title = "output",
	.flags = check_flags,
	.aside = true,
};

static const char *const check_examples[] = {
	"stint db check",
	"stint db check --state /backup/stint.db",
	NULL,
};

const struct command command_db_check = {
	.name = "db check",
	.summary = "whether the daemon's record is sound",
	.operands = "",
	.groups = { &flags_db, &flags_check },
	.about = "Looks for damage in the file, derives the tables of jobs and attempts again from the\n"
		 "events and compares.  Exit code 1 means that something differs.  Nothing is changed;\n"
		 "the daemon may run meanwhile.",
	.examples = check_examples,
	.run = check_run,
};

/* ---- export as events */

struct exporting {
	struct outfile *to;
	struct buf line, plain;
	uint64_t events;
};

/* JSON that was kept as text; a line must stay one. */
static void add_kept(struct buf *out, const char *key, const char *json)
{
	if (!json)
		return;
	buf_printf(out, ",\"%s\":", key);
	for (; *json; json++)
		buf_char(out, *json == '\n' || *json == '\r' ? ' ' : *json);
}

static int export_event(void *ctx, const struct record_event *event)
{
	struct exporting *e = ctx;
	struct buf *line = &e->line;

	buf_clear(line);
	buf_printf(line, "{\"seq\":%llu,\"at_s\":", (unsigned long long)event->seq);
	buf_double(line, event->at_s);
	buf_str(line, ",\"kind\":");
	json_quote(line, event->kind);
	if (event->job)
		buf_printf(line, ",\"job\":%u", event->job);
	if (event->attempt)
		buf_printf(line, ",\"attempt\":%u", event->attempt);
	add_kept(line, "body", event->body);
	add_kept(line, "job_after", event->job_after);
	add_kept(line, "attempt_after", event->attempt_after);
	buf_str(line, "}\n");
	e->events++;
	if (ui_interrupted())
		return ERR_REFUSED;
	/* The same JSON: names in old records may not be plain. */
	buf_clear(&e->plain);
	text_escape_lines(&e->plain, line->at, line->n);
	return fwrite(e->plain.at, 1, e->plain.n, e->to->to) == e->plain.n ? 0 : ERR_IO;
}

static int export_events(const struct args *args, struct record *record, struct err *err)
{
	const char *to = args->out ? args->out : "-";
	struct outfile file;
	struct exporting e = { .to = &file };
	int rc = outfile_open(&file, to, err);

	if (rc)
		return rc;
	ui_guard();
	record_view_begin(record);
	rc = record_events(record, 0, 0, 0, export_event, &e, err);
	if (rc && ui_interrupted())
		rc = err_set(err, ERR_REFUSED, "interrupted");
	else if (rc && ferror(file.to))
		rc = err_set(err, ERR_IO, "cannot write %s", to);
	if (!rc)
		rc = outfile_commit(&file, err);
	outfile_abandon(&file);
	buf_fini(&e.line);
	buf_fini(&e.plain);
	if (!rc && args->out)
		ui_say(args, "wrote %llu events to %s", (unsigned long long)e.events, to);
	if (!rc)
		pruned_say(args, record);
	return rc;
}

/* ---- which export */

typedef int exporter(const struct args *args, struct record *record, struct err *err);

static exporter *exporter_of(const char *format)
{
	static const struct {
		const char *name;
		exporter *run;
	} exporters[] = {
		{ "events", export_events },
		{ "trace", db_export_trace },
		{ "sim", db_export_sim },
	};

	for (size_t i = 0; i < sizeof(exporters) / sizeof(exporters[0]); i++) {
		if (!strcmp(exporters[i].name, format))
			return exporters[i].run;
	}
	return NULL;
}

static int export_run(const struct args *args, struct err *err)
{
	const char *format = args->format ? args->format : "events";
	exporter *export = exporter_of(format);
	struct record *record = NULL;
	char *path;
	int rc;

	if (!export)
		return err_set(err, ERR_USAGE, "--format %s: there are events, trace and sim", format);
	rc = db_open(args->state, &path, &record, err);
	if (!rc)
		rc = export(args, record, err);
	record_close(record);
	free(path);
	return rc;
}

static const struct flag export_flags[] = {
	TEXT(format, "NAME",
		"events: JSON lines (default); trace: CSV of jobs that ended; sim: all that a simulation needs"),
	TEXT(out, "FILE", "write there instead of standard output; sim: a directory"),
	SWITCH(quiet, "no messages"),
	{ 0 },
};

static const struct flag_group flags_export = {
	.title = "output",
	.flags = export_flags,
	.aside = true,
};

static const char *const export_examples[] = {
	"stint db export --format trace --out week.csv && stint compare week.csv --cluster 1x8",
	"stint db export --format sim --out again/ | sh",
	"stint db export --format events | jq 'select(.kind == \"submit\")'",
	NULL,
};

const struct command command_db_export = {
	.name = "db export",
	.summary = "write what the daemon recorded: events, or a trace to simulate",
	.operands = "",
	.groups = { &flags_db, &flags_export },
	.about = "Events have everything, the submitted environments too.  A trace has what was asked and\n"
		 "how long each job really ran, so that another policy can be tried on the same work.\n"
		 "sim writes trace.csv, cluster.yaml and real.csv (how it went) into a directory and prints\n"
		 "the command that simulates the same jobs under the same rules on the same machine.",
	.examples = export_examples,
	.run = export_run,
};
