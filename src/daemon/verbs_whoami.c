/*
 * The caller's role, where it comes from, and what it allows.
 */
#include "daemon/roles.h"
#include "daemon/verbs_run.h"

static bool is_of_job(const struct verb *verb)
{
	return verb->needs == NEEDS_OWNER;
}

static void put_verbs(const struct caller *caller, const char *key, bool of_job, struct json *j)
{
	json_begin_array(j, key);
	for (const struct verb *verb = verbs; verb->name; verb++) {
		if (verb_allows(verb, caller) && is_of_job(verb) == of_job)
			json_str(j, NULL, verb->name);
	}
	json_end(j, ']');
}

void verb_whoami(struct daemon *d, struct call *call)
{
	const struct caller *caller = &call->caller;
	bool token = caller->uid == (uid_t)-2;
	const char *why = "the token for reading";
	enum role role = token ? ROLE_READ : roles_of(d->config.roles, caller->uid, &why);
	struct json j;

	call_begin(call, &j);
	json_str(&j, "user", token ? NULL : verb_user_name(d, caller->uid));
	if (!token)
		json_int(&j, "uid", caller->uid);
	json_str(&j, "role", caller_role(caller));
	json_str(&j, "meaning", role_meaning(role));
	json_str(&j, "because", why);
	json_bool(&j, "system", d->config.system);
	put_verbs(caller, "may", false, &j);
	put_verbs(caller, "may_with_own_jobs", true, &j);
	if (caller->admin)
		roles_put(d->config.roles, "roles", &j);
	json_end(&j, '}');
}
