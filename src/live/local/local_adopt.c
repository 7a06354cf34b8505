/*
 * After a restart: whose the claim in an attempt's directory is, and what became of the attempt.
 */
#include "live/local/local_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a claim of before there were ids the first daemon that has one takes possession. */
static int take_possession(struct local *hands, int dir, struct claim_note *note, struct err *err)
{
	struct lineage_point of = local_point_at(hands, hands->base.config.seq);

	if (note->of.id[0] || !of.id[0])
		return 0;
	note->of = of;
	return claim_stamp(dir, &of, note->uid, err);
}

/* What to do with a claim that is not ours; 0: it is out of the way. */
static int dispossess(struct local *hands, uint32_t job, uint32_t attempt, struct claim_note *note,
	struct err *err)
{
	int guard = note->is_void ? ERR_MISSING : proc_open(&note->guard);
	char *dir;
	int rc;

	claim_fini(note);
	if (guard == ERR_IO)
		return err_set(err, ERR_IO, "cannot tell whether its guard runs: %s", strerror(errno));
	if (guard >= 0) {
		close(guard);
		return err_set(err, ERR_REFUSED,
			"attempt %u of job %u of another record runs in its place: 'stint foreign' shows it",
			attempt, job);
	}
	dir = hands_dir(&hands->base, job, attempt);
	rc = foreign_set_aside(dir, &note->of, err);
	free(dir);
	return rc;
}

/* A claim that came here with a copy of its directory: its guard, if it lives, is another daemon's. */
static int leave_elsewhere(struct local *hands, uint32_t job, uint32_t attempt,
	const struct claim_note *note, struct err *err)
{
	int guard = note->elsewhere && !note->is_void ? proc_open(&note->guard) : ERR_MISSING;
	size_t known;

	if (guard == ERR_IO)
		return err_set(err, ERR_IO, "cannot tell whether its guard runs: %s", strerror(errno));
	if (guard < 0)
		return 0;
	close(guard);
	known = hands->foreign.at.n;
	foreign_add(&hands->foreign, &hands->base.config, job, attempt);
	local_watch_foreign(hands, known);
	return err_set(err, ERR_REFUSED,
		"attempt %u of job %u runs in another state directory, of which this is a copy: 'stint foreign' "
		"shows it",
		attempt, job);
}

/* The claim that is there and is ours; ERR_MISSING: there is none, ERR_REFUSED: another record's runs. */
static int read_own_claim(struct local *hands, uint32_t job, uint32_t attempt, int *dir,
	struct claim_note *out, struct err *err)
{
	int rc;

	*dir = local_open_dir(hands, job, attempt, err);
	if (*dir < 0)
		return *dir;
	rc = claim_read(*dir, out, err);
	if (rc < 0)
		return rc;
	if (foreign_is_ours(&hands->base.config, &out->of)) {
		rc = leave_elsewhere(hands, job, attempt, out, err);
		if (rc == 0)
			return take_possession(hands, *dir, out, err);
		claim_fini(out);
		*out = (struct claim_note){ 0 };
		return rc;
	}
	local_hang_up(dir);
	rc = dispossess(hands, job, attempt, out, err);
	*out = (struct claim_note){ 0 };
	if (rc < 0)
		return rc;
	*dir = local_open_dir(hands, job, attempt, err);
	return *dir < 0 ? *dir : ERR_MISSING;
}

int local_clear(struct hands *self, uint32_t job, uint32_t attempt, struct err *err)
{
	struct claim_note note = { 0 };
	int dir, rc = read_own_claim(local_of(self), job, attempt, &dir, &note, err);

	local_hang_up(&dir);
	claim_fini(&note);
	return rc == ERR_REFUSED || rc == ERR_IO ? rc : 0;
}

/* The note of whoever owns the attempt; with `void_it` that is us if nobody else does. */
static int settle_owner(struct local *hands, uint32_t job, uint32_t attempt, bool void_it,
	struct claim_note *out, struct err *err)
{
	struct claim_note mine = { .is_void = true,
		.of = local_point_at(hands, hands->base.config.seq),
		.uid = (uid_t)-1 };
	int dir, rc = read_own_claim(hands, job, attempt, &dir, out, err);

	if (rc == ERR_MISSING && void_it) {
		rc = claim_make(dir, &mine, err);
		if (rc == 0)
			*out = mine;
		else if (rc == ERR_REFUSED)
			rc = claim_read(dir, out, err); /* a guard was faster */
	} else if (rc == ERR_MISSING) {
		*out = mine;
		rc = 0;
	} else if (rc == ERR_FORMAT) {
		*out = (struct claim_note){ 0 }; /* cut short by a crash: somebody's who is dead */
		rc = 0;
	}
	local_hang_up(&dir);
	return rc;
}

int local_claim(struct hands *self, const struct holding *of, bool void_it, enum claim *out,
	struct ending *ending, struct err *err)
{
	struct local *hands = local_of(self);
	uint32_t job = of->job, attempt = of->attempt;
	struct watched w = { .job = job, .attempt = attempt, .report = -1 };
	struct claim_note note = { 0 };
	int rc;

	*out = CLAIM_RUNS;
	if (local_find(hands, job, attempt))
		return 0;
	rc = settle_owner(hands, job, attempt, void_it, &note, err);
	if (rc == ERR_REFUSED) {
		*out = CLAIM_FOREIGN;
		return 0;
	}
	if (rc < 0)
		return err_prefix(err, "attempt %u of job %u", attempt, job);
	w.guard = note.is_void ? -1 : proc_open(&note.guard);
	w.pid = note.guard.pid;
	claim_fini(&note);
	if (note.is_void)
		*out = CLAIM_NEVER;
	else if (w.guard == ERR_IO)
		return err_set(err, ERR_IO, "cannot tell whether attempt %u of job %u runs: %s",
			attempt, job, strerror(errno));
	else if (w.guard < 0 && local_settle_ending(hands, job, attempt, ending))
		*out = CLAIM_ENDED; /* its guard was looked for first: what it had to say, it has said */
	else
		local_watch(hands, w);
	return 0;
}
