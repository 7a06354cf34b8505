/*
 * Any bytes as rules of notifications: read or refused with a text; what was read
 * can be asked for, named, and is within its limits.
 */
#include <assert.h>
#include <string.h>

#include "hook/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(const struct hook *hook)
{
	struct buf to = { 0 };

	assert(hook->non > 0 && !hook->on[hook->non]);
	for (size_t i = 0; i < hook->non; i++)
		assert(*hook->on[i] && !strpbrk(hook->on[i], " \r\n\""));
	assert(!hook->webhook != !hook->command);
	assert(hook->retries >= 0 && hook->retries <= HOOK_RETRIES_MAX);
	assert(hook->timeout_s > 0 && hook->timeout_s <= 300);
	/* What goes into a request's head must not end its line. */
	if (hook->webhook)
		assert(hook->path[0] == '/' && !strpbrk(hook->path, " \r\n") &&
			!strpbrk(hook->host, " \r\n/") && strlen(hook->port) < 6);
	else
		assert(*hook->command[0]);
	hook_receiver(hook, &to);
	assert(to.n > 0);
	buf_fini(&to);
}

static void ask(const struct hook *hook)
{
	json_t *members = json_pack("{s:s,s:s,s:s,s:s}", "state", "FAILED", "name", "train-7",
		"tenant", "vision", "user", "ada");
	const char *name = hook_wants(hook, "end", members);
	struct buf body = { 0 };

	if (name)
		event_body(name, members, "host", "id", &body);
	buf_fini(&body);
	json_decref(members);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hooks hooks;
	struct err err = { 0 };
	int rc = hooks_read_yaml("fuzz", (const char *)bytes, n, &hooks, &err);

	if (rc) {
		assert(rc == ERR_FORMAT && err.code == rc && strlen(err.text) > 5);
		return 0;
	}
	assert(hooks.n > 0 && hooks.n <= HOOKS_MAX);
	for (uint32_t i = 0; i < hooks.n; i++) {
		check(&hooks.at[i]);
		ask(&hooks.at[i]);
	}
	hooks_fini(&hooks);
	return 0;
}
