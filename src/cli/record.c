#include "cli/record.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/ui.h"
#include "io/cluster_io.h"
#include "sim/sim.h"

/* Borrows nearly all of its text: only `owned` is released here. */
struct manifest_text {
	struct buf yaml, command;
	char *directory;
};

static struct manifest manifest_of(const struct run *run, const struct sim_config *config,
	const struct outcome *outcome, struct manifest_text *owned)
{
	const struct args *args = run->setup->args;

	owned->directory = getcwd(NULL, 0); /* NULL where it has been removed: then it is not known */
	cluster_write_yaml(&run->setup->cluster, &owned->yaml);
	setup_command(run->setup, run->workload, run->pair, run->seed, &owned->command);
	return (struct manifest){
		.version = (char *)STINT_VERSION,
		.directory = owned->directory,
		.trace = run->workload->source,
		.trace_format = (char *)run->workload->trace.format,
		.trace_hash = run->workload->trace.hash,
		.cluster_spec = (char *)args->cluster,
		.cluster_yaml = owned->yaml.at,
		.policy = run->pair->policy->full,
		.placer = run->pair->placer->full,
		.admit = run->setup->admit.full,
		.seed = run->seed,
		.error = config->error,
		.oracle = config->oracle,
		.estimate = (char *)config->estimate,
		.start_cost_s = config->costs.start_s,
		.resume_cost_s = config->costs.resume_s,
		.resize_cost_s = config->costs.resize_s,
		.mtbf_s = config->failures.mtbf_s,
		.repair_s = config->failures.repair_s,
		.failures_file = (char *)args->failures,
		.failures_hash = run->setup->failures_hash,
		.loan = (char *)args->loan,
		.loan_hash = run->setup->loan_hash,
		.throughputs = (char *)args->throughputs,
		.throughputs_hash = run->setup->throughputs_hash,
		.host_profiles = (char *)args->host_profiles,
		.host_profiles_hash = run->setup->host_profiles_hash,
		.profiles = (char *)args->profiles,
		.profiles_hash = run->workload->profiles_hash,
		.tenants = (char *)args->tenants,
		.tenants_hash = run->setup->tenants.hash,
		.until_s = config->until_s,
		.command = owned->command.at,
		.event_hash = outcome->event_hash,
		.events = outcome->events,
	};
}

static int write_results(const struct run *run, const struct sim_config *config,
	const struct outcome *outcome, struct err *err)
{
	struct manifest_text owned = { 0 };
	struct manifest manifest = manifest_of(run, config, outcome, &owned);
	struct buf text = { 0 };
	int rc;

	manifest_format(&manifest, &text);
	rc = run_dir_write(run->dir, RUN_MANIFEST, &text, err);
	if (!rc) {
		buf_clear(&text);
		jobs_csv(&run->workload->trace, outcome, &text);
		rc = run_dir_write(run->dir, RUN_JOBS, &text, err);
	}
	buf_fini(&text);
	buf_fini(&owned.yaml);
	buf_fini(&owned.command);
	free(owned.directory);
	return rc;
}

static int with_log(const struct run *run, struct sim_config config, struct outcome *out,
	struct err *err)
{
	char *path = run_dir_path(run->dir, RUN_EVENTS);
	struct event_log *log = NULL;
	struct observer observers[2];
	int rc = event_log_create(path, &run->setup->cluster, &log, err);

	free(path);
	if (rc)
		return rc;
	observers[0] = event_log_observer(log);
	if (run->watcher)
		observers[1] = *run->watcher;
	config.observers = observers;
	config.nobservers = run->watcher ? 2 : 1;
	rc = sim_run(&config, out, err);
	if (rc) {
		event_log_destroy(log);
		return rc;
	}
	rc = event_log_commit(log, err);
	event_log_destroy(log);
	if (!rc)
		rc = write_results(run, &config, out, err);
	if (rc)
		outcome_fini(out);
	return rc;
}

int run_carry_out(const struct run *run, struct outcome *out, struct err *err)
{
	struct sim_config config;

	setup_config(run->setup, run->workload, run->pair, run->seed, &config);
	config.want_spans = run->want_spans;
	config.progress = run->progress;
	config.progress_ctx = run->progress_ctx;
	config.observers = run->watcher;
	config.nobservers = run->watcher != NULL;
	return run->dir ? with_log(run, config, out, err) : sim_run(&config, out, err);
}

int run_record(const struct run *run, const struct summary *summary, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	summary_json(summary, &text);
	rc = run_dir_write(run->dir, RUN_SUMMARY, &text, err);
	buf_fini(&text);
	return rc;
}

void run_tell_beyond(const struct args *args, const struct beyond *beyond, const char *policy,
	uint32_t runs)
{
	struct buf more = { 0 };

	if (!beyond->jobs)
		return;
	if (runs > 1)
		buf_printf(&more, "; so did jobs of %u more run%s", runs - 1, runs > 2 ? "s" : "");
	ui_say(args,
		"note: under %s %u job%s ran where the profiles have no step time (the first as %s); it is "
		"extrapolated there from the nearest measurement%s",
		policy, beyond->jobs, beyond->jobs == 1 ? "" : "s", beyond->where,
		runs > 1 ? more.at : "");
	buf_fini(&more);
}

int run_verdict(const struct args *args, const struct summary *summary, const char *names,
	struct err *err)
{
	/* Whose deadline was refused could run well enough: that is an answer, not a failure. */
	uint32_t all = summary->jobs_submitted - summary->deadlines_refused;
	uint32_t refused = summary->jobs_rejected - summary->deadlines_refused;
	/* Jobs that --until cut short are as they were asked for. */
	uint32_t left = args->until > 0 ? 0 : summary->jobs_unfinished;
	const char *colon = names && *names ? ": " : "";

	if (!names)
		names = "";
	if (refused && refused == all)
		return err_set(err, ERR_NEVER, "no job can ever run on %s: %s refused%s%s",
			args->cluster, all == 1 ? "the only one was" : "all were", colon, names);
	if (refused && left)
		return err_set(err, ERR_NEVER,
			"%u of %u jobs can never run and %u can never finish%s%s", refused, all,
			left, colon, names);
	if (refused || left)
		return err_set(err, ERR_NEVER, "%u of %u jobs can never %s%s%s", refused + left,
			all, refused ? "run" : "finish", colon, names);
	return 0;
}
