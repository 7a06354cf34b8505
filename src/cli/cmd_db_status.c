/*
 * stint db status: how large the record is, what was pruned, and what --keep does.
 */
#include <math.h>
#include <pwd.h>
#include <stdlib.h>

#include "base/members.h"
#include "cli/db_pruned.h"
#include "cli/db_pruning.h"
#include "cli/db_trace.h"
#include "cli/ui.h"
#include "daemon/kept_use.h"
#include "live/summary.h"

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
	return pruning_look(args, out->keep_s > 0 ? out->keep_s : INFINITY, &out->p, err);
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
			(unsigned long long)s->p.plan.jobs, pruning_plural(s->p.plan.jobs),
			retention_age(s->keep_s, age));
	}
	buf_char(out, '\n');
}

static void status_text(const struct status *s, struct buf *out)
{
	char when[32];

	buf_printf(out, "record  %s, ", s->p.path);
	pruning_add_size(out, (double)s->p.size.bytes);
	buf_str(out, ", of which ");
	pruning_add_size(out, (double)s->p.size.free_bytes);
	buf_str(out, " free\n");
	buf_printf(out, "events  last %llu, %s; last job %u\n", (unsigned long long)s->last_seq,
		pruned_moment(wallclock_s(&s->p.wall, s->last_s), when), s->last_job);
	if (s->p.pruned.seq)
		buf_printf(out, "pruned  before %s: %llu job%s %s, %llu events deleted\n",
			pruned_moment(wallclock_s(&s->p.wall, s->p.pruned.at_s), when),
			(unsigned long long)s->p.pruned.jobs, pruning_plural(s->p.pruned.jobs),
			s->p.pruned.jobs == 1 ? "is a summary" : "are summaries",
			(unsigned long long)s->p.pruned.events);
	else
		buf_str(out, "pruned  never\n");
	keep_text(s, out);
	if (s->kept) {
		size_t tenants = json_object_size(s->kept);

		buf_str(out, "output  ");
		pruning_add_size(out, (double)kept_bytes(s));
		buf_printf(out, " kept of jobs of %zu tenant%s; 'stint quota limits' has each\n",
			tenants, pruning_plural(tenants));
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
