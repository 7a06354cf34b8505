/*
 * stint db prune, db status: how large the record is, and making it smaller.
 *
 * The daemon is the only writer while it runs, so it is asked to prune; else the record is
 * opened under the daemon's lock.  What would be pruned is counted by reading.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/members.h"
#include "cli/db_pruned.h"
#include "cli/db_trace.h"
#include "cli/live.h"
#include "cli/ui.h"
#include "daemon/kept_use.h"
#include "live/job_dirs.h"
#include "live/summary.h"
#include "store/state_lock.h"

enum { STEP_JOBS = 1000 }; /* where no daemon waits */

#define POLL_S 0.2

/* What is known before anything is done. */
struct pruning {
	const struct args *args;
	char *path, *dir; /* of the record, and the directory it is in */
	struct wallclock wall;
	double before_s;
	struct record_prune_plan plan;
	struct record_pruned pruned;
	struct record_size size;
	bool confirmed;
};

static void pruning_fini(struct pruning *p)
{
	free(p->path);
	free(p->dir);
	wallclock_fini(&p->wall);
}

static bool has_meta(struct record *record, const char *key)
{
	struct buf text = { 0 };
	bool has = record_meta(record, key, &text);

	buf_fini(&text);
	return has;
}

static char *dir_of(const char *path)
{
	const char *base = path_base(path);

	return base == path ? mem_strdup(".") : mem_strndup(path, (size_t)(base - path - 1));
}

static bool daemon_runs(const char *dir)
{
	char *path = path_join(dir, "lock");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool runs = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	free(path);
	return runs;
}

/* A record that is not in use is as old as its last event: a wrong clock of today prunes nothing. */
static double now_of(const struct pruning *p, double last_s)
{
	return daemon_runs(p->dir) ? fmax(last_s, clock_real_s() - wallclock_offset(&p->wall)) : last_s;
}

static int look(const struct args *args, double older_s, struct pruning *out, struct err *err)
{
	struct record *record = NULL;
	int rc = db_open(args->state, &out->path, &record, err);

	out->args = args;
	if (rc)
		return rc;
	out->dir = dir_of(out->path);
	record_view_begin(record);
	pruned_clock(record, &out->wall);
	out->before_s = now_of(out, record_last_s(record)) - older_s;
	out->confirmed = has_meta(record, RETENTION_CONFIRMED);
	record_pruned(record, &out->pruned);
	rc = record_size(record, &out->size, err);
	if (!rc)
		rc = record_prune_plan(record, out->before_s, &out->plan, err);
	record_close(record);
	return rc;
}

/* ---- saying */

static void add_size(struct buf *out, double bytes)
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	size_t i = 0;

	for (; bytes >= 1000 && i < 4; i++)
		bytes /= 1000;
	buf_printf(out, "%.*f %s", i && bytes < 10 ? 1 : 0, bytes, units[i]);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

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
		p->path, (unsigned long long)p->plan.jobs, plural(p->plan.jobs), when,
		(unsigned long long)p->plan.events, plural(p->plan.events), p->dir);
}

/* ---- what was done */

struct pruned_run {
	uint64_t jobs, events;
	struct job_dirs dirs;
	struct record_size size;
};

static int tell_run(const struct pruning *p, const struct pruned_run *run, struct err *err)
{
	struct buf text = { 0 };
	struct json j;
	int rc;

	if (p->args->json) {
		json_init(&j, &text, true);
		json_begin_object(&j, NULL);
		json_str(&j, "schema", "db-prune/1");
		json_str(&j, "path", p->path);
		json_bool(&j, "dry_run", false);
		json_double(&j, "before", wallclock_s(&p->wall, p->plan.at_s));
		json_int(&j, "jobs", (int64_t)run->jobs);
		json_int(&j, "events", (int64_t)run->events);
		json_int(&j, "directories", (int64_t)run->dirs.removed);
		json_int(&j, "directories_left", (int64_t)run->dirs.left);
		json_int(&j, "bytes", run->size.bytes);
		json_int(&j, "free_bytes", run->size.free_bytes);
		json_end(&j, '}');
	} else {
		buf_printf(&text, "pruned %llu job%s: %llu event%s and %llu job director%s deleted; ",
			(unsigned long long)run->jobs, plural(run->jobs),
			(unsigned long long)run->events, plural(run->events),
			(unsigned long long)run->dirs.removed, run->dirs.removed == 1 ? "y" : "ies");
		buf_printf(&text, "%s has ", p->path);
		add_size(&text, (double)run->size.bytes);
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

		add_size(&free_text, (double)run->size.free_bytes);
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
		json_begin_object(&j, NULL);
		json_str(&j, "schema", "db-prune/1");
		json_str(&j, "path", p->path);
		json_bool(&j, "dry_run", true);
		json_double(&j, "before", wallclock_s(&p->wall, planned_s(p)));
		json_int(&j, "jobs", (int64_t)p->plan.jobs);
		json_int(&j, "events", (int64_t)p->plan.events);
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
	fprintf(stderr,
		"%sDeleted events do not come back.  Prune this record, now and by --keep later? [y/N] ",
		text.at);
	fflush(stderr);
	buf_fini(&text);
	yes = says_yes();
	return yes ? 0 : err_set(err, ERR_REFUSED, "nothing was pruned");
}

/* ---- by the daemon */

/* Where it listens: as said; else beside the record, where a daemon with --state is; else the usual place. */
static struct args for_daemon(const struct pruning *p, char **socket)
{
	struct args args = *p->args;

	*socket = path_join(p->dir, "socket");
	if (!args.socket && file_exists(*socket))
		args.socket = *socket;
	return args;
}

static bool is_same_dir(const char *a, const char *b)
{
	struct stat x, y;

	return a && b && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
		x.st_ino == y.st_ino;
}

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
	struct args args = for_daemon(p, &socket);
	json_t *reply = NULL;
	int rc = live_get(&args, "/v1/record", &reply, err);

	if (rc)
		err_prefix(err, "a daemon uses %s and does not answer; stop it, or say --socket",
			p->dir);
	else if (!is_same_dir(member_text(reply, "state"), p->dir))
		rc = err_set(err, ERR_REFUSED,
			"a daemon uses %s, but the one that answers has its state in %s; say --socket",
			p->dir, member_text(reply, "state"));
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
	return has_meta(record, KEPT_META) ? record_set_meta(record, KEPT_META, "{}", err) : 0;
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
	rc = look(args, args->older, &p, err);
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

/* ---- status */

struct status {
	struct pruning p;
	uint64_t last_seq;
	uint32_t last_job;
	double last_s, keep_s;
	double confirmed_at; /* NAN: never */
	int64_t confirmed_uid;
	json_t *kept; /* bytes of kept output by tenant; NULL: not known */
};

/* As the daemon wrote it down last. */
static json_t *read_kept(struct record *record)
{
	struct buf text = { 0 };
	json_t *json = record_meta(record, KEPT_META, &text) ? json_loads(text.at, 0, NULL) : NULL;
	json_t *kept = json_incref(json_object_get(json, "of"));

	json_decref(json);
	buf_fini(&text);
	return kept;
}

static int64_t kept_bytes(const struct status *s)
{
	int64_t sum = 0;
	const char *tenant;
	json_t *bytes;

	json_object_foreach(s->kept, tenant, bytes)
	{
		sum += json_integer_value(bytes);
	}
	return sum;
}

static int read_status(const struct args *args, struct status *out, struct err *err)
{
	struct record *record = NULL;
	struct buf keep = { 0 }, confirmed = { 0 };
	char *path;
	int rc = db_open(args->state, &path, &record, err);

	free(path);
	if (rc)
		return rc;
	out->last_seq = record_last_seq(record);
	out->last_job = record_last_job(record);
	out->last_s = record_last_s(record);
	out->keep_s = record_meta(record, RETENTION_KEEP, &keep) ? strtod(keep.at, NULL) : 0;
	out->confirmed_at = NAN;
	if (record_meta(record, RETENTION_CONFIRMED, &confirmed)) {
		json_t *json = json_loads(confirmed.at, 0, NULL);

		out->confirmed_at = member_number(json, "at", 0);
		out->confirmed_uid = member_int(json, "uid", -1);
		json_decref(json);
	}
	out->kept = read_kept(record);
	record_close(record);
	buf_fini(&keep);
	buf_fini(&confirmed);
	return look(args, out->keep_s > 0 ? out->keep_s : INFINITY, &out->p, err);
}

static void status_json(const struct status *s, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "db-status/1");
	json_str(&j, "path", s->p.path);
	json_int(&j, "bytes", s->p.size.bytes);
	json_int(&j, "free_bytes", s->p.size.free_bytes);
	json_bool(&j, "gives_back", s->p.size.gives_back);
	json_int(&j, "last_seq", (int64_t)s->last_seq);
	json_int(&j, "last_job", s->last_job);
	json_double(&j, "last", wallclock_s(&s->p.wall, s->last_s));
	if (s->p.pruned.seq) {
		json_begin_object(&j, "pruned");
		json_int(&j, "seq", (int64_t)s->p.pruned.seq);
		json_double(&j, "before", wallclock_s(&s->p.wall, s->p.pruned.at_s));
		json_int(&j, "jobs", (int64_t)s->p.pruned.jobs);
		json_int(&j, "events", (int64_t)s->p.pruned.events);
		json_end(&j, '}');
	}
	json_bool(&j, "confirmed", s->p.confirmed);
	if (s->keep_s > 0) {
		json_double(&j, "keep_s", s->keep_s);
		json_int(&j, "would_prune_jobs", (int64_t)s->p.plan.jobs);
	}
	if (s->kept) {
		const char *tenant;
		json_t *bytes;

		json_int(&j, "kept_output_bytes", kept_bytes(s));
		json_begin_object(&j, "kept_output");
		json_object_foreach(s->kept, tenant, bytes)
		{
			json_int(&j, tenant, json_integer_value(bytes));
		}
		json_end(&j, '}');
	}
	json_end(&j, '}');
}

static void user_text(int64_t uid, struct buf *out)
{
	const struct passwd *user = uid >= 0 ? getpwuid((uid_t)uid) : NULL;

	if (user)
		buf_str(out, user->pw_name);
	else
		buf_printf(out, "user %lld", (long long)uid);
}

static void keep_text(const struct status *s, struct buf *out)
{
	char when[32], age[32];

	if (!(s->keep_s > 0))
		buf_str(out, "keep    everything: the daemon runs without --keep");
	else
		buf_printf(out, "keep    %s", retention_age(s->keep_s, age));
	if (s->p.confirmed) {
		buf_printf(out, "; pruning was confirmed %s by ", pruned_moment(s->confirmed_at, when));
		user_text(s->confirmed_uid, out);
	} else if (s->keep_s > 0) {
		buf_printf(out,
			"; not confirmed, so nothing is pruned: %llu job%s would be; 'stint db prune --older %s' asks",
			(unsigned long long)s->p.plan.jobs, plural(s->p.plan.jobs),
			retention_age(s->keep_s, age));
	}
	buf_char(out, '\n');
}

static void status_text(const struct status *s, struct buf *out)
{
	char when[32];

	buf_printf(out, "record  %s, ", s->p.path);
	add_size(out, (double)s->p.size.bytes);
	buf_str(out, ", of which ");
	add_size(out, (double)s->p.size.free_bytes);
	buf_str(out, " free\n");
	buf_printf(out, "events  last %llu, %s; last job %u\n", (unsigned long long)s->last_seq,
		pruned_moment(wallclock_s(&s->p.wall, s->last_s), when), s->last_job);
	if (s->p.pruned.seq)
		buf_printf(out, "pruned  before %s: %llu job%s %s, %llu events deleted\n",
			pruned_moment(wallclock_s(&s->p.wall, s->p.pruned.at_s), when),
			(unsigned long long)s->p.pruned.jobs, plural(s->p.pruned.jobs),
			s->p.pruned.jobs == 1 ? "is a summary" : "are summaries",
			(unsigned long long)s->p.pruned.events);
	else
		buf_str(out, "pruned  never\n");
	keep_text(s, out);
	if (s->kept) {
		size_t tenants = json_object_size(s->kept);

		buf_str(out, "output  ");
		add_size(out, (double)kept_bytes(s));
		buf_printf(out, " kept of jobs of %zu tenant%s; 'stint quota limits' has each\n",
			tenants, plural(tenants));
	}
}

static int status_run(const struct args *args, struct err *err)
{
	struct status s = { 0 };
	struct buf text = { 0 };
	int rc = read_status(args, &s, err);

	if (!rc && args->json)
		status_json(&s, &text);
	else if (!rc)
		status_text(&s, &text);
	if (!rc)
		rc = ui_print(&text, err);
	buf_fini(&text);
	pruning_fini(&s.p);
	json_decref(s.kept);
	return rc;
}

static const struct flag status_flags[] = {
	SWITCH(json, "as JSON"),
	{ 0 },
};

static const struct flag_group flags_status = { .title = "output", .flags = status_flags, .aside = true };

static const char *const status_examples[] = { "stint db status", NULL };

const struct command command_db_status = {
	.name = "db status",
	.summary = "how large the record is, what was pruned and what --keep does",
	.operands = "",
	.groups = { &flags_db, &flags_status },
	.about = "Reads the record; the daemon may run meanwhile.",
	.examples = status_examples,
	.run = status_run,
};
