/*
 * From the words of a command line to table entries with state.
 */
#include "engine/rules.h"

#include <stdlib.h>
#include <string.h>

#include "model/quota.h"
#include "placement/placer.h"

/* "name:options" taken apart; the options are inside `spec`. */
struct spec {
	char name[64];
	const char *options;
};

static struct spec spec_of(const char *text, const char *preset)
{
	const char *from = text ? text : preset;
	const char *colon = strchr(from, ':');
	size_t n = colon ? (size_t)(colon - from) : strlen(from);
	struct spec spec = { .options = colon ? colon + 1 : "" };

	if (n >= sizeof(spec.name))
		n = sizeof(spec.name) - 1;
	memcpy(spec.name, from, n);
	return spec;
}

static int read_options(const struct option *table, size_t size, const struct spec *spec,
	void **state, struct err *err)
{
	*state = mem_alloc(size);
	option_defaults(table, *state);
	return option_parse(table, *state, spec->name, spec->options, err);
}

static int choose_policy(const char *text, struct chosen_policy *out, struct err *err)
{
	struct spec spec = spec_of(text, PRESET_POLICY);

	out->rule = policy_find(spec.name, err);
	if (!out->rule)
		return err->code;
	if (read_options(out->rule->options, out->rule->state_size, &spec, &out->state, err) < 0)
		return err->code;
	if (out->rule->init && out->rule->init(out->state, err) < 0)
		return err_prefix(err, "policy %s", spec.name);
	return 0;
}

static int choose_placer(const char *text, struct chosen_placer *out, struct err *err)
{
	struct spec spec = spec_of(text, PRESET_PLACER);

	out->rule = placer_find(spec.name, err);
	if (!out->rule)
		return err->code;
	return read_options(out->rule->options, out->rule->state_size, &spec, &out->state, err);
}

static int choose_admission(const char *text, struct chosen_admission *out, struct err *err)
{
	struct spec spec = spec_of(text, PRESET_ADMIT);

	out->rule = admission_find(spec.name, err);
	if (!out->rule)
		return err->code;
	return read_options(out->rule->options, out->rule->state_size, &spec, &out->state, err);
}

int rules_live(const struct engine_config *config, struct err *err)
{
	const struct policy *policy = config->policy.rule;

	if (!policy->simulated_for)
		return 0;
	return err_set(err, ERR_USAGE,
		"policy %s decides in simulations only: live it would need %s; try it with stint sim --policy %s",
		policy->name, policy->simulated_for, policy->name);
}

int rules_choose(const struct rule_specs *specs, struct engine_config *out, struct err *err)
{
	if (choose_policy(specs->policy, &out->policy, err) < 0 ||
		choose_placer(specs->placer, &out->placer, err) < 0)
		return err->code;
	return choose_admission(specs->admit, &out->admission, err);
}

const struct cell_design *rules_cells(const struct engine_config *config)
{
	const struct chosen_placer *placer = &config->placer;

	return placer->rule->cells ? placer->rule->cells(placer->state) : NULL;
}

static int suit_placer(const struct engine_config *config, const struct tenants *tenants,
	struct err *err)
{
	const struct chosen_placer *placer = &config->placer;
	struct tenants bound = { 0 };
	struct names nobody = { 0 };
	int rc;

	if (!placer->rule->begin)
		return 0;
	if (tenants && tenants->n)
		tenants_bind(tenants, &nobody, &bound);
	rc = placer->rule->begin(placer->state, config->cluster, bound.n ? &bound : NULL, err);
	tenants_fini(&bound);
	return rc < 0 ? err_prefix(err, "placer %s", placer->rule->name) : 0;
}

int rules_suit(const struct engine_config *config, const struct tenants *tenants, struct err *err)
{
	if (suit_placer(config, tenants, err) < 0)
		return err->code;
	if (config->admission.rule->quotas && tenants && tenants->n &&
		quota_check_with_cells(tenants, config->cluster, rules_cells(config), err) < 0)
		return err_prefix(err, "admission %s", config->admission.rule->name);
	return 0;
}

void rules_release(struct engine_config *engine)
{
	if (engine->policy.rule && engine->policy.rule->fini && engine->policy.state)
		engine->policy.rule->fini(engine->policy.state);
	if (engine->placer.rule && engine->placer.rule->fini && engine->placer.state)
		engine->placer.rule->fini(engine->placer.state);
	free(engine->policy.state);
	free(engine->placer.state);
	free(engine->admission.state);
	engine->policy.state = engine->placer.state = engine->admission.state = NULL;
}
