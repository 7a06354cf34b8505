/*
 * What of a request goes into the audit.
 */
#include <string.h>

#include "api/request.h"

static bool is_verb(const struct request *r, const char *name)
{
	return r->verb && !strcmp(r->verb->name, name);
}

/* NULL: nothing. */
static const char *what_of(const struct request *r)
{
	if (r->status == 401 || r->status == 403)
		return "denied";
	if (!r->status || r->status >= 400)
		return NULL;
	if (r->logged_in)
		return "login";
	if (is_verb(r, "logout"))
		return "logout";
	if (is_verb(r, "open"))
		return "open";
	if (r->detail)
		return "change";
	return !strncmp(r->by, "token", strlen("token")) ? "token" : NULL;
}

void request_audit(const struct request *r)
{
	const struct api_back *back = &r->server->back;
	const char *what = back->audit && r->begun ? what_of(r) : NULL;
	bool token = what && !strcmp(what, "token"); /* which verbs does not matter */
	struct audit_entry entry = {
		.what = what,
		.by = r->by,
		.from = r->peer->from,
		.verb = token     ? NULL
			: r->verb ? r->verb->name
				  : "other",
		.detail = r->detail,
		.caller = r->caller,
		.status = token ? 0 : r->status,
	};

	if (what)
		back->audit(back->self, &entry);
}
