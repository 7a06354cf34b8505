/*
 * stint db prune: making the record smaller.
 *
 * The daemon is the only writer while it runs, so it is asked to prune; else the record is
 * opened under the daemon's lock.  What would be pruned is counted by reading.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/members.h"
#include "cli/db_pruned.h"
#include "cli/db_pruning.h"
#include "cli/db_trace.h"
#include "cli/live.h"
#include "cli/ui.h"
#include "daemon/kept_use.h"
#include "live/job_dirs.h"
#include "live/summary.h"
#include "store/state_lock.h"

enum { STEP_JOBS = 1000 }; /* where no daemon waits */

#define POLL_S 0.2

/* What is older would go; a cut of before that is later counts only where it left something. */
static double planned_s(const struct pruning *p)
{
	return p->plan.jobs || p->plan.events ? p->plan.at_s : p->before_s;
}

static void plan_text(const struct pruning *p, struct buf *out)
{
	char when[32];

	pruned_moment(wallclock_s(&p->wall, p->plan.at_s), when);
	if (!p->plan.jobs && !p->plan.events) {
		buf_printf(out, "%s: nothing before %s is left to prune\n", p->path,
			pruned_moment(wallclock_s(&p->wall, p->before_s), when));
		return;
	}
	buf_printf(out,
		"%s: of %llu job%s that ended before %s a summary stays; at most %llu event%s and the directories under %s/jobs are deleted.  Files that jobs wrote with --output stay.\n",
		p->path, (unsigned long long)p->plan.jobs, pruning_plural(p->plan.jobs), when,
		(unsigned long long)p->plan.events, pruning_plural(p->plan.events), p->dir);
}

/* ---- what was done */

struct pruned_run {
	uint64_t jobs, events;
	struct job_dirs dirs;
	struct record_size size;
};

/* What a run and a dry run (NULL) say alike. */
static void begin_json(const struct pruning *p, const struct pruned_run *run, struct json *j)
{
	json_begin_object(j, NULL);
	json_str(j, "schema", "db-prune/1");
	json_str(j, "path", p->path);
	json_bool(j, "dry_run", !run);
	json_double(j, "before", wallclock_s(&p->wall, run ? p->plan.at_s : planned_s(p)));
	json_int(j, "jobs", (int64_t)(run ? run->jobs : p->plan.jobs));
	json_int(j, "events", (int64_t)(run ? run->events : p->plan.events));
}

static int tell_run(const struct pruning *p, const struct pruned_run *run, struct err *err)
{
	struct buf text = { 0 };
	struct json j;
	int rc;

	if (p->args->json) {
		json_init(&j, &text, true);
		begin_json(p, run, &j);
		json_int(&j, "directories", (int64_t)run->dirs.removed);
		json_int(&j, "directories_left", (int64_t)run->dirs.left);
		json_int(&j, "bytes", run->size.bytes);
		json_int(&j, "free_bytes", run->size.free_bytes);
		json_end(&j, '}');
	} else {
		buf_printf(&text, "pruned %llu job%s: %llu event%s and %llu job director%s deleted; ",
			(unsigned long long)run->jobs, pruning_plural(run->jobs),
			(unsigned long long)run->events, pruning_plural(run->events),
			(unsigned long long)run->dirs.removed, run->dirs.removed == 1 ? "y" : "ies");
		buf_printf(&text, "%s has ", p->path);
		pruning_add_size(&text, (double)run->size.bytes);
		buf_char(&text, '\n');
	}
	rc = ui_print(&text, err);
	buf_fini(&text);
	if (run->dirs.left)
		ui_say(p->args,
			"%llu director%s under %s/jobs stay%s: there are files that are not Stint's",
			(unsigned long long)run->dirs.left, run->dirs.left == 1 ? "y" : "ies",
			p->dir, run->dirs.left == 1 ? "s" : "");
	if (!run->size.gives_back && run->size.free_bytes > 0) {
		struct buf free_text = { 0 };

		pruning_add_size(&free_text, (double)run->size.free_bytes);
		ui_say(p->args,
			"%s in the file are free and used again; to give them back to the file system stop the daemon and run 'stint db prune --older TIME --vacuum'",
			free_text.at);
		buf_fini(&free_text);
	}
	return rc;
}

static int tell_plan(const struct pruning *p, struct err *err)
{
	struct buf text = { 0 };
	struct json j;
	int rc;

	if (p->args->json) {
		json_init(&j, &text, true);
		begin_json(p, NULL, &j);
		json_bool(&j, "confirmed", p->confirmed);
		json_end(&j, '}');
	} else {
		plan_text(p, &text);
	}
	rc = ui_print(&text, err);
	buf_fini(&text);
	return rc;
}

/* ---- asking a person */

static bool says_yes(void)
{
	char line[16];

	return fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y');
}

static int confirm(const struct pruning *p, struct err *err)
{
	struct buf text = { 0 };
	bool yes;

	if (p->confirmed || p->args->yes)
		return 0;
	plan_text(p, &text);
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		err_set(err, ERR_REFUSED,
			"%sThis record was never pruned, and deleted events do not come back: say --yes once, or run this on a terminal; --dry-run only shows it",
			text.at);
		buf_fini(&text);
		return err->code;
	}
	ui_err("%sDeleted events do not come back.  Prune this record, now and by --keep later? [y/N] ",
		text.at);
	fflush(stderr);
	buf_fini(&text);
	yes = says_yes();
	return yes ? 0 : err_set(err, ERR_REFUSED, "nothing was pruned");
}

/* ---- by the daemon */

static void read_run(const json_t *reply, struct pruned_run *out)
{
	const json_t *prune = json_object_get(reply, "prune");

	*out = (struct pruned_run){
		.jobs = (uint64_t)member_int(prune, "jobs", 0),
		.events = (uint64_t)member_int(prune, "events", 0),
		.dirs = { (uint64_t)member_int(prune, "directories", 0),
			(uint64_t)member_int(prune, "directories_left", 0) },
		.size = { member_int(reply, "bytes", 0), member_int(reply, "free_bytes", 0),
			member_bool(reply, "gives_back", true) },
	};
}

/* Until the run is over, which it is by itself if nobody waits for it. */
static int follow(const struct pruning *p, const struct args *args, struct pruned_run *out,
	struct err *err)
{
	struct bar bar;
	bool running = true;
	int rc = 0;

	ui_guard();
	bar_begin(&bar, p->args, "pruning");
	while (!rc && running && !ui_interrupted()) {
		json_t *reply = NULL;

		live_pause(POLL_S);
		rc = live_get(args, "/v1/record", &reply, err);
		if (!rc) {
			read_run(reply, out);
			running = member_bool(json_object_get(reply, "prune"), "running", false);
			bar_move(&bar, (double)out->jobs / (double)(p->plan.jobs + 1));
		}
		json_decref(reply);
	}
	bar_end(&bar);
	if (!rc && running)
		ui_say(p->args, "the daemon goes on pruning; 'stint db status' says how far it is");
	return rc;
}

static int ask_daemon(const struct pruning *p, struct pruned_run *out, struct err *err)
{
	char *socket;
	struct args args = pruning_daemon_args(p->args, p->dir, &socket);
	json_t *reply = NULL;
	int rc = pruning_ask_record(&args, p->dir, &reply, err);

	json_decref(reply);
	reply = NULL;
	if (!rc)
		rc = live_post(&args, "/v1/record/prune",
			json_pack("{s:f,s:b}", "older_s", p->args->older, "confirm", 1), &reply, err);
	json_decref(reply);
	if (!rc)
		rc = follow(p, &args, out, err);
	free(socket);
	return rc;
}

/* ---- by ourselves */

/* As the daemon takes it; ERR_REFUSED: a daemon has it.  The files stay those of the record's owner. */
static int take_lock(const struct pruning *p, struct state_lock *lock, struct err *err)
{
	int rc = state_lock_now(p->dir, lock, err);
	struct stat st;

	if (rc == 0 && geteuid() == 0 && stat(p->path, &st) == 0 &&
		(fchown(lock->file, st.st_uid, st.st_gid) < 0 ||
			fchown(lock->dir, st.st_uid, st.st_gid) < 0))
		ui_say(p->args, "%s: %s", p->dir, strerror(errno));
	return rc;
}

static int see_summary(void *ctx, const struct record_job *job)
{
	*(bool *)ctx = job->submit_seq == 0;
	return 0;
}

static bool may_go(void *ctx, uint32_t job)
{
	struct err ignored = { 0 };
	bool is = false;

	return record_job(ctx, job, see_summary, &is, &ignored) == 0 && is;
}

static int remember_yes(const struct pruning *p, struct record *record, struct err *err)
{
	char text[128];

	if (p->confirmed)
		return 0;
	snprintf(text, sizeof(text), "{\"at\":%.0f,\"uid\":%u,\"how\":\"prune\"}", clock_real_s(),
		(unsigned int)geteuid());
	return record_set_meta(record, RETENTION_CONFIRMED, text, err);
}

static int run_steps(const struct pruning *p, struct record *record, struct pruned_run *out,
	struct err *err)
{
	struct prune *prune = NULL;
	struct bar bar;
	int rc = prune_create(record, p->before_s, live_summarise, &prune, err);

	if (rc < 0)
		return rc;
	prune_leave_pages(prune);
	ui_guard();
	bar_begin(&bar, p->args, "pruning");
	do {
		rc = prune_step(prune, STEP_JOBS, err);
		bar_move(&bar, (double)prune_jobs(prune) / (double)(p->plan.jobs + 1));
	} while (rc > 0 && !ui_interrupted());
	bar_end(&bar);
	out->jobs = prune_jobs(prune);
	out->events = prune_events(prune);
	prune_destroy(prune);
	if (rc > 0)
		return err_set(err, ERR_REFUSED,
			"interrupted after %llu jobs; the record is sound, and the same command goes on from there",
			(unsigned long long)out->jobs);
	return rc;
}

/* Worth to be written anew: what is left needs less room than what becomes free. */
static bool is_mostly_free(const struct record_size *size)
{
	return size->gives_back && size->free_bytes > size->bytes / 2;
}

/* Unless it was asked for, a disk without room for it is no failure. */
static int vacuum(const struct pruning *p, struct record *record, struct err *err)
{
	int rc = record_vacuum(record, err);

	if (!rc || p->args->vacuum)
		return rc;
	ui_say(p->args, "free pages stay in the file: %s", err->text);
	*err = (struct err){ 0 };
	return 0;
}

/* The next daemon counts anew what output is kept. */
static int forget_kept(struct record *record, struct err *err)
{
	return pruning_has_meta(record, KEPT_META) ? record_set_meta(record, KEPT_META, "{}", err) : 0;
}

static int prune_here(const struct pruning *p, struct pruned_run *out, struct err *err)
{
	struct record *record = NULL;
	int rc = record_open(p->path, false, &record, err);

	if (!rc)
		rc = remember_yes(p, record, err);
	if (!rc)
		rc = run_steps(p, record, out, err);
	if (!rc)
		rc = record_size(record, &out->size, err);
	if (!rc && (p->args->vacuum || is_mostly_free(&out->size)))
		rc = vacuum(p, record, err);
	if (!rc)
		rc = forget_kept(record, err);
	if (!rc)
		rc = job_dirs_sweep(p->dir, may_go, record, NULL, &out->dirs, err);
	if (!rc)
		rc = record_size(record, &out->size, err);
	record_close(record);
	return rc;
}

static int do_it(const struct pruning *p, struct err *err)
{
	struct pruned_run run = { 0 };
	struct state_lock lock;
	int rc = take_lock(p, &lock, err);
	bool busy = rc == ERR_REFUSED;

	if (rc < 0 && !busy)
		return rc;
	if (busy && p->args->vacuum)
		return err_set(err, ERR_REFUSED,
			"--vacuum writes the whole record anew, which the daemon of %s keeps from happening: stop it first",
			p->dir);
	*err = (struct err){ 0 };
	rc = busy ? ask_daemon(p, &run, err) : prune_here(p, &run, err);
	state_unlock(&lock);
	return rc ? rc : tell_run(p, &run, err);
}

static int prune_run(const struct args *args, struct err *err)
{
	struct pruning p = { 0 };
	int rc;

	if (isnan(args->older))
		return err_set(err, ERR_USAGE,
			"say what is old: --older 90d makes summaries of jobs that ended longer ago");
	rc = pruning_look(args, args->older, &p, err);
	if (!rc && (args->dry_run || (!p.confirmed && !p.plan.jobs && !p.plan.events)))
		rc = tell_plan(&p, err);
	else if (!rc && (rc = confirm(&p, err)) == 0)
		rc = do_it(&p, err);
	pruning_fini(&p);
	return rc;
}

static const struct flag prune_flags[] = {
	FLAG_OF(older, FLAG_SECONDS, .value = "TIME", .preset = NAN, .min = 0, .max = 1e10, .unit = true,
		.help = "jobs that ended longer ago than this, such as 90d; without a daemon counted back from the last event"),
	SWITCH(dry_run, "only say what would be done"),
	SWITCH(yes, "do not ask, the first time either"),
	SWITCH(vacuum,
		"then write the file anew without free pages; needs as much room again, and no daemon"),
	SWITCH(json, "as JSON"),
	SWITCH(quiet, "no messages"),
	{ 0 },
};

static const struct flag_group flags_prune = { .title = "what to do", .flags = prune_flags };

static const char *const prune_examples[] = {
	"stint db prune --older 90d --dry-run",
	"stint db prune --older 90d",
	NULL,
};

const struct command command_db_prune = {
	.name = "db prune",
	.summary = "make the record smaller: summaries instead of old events",
	.operands = "",
	.groups = { &flags_db, &flags_prune, &flags_daemon },
	.about = "Of a job that ended long ago a summary stays: who, what, when, how it ended, what it used.  Its\n"
		 "events, its submission and the directory with the output that Stint kept are deleted; files that\n"
		 "jobs wrote with --output never are.  The first time it asks, or needs --yes; after that --keep of\n"
		 "the daemon prunes by itself.  The daemon may run meanwhile: it prunes between decisions.",
	.examples = prune_examples,
	.run = prune_run,
};
