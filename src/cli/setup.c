#include "cli/setup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/resample.h"
#include "cli/ui.h"
#include "io/cluster_io.h"
#include "io/trace_io.h"

static const struct flag workload_flags[] = {
	TEXT(format, "NAME", "read the trace as this format ('stint trace formats')"),
	SWITCH(lenient, "leave out rows with problems instead of stopping"),
	{ 0 },
};

static const struct flag decider_flags[] = {
	LIST(policy, "NAME[:OPTIONS]", "who runs now ('stint policies'); fifo"),
	TEXT(placer, "NAME[:OPTIONS]", "on which devices ('stint placers'); first-fit"),
	TEXT(admit, "NAME[:OPTIONS]", "who may compete ('stint admissions'); all"),
	{ 0 },
};

static const struct flag world_flags[] = {
	TEXT(cluster, "SPEC", "16x8:v100,4x4:a100 or a YAML file ('stint cluster')"),
	TEXT(throughputs, "FILE", "measured speeds: Gavel's JSON or CSV; else estimates"),
	NUMBER(start_cost, FLAG_SECONDS, "S", NAN, 0, 1e9, "time before a job's first step"),
	NUMBER(resume_cost, FLAG_SECONDS, "S", NAN, 0, 1e9, "time lost by a preemption or migration"),
	NUMBER(resize_cost, FLAG_SECONDS, "S", NAN, 0, 1e9, "time lost by a change of size"),
	NUMBER(mtbf, FLAG_SECONDS, "S", 0, 0, 1e12, "mean time between failures of a node; none"),
	NUMBER(repair, FLAG_SECONDS, "S", 0, 0, 1e12, "mean time to repair; 1h"),
	TEXT(failures, "FILE", "failures from CSV: time_s,node,up|down"),
	NUMBER(until, FLAG_SECONDS, "S", 0, 0, 1e15, "stop there; when all is done"),
	{ 0 },
};

static const struct flag belief_flags[] = {
	NUMBER(seed, FLAG_INT, "N", 0, 0, 9e15, "for everything random; 0"),
	NUMBER(error, FLAG_NUMBER, "E", 0, 0, 10, "deviation of estimated run times, such as 0.3; 0"),
	SWITCH(oracle, "policies know the true run times"),
	{ 0 },
};

const struct flag_group flags_workload = { .title = "workload", .flags = workload_flags };
const struct flag_group flags_deciders = { .title = "who decides", .flags = decider_flags };
const struct flag_group flags_world = { .title = "the world (times: 90, 15m, 1.5h, 2d)",
	.flags = world_flags };
const struct flag_group flags_belief = { .title = "belief and chance", .flags = belief_flags };

int input_exists(const char *what, const char *path, struct err *err)
{
	if (!strcmp(path, "-") || file_exists(path))
		return 0;
	return err_set(err, ERR_MISSING, "%s %s: no such file", what, path);
}

/* ---- the workload */

static const char synth_prefix[] = "synth:", resample_prefix[] = "resample:";

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

bool workload_is_drawn(const char *source)
{
	return has_prefix(source, synth_prefix);
}

/* Where the value of "seed=" begins in "synth:…", or NULL. */
static const char *seed_in(const char *source)
{
	const char *at;

	for (at = source + strlen(synth_prefix); *at; at += strcspn(at, ","), at += *at == ',')
		if (has_prefix(at, "seed="))
			return at + strlen("seed=");
	return NULL;
}

char *workload_seeded(const char *source, uint64_t seed)
{
	bool bare = !strcmp(source, synth_prefix);

	if (!workload_is_drawn(source) || seed_in(source))
		return mem_strdup(source);
	return mem_printf("%s%sseed=%llu", source, bare ? "" : ",", (unsigned long long)seed);
}

static void count_steps(const struct args *args, const struct trace *trace)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < trace->njobs; i++)
		n += trace->jobs[i].by_steps;
	if (n && !args->throughputs)
		ui_say(args,
			"%u of %u jobs are measured in steps: without --throughputs their speed is "
			"estimated from the catalogue",
			n, trace->njobs);
}

static int read_trace(const struct args *args, const char *source, uint64_t seed,
	const struct cluster *cluster, struct workload *out, struct err *err)
{
	struct import_options options = { .format = args->format, .lenient = args->lenient };
	int rc = workload_is_drawn(source) ? 0 : input_exists("trace", source, err);

	if (rc)
		return rc;
	out->source = workload_seeded(source, seed);
	rc = trace_read(out->source, &options, cluster, &out->trace, &out->notes, err);
	ui_notes(args, source, &out->notes);
	if (!rc && !out->trace.njobs)
		rc = err_set(err, ERR_FORMAT, "%s holds no jobs", source);
	return rc;
}

static int read_speeds(const struct args *args, const struct cluster *cluster, struct workload *out,
	struct err *err)
{
	out->own_profile = profile_create(cluster, &out->trace.models);
	out->profile = out->own_profile;
	if (!args->throughputs)
		return 0;
	return profile_read(args->throughputs, cluster, &out->trace.models, out->own_profile, err);
}

static int read_plain(const struct args *args, const char *source, uint64_t seed,
	const struct cluster *cluster, struct workload *out, struct err *err)
{
	int rc = read_trace(args, source, seed, cluster, out, err);

	if (!rc) {
		count_steps(args, &out->trace);
		rc = read_speeds(args, cluster, out, err);
	}
	return rc;
}

static int read_any(const struct args *args, const char *source, uint64_t seed,
	const struct cluster *cluster, struct workload *out, struct err *err);

/* "resample:3:trace.csv": the trace is replaced by its third resample. */
static int read_resampled(const struct args *args, const char *source, uint64_t seed,
	const struct cluster *cluster, struct workload *out, struct err *err)
{
	const char *number = source + strlen(resample_prefix);
	const char *colon = strchr(number, ':');
	struct trace drawn;
	int64_t draw;
	int rc;

	if (!colon || !slice_int((struct slice){ number, (size_t)(colon - number) }, &draw) || draw < 0)
		return err_set(err, ERR_USAGE, "'%s' is not resample:SEED:TRACE", source);
	rc = read_any(args, colon + 1, seed, cluster, out, err);
	if (rc)
		return rc;
	trace_resample(&out->trace, (uint64_t)draw, &drawn);
	/* The profile keeps the address of the model names; the names themselves are the same. */
	profile_destroy(out->own_profile);
	trace_fini(&out->trace);
	out->trace = drawn;
	free(out->source);
	out->source = mem_strdup(source);
	return read_speeds(args, cluster, out, err);
}

static int read_any(const struct args *args, const char *source, uint64_t seed,
	const struct cluster *cluster, struct workload *out, struct err *err)
{
	if (has_prefix(source, resample_prefix))
		return read_resampled(args, source, seed, cluster, out, err);
	return read_plain(args, source, seed, cluster, out, err);
}

int workload_read(const struct args *args, const char *source, uint64_t seed,
	const struct cluster *cluster, struct workload *out, struct err *err)
{
	int rc;

	*out = (struct workload){ 0 };
	rc = read_any(args, source, seed, cluster, out, err);
	if (rc)
		workload_fini(out);
	return rc;
}

uint32_t workload_resample(const struct workload *from, uint64_t seed, struct workload *out)
{
	*out = (struct workload){ .profile = from->profile };
	out->source = mem_printf("%s%llu:%s", resample_prefix, (unsigned long long)seed, from->source);
	return trace_resample(&from->trace, seed, &out->trace);
}

/* "synth:jobs=10,seed=3" with k = 2 is "synth:jobs=10,seed=5". */
static char *next_draw(const char *source, uint64_t k)
{
	const char *at = seed_in(source);
	size_t n = strcspn(at, ",");
	int64_t seed = 0;

	/* A seed that is no number is the generator's to refuse, and it has not. */
	slice_int((struct slice){ at, n }, &seed);
	return mem_printf("%.*s%llu%s", (int)(at - source), source,
		(unsigned long long)((uint64_t)seed + k), at + n);
}

int workload_redraw(const struct args *args, const struct workload *from, uint64_t k,
	const struct cluster *cluster, struct workload *out, struct err *err)
{
	struct args silent = *args;
	char *source = next_draw(from->source, k);
	int rc;

	silent.quiet = true; /* it was all said of the first one */
	rc = workload_read(&silent, source, 0, cluster, out, err);
	free(source);
	return rc;
}

void workload_fini(struct workload *workload)
{
	profile_destroy(workload->own_profile);
	trace_fini(&workload->trace);
	notes_fini(&workload->notes);
	free(workload->source);
	*workload = (struct workload){ 0 };
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

int check_format(const struct args *args, struct err *err)
{
	if (!args->format || importer_find(args->format, err))
		return 0;
	return err->code = ERR_USAGE;
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
