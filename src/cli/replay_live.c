/*
 * From the rows of the record to live/replay.h.
 */
#include "cli/replay_live.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/ui.h"
#include "live/replay.h"
#include "cli/db_pruned.h"
#include "store/record_prune.h"

#define LIVE_RECORD "stint.db"

struct replaying {
	struct replay *replay;
	struct err *err;
	struct bar bar;
	uint64_t last_seq;
	struct record *record;
	struct record_pruned pruned;
};

bool replay_is_live(const char *dir)
{
	char *path = path_join(dir, LIVE_RECORD);
	bool is = file_exists(path);

	free(path);
	return is;
}

static int see(void *ctx, const struct record_event *event)
{
	struct replaying *r = ctx;
	struct replay_row row = {
		.seq = event->seq,
		.at_s = event->at_s,
		.kind = event->kind,
		.job = event->job,
		.attempt = event->attempt,
		.body = event->body,
		.job_after = event->job_after,
		.attempt_after = event->attempt_after,
		.job_live = event->job_live,
		.attempt_over = event->attempt_over,
	};

	bar_move(&r->bar, (double)event->seq / (double)(r->last_seq + 1));
	return replay_row(r->replay, &row, r->err);
}

static int see_past(void *ctx, const struct record_job *job)
{
	struct replaying *r = ctx;

	if (replay_past(r->replay, job->id, job->state))
		return 0;
	return err_set(r->err, ERR_FORMAT, "job %u was pruned in the state %s, which is not known",
		job->id, job->state);
}

/* What is not compared, because it was pruned. */
static void put_pruned(const struct replaying *r, const struct replay_result *result, struct buf *out)
{
	pruned_sentence(r->record, &r->pruned, out);
	if (result->from_seq)
		buf_printf(out, "replayed from the epoch of event %llu on, the first that is whole; ",
			(unsigned long long)result->from_seq);
	else
		buf_str(out,
			"no epoch since is whole, so there is nothing to compare; the next start of the daemon begins one; ");
	buf_printf(out, "%llu events before it are not compared\n", (unsigned long long)result->passed);
}

static void pruned_json(const struct replaying *r, const struct replay_result *result, struct json *j)
{
	if (!r->pruned.seq)
		return;
	pruned_to_json(r->record, &r->pruned, j);
	json_int(j, "from_seq", (int64_t)result->from_seq);
	json_int(j, "not_compared", (int64_t)result->passed);
}

static int tell(const struct args *args, const struct replaying *r,
	const struct replay_result *result, struct err *err)
{
	struct buf text = { 0 };
	struct json j;
	int rc;

	if (args->json) {
		json_init(&j, &text, true);
		json_begin_object(&j, NULL);
		json_str(&j, "schema", "replay-live/1");
		json_bool(&j, "equal", true);
		json_int(&j, "events", (int64_t)result->rows);
		json_int(&j, "inputs", (int64_t)result->inputs);
		json_int(&j, "decisions", (int64_t)result->notes);
		json_int(&j, "epochs", (int64_t)result->epochs);
		json_int(&j, "unwritten", (int64_t)result->lost);
		pruned_json(r, result, &j);
		json_end(&j, '}');
	} else {
		buf_printf(&text,
			"equal: %lu events, %lu inputs gave the same %lu decisions in %lu epoch%s\n",
			(unsigned long)result->rows, (unsigned long)result->inputs,
			(unsigned long)result->notes, (unsigned long)result->epochs,
			result->epochs == 1 ? "" : "s");
		if (result->lost)
			buf_printf(&text,
				"(%lu more were never written down or carried out: the daemon was killed before)\n",
				(unsigned long)result->lost);
		if (r->pruned.seq)
			put_pruned(r, result, &text);
	}
	rc = ui_print(&text, err);
	buf_fini(&text);
	return rc;
}

static int run_rows(struct record *record, struct replaying *r, struct replay_result *result)
{
	if (record_pruned(record, &r->pruned)) {
		replay_from(r->replay, r->pruned.seq);
		if (record_summaries(record, see_past, r, r->err) < 0)
			return r->err->code;
	}
	if (record_events(record, 0, 0, 0, see, r, r->err) < 0)
		return r->err->code;
	return replay_finish(r->replay, result, r->err);
}

int replay_live(const struct args *args, const char *dir, struct err *err)
{
	char *path = path_join(dir, LIVE_RECORD);
	struct replaying r = { .err = err };
	struct replay_result result = { 0 };
	struct record *record;
	int rc = record_open(path, true, &record, err);

	free(path);
	if (rc < 0)
		return rc;
	record_view_begin(record);
	r.replay = replay_create();
	r.record = record;
	r.last_seq = record_last_seq(record);
	bar_begin(&r.bar, args, "replaying");
	rc = run_rows(record, &r, &result);
	bar_end(&r.bar);
	replay_destroy(r.replay);
	if (rc >= 0)
		rc = tell(args, &r, &result, err);
	record_close(record);
	return rc;
}
