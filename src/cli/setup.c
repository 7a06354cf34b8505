#include "cli/setup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cli/slurm_past.h"
#include "cli/speeds.h"
#include "cli/ui.h"
#include "io/cluster_io.h"
#include "io/tenants_io.h"
#include "model/quota.h"
#include "placement/placer.h"
#include "policy/admission.h"
#include "policy/policy.h"
#include "sim/belief.h"

static const struct flag decider_flags[] = {
	LIST(policy, "NAME[:OPTIONS]", "policy: which jobs run now; see 'stint policies' (default fifo)"),
	LIST(placer, "NAME[:OPTIONS]",
		"placer: on which devices; see 'stint placers' (default first-fit)"),
	TEXT(admit, "NAME[:OPTIONS]",
		"admission rule: which jobs may compete; see 'stint admissions' (default all)"),
	TEXT(tenants, "FILE", TENANTS_HELP " (default: none)"),
	{ 0 },
};

static const struct flag world_flags[] = {
	TEXT(cluster, "SPEC", "16x8:v100,4x4:a100 or a YAML file; see 'stint cluster'"),
	TEXT(throughputs, "FILE", "measured speeds, Gavel's JSON or CSV (default: estimates)"),
	TEXT(host_profiles, "FILE",
		"what CPUs and memory do to models' speeds, CSV or Synergy's JSON (default: nothing)"),
	TEXT(profiles, "DIR", "how models train, by batch and placement; 'catalogue' makes them up"),
	NUMBER(start_cost, FLAG_SECONDS, "S", NAN, 0, 1e9,
		"time before a job's first step (default: as the trace says)"),
	NUMBER(resume_cost, FLAG_SECONDS, "S", NAN, 0, 1e9,
		"time lost by a preemption or migration (likewise)"),
	NUMBER(resize_cost, FLAG_SECONDS, "S", NAN, 0, 1e9, "time lost by a change of size (likewise)"),
	NUMBER(mtbf, FLAG_SECONDS, "S", 0, 0, 1e12,
		"mean time between failures of a node (0, the default: none)"),
	NUMBER(repair, FLAG_SECONDS, "S", 0, 0, 1e12, "mean time to repair it (0, the default: 1h)"),
	TEXT(failures, "FILE", "failures from CSV: time_s,node,up|down"),
	TEXT(loan, "FILE[:OPTIONS]",
		"borrowed nodes from CSV: time_s,servers; type=TYPE or nodes=N says which"),
	NUMBER(until, FLAG_SECONDS, "S", 0, 0, 1e15, "stop there (0, the default: when all is done)"),
	{ 0 },
};

static const struct flag belief_flags[] = {
	NUMBER(seed, FLAG_INT, "N", 0, 0, 9e15, "random seed (default 0)"),
	NUMBER(error, FLAG_NUMBER, "E", 0, 0, 10,
		"relative error of estimated run times, such as 0.3 (default 0: exact)"),
	SWITCH(oracle, "policies know the true run times"),
	TEXT(estimate, "OPTIONS", "policies estimate speeds, such as known=0.3; options below"),
	{ 0 },
};

const struct flag_group flags_deciders = { .title = "who decides", .flags = decider_flags };
const struct flag_group flags_world = { .title = "the world (times: 90, 15m, 1.5h, 2d)",
	.flags = world_flags };
const struct flag_group flags_belief = { .title = "belief and chance", .flags = belief_flags };

void help_estimate(struct buf *out)
{
	buf_str(out,
		"OPTIONS of --estimate, as name=value,name=value; speeds of jobs that are not known are\n"
		"completed from those of others, and follow what jobs show while they run:\n");
	belief_help(out);
}

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

static int add_rule(const struct rule_kind *kind, const char *text, struct chosen_list *list,
	struct err *err)
{
	struct chosen one;
	int rc = rule_choose(kind, text, &one, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < list->n; i++) {
		if (!strcmp(list->at[i].full, one.full)) {
			rc = err_set(err, ERR_USAGE, "%s %s is given twice (as %s and %s)",
				kind->word, one.full, list->at[i].label, one.label);
			chosen_fini(&one);
			return rc;
		}
	}
	list->at = mem_resize(list->at, mem_array_size(list->n + 1, sizeof(*list->at)));
	list->at[list->n++] = one;
	return 0;
}

/* One --policy or --placer, which may be a list. */
static int add_rules(const struct rule_kind *kind, const char *text, struct chosen_list *list,
	struct err *err)
{
	char **items;
	size_t n = option_split_list(text, &items);
	int rc = n ? 0 : err_set(err, ERR_USAGE, "--%s '%s' names none", kind->flag, text);

	for (size_t i = 0; i < n; i++) {
		if (!rc)
			rc = add_rule(kind, items[i], list, err);
		free(items[i]);
	}
	free(items);
	return rc;
}

static int choose_all(const struct rule_kind *kind, const struct words *words,
	struct chosen_list *list, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < words->n && !rc; i++)
		rc = add_rules(kind, words->at[i], list, err);
	if (!rc && !list->n)
		rc = add_rule(kind, NULL, list, err);
	return rc;
}

size_t setup_count(const struct words *words)
{
	size_t all = 0;

	for (size_t i = 0; i < words->n; i++) {
		char **items;
		size_t n = option_split_list(words->at[i], &items);

		for (size_t k = 0; k < n; k++)
			free(items[k]);
		free(items);
		all += n;
	}
	return all;
}

static void pair_up(struct setup *setup)
{
	const struct chosen_list *who = &setup->policies, *where = &setup->placers;

	setup->npairings = who->n * where->n;
	setup->pairings = mem_alloc(mem_array_size(setup->npairings, sizeof(*setup->pairings)));
	for (size_t i = 0; i < setup->npairings; i++) {
		const struct chosen *policy = &who->at[i % who->n];
		const struct chosen *placer = &where->at[i / who->n];

		setup->pairings[i] = (struct pairing){
			.policy = policy,
			.placer = placer,
			.label = where->n == 1 ? mem_strdup(policy->label)
					       : mem_printf("%s / %s", policy->label, placer->label),
		};
	}
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
	if (!rc && args->host_profiles)
		rc = input_exists("host profiles", args->host_profiles, err);
	if (!rc && args->profiles && !profiles_are_synthetic(args->profiles) &&
		!file_is_dir(args->profiles))
		rc = err_set(err, ERR_MISSING,
			"profiles %s: no such folder; name one with a folder for each model, or say "
			"--profiles catalogue",
			args->profiles);
	if (!rc && args->tenants)
		rc = input_exists("tenants", args->tenants, err);
	if (!rc && args->tenants && !strcmp(args->tenants, "-"))
		rc = err_set(err, ERR_USAGE,
			"--tenants names a file, so that the run can be replayed, not standard input");
	if (!rc && args->oracle && args->error > 0)
		ui_say(args, "--error says nothing beside --oracle: policies know the truth");
	return rc;
}

int setup_rules(const struct args *args, struct setup *out, struct err *err)
{
	int rc = check_flags(args, err);

	out->args = args;
	if (!rc)
		rc = choose_all(&rules_policy, &args->policy, &out->policies, err);
	if (!rc)
		rc = choose_all(&rules_placer, &args->placer, &out->placers, err);
	if (!rc)
		rc = rule_choose(&rules_admission, args->admit, &out->admit, err);
	if (!rc && args->estimate)
		rc = belief_spell(args->estimate, &out->estimate, err);
	if (!rc)
		pair_up(out);
	return rc;
}

int setup_tenants(const struct args *args, struct tenants *out, struct err *err)
{
	return args->tenants ? tenants_read(args->tenants, out, err) : 0;
}

static void tell_tenants(const struct setup *setup)
{
	const struct args *args = setup->args;
	struct notes notes = { 0 };

	if (!args->tenants)
		return;
	tenants_note(&setup->tenants, &setup->base.trace, &notes);
	ui_notes(args, args->tenants, &notes);
	notes_fini(&notes);
}

/* Whether "NAME:options" is of that name. */
static bool is_named(const char *spec, const char *name)
{
	size_t n = strcspn(spec, ":");

	return !strncmp(name, spec, n) && !name[n];
}

bool setup_keeps_quotas(const char *admit)
{
	for (size_t i = 0; admissions[i]; i++) {
		if (is_named(admit, admissions[i]->name))
			return admissions[i]->quotas;
	}
	return false;
}

static bool all_keep_quotas(const struct chosen_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct policy *const *p = policies;

		while (*p && !is_named(list->at[i].full, (*p)->name))
			p++;
		if (!*p || !((*p)->traits & POLICY_QUOTAS))
			return false;
	}
	return list->n > 0;
}

/* A quota needs both: a file that states it, and the rule that keeps it. */
static void tell_quota(const struct setup *setup)
{
	bool kept = setup_keeps_quotas(setup->admit.full);
	bool stated = quota_is_set(&setup->tenants);

	if (kept && !stated)
		ui_say(setup->args,
			"--admit quota has nothing to keep: no tenant has a guarantee or a limit; %s",
			setup->args->tenants ? "state some in the file of --tenants"
					     : "give a file that states some with --tenants");
	if (stated && !kept && !all_keep_quotas(&setup->policies))
		ui_say(setup->args, "quotas of %s are not kept: add --admit quota",
			setup->args->tenants);
}

static bool keeps_cells(const struct chosen *placer)
{
	for (size_t i = 0; placers[i]; i++) {
		if (is_named(placer->full, placers[i]->name))
			return placer_keeps_cells(placers[i]);
	}
	return false;
}

/* So do cells.  Where placers are compared some may keep them and some not. */
static void tell_cells(const struct setup *setup)
{
	bool stated = tenants_have_cells(&setup->tenants);
	size_t keep = 0;

	for (size_t i = 0; i < setup->placers.n; i++)
		keep += keeps_cells(&setup->placers.at[i]);
	if (keep && !stated)
		ui_say(setup->args,
			"--placer hived has nothing to keep: no tenant has cells, and everything is on loan; %s",
			setup->args->tenants ? "state some in the file of --tenants"
					     : "give a file that states some with --tenants");
	if (!keep && stated)
		ui_say(setup->args, "cells of %s are not kept: add --placer hived",
			setup->args->tenants);
}

/* Speeds belong to models: without any there is nothing to be wrong about. */
static void tell_estimate(const struct setup *setup)
{
	const struct trace *trace = &setup->base.trace;

	if (!setup->estimate)
		return;
	for (uint32_t i = 0; i < trace->njobs; i++) {
		if (trace->jobs[i].model != NAME_NONE)
			return;
	}
	ui_say(setup->args, "--estimate says nothing here: no job of the trace names a model");
}

int file_hash(const char *path, uint64_t *out, struct err *err)
{
	struct file file;
	int rc;

	*out = 0;
	if (!path || !strcmp(path, "-"))
		return 0;
	rc = file_read(path, &file, err);
	if (rc)
		return rc;
	*out = hash_bytes(HASH_START, file.at, file.n);
	file_fini(&file);
	return 0;
}

int setup_loan(const struct args *args, const struct cluster *cluster, struct loan *out,
	uint64_t *hash, struct err *err)
{
	char *path;
	int rc;

	*hash = 0;
	if (!args->loan)
		return 0;
	path = loan_path(args->loan);
	rc = input_exists("loan", path, err);
	if (!rc && !strcmp(path, "-"))
		rc = err_set(err, ERR_USAGE,
			"--loan names a file, so that the run can be replayed, not standard input");
	if (!rc)
		rc = loan_create(args->loan, cluster, out, err);
	if (!rc)
		rc = file_hash(path, hash, err);
	free(path);
	return rc;
}

/* A history of Slurm may show the cluster itself; anything else is cheaper to read after it. */
static int read_world(const struct args *args, const char *trace, struct setup *out, struct err *err)
{
	bool past = slurm_past_asked(args);
	int rc = 0;

	if (args->cluster || !past)
		rc = setup_cluster(args->cluster, &out->cluster, err);
	if (!rc && past)
		rc = workload_read_past(args, trace, &out->cluster, &out->base, err);
	if (!rc)
		rc = setup_loan(args, &out->cluster, &out->loan, &out->loan_hash, err);
	if (!rc)
		speeds_check_types(args, &out->cluster);
	if (!rc && !past)
		rc = workload_read(args, trace, (uint64_t)args->seed, &out->cluster, &out->base, err);
	return rc;
}

int setup_read(const struct args *args, const char *trace, struct setup *out, struct err *err)
{
	int rc;

	*out = (struct setup){ 0 };
	rc = setup_rules(args, out, err);
	if (!rc)
		rc = setup_tenants(args, &out->tenants, err);
	if (!rc)
		rc = read_world(args, trace, out, err);
	if (!rc)
		tell_tenants(out);
	if (!rc)
		tell_quota(out);
	if (!rc)
		tell_cells(out);
	if (!rc)
		tell_estimate(out);
	if (!rc)
		rc = file_hash(args->throughputs, &out->throughputs_hash, err);
	if (!rc)
		rc = file_hash(args->host_profiles, &out->host_profiles_hash, err);
	if (!rc)
		rc = file_hash(args->failures, &out->failures_hash, err);
	return rc;
}

static void list_fini(struct chosen_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		chosen_fini(&list->at[i]);
	free(list->at);
}

void setup_fini(struct setup *setup)
{
	workload_fini(&setup->base);
	cluster_fini(&setup->cluster);
	tenants_fini(&setup->tenants);
	loan_fini(&setup->loan);
	for (size_t i = 0; i < setup->npairings; i++)
		free(setup->pairings[i].label);
	free(setup->pairings);
	list_fini(&setup->policies);
	list_fini(&setup->placers);
	chosen_fini(&setup->admit);
	free(setup->estimate);
	*setup = (struct setup){ 0 };
}

/* ---- a run */

static double repair_s(const struct args *args)
{
	return args->mtbf > 0 && !(args->repair > 0) ? 3600 : args->repair;
}

void setup_config(const struct setup *setup, const struct workload *workload,
	const struct pairing *pair, uint64_t seed, struct sim_config *out)
{
	const struct args *args = setup->args;

	sim_config_init(out);
	out->trace = &workload->trace;
	out->cluster = &setup->cluster;
	out->truth = workload->profile;
	out->training = workload->training;
	out->tenants = setup->tenants.n ? &setup->tenants : NULL;
	out->policy = pair->policy->full;
	out->placer = pair->placer->full;
	out->admit = setup->admit.full;
	out->seed = seed;
	out->error = args->error;
	out->oracle = args->oracle;
	out->estimate = setup->estimate;
	out->costs = (struct costs){ args->start_cost, args->resume_cost, args->resize_cost };
	out->failures = (struct failures){ args->mtbf, repair_s(args), args->failures };
	out->loan = setup->loan.pool ? &setup->loan : NULL;
	out->until_s = args->until;
}

void setup_settings(const struct setup *setup, struct buf *out)
{
	const struct args *args = setup->args;
	char time[32];

	buf_str(out, setup->placers.n == 1 ? "placer" : "placers");
	for (size_t i = 0; i < setup->placers.n; i++)
		buf_printf(out, "%s %s", i ? " and" : "", setup->placers.at[i].label);
	buf_printf(out, ", admission %s", setup->admit.label);
	if (args->oracle)
		buf_str(out, ", policies know the true run times");
	else if (args->error > 0)
		buf_printf(out, ", run times estimated with error %g", args->error);
	if (args->estimate)
		buf_printf(out, ", speeds estimated with %s", args->estimate);
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
	if (args->loan)
		buf_printf(out, ", nodes borrowed as in %s", args->loan);
	if (args->throughputs)
		buf_printf(out, ", speeds from %s", args->throughputs);
	if (args->host_profiles)
		buf_printf(out, ", hosts as in %s", args->host_profiles);
	if (args->profiles)
		buf_printf(out, ", profiles from %s", args->profiles);
	if (args->tenants)
		buf_printf(out, ", tenants from %s", args->tenants);
	if (args->until > 0)
		buf_printf(out, ", stopped at %s", text_duration(args->until, time));
}
