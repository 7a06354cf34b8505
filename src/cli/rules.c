#include "cli/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "placement/placer.h"
#include "policy/admission.h"
#include "policy/policy.h"

static struct rule of_policy(const struct policy *p)
{
	return (struct rule){
		.name = p->name,
		.summary = p->summary,
		.origin = p->origin,
		.family = p->family,
		.traits = p->traits,
		.options = p->options,
		.state_size = p->state_size,
		.init = p->init,
		.fini = p->fini,
	};
}

static struct rule of_placer(const struct placer *p)
{
	return (struct rule){
		.name = p->name,
		.summary = p->summary,
		.origin = p->origin,
		.traits = p->random ? POLICY_RANDOM : 0,
		.options = p->options,
		.state_size = p->state_size,
	};
}

static struct rule of_admission(const struct admission *a)
{
	return (struct rule){
		.name = a->name,
		.summary = a->summary,
		.origin = a->origin,
		.options = a->options,
		.state_size = a->state_size,
	};
}

/* The two lookups of a kind, over its table and its finder. */
#define LOOKUPS(kind, table) \
	static bool kind##_at(size_t i, struct rule *out) \
	{ \
		if (!table[i]) \
			return false; \
		*out = of_##kind(table[i]); \
		return true; \
	} \
	static int kind##_named(const char *name, struct rule *out, struct err *err) \
	{ \
		const struct kind *found = kind##_find(name, err); \
\
		if (!found) { \
			err->code = ERR_USAGE; \
			return ERR_USAGE; \
		} \
		*out = of_##kind(found); \
		return 0; \
	}

LOOKUPS(policy, policies)
LOOKUPS(placer, placers)
LOOKUPS(admission, admissions)

const struct rule_kind rules_policy = {
	.word = "policy",
	.plural = "policies",
	.flag = "policy",
	.preset = "fifo",
	.at = policy_at,
	.find = policy_named,
};
const struct rule_kind rules_placer = {
	.word = "placer",
	.plural = "placers",
	.flag = "placer",
	.preset = "first-fit",
	.at = placer_at,
	.find = placer_named,
};
const struct rule_kind rules_admission = {
	.word = "admission",
	.plural = "admissions",
	.flag = "admit",
	.preset = "all",
	.at = admission_at,
	.find = admission_named,
};

/* A file that an option names must be there, whether or not the other options make use of it. */
static int check_files(const struct rule *rule, const void *state, struct err *err)
{
	for (const struct option *o = rule->options; o && o->name; o++) {
		const char *path = option_file(o, state);

		if (path && !file_exists(path))
			return err_set(err, ERR_MISSING, "%s: %s=%s: no such file", rule->name,
				o->name, path);
	}
	return 0;
}

static int check_options(const struct rule *rule, const char *options, struct buf *full, struct err *err)
{
	void *state = mem_alloc(rule->state_size ? rule->state_size : 1);
	int rc;

	option_defaults(rule->options, state);
	rc = option_parse(rule->options, state, rule->name, options, err);
	if (!rc)
		rc = check_files(rule, state, err);
	if (!rc) {
		buf_str(full, rule->name);
		if (rule->options && rule->options->name)
			buf_char(full, ':');
		option_format(rule->options, state, full);
		rc = rule->init ? rule->init(state, err) : 0;
		if (rc)
			err_prefix(err, "%s", rule->name);
		else if (rule->fini)
			rule->fini(state);
	}
	free(state);
	return rc;
}

int rule_choose(const struct rule_kind *kind, const char *text, struct chosen *out, struct err *err)
{
	const char *given = text ? text : kind->preset;
	const char *colon = strchr(given, ':');
	char *name = colon ? mem_strndup(given, (size_t)(colon - given)) : mem_strdup(given);
	struct buf full = { 0 };
	struct rule rule;
	int rc = kind->find(name, &rule, err);

	if (!rc)
		rc = check_options(&rule, colon ? colon + 1 : "", &full, err);
	free(name);
	if (rc) {
		buf_fini(&full);
		return rc;
	}
	*out = (struct chosen){
		.label = mem_strdup(given),
		.full = full.at,
		.random = rule.traits & POLICY_RANDOM,
	};
	return 0;
}

void chosen_fini(struct chosen *chosen)
{
	free(chosen->label);
	free(chosen->full);
	*chosen = (struct chosen){ 0 };
}
