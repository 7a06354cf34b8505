/*
 * What was submitted, for its owner: to submit something like it again.
 */
#include <stdlib.h>

#include "daemon/verbs_run.h"

static void answer(struct call *call, const struct submission *what)
{
	json_t *words = submission_to_json(what);
	char *text = json_dumps(words, JSON_COMPACT);

	call->status = 200;
	buf_clear(&call->body);
	buf_str(&call->body, text);
	free(text);
	json_decref(words);
}

void verb_submission(struct daemon *d, struct call *call)
{
	uint32_t id = call_job(d, call, true);
	struct submission what;
	struct err err = { 0 };

	if (!id)
		return;
	if (daemon_submission(d, id, &what, &err) < 0) {
		call_problem(call, 404, 3,
			"what was submitted as job %u is not in the record any more: it was pruned",
			id);
		return;
	}
	answer(call, &what);
	submission_fini(&what);
}
