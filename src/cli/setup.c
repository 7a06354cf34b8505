#include "cli/setup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/ui.h"
#include "io/cluster_io.h"

static const struct flag decider_flags[] = {
	LIST(policy, "NAME[:OPTIONS]", "who runs now; see 'stint policies' (default fifo)"),
	TEXT(placer, "NAME[:OPTIONS]", "on which devices; see 'stint placers' (default first-fit)"),
	TEXT(admit, "NAME[:OPTIONS]", "who may compete; see 'stint admissions' (default all)"),
	{ 0 },
};

static const struct flag world_flags[] = {
	TEXT(cluster, "SPEC", "16x8:v100,4x4:a100 or a YAML file; see 'stint cluster'"),
	TEXT(throughputs, "FILE", "measured speeds, Gavel's JSON or CSV (default: estimates)"),
	NUMBER(start_cost, FLAG_SECONDS, "S", NAN, 0, 1e9,
		"time before a job's first step (default: as the trace says)"),
	NUMBER(resume_cost, FLAG_SECONDS, "S", NAN, 0, 1e9,
		"time lost by a preemption or migration (likewise)"),
	NUMBER(resize_cost, FLAG_SECONDS, "S", NAN, 0, 1e9, "time lost by a change of size (likewise)"),
	NUMBER(mtbf, FLAG_SECONDS, "S", 0, 0, 1e12,
		"mean time between failures of a node (default: none)"),
	NUMBER(repair, FLAG_SECONDS, "S", 0, 0, 1e12, "mean time to repair it (default 1h)"),
	TEXT(failures, "FILE", "failures from CSV: time_s,node,up|down"),
	NUMBER(until, FLAG_SECONDS, "S", 0, 0, 1e15, "stop there (default: when all is done)"),
	{ 0 },
};

static const struct flag belief_flags[] = {
	NUMBER(seed, FLAG_INT, "N", 0, 0, 9e15, "names the draw of everything random (default 0)"),
	NUMBER(error, FLAG_NUMBER, "E", 0, 0, 10,
		"deviation of estimated run times, such as 0.3 (default 0)"),
	SWITCH(oracle, "policies know the true run times"),
	{ 0 },
};

const struct flag_group flags_deciders = { .title = "who decides", .flags = decider_flags };
const struct flag_group flags_world = { .title = "the world (times: 90, 15m, 1.5h, 2d)",
	.flags = world_flags };
const struct flag_group flags_belief = { .title = "belief and chance", .flags = belief_flags };

/* ---- rules and cluster */

static bool looks_like_file(const char *spec)
{
	const char *dot = strrchr(spec, '.');

	return strchr(spec, '/') ||
		(dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") || !strcmp(dot, ".csv")));
}

int setup_cluster(const char *spec, struct cluster *out, struct err *err)
{
	if (!spec)
		return err_set(err, ERR_USAGE,
			"no cluster is given: say --cluster NODESxDEVICES:TYPE, such as --cluster 16x8:v100 "
			"or --cluster 16x8:v100,4x4:a100, or name a YAML file");
	if (looks_like_file(spec) && !file_exists(spec))
		return err_set(err, ERR_MISSING, "cluster %s: no such file", spec);
	return cluster_read(spec, out, err);
}

static int add_policy(struct setup *setup, const char *text, struct err *err)
{
	struct chosen *all = setup->policies;
	struct chosen one;
	int rc = rule_choose(&rules_policy, text, &one, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < setup->npolicies; i++) {
		if (!strcmp(all[i].full, one.full)) {
			rc = err_set(err, ERR_USAGE, "policy %s is given twice (as %s and %s)",
				one.full, all[i].label, one.label);
			chosen_fini(&one);
			return rc;
		}
	}
	setup->policies = mem_resize(all, (setup->npolicies + 1) * sizeof(*all));
	setup->policies[setup->npolicies++] = one;
	return 0;
}

/* One --policy, which may be a list. */
static int add_policies(struct setup *setup, const char *text, struct err *err)
{
	char **items;
	size_t n = option_split_list(text, &items);
	int rc = n ? 0 : err_set(err, ERR_USAGE, "--policy '%s' names none", text);

	for (size_t i = 0; i < n; i++) {
		if (!rc)
			rc = add_policy(setup, items[i], err);
		free(items[i]);
	}
	free(items);
	return rc;
}

static int check_flags(const struct args *args, struct err *err)
{
	int rc = check_format(args, err);

	if (rc)
		return rc;
	if (args->mtbf > 0 && args->failures)
		return err_set(err, ERR_USAGE,
			"--mtbf draws failures and --failures reads them: give one");
	if (args->repair > 0 && !(args->mtbf > 0))
		return err_set(err, ERR_USAGE, "--repair says nothing without --mtbf");
	if (args->failures)
		rc = input_exists("failures", args->failures, err);
	if (!rc && args->throughputs)
		rc = input_exists("throughputs", args->throughputs, err);
	if (!rc && args->oracle && args->error > 0)
		ui_say(args, "--error says nothing beside --oracle: policies know the truth");
	return rc;
}

int setup_rules(const struct args *args, struct setup *out, struct err *err)
{
	int rc = check_flags(args, err);

	out->args = args;
	for (size_t i = 0; i < args->policy.n && !rc; i++)
		rc = add_policies(out, args->policy.at[i], err);
	if (!rc && !out->npolicies)
		rc = add_policy(out, NULL, err);
	if (!rc)
		rc = rule_choose(&rules_placer, args->placer, &out->placer, err);
	if (!rc)
		rc = rule_choose(&rules_admission, args->admit, &out->admit, err);
	return rc;
}

int setup_read(const struct args *args, const char *trace, struct setup *out, struct err *err)
{
	int rc;

	*out = (struct setup){ 0 };
	rc = setup_rules(args, out, err);
	if (!rc)
		rc = setup_cluster(args->cluster, &out->cluster, err);
	if (!rc)
		rc = workload_read(args, trace, (uint64_t)args->seed, &out->cluster, &out->base, err);
	return rc;
}

void setup_fini(struct setup *setup)
{
	workload_fini(&setup->base);
	cluster_fini(&setup->cluster);
	for (size_t i = 0; i < setup->npolicies; i++)
		chosen_fini(&setup->policies[i]);
	free(setup->policies);
	chosen_fini(&setup->placer);
	chosen_fini(&setup->admit);
	*setup = (struct setup){ 0 };
}

/* ---- a run */

static double repair_s(const struct args *args)
{
	return args->mtbf > 0 && !(args->repair > 0) ? 3600 : args->repair;
}

void setup_config(const struct setup *setup, const struct workload *workload,
	const struct chosen *policy, uint64_t seed, struct sim_config *out)
{
	const struct args *args = setup->args;

	sim_config_init(out);
	out->trace = &workload->trace;
	out->cluster = &setup->cluster;
	out->truth = workload->profile;
	out->policy = policy->full;
	out->placer = setup->placer.full;
	out->admit = setup->admit.full;
	out->seed = seed;
	out->error = args->error;
	out->oracle = args->oracle;
	out->costs = (struct costs){ args->start_cost, args->resume_cost, args->resize_cost };
	out->failures = (struct failures){ args->mtbf, repair_s(args), args->failures };
	out->until_s = args->until;
}

void setup_settings(const struct setup *setup, struct buf *out)
{
	const struct args *args = setup->args;
	char time[32];

	buf_printf(out, "placer %s, admission %s", setup->placer.label, setup->admit.label);
	if (args->oracle)
		buf_str(out, ", policies know the true run times");
	else if (args->error > 0)
		buf_printf(out, ", run times estimated with error %g", args->error);
	if (!isnan(args->start_cost))
		buf_printf(out, ", start cost %s", text_duration(args->start_cost, time));
	if (!isnan(args->resume_cost))
		buf_printf(out, ", resume cost %s", text_duration(args->resume_cost, time));
	if (!isnan(args->resize_cost))
		buf_printf(out, ", resize cost %s", text_duration(args->resize_cost, time));
	if (args->mtbf > 0)
		buf_printf(out, ", a node fails every %s", text_duration(args->mtbf, time));
	if (args->failures)
		buf_printf(out, ", failures from %s", args->failures);
	if (args->throughputs)
		buf_printf(out, ", speeds from %s", args->throughputs);
	if (args->until > 0)
		buf_printf(out, ", stopped at %s", text_duration(args->until, time));
}
