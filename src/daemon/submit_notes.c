/*
 * What a submission says and the policy does not go by: said in the answer, since a flag
 * that does nothing should not look as if it did something.
 */
#include <string.h>

#include "daemon/verbs_run.h"
#include "policy/policy.h"

static const struct {
	unsigned bit;
	const char *flags;
} uses[] = {
	{ USES_PRIORITY, "--priority" },
	{ USES_WEIGHT, "--weight" },
	{ USES_DEADLINE, "--deadline" },
	{ USES_RANGE, "--min-gpus and --max-gpus" },
};

/* With other options it might: then these are the reason. */
static void put_note(struct json *j, const struct policy *policy, unsigned bit, const char *flags)
{
	struct buf text = { 0 };

	buf_printf(&text, "policy %s does not use %s", policy->name, flags);
	if (policy->uses & bit)
		buf_str(&text, " with the options it has");
	json_str(j, NULL, text.at);
	buf_fini(&text);
}

void verb_put_notes(struct daemon *d, const struct call *call, struct json *j)
{
	const char *spec = core_rules(d->core)->policy;
	char *name = mem_strndup(spec, strcspn(spec, ":"));
	const struct policy *policy = policy_find(name, NULL);
	unsigned unused = 0;

	for (size_t i = 0; i < call->made.n; i++)
		unused |= call->made.at[i].job ? core_unused(d->core, call->made.at[i].job) : 0;
	json_begin_array(j, "notes");
	for (size_t i = 0; policy && i < sizeof(uses) / sizeof(*uses); i++) {
		if (unused & uses[i].bit)
			put_note(j, policy, uses[i].bit, uses[i].flags);
	}
	json_end(j, ']');
	free(name);
}
