/*
 * stint replay: runs what a manifest describes and compares every event with
 * the record.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/replay_live.h"
#include "cli/setup.h"
#include "cli/ui.h"
#include "io/cluster_io.h"
#include "io/trace_io.h"
#include "sim/sim.h"
#include "store/run_dir.h"

struct replay_call {
	const struct args *args;
	const char *dir;     /* as it was named */
	char *place, *trace; /* DIR and --trace from anywhere; NULL: not given */
	struct manifest manifest;
	struct args recorded; /* the flags that would give this run */
	struct setup setup;
	struct event_check *check;
	struct outcome outcome;
	struct bar bar;
	uint64_t equal;
};

/* A generator's name is no format that could be asked for. */
static bool is_importer(const char *format)
{
	struct err unknown;

	return format && importer_find(format, &unknown);
}

/* The manifest as if it had been typed. */
static void args_of(const struct replay_call *call, struct args *out)
{
	const struct manifest *m = &call->manifest;

	*out = (struct args){
		.command = call->args->command,
		.quiet = call->args->quiet,
		.format = is_importer(m->trace_format) ? m->trace_format : NULL,
		/* Rows left out then are left out now; the hash says whether the input is the same. */
		.lenient = true,
		.assume_gpus = call->args->assume_gpus,
		.admit = m->admit,
		.tenants = m->tenants,
		.cluster = m->cluster_spec,
		.throughputs = m->throughputs,
		.host_profiles = m->host_profiles,
		.profiles = m->profiles,
		.start_cost = m->start_cost_s,
		.resume_cost = m->resume_cost_s,
		.resize_cost = m->resize_cost_s,
		.mtbf = m->mtbf_s,
		.repair = m->mtbf_s > 0 ? m->repair_s : 0,
		.failures = m->failures_file,
		.loan = m->loan,
		.until = m->until_s,
		.seed = (int64_t)m->seed,
		.error = m->error,
		.oracle = m->oracle,
		.estimate = m->estimate,
	};
	vec_push(&out->policy, m->policy);
	if (m->placer)
		vec_push(&out->placer, m->placer);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A comparison holds runs: names the first few of them. */
static int say_which_run(const struct replay_call *call, struct err *err)
{
	char *pattern = path_join(call->dir, "*/" RUN_MANIFEST);
	struct buf text = { 0 };
	glob_t found = { 0 };

	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
		qsort(found.gl_pathv, found.gl_pathc, sizeof(char *), by_name);
	for (size_t i = 0; i < found.gl_pathc && i < 3; i++)
		buf_printf(&text, "%s %.*s", i ? "," : ", such as",
			(int)(strlen(found.gl_pathv[i]) - strlen("/" RUN_MANIFEST)),
			found.gl_pathv[i]);
	err_set(err, ERR_MISSING, "%s is a comparison: name one of its %zu runs%s", call->dir,
		(size_t)found.gl_pathc, text.n ? text.at : "");
	globfree(&found);
	buf_fini(&text);
	free(pattern);
	return ERR_MISSING;
}

static bool is_comparison(const char *dir)
{
	char *run = path_join(dir, RUN_MANIFEST), *figures = path_join(dir, COMPARE_FIGURES);
	bool is = !file_exists(run) && file_exists(figures);

	free(run);
	free(figures);
	return is;
}

static int read_manifest(struct replay_call *call, struct err *err)
{
	int rc;

	if (!file_is_dir(call->dir))
		return err_set(err, ERR_MISSING,
			"%s: no such directory; 'stint sim ... --out %s' makes one", call->dir,
			call->dir);
	if (is_comparison(call->dir))
		return say_which_run(call, err);
	rc = manifest_read(call->dir, &call->manifest, err);
	if (!rc && strcmp(call->manifest.version, STINT_VERSION) != 0)
		ui_say(call->args, "recorded by stint %s, this is %s: differences may come from that",
			call->manifest.version, STINT_VERSION);
	return rc;
}

/*
 * Goes to where the run was made, so that its paths mean what they meant, also those among the
 * options of policies.  What the user names now is looked for from here.
 */
static void go_there(struct replay_call *call)
{
	const char *there = call->manifest.directory, *trace = call->args->trace;

	call->place = realpath(call->dir, NULL);
	if (trace && strcmp(trace, "-") != 0)
		call->trace = realpath(trace, NULL);
	if (there && chdir(there) < 0)
		ui_say(call->args,
			"%s, where the run was made, is not there: its files are looked for here",
			there);
}

/* A file beside the trace that was read then must be the same now. */
static int check_file(const struct replay_call *call, const char *what, const char *path,
	uint64_t recorded, struct err *err)
{
	uint64_t now;
	int rc;

	if (!path || !recorded)
		return 0;
	rc = file_hash(path, &now, err);
	if (!rc && now != recorded)
		rc = err_set(err, ERR_DIFFER,
			"%s %s has changed since %s was made: its hash is %016llx, recorded was %016llx",
			what, path, call->dir, (unsigned long long)now, (unsigned long long)recorded);
	return rc;
}

static int read_loan(struct replay_call *call, struct err *err)
{
	const struct manifest *m = &call->manifest;
	int rc = setup_loan(&call->recorded, &call->setup.cluster, &call->setup.loan,
		&call->setup.loan_hash, err);

	if (!rc && call->setup.loan_hash != m->loan_hash)
		rc = err_set(err, ERR_DIFFER,
			"loan %s has changed since %s was made: its hash is %016llx, recorded was %016llx",
			m->loan, call->dir, (unsigned long long)call->setup.loan_hash,
			(unsigned long long)m->loan_hash);
	return rc;
}

static int check_files(const struct replay_call *call, struct err *err)
{
	const struct manifest *m = &call->manifest;
	int rc = check_file(call, "throughputs", m->throughputs, m->throughputs_hash, err);

	if (!rc)
		rc = check_file(call, "host profiles", m->host_profiles, m->host_profiles_hash, err);
	if (!rc)
		rc = check_file(call, "failures", m->failures_file, m->failures_hash, err);
	return rc ? rc : check_file(call, "tenants", m->tenants, m->tenants_hash, err);
}

static int read_workload(struct replay_call *call, struct err *err)
{
	const struct manifest *m = &call->manifest;
	const char *trace = call->trace ? call->trace
		: call->args->trace     ? call->args->trace
					: m->trace;
	struct workload *base = &call->setup.base;
	int rc;

	if (!strcmp(trace, "-") && !call->args->trace)
		return err_set(err, ERR_MISSING,
			"%s was made from standard input: name the same trace with --trace FILE",
			call->dir);
	rc = workload_read(&call->recorded, trace, m->seed, &call->setup.cluster, base, err);
	if (rc == ERR_MISSING)
		return err_set(err, ERR_MISSING,
			"the trace of %s, %s, is not there (any more); name it with --trace FILE",
			call->dir, trace);
	if (!rc && base->trace.hash != m->trace_hash)
		rc = err_set(err, ERR_DIFFER,
			"%s is not what %s was made from: its hash is %016llx, recorded was %016llx",
			trace, call->dir, (unsigned long long)base->trace.hash,
			(unsigned long long)m->trace_hash);
	if (!rc && base->profiles_hash != m->profiles_hash)
		rc = err_set(err, ERR_DIFFER,
			"profiles %s have changed since %s was made: their hash is %016llx, recorded was "
			"%016llx",
			m->profiles, call->dir, (unsigned long long)base->profiles_hash,
			(unsigned long long)m->profiles_hash);
	return rc;
}

static int prepare(struct replay_call *call, struct err *err)
{
	const char *yaml;
	int rc = read_manifest(call, err);

	if (rc)
		return rc;
	yaml = call->manifest.cluster_yaml;
	go_there(call);
	args_of(call, &call->recorded);
	rc = setup_rules(&call->recorded, &call->setup, err);
	if (!rc)
		rc = cluster_read_yaml(call->dir, yaml, strlen(yaml), &call->setup.cluster, err);
	if (!rc)
		rc = check_files(call, err);
	if (!rc)
		rc = read_loan(call, err);
	if (!rc)
		rc = setup_tenants(&call->recorded, &call->setup.tenants, err);
	if (!rc)
		rc = read_workload(call, err);
	return rc;
}

static bool moved(void *ctx, uint32_t ended, double now_s)
{
	struct replay_call *call = ctx;

	(void)now_s;
	bar_move(&call->bar, (double)ended / call->setup.base.trace.njobs);
	return !ui_interrupted();
}

static int carry_out(struct replay_call *call, struct err *err)
{
	char *path = path_join(call->place ? call->place : call->dir, RUN_EVENTS);
	struct observer observer;
	struct sim_config config;
	int rc = input_exists("record", path, err);

	if (!rc)
		rc = event_check_create(path, &call->setup.cluster, &call->check, err);
	free(path);
	if (rc)
		return rc;
	observer = event_check_observer(call->check);
	setup_config(&call->setup, &call->setup.base, &call->setup.pairings[0], call->manifest.seed,
		&config);
	config.observers = &observer;
	config.nobservers = 1;
	config.progress = moved;
	config.progress_ctx = call;
	bar_begin(&call->bar, call->args, "replaying");
	rc = sim_run(&config, &call->outcome, err);
	bar_end(&call->bar);
	return rc ? rc : event_check_finish(call->check, &call->equal, err);
}

static void verdict_json(const struct replay_call *call, bool equal, const struct err *err,
	struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "replay/1");
	json_str(&j, "dir", call->dir);
	json_bool(&j, "equal", equal);
	if (equal)
		json_int(&j, "events", (int64_t)call->equal);
	else
		json_str(&j, "difference", err->text);
	json_str(&j, "command", call->manifest.command);
	json_end(&j, '}');
	buf_char(out, '\n');
}

/* A difference is an answer: with --json it is data, and the exit code says it too. */
static int tell(const struct replay_call *call, int rc, struct err *err)
{
	struct buf text = { 0 };
	struct err printing = { 0 };

	if (call->args->json)
		verdict_json(call, !rc, err, &text);
	else if (!rc)
		buf_printf(&text, "%s: all %llu events are equal\n", call->dir,
			(unsigned long long)call->equal);
	if (ui_print(&text, &printing)) {
		*err = printing;
		rc = printing.code;
	}
	buf_fini(&text);
	return rc;
}

static int replay_run(const struct args *args, struct err *err)
{
	struct replay_call call = { .args = args, .dir = args->operands.at[0] };
	int rc = prepare(&call, err);

	if (!rc)
		rc = carry_out(&call, err);
	if (!rc || rc == ERR_DIFFER)
		rc = tell(&call, rc, err);
	event_check_destroy(call.check);
	outcome_fini(&call.outcome);
	setup_fini(&call.setup);
	vec_fini(&call.recorded.policy);
	vec_fini(&call.recorded.placer);
	free(call.place);
	free(call.trace);
	manifest_fini(&call.manifest);
	return rc;
}

static int replay(const struct args *args, struct err *err)
{
	if (replay_is_live(args->operands.at[0]))
		return replay_live(args, args->operands.at[0], err);
	return replay_run(args, err);
}

static const struct flag input_flags[] = {
	TEXT(trace, "FILE", "read the trace there instead of where the manifest says"),
	TEXT(assume_gpus, "node=N|cpus=N", "as the run was given, which the manifest's command tells"),
	{ 0 },
};

static const struct flag output_flags[] = {
	SWITCH(json, "the answer as JSON"),
	SWITCH(quiet, "no messages, no progress bar"),
	{ 0 },
};

static const struct flag_group flags_input = { .title = "input", .flags = input_flags };
static const struct flag_group flags_output = {
	.title = "output",
	.flags = output_flags,
	.aside = true,
};

static const char *const examples[] = {
	"stint sim trace.csv --cluster 16x8:v100 --policy las --out run1/",
	"stint replay run1/",
	"stint replay ~/.local/state/stint",
	NULL,
};

const struct command command_replay = {
	.name = "replay",
	.summary = "run a recorded run again and verify that every event is equal",
	.operands = "DIR",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_input, &flags_output },
	.about = "DIR is what `stint sim --out` made, or the state directory of a daemon: then every input of the\n"
		 "live record goes through the same core again, and every decision must come out as it did.\n"
		 "\n"
		 "Files are looked for from where the run was made, so that it does not matter where you\n"
		 "are.  Exit code 1 means a difference: the first is shown with its line.",
	.examples = examples,
	.run = replay,
};
