/*
 * From the rows of the record to live/replay.h.
 */
#include "cli/replay_live.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/ui.h"
#include "live/replay.h"
#include "store/record.h"

#define LIVE_RECORD "stint.db"

struct replaying {
	struct replay *replay;
	struct err *err;
	struct bar bar;
	uint64_t last_seq;
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

static int tell(const struct args *args, const struct replay_result *result, struct err *err)
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
	}
	rc = ui_print(&text, err);
	buf_fini(&text);
	return rc;
}

static int run_rows(struct record *record, struct replaying *r, struct replay_result *result)
{
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
	r.replay = replay_create();
	r.last_seq = record_last_seq(record);
	bar_begin(&r.bar, args, "replaying");
	rc = run_rows(record, &r, &result);
	bar_end(&r.bar);
	replay_destroy(r.replay);
	record_close(record);
	return rc < 0 ? rc : tell(args, &result, err);
}
