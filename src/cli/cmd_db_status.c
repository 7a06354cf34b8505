/*
 * stint db status: how large the record is, what was pruned, and what --keep does.
 */
#include <math.h>
#include <pwd.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/members.h"
#include "cli/db_pruned.h"
#include "cli/db_pruning.h"
#include "cli/db_trace.h"
#include "cli/live.h"
#include "cli/ui.h"
#include "daemon/kept_use.h"
#include "live/summary.h"

struct status {
	char *path;
	struct record_size size;
	uint64_t last_seq;
	uint32_t last_job;
	double last; /* times of the wall clock */
	struct record_pruned pruned;
	double pruned_before, keep_s;
	int64_t would_prune; /* jobs, by --keep; -1: not known */
	bool confirmed;
	double confirmed_at; /* NAN: not known */
	int64_t confirmed_uid;
	json_t *kept; /* bytes of kept output by tenant, those that this user may see; NULL: not known */
	int64_t kept_bytes, kept_tenants; /* of all tenants */
	bool counting;                    /* all of it once more: these are of before */
};

static void status_fini(struct status *s)
{
	free(s->path);
	json_decref(s->kept);
}

/* ---- from the record */

/* As the daemon wrote it down last. */
static void read_kept(struct record *record, struct status *out)
{
	struct buf text = { 0 };
	json_t *json = record_meta(record, KEPT_META, &text) ? json_loads(text.at, 0, NULL) : NULL;
	const char *tenant;
	json_t *bytes;

	out->kept = json_incref(json_object_get(json, "of"));
	json_object_foreach(out->kept, tenant, bytes)
	{
		out->kept_bytes += json_integer_value(bytes);
		out->kept_tenants++;
	}
	json_decref(json);
	buf_fini(&text);
}

static void read_confirmed(struct record *record, struct status *out)
{
	struct buf text = { 0 };
	json_t *json;

	out->confirmed_at = NAN;
	if (record_meta(record, RETENTION_CONFIRMED, &text)) {
		json = json_loads(text.at, 0, NULL);
		out->confirmed_at = member_number(json, "at", 0);
		out->confirmed_uid = member_int(json, "uid", -1);
		json_decref(json);
	}
	buf_fini(&text);
}

static void take_look(struct pruning *p, double last_s, struct status *out)
{
	out->path = mem_strdup(p->path);
	out->size = p->size;
	out->last = wallclock_s(&p->wall, last_s);
	out->pruned = p->pruned;
	out->pruned_before = wallclock_s(&p->wall, p->pruned.at_s);
	out->would_prune = (int64_t)p->plan.jobs;
	out->confirmed = p->confirmed;
}

static int read_record(const struct args *args, struct status *out, struct err *err)
{
	struct record *record = NULL;
	struct pruning look = { 0 };
	struct buf keep = { 0 };
	double last_s;
	char *path;
	int rc = db_open(args->state, &path, &record, err);

	free(path);
	if (rc)
		return rc;
	out->last_seq = record_last_seq(record);
	out->last_job = record_last_job(record);
	last_s = record_last_s(record);
	out->keep_s = record_meta(record, RETENTION_KEEP, &keep) ? strtod(keep.at, NULL) : 0;
	read_confirmed(record, out);
	read_kept(record, out);
	record_close(record);
	buf_fini(&keep);
	rc = pruning_look(args, out->keep_s > 0 ? out->keep_s : INFINITY, &look, err);
	if (!rc)
		take_look(&look, last_s, out);
	pruning_fini(&look);
	return rc;
}

/* ---- from the daemon */

/* An older one does not say the sums. */
static void take_kept(const json_t *reply, struct status *out)
{
	const json_t *rows = json_object_get(reply, "kept_output");
	int64_t sum = 0;
	json_t *row;
	size_t i;

	if (!rows)
		return;
	json_decref(out->kept);
	out->kept = json_object();
	json_array_foreach(rows, i, row)
	{
		json_object_set_new(out->kept, member_text(row, "tenant"),
			json_integer(member_int(row, "bytes", 0)));
		sum += member_int(row, "bytes", 0);
	}
	out->kept_bytes = member_int(reply, "kept_output_bytes", sum);
	out->kept_tenants = member_int(reply, "kept_output_tenants", (int64_t)json_array_size(rows));
	out->counting = member_bool(reply, "kept_output_counting", false);
}

static void take_reply(const json_t *reply, struct status *out)
{
	const json_t *pruned = json_object_get(reply, "pruned");

	out->path = path_join(member_text(reply, "state"), "stint.db");
	out->size = (struct record_size){ member_int(reply, "bytes", 0),
		member_int(reply, "free_bytes", 0), member_bool(reply, "gives_back", true) };
	out->last_seq = (uint64_t)member_int(reply, "last_seq", 0);
	out->last_job = (uint32_t)member_int(reply, "last_job", 0);
	out->last = member_number(reply, "last", NAN);
	out->pruned = (struct record_pruned){ .seq = (uint64_t)member_int(pruned, "seq", 0),
		.jobs = (uint64_t)member_int(pruned, "jobs", 0),
		.events = (uint64_t)member_int(pruned, "events", 0) };
	out->pruned_before = member_number(pruned, "before", NAN);
	out->confirmed = member_bool(reply, "confirmed", false);
	out->confirmed_at = NAN;
	out->keep_s = member_number(reply, "keep_s", 0);
	out->would_prune = member_int(reply, "would_prune_jobs", -1);
	take_kept(reply, out);
}

/* What the running daemon has not written down yet; one that does not answer changes nothing. */
static void add_present(const struct args *args, struct status *s)
{
	char *dir = mem_strndup(s->path, (size_t)(path_base(s->path) - s->path)), *socket;
	struct args asked = pruning_daemon_args(args, *dir ? dir : ".", &socket);
	struct err ignored = { 0 };
	json_t *reply = NULL;

	if (pruning_daemon_runs(*dir ? dir : ".") &&
		pruning_ask_record(&asked, *dir ? dir : ".", &reply, &ignored) == 0)
		take_kept(reply, s);
	json_decref(reply);
	free(socket);
	free(dir);
}

/* A user who cannot read the record asks the daemon, which says what every user may know. */
static int ask_daemon(const struct args *args, struct status *out)
{
	char *state = NULL, *socket = NULL;
	struct err ignored = { 0 };
	json_t *reply = NULL;
	struct args asked;
	int rc = live_find_state(args->state, &state, &ignored);

	if (!state && (args->state || getenv("STINT_STATE")))
		state = live_state_dir(args->state, false);
	asked = pruning_daemon_args(args, state, &socket);
	if (!rc)
		rc = pruning_ask_record(&asked, state, &reply, &ignored);
	if (!rc)
		take_reply(reply, out);
	json_decref(reply);
	free(socket);
	free(state);
	return rc;
}

static int read_status(const struct args *args, struct status *out, struct err *err)
{
	int rc = read_record(args, out, err);

	if (!rc)
		add_present(args, out);
	else if ((rc == ERR_REFUSED || rc == ERR_MISSING) && ask_daemon(args, out) == 0)
		rc = 0;
	return rc;
}

/* ---- telling */

static void put_kept(const struct status *s, struct json *j)
{
	const char *tenant;
	json_t *bytes;

	if (!s->kept)
		return;
	json_int(j, "kept_output_bytes", s->kept_bytes);
	json_int(j, "kept_output_tenants", s->kept_tenants);
	json_bool(j, "kept_output_counting", s->counting);
	json_begin_object(j, "kept_output");
	json_object_foreach(s->kept, tenant, bytes)
	{
		json_int(j, tenant, json_integer_value(bytes));
	}
	json_end(j, '}');
}

static void status_json(const struct status *s, struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "db-status/1");
	json_str(&j, "path", s->path);
	json_int(&j, "bytes", s->size.bytes);
	json_int(&j, "free_bytes", s->size.free_bytes);
	json_bool(&j, "gives_back", s->size.gives_back);
	json_int(&j, "last_seq", (int64_t)s->last_seq);
	json_int(&j, "last_job", s->last_job);
	json_double(&j, "last", s->last);
	if (s->pruned.seq) {
		json_begin_object(&j, "pruned");
		json_int(&j, "seq", (int64_t)s->pruned.seq);
		json_double(&j, "before", s->pruned_before);
		json_int(&j, "jobs", (int64_t)s->pruned.jobs);
		json_int(&j, "events", (int64_t)s->pruned.events);
		json_end(&j, '}');
	}
	json_bool(&j, "confirmed", s->confirmed);
	if (s->keep_s > 0)
		json_double(&j, "keep_s", s->keep_s);
	if (s->keep_s > 0 && s->would_prune >= 0)
		json_int(&j, "would_prune_jobs", s->would_prune);
	put_kept(s, &j);
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
	if (s->confirmed && isnan(s->confirmed_at)) {
		buf_str(out, "; pruning was confirmed");
	} else if (s->confirmed) {
		buf_printf(out, "; pruning was confirmed %s by ", pruned_moment(s->confirmed_at, when));
		user_text(s->confirmed_uid, out);
	} else if (s->keep_s > 0) {
		buf_printf(out,
			"; not confirmed, so nothing is pruned: %lld job%s would be; 'stint db prune --older %s' asks",
			(long long)s->would_prune, pruning_plural((uint64_t)s->would_prune),
			retention_age(s->keep_s, age));
	}
	buf_char(out, '\n');
}

static void kept_text(const struct status *s, struct buf *out)
{
	if (!s->kept)
		return;
	buf_str(out, "output  ");
	pruning_add_size(out, (double)s->kept_bytes);
	buf_printf(out, " kept of jobs of %lld tenant%s%s; 'stint quota limits' has %s\n",
		(long long)s->kept_tenants, pruning_plural((uint64_t)s->kept_tenants),
		s->counting ? ", and is being counted" : "",
		(int64_t)json_object_size(s->kept) < s->kept_tenants ? "yours" : "each");
}

static void status_text(const struct status *s, struct buf *out)
{
	char when[32];

	buf_printf(out, "record  %s, ", s->path);
	pruning_add_size(out, (double)s->size.bytes);
	buf_str(out, ", of which ");
	pruning_add_size(out, (double)s->size.free_bytes);
	buf_str(out, " free\n");
	buf_printf(out, "events  last %llu, %s; last job %u\n", (unsigned long long)s->last_seq,
		pruned_moment(s->last, when), s->last_job);
	if (s->pruned.seq)
		buf_printf(out, "pruned  before %s: %llu job%s %s, %llu events deleted\n",
			pruned_moment(s->pruned_before, when), (unsigned long long)s->pruned.jobs,
			pruning_plural(s->pruned.jobs),
			s->pruned.jobs == 1 ? "is a summary" : "are summaries",
			(unsigned long long)s->pruned.events);
	else
		buf_str(out, "pruned  never\n");
	keep_text(s, out);
	kept_text(s, out);
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
	status_fini(&s);
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
	.groups = { &flags_db, &flags_status, &flags_daemon },
	.about = "Reads the record; the daemon may run meanwhile, and then says how much output is kept now.\n"
		 "With a daemon of all users (stint daemon --system) every user may ask: it is the daemon that\n"
		 "answers those who cannot read the record.",
	.examples = status_examples,
	.run = status_run,
};
