/*
 * stint db backup, db restore, db new: copies of the daemon's record, putting one back, and beginning
 * without one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/live.h"
#include "cli/ui.h"
#include "live/local/foreign.h"
#include "store/record_copy.h"
#include "store/state_lock.h"

/* ---- where */

static char *usual_state(const struct args *args)
{
	char *own = live_state_dir(args->state, false), *common = live_state_dir(args->state, true);
	bool use_common = !file_is_dir(own) && file_is_dir(common);

	free(use_common ? own : common);
	return use_common ? common : own;
}

/* The directory of --state; else of the daemon of $STINT_SOCKET; else one's own if there is one, else the machine's. */
static int find_state(const struct args *args, char **out, struct err *err)
{
	int rc = live_find_state(args->state, out, err);

	if (rc == 0 && !*out)
		*out = usual_state(args);
	return rc;
}

static int need_state(const char *state, struct err *err)
{
	if (file_is_dir(state))
		return 0;
	return err_set(err, ERR_MISSING,
		"there is no directory %s; say where the daemon keeps its state with --state DIR",
		state);
}

/* ---- telling */

static int print_json(const char *schema, const char *path, const struct record_copied *c,
	struct err *err)
{
	struct buf text = { 0 };
	struct json j;
	int rc;

	json_init(&j, &text, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", schema);
	json_str(&j, "path", path);
	json_str(&j, "record", c->id);
	json_int(&j, "generation", c->generation);
	json_int(&j, "events", (int64_t)c->events);
	json_int(&j, "jobs", c->jobs);
	if (c->kept)
		json_str(&j, "kept", c->kept);
	json_end(&j, '}');
	rc = ui_print(&text, err);
	buf_fini(&text);
	return rc;
}

static void print_kept(const struct record_copied *c)
{
	if (c->kept)
		ui_out("what was there is kept as %s\n", c->kept);
}

/* ---- backup */

static int backup_run(const struct args *args, struct err *err)
{
	const char *to = args->operands.at[0];
	struct record_copied c = { 0 };
	char *state, *db;
	int rc = find_state(args, &state, err);

	if (rc)
		return rc;
	/* --state may name a file, as for db check. */
	db = file_is_dir(state) || !file_exists(state) ? path_join(state, "stint.db")
						       : mem_strdup(state);
	rc = record_backup(db, to, &c, err);
	if (rc == ERR_MISSING)
		err_set(err, rc, "%s; say where the daemon keeps its state with --state DIR",
			err->text);
	if (!rc && args->json)
		rc = print_json("db-backup/1", to, &c, err);
	else if (!rc && !c.id[0])
		ui_out("%s: record of an older version, as it is, %llu events, jobs up to %u; checked\n",
			to, (unsigned long long)c.events, c.jobs);
	else if (!rc)
		ui_out("%s: record %.*s, generation %u, %llu events, jobs up to %u; checked\n", to,
			LINEAGE_SHOWN, c.id, c.generation, (unsigned long long)c.events, c.jobs);
	record_copied_fini(&c);
	free(db);
	free(state);
	return rc;
}

static const struct flag state_flags[] = {
	TEXT(state, "DIR",
		"the daemon's directory (default: $STINT_STATE, or of the daemon of $STINT_SOCKET, or the usual one)"),
	SWITCH(json, "as JSON"),
	{ 0 },
};
static const struct flag_group flags_keep = { .title = "record", .flags = state_flags };

static const char *const backup_examples[] = {
	"stint db backup /backup/stint-$(date +%F).db",
	"sudo stint db backup --state /var/lib/stint /backup/stint.db",
	NULL,
};

const struct command command_db_backup = {
	.name = "db backup",
	.summary = "copy the daemon's record, also while the daemon runs",
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_keep },
	.about = "Copies the record as of one moment into one file, checks the copy as 'stint db check' does and\n"
		 "waits for the disk.  A file that is there is never overwritten.  The daemon and its jobs go on.\n"
		 "Directories of jobs (their output) are plain files and not part of it.",
	.examples = backup_examples,
	.run = backup_run,
};

/* ---- restore and new */

/* What must not be given again: numbers of directories, and generations of claims of this record. */
static void find_floor(const char *state, const char *id, struct record_floor *out)
{
	struct lineage lineage = { 0 };
	struct hands_config config = { .state_dir = state, .lineage = &lineage };
	struct foreign foreign = { 0 };

	snprintf(lineage.id, sizeof(lineage.id), "%s", id);
	out->job = hands_last_dir(&(struct hands){ .config = config });
	if (id[0])
		foreign_look(&foreign, &config);
	out->generation = foreign.newest.generation;
	foreign_fini(&foreign);
}

static void tell_restored(const char *db, const char *file, const struct record_copied *c)
{
	ui_out("%s: record %.*s is back from %s, as generation %u: %llu events, jobs up to %u\n", db,
		LINEAGE_SHOWN, c->id, file, c->generation, (unsigned long long)c->events, c->jobs);
	if (c->lost)
		ui_out("%llu events that were recorded after it was made are not in it\n",
			(unsigned long long)c->lost);
	print_kept(c);
	ui_out("start the daemon: it finds again what still runs, and 'stint foreign' shows what is not in "
	       "this record\n");
}

static int replace(const struct args *args, const char *file, struct err *err)
{
	char *state, *db, id[LINEAGE_ID_DIGITS + 1] = "";
	struct state_lock lock = STATE_UNLOCKED;
	struct record_copied c = { 0 };
	struct record_floor floor = { 0 };
	int rc = find_state(args, &state, err);

	if (rc)
		return rc;
	db = path_join(state, "stint.db");
	rc = file ? record_id_of(file, id, err) : 0;
	if (!rc && file && !file_is_dir(state))
		rc = dir_make(state, err);
	if (!rc)
		rc = need_state(state, err);
	if (!rc) {
		rc = state_lock(state, &lock, err);
		if (rc == ERR_REFUSED)
			err_set(err, rc,
				"a daemon uses %s: stop it first ('systemctl stop stint'); its jobs run on",
				state);
	}
	if (!rc) {
		find_floor(state, id, &floor);
		rc = file ? record_restore(file, db, &floor, &c, err)
			  : record_begin_anew(db, &floor, &c, err);
	}
	state_unlock(&lock);
	if (!rc && args->json)
		rc = print_json(file ? "db-restore/1" : "db-new/1", db, &c, err);
	else if (!rc && file)
		tell_restored(db, file, &c);
	else if (!rc) {
		ui_out("%s: a new record, %.*s\n", db, LINEAGE_SHOWN, c.id);
		print_kept(&c);
	}
	record_copied_fini(&c);
	free(state);
	free(db);
	return rc;
}

static int restore_run(const struct args *args, struct err *err)
{
	return replace(args, args->operands.at[0], err);
}

static int new_run(const struct args *args, struct err *err)
{
	return replace(args, NULL, err);
}

static const char *const restore_examples[] = {
	"systemctl stop stint && stint db restore /backup/stint.db && systemctl start stint",
	"stint db restore ~/.local/state/stint/stint.db",
	NULL,
};

const struct command command_db_restore = {
	.name = "db restore",
	.summary = "put a copy of the daemon's record back",
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_keep },
	.about = "The daemon must be stopped; its jobs run on.  The copy is checked and becomes a new generation of\n"
		 "its record; what was there is kept beside it.  The daemon then takes over again what the copy knows\n"
		 "as running and still runs, and counts how it ended meanwhile.  What the copy does not know keeps\n"
		 "its devices until it ends, and is shown by 'stint foreign'.  Numbers of jobs are never given twice.\n"
		 "FILE may be the stint.db that is there, to go on with it after the daemon has refused it.",
	.examples = restore_examples,
	.run = restore_run,
};

static const char *const new_examples[] = {
	"stint db new",
	"sudo stint db new --state /var/lib/stint",
	NULL,
};

const struct command command_db_new = {
	.name = "db new",
	.summary = "begin a record without what was there",
	.operands = "",
	.groups = { &flags_keep },
	.about = "For a record that is lost or not wanted any more.  The daemon must be stopped.  What is there is\n"
		 "kept beside it, and numbers of jobs go on after the largest that was given.  What still runs keeps\n"
		 "its devices until it ends; 'stint foreign' shows it.",
	.examples = new_examples,
	.run = new_run,
};
