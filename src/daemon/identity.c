/*
 * Which record this is, and what runs here that is not its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/daemon_state.h"
#include "store/record_mark.h"

/* Directories of jobs without a record: it was deleted with what says that it was here. */
int daemon_expect_record(const struct daemon *d, const char *db, struct err *err)
{
	struct hands jobs = { .config = { .state_dir = d->config.state_dir } };
	uint32_t last = hands_last_dir(&jobs);
	char *mark = record_mark_path(db);
	struct stat st;
	bool lost = last && !file_exists(mark) && (stat(db, &st) < 0 || st.st_size == 0);

	free(mark);
	if (!lost)
		return 0;
	return err_set(err, ERR_REFUSED,
		"%s is %s, and %s/jobs has directories of jobs up to %u: the record of these is gone.  Nothing was "
		"changed.  If the right file is elsewhere, put it back, with its -wal.  Else put a backup back with "
		"'stint db restore FILE', which finds again what still runs; to begin without it use 'stint db new'",
		db, stat(db, &st) < 0 ? "not there" : "empty", d->config.state_dir, last);
}

/* Where the record is: a copy of the directory is at another place, or has another inode. */
static void place_of(const struct daemon *d, struct buf *out)
{
	char *jobs = mem_printf("%s/jobs", d->config.state_dir);
	struct stat st;

	if (stat(jobs, &st) == 0)
		buf_printf(out, "%llu %s", (unsigned long long)st.st_ino, jobs);
	free(jobs);
}

static bool was_elsewhere(struct daemon *d)
{
	struct buf now = { 0 }, before = { 0 };
	bool is;

	place_of(d, &now);
	is = record_meta(d->record, "place", &before) && now.n &&
		strcmp(before.n ? before.at : "", now.at) != 0;
	buf_fini(&now);
	buf_fini(&before);
	return is;
}

static int note_place(struct daemon *d, struct err *err)
{
	struct buf now = { 0 }, before = { 0 };
	int rc = 0;

	place_of(d, &now);
	if (now.n &&
		(!record_meta(d->record, "place", &before) ||
			strcmp(before.n ? before.at : "", now.at) != 0))
		rc = record_set_meta(d->record, "place", now.at, err);
	buf_fini(&now);
	buf_fini(&before);
	return rc;
}

void daemon_tell_identity(struct daemon *d, struct hands_config *config, struct buf *foreign)
{
	struct buf unmarked = { 0 };

	config->lineage = record_identity(d->record);
	config->seq = record_last_seq(d->record);
	config->adopt_unmarked = record_meta(d->record, "unmarked", &unmarked) &&
		!strcmp(unmarked.at, "1");
	/* Without record.id beside it, or at another place, nothing is known of what runs here. */
	if (!record_was_unmarked(d->record) && !was_elsewhere(d) &&
		record_meta(d->record, "foreign", foreign) &&
		strcmp(foreign->n ? foreign->at : "", RECORD_LOOK) != 0)
		config->foreign = foreign->n ? foreign->at : "";
	buf_fini(&unmarked);
}

/* A claim is on the disk after the events that led to it, so the record must have these. */
static int check_newest(const struct daemon *d, struct err *err)
{
	const struct lineage *lineage = record_identity(d->record);
	struct lineage_point newest;
	uint32_t job, attempt;
	uint64_t last = record_last_seq(d->record);

	if (!hands_newest(d->hands, &newest, &job, &attempt) ||
		newest.generation < lineage->generation ||
		(newest.generation == lineage->generation && newest.seq <= last))
		return 0;
	return err_set(err, ERR_REFUSED,
		"%s/stint.db ends with event %llu of generation %u, and attempt %u of job %u was begun after event "
		"%llu of generation %u: an older copy was put in its place, or its log (stint.db-wal) was deleted or "
		"cut.  Nothing was changed.  If the right file is elsewhere, put it back, with its -wal.  Else "
		"accept what is there with 'stint db restore %s/stint.db', which finds again what still runs",
		d->config.state_dir, (unsigned long long)last, lineage->generation, attempt, job,
		(unsigned long long)newest.seq, newest.generation, d->config.state_dir);
}

static void tell_foreign(struct daemon *d, const struct foreign_attempt *one)
{
	log_warning(d->log,
		"attempt %u of job %u of another %s runs here (guard %d%s%s): it is not this %s's, and "
		"keeps its devices until it ends; 'stint foreign' shows it",
		one->attempt, one->job, one->elsewhere ? "state directory" : "record",
		(int)one->guard, one->devices[0] ? ", devices " : "", one->devices,
		one->elsewhere ? "directory" : "record");
}

int daemon_note_foreign(struct daemon *d, struct err *err)
{
	struct buf list = { 0 }, before = { 0 };
	const struct foreign_attempt *at;
	size_t n;
	int rc = 0;

	at = hands_foreign(d->hands, &n);
	for (size_t i = 0; i < n; i++)
		buf_printf(&list, "%s%u/%u", i ? " " : "", at[i].job, at[i].attempt);
	if (!record_meta(d->record, "foreign", &before) ||
		strcmp(before.n ? before.at : "", list.n ? list.at : "") != 0)
		rc = record_set_meta(d->record, "foreign", list.n ? list.at : "", err);
	buf_fini(&before);
	buf_fini(&list);
	return rc;
}

int daemon_meet_foreign(struct daemon *d, struct err *err)
{
	const struct foreign_attempt *at;
	uint32_t dir = hands_last_dir(d->hands);
	size_t n;

	if (check_newest(d, err) < 0)
		return err->code;
	at = hands_foreign(d->hands, &n);
	for (size_t i = 0; i < n; i++)
		tell_foreign(d, &at[i]);
	if (d->next_job <= dir)
		d->next_job = dir + 1;
	return daemon_note_foreign(d, err) < 0 ? err->code : note_place(d, err);
}

void daemon_adopted_unmarked(struct daemon *d)
{
	struct buf unmarked = { 0 };
	struct err err = { 0 };

	if (record_meta(d->record, "unmarked", &unmarked) && !strcmp(unmarked.at, "1") &&
		record_set_meta(d->record, "unmarked", "0", &err) < 0)
		log_warning(d->log, "%s", err.text);
	buf_fini(&unmarked);
}
