/*
 * stint db check, db export: the daemon's record without the daemon.
 *
 * The record is only read, so both work on a copy that cannot be written and while the
 * daemon runs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/live.h"
#include "cli/ui.h"
#include "io/trace_io.h"
#include "live/live_job.h"
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

/* What --state says; else one's own, or else the machine's. */
static char *find_db(const struct args *args)
{
	char *own = db_of(args->state, false), *common = db_of(args->state, true);
	bool use_common = !file_exists(own) && file_exists(common);

	free(use_common ? own : common);
	return use_common ? common : own;
}

static int open_db(const struct args *args, char **path, struct record **out, struct err *err)
{
	int rc;

	*path = find_db(args);
	rc = record_open(*path, true, out, err);
	if (rc == ERR_MISSING)
		err_set(err, rc, "%s; say where the daemon keeps its state with --state DIR",
			err->text);
	return rc;
}

static const struct flag state_flags[] = {
	TEXT(state, "DIR", "the daemon's directory, or a copy of its stint.db"),
	{ 0 },
};

static const struct flag_group flags_state = { .title = "record", .flags = state_flags };

/* ---- check */

struct checked {
	const char *path;
	int differences;
	uint64_t events;
	uint32_t jobs;
	struct buf lines;
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
	int rc = open_db(args, &path, &record, err);

	if (!rc) {
		c.path = path;
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
	.groups = { &flags_state, &flags_check },
	.about = "Looks for damage in the file, derives the tables of jobs and attempts again from the\n"
		 "events and compares.  Exit code 1 means that something differs.  Nothing is changed;\n"
		 "the daemon may run meanwhile.",
	.examples = check_examples,
	.run = check_run,
};

/* ---- export as events */

struct exporting {
	struct outfile *to;
	struct buf line;
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
	return fwrite(line->at, 1, line->n, e->to->to) == line->n ? 0 : ERR_IO;
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
	rc = record_events(record, 0, 0, 0, export_event, &e, err);
	if (rc && ui_interrupted())
		rc = err_set(err, ERR_REFUSED, "interrupted");
	else if (rc && ferror(file.to))
		rc = err_set(err, ERR_IO, "cannot write %s", to);
	if (!rc)
		rc = outfile_commit(&file, err);
	outfile_abandon(&file);
	buf_fini(&e.line);
	if (!rc && args->out)
		ui_say(args, "wrote %llu events to %s", (unsigned long long)e.events, to);
	return rc;
}

/* ---- export as a trace */

/* Jobs that ended, newest first as they are read. */
struct ended {
	VEC(struct live_job *) jobs;
	uint32_t never_ran, unreadable;
};

static int take_ended(void *ctx, const struct record_job *row)
{
	struct ended *ended = ctx;
	struct live_job *job = NULL;
	json_t *status = json_loads(row->status, 0, NULL);
	bool read = status && live_job_from_status(status, &job, NULL) == 0;
	bool ran = read && job->base.ran_s > 0 && job->base.gpus > 0;

	json_decref(status);
	ended->unreadable += !read;
	ended->never_ran += read && !ran;
	if (ran)
		vec_push(&ended->jobs, job);
	else
		live_job_destroy(job);
	return 0;
}

static void ended_fini(struct ended *ended)
{
	for (size_t i = 0; i < ended->jobs.n; i++)
		live_job_destroy(ended->jobs.at[i]);
	vec_fini(&ended->jobs);
}

static uint32_t name_of(struct names *names, const char *text)
{
	return text && *text ? names_add(names, text, strlen(text)) : NAME_NONE;
}

/* "v100,a100" as bits; a trace knows 31 types, and any where there are more. */
static uint32_t types_of(struct trace *trace, const char *list)
{
	struct slice rest = slice_of(list ? list : "");
	uint32_t bits = 0;

	while (rest.n) {
		struct slice one = slice_trim(slice_cut(&rest, ','));
		uint32_t type = one.n ? names_add(&trace->types, one.at, one.n) : NAME_NONE;

		if (type < 31)
			bits |= 1u << type;
	}
	return bits;
}

/* What was asked, and as its work the seconds it has really run. */
static void add_job(struct trace *trace, const struct live_job *from)
{
	struct job *job = trace_add(trace);
	char id[16];

	snprintf(id, sizeof(id), "%u", from->id);
	job->label = trace_text(trace, id, strlen(id));
	job->name = from->name ? trace_text(trace, from->name, strlen(from->name)) : NULL;
	job->tenant = name_of(&trace->tenants, from->tenant);
	job->model = name_of(&trace->models, from->model);
	job->types = types_of(trace, from->types);
	job->arrival_s = from->base.arrival_s;
	job->gpus = from->base.gpus;
	job->min_gpus = from->base.min_gpus;
	job->max_gpus = from->base.max_gpus;
	job->class_ = from->base.class_;
	job->weight = from->base.weight;
	job->priority = from->base.priority;
	job->deadline_s = from->base.deadline_s;
	job->cpus = from->base.cpus;
	job->mem_bytes = from->base.mem_bytes;
	job->start_cost_s = from->base.start_cost_s;
	job->resume_cost_s = from->base.resume_cost_s;
	if (from->estimate_s > 0)
		job->work_est = from->estimate_s;
	trace->work[trace->njobs - 1] = from->base.ran_s;
}

/* Position of job `id` in the trace: the jobs are read newest first and added oldest first. */
static uint32_t position_of(const struct ended *ended, uint32_t id)
{
	size_t low = 0, high = ended->jobs.n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (ended->jobs.at[ended->jobs.n - 1 - mid]->id < id)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == ended->jobs.n || ended->jobs.at[ended->jobs.n - 1 - low]->id != id)
		return JOB_NONE;
	return (uint32_t)low;
}

/* A trace can only say "after it finished". */
static void add_after(struct trace *trace, const struct ended *ended, uint32_t at)
{
	const struct live_job *job = ended->jobs.at[ended->jobs.n - 1 - at];

	for (uint32_t i = 0; i < job->nafter; i++) {
		uint32_t other = position_of(ended, job->after[i].job);

		if (job->after[i].kind != AFTER_START && other != JOB_NONE)
			trace_add_dep(trace, at, other);
	}
}

static void make_trace(const struct ended *ended, struct trace *trace)
{
	uint32_t n = (uint32_t)ended->jobs.n;

	for (uint32_t i = 0; i < n; i++)
		add_job(trace, ended->jobs.at[n - 1 - i]);
	for (uint32_t i = 0; i < n; i++)
		add_after(trace, ended, i);
	trace_finish(trace, 0);
}

static int write_trace(const struct args *args, const struct ended *ended, struct err *err)
{
	const char *to = args->out ? args->out : "-";
	struct trace trace = { 0 };
	struct buf text = { 0 };
	int rc;

	make_trace(ended, &trace);
	trace_write(&trace, &text);
	rc = file_write(to, text.at, text.n, err);
	if (!rc && args->out)
		ui_say(args, "wrote %u job%s to %s", trace.njobs, trace.njobs == 1 ? "" : "s", to);
	if (!rc && ended->never_ran)
		ui_say(args, "%u ended without having run and are left out", ended->never_ran);
	if (!rc && ended->unreadable)
		ui_say(args, "%u could not be read and are left out", ended->unreadable);
	buf_fini(&text);
	trace_fini(&trace);
	return rc;
}

static int export_trace(const struct args *args, struct record *record, struct err *err)
{
	struct record_filter all = { .uid = UINT32_MAX, .ended_since_s = NAN };
	struct ended ended = { 0 };
	int rc = record_ended_jobs(record, &all, take_ended, &ended, err);

	if (!rc)
		rc = write_trace(args, &ended, err);
	ended_fini(&ended);
	return rc;
}

static int export_run(const struct args *args, struct err *err)
{
	const char *format = args->format ? args->format : "events";
	bool trace = !strcmp(format, "trace");
	struct record *record = NULL;
	char *path;
	int rc;

	if (!trace && strcmp(format, "events") != 0)
		return err_set(err, ERR_USAGE, "--format %s: there are events and trace", format);
	rc = open_db(args, &path, &record, err);
	if (!rc)
		rc = trace ? export_trace(args, record, err) : export_events(args, record, err);
	record_close(record);
	free(path);
	return rc;
}

static const struct flag export_flags[] = {
	TEXT(format, "NAME", "events: JSON lines (default); trace: CSV of jobs that ended"),
	TEXT(out, "FILE", "write there instead of standard output"),
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
	"stint db export --format events | jq 'select(.kind == \"submit\")'",
	NULL,
};

const struct command command_db_export = {
	.name = "db export",
	.summary = "write what the daemon recorded: events, or a trace to simulate",
	.operands = "",
	.groups = { &flags_state, &flags_export },
	.about = "Events have everything, the submitted environments too.  A trace has what was asked and\n"
		 "how long each job really ran, so that another policy can be tried on the same work.",
	.examples = export_examples,
	.run = export_run,
};
