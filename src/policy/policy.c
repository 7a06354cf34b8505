/*
 * The tables of policies and of admission rules.
 */
#include "policy/policy.h"

#include <string.h>

#include "base/lookup.h"
#include "policy/admission.h"

#define POLICY(name) extern const struct policy policy_##name;
#include "policy/policies.def"
#undef POLICY

const struct policy *const policies[] = {
#define POLICY(name) &policy_##name,
#include "policy/policies.def"
#undef POLICY
	NULL,
};

void policy_carry(void *memory, const struct renumbering *renumbering)
{
	(void)memory;
	(void)renumbering;
}

const struct policy *policy_find(const char *name, struct err *err)
{
	const char *names[sizeof(policies) / sizeof(policies[0])];
	size_t n = 0;

	for (; policies[n]; n++) {
		if (strcmp(policies[n]->name, name) == 0)
			return policies[n];
		names[n] = policies[n]->name;
	}
	if (!strcmp(name, policy_observed.name))
		return &policy_observed;
	lookup_failed("policy", name, names, n, "stint policies", err);
	return NULL;
}

unsigned policy_uses(const struct policy *policy, const void *self)
{
	return policy->uses_now ? policy->uses & policy->uses_now(self) : policy->uses;
}
