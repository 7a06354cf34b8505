/*
 * The curves of a job: what it reported of its progress.
 */
#include "daemon/library.h"
#include "daemon/series.h"
#include "daemon/verbs_run.h"

static void read_series(struct record *record, const struct desk *desk, struct call *call)
{
	struct err err = { 0 };
	struct json j;

	call_begin(call, &j);
	json_int(&j, "job", call->job);
	if (series_to_json(record, call->job, &desk->wall, &j, &err) < 0) {
		call_fail(call, err.code, err.text);
		return;
	}
	json_end(&j, '}');
}

void verb_series(struct daemon *d, struct call *call)
{
	call->job = call_job(d, call, false);
	if (call->job)
		library_ask(d, call, read_series);
}
