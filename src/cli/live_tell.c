#include "cli/live_tell.h"

#include <stdlib.h>

#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/term.h"
#include "cli/ui.h"

static int tell(const struct args *args, const char *path, bool first, live_put *put, struct err *err)
{
	struct term term = term_of_stdout();
	struct buf text = { 0 };
	json_t *answer;
	int rc = live_get(args, path, &answer, err);

	if (rc)
		return rc;
	if (args->json) {
		rc = live_print_json(answer, err);
	} else {
		buf_str(&text, first ? "" : "\n");
		put(answer, &term, &text);
		rc = ui_print(&text, err);
	}
	buf_fini(&text);
	json_decref(answer);
	return rc;
}

int live_tell(const struct args *args, const char *path, live_put *put, struct err *err)
{
	return tell(args, path, true, put, err);
}

int live_tell_jobs(const struct args *args, const char *part, live_put *put, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < args->operands.n && !rc; i++)
		rc = live_check_job(args->operands.at[i], err);
	for (size_t i = 0; i < args->operands.n && !rc; i++) {
		char *path = live_job_path(args->operands.at[i], part);

		rc = tell(args, path, i == 0, put, err);
		free(path);
	}
	return rc;
}
