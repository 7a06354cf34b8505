#include "support/specs.h"

#include <string.h>

#include "policy/policy.h"
#include "support/property.h"

static void add_variants(struct specs *out, const char *name, const struct option *o)
{
	int n = o->kind == OPTION_BOOL ? 2 : 0;

	while (o->kind == OPTION_CHOICE && o->choices[n])
		n++;
	for (int i = 0; i < n; i++) {
		if (i == (int)o->preset)
			continue;
		if (o->kind == OPTION_BOOL)
			vec_push(out, mem_printf("%s:%s=%d", name, o->name, i));
		else
			vec_push(out, mem_printf("%s:%s=%s", name, o->name, o->choices[i]));
	}
}

/* Rounds that are not whole seconds; Shockwave's turns must be longer than what a resume costs. */
static const char *odd_round(const char *policy)
{
	return strcmp(policy, "shockwave") == 0 ? "12.5" : "2.5";
}

/* A number that has its say only when it is not 0. */
static void add_number(struct specs *out, const char *name, const struct option *o)
{
	if (strcmp(o->name, "round_s") == 0)
		vec_push(out, mem_printf("%s:round_s=%s", name, odd_round(name)));
	else if (o->kind == OPTION_DOUBLE && o->preset == 0 && o->max >= 2)
		vec_push(out, mem_printf("%s:%s=2", name, o->name));
}

void specs_add(struct specs *out, const char *name, const struct option *options)
{
	vec_push(out, mem_strdup(name));
	for (const struct option *o = options; o && o->name; o++) {
		add_variants(out, name, o);
		add_number(out, name, o);
	}
}

/* Whether a policy takes these options together. */
static bool accepts(const char *spec)
{
	char name[64];
	const struct policy *policy;
	char *state;
	struct err err = { 0 };
	bool fine;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(spec, ":"), spec);
	policy = policy_find(name, &err);
	state = mem_alloc(policy->state_size + 1);
	option_defaults(policy->options, state);
	fine = !strchr(spec, ':') ||
		option_parse(policy->options, state, name, strchr(spec, ':') + 1, &err) == 0;
	fine = fine && (!policy->init || policy->init(state, &err) == 0);
	if (policy->fini)
		policy->fini(state);
	free(state);
	return fine;
}

/* Searches that take long: these are enough to look for what no search may do. */
static const struct {
	const char *policy, *options;
} cheaper[] = {
	{ "pollux", "population=20,generations=5" },
	{ "shockwave", "window=5" },
};

static void cheapen_spec(char **spec)
{
	size_t name = strcspn(*spec, ":");

	for (size_t i = 0; i < COUNT(cheaper); i++) {
		char *longer;

		if (strlen(cheaper[i].policy) != name || strncmp(*spec, cheaper[i].policy, name) != 0)
			continue;
		longer = mem_printf("%s%c%s", *spec, (*spec)[name] ? ',' : ':', cheaper[i].options);
		free(*spec);
		*spec = longer;
	}
}

/* Options may need others: rounds, or an objective. */
static void settle_spec(char **spec)
{
	static const char *const wanted[] = { "round_s=2.5", "objective=throughput" };

	for (size_t i = 0; i < COUNT(wanted) && !accepts(*spec); i++) {
		char *longer = mem_printf("%s,%s", *spec, wanted[i]);

		if (accepts(longer)) {
			free(*spec);
			*spec = longer;
		} else {
			free(longer);
		}
	}
}

void specs_of_policies(struct specs *out)
{
	size_t first = out->n;

	for (size_t i = 0; policies[i]; i++) {
		if (!getenv("ONLY") || strstr(policies[i]->name, getenv("ONLY")))
			specs_add(out, policies[i]->name, policies[i]->options);
	}
	for (size_t i = first; i < out->n; i++) {
		cheapen_spec(&out->at[i]);
		settle_spec(&out->at[i]);
	}
}

void specs_fini(struct specs *specs)
{
	for (size_t i = 0; i < specs->n; i++)
		free(specs->at[i]);
	vec_fini(specs);
}
