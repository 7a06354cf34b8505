/*
 * stint open: where the page is, with a code that logs in.
 */
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/ui.h"

static int run(const struct args *args, struct err *err)
{
	struct buf text = { 0 };
	json_t *reply;
	int rc = live_post(args, "/v1/open", json_object(), &reply, err);

	if (rc)
		return rc;
	if (args->json) {
		rc = live_print_json(reply, err);
	} else {
		buf_printf(&text, "%s\n", live_text(reply, "url"));
		rc = ui_print(&text, err);
		if (rc == 0)
			ui_say(args,
				"open this address in a browser within two minutes; it works once");
	}
	buf_fini(&text);
	json_decref(reply);
	return rc;
}

static const struct flag flags[] = {
	SWITCH(json, "print the daemon's answer"),
	SWITCH(quiet, "the address only"),
	{ 0 },
};

static const struct flag_group flags_open = { .title = "output", .flags = flags };
static const char *const examples[] = {
	"stint open",
	"xdg-open \"$(stint open --quiet)\"",
	NULL,
};

const struct command command_open = {
	.name = "open",
	.summary = "the address of the page, with a code that logs in once",
	.operands = "",
	.live = true,
	.groups = { &flags_open, &flags_daemon },
	.about = "The code is behind '#', which browsers send to nobody; it is worth a session of a week or until the\n"
		 "daemon stops, and the page takes it out of the address at once.  Logging in with the token in\n"
		 "STATE/token does the same.  The system's daemon has no HTTP port unless it was started with --listen or\n"
		 "stint-http.socket is enabled.  From another machine: ssh -L 8780:127.0.0.1:8780 HOST, with the port\n"
		 "of the address.",
	.examples = examples,
	.run = run,
};
