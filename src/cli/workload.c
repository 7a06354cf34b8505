#include "cli/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/resample.h"
#include "cli/speeds.h"
#include "cli/ui.h"
#include "io/cluster_io.h"
#include "io/hosting_io.h"
#include "io/past_cluster.h"
#include "io/trace_io.h"
#include "io/training_io.h"

static const struct flag workload_flags[] = {
	TEXT(format, "NAME", "read the trace as this format ('stint trace formats')"),
	TEXT(assume_gpus, "node=N|cpus=N",
		"GPUs of jobs of Slurm where its log tells none (default: left out)"),
	SWITCH(lenient, "leave out rows with problems instead of stopping"),
	{ 0 },
};

const struct flag_group flags_workload = { .title = "workload", .flags = workload_flags };

int check_format(const struct args *args, struct err *err)
{
	if (!args->format || importer_find(args->format, err))
		return 0;
	return err->code = ERR_USAGE;
}

int input_exists(const char *what, const char *path, struct err *err)
{
	if (!strcmp(path, "-") || file_exists(path))
		return 0;
	if (!strcmp(path, "synth") || !strncmp(path, "synth,", 6) || !strncmp(path, "synth=", 6))
		return err_set(err, ERR_MISSING,
			"%s %s: no such file; 'synth:' with a colon draws one, as in synth:jobs=1000",
			what, path);
	return err_set(err, ERR_MISSING, "%s %s: no such file", what, path);
}

bool profiles_are_synthetic(const char *profiles)
{
	return !strcmp(profiles, "catalogue");
}

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

int assume_gpus(const char *text, struct import_options *out, struct err *err)
{
	struct slice value = slice_of(text ? text : ""), name = slice_cut(&value, '=');
	double n = 0;
	bool fits = slice_double(value, &n) && n > 0 && n <= 1e6;

	if (!text)
		return 0;
	if (fits && slice_is(name, "node") && n == (double)(int)n)
		out->gpus_per_node = n;
	else if (fits && slice_is(name, "cpus"))
		out->cpus_per_gpu = n;
	else
		return err_set(err, ERR_USAGE,
			"--assume-gpus is '%s', but must be node=N (N for each node of a job) or cpus=N (one for "
			"each N CPUs)",
			text);
	return 0;
}

static int read_trace(const struct args *args, const char *source, uint64_t seed,
	const struct cluster *cluster, struct workload *out, struct err *err)
{
	struct import_options options = { .format = args->format, .lenient = args->lenient };
	int rc = workload_is_drawn(source) ? 0 : input_exists("trace", source, err);

	if (!rc)
		rc = assume_gpus(args->assume_gpus, &options, err);
	if (rc)
		return rc;
	out->source = workload_seeded(source, seed);
	rc = trace_read(out->source, &options, cluster, &out->trace, &out->notes, err);
	ui_notes(args, source, &out->notes);
	if (!rc && !out->trace.njobs)
		rc = err_set(err, ERR_FORMAT, "%s holds no jobs", source);
	return rc;
}

static void tell_hosting(const struct args *args, const struct workload *w)
{
	const struct trace *trace = &w->trace;
	uint32_t known = 0;

	for (uint32_t i = 0; i < trace->njobs; i++)
		known += trace->jobs[i].model != NAME_NONE &&
			hosting_find(w->own_hosting, trace->jobs[i].model,
				(uint32_t)trace->jobs[i].gpus);
	if (known == 0)
		ui_say(args,
			"warning: %s says nothing of any model of the trace; CPUs and memory change no speed",
			args->host_profiles);
	else if (known < trace->njobs)
		ui_say(args, "%s: CPUs and memory change the speed of %u of %u jobs",
			args->host_profiles, known, trace->njobs);
}

/* --host-profiles: what CPUs and memory do, and the speeds that such files tell. */
static int read_hosting(const struct args *args, const struct cluster *cluster,
	struct workload *out, struct err *err)
{
	struct notes notes = { 0 };
	int rc;

	if (!args->host_profiles)
		return 0;
	out->own_hosting = hosting_create();
	rc = hosting_read(args->host_profiles, cluster, &out->trace.models, out->own_hosting,
		out->own_profile, &notes, err);
	ui_notes(args, args->host_profiles, &notes);
	notes_fini(&notes);
	if (rc)
		return rc;
	profile_set_hosting(out->own_profile, out->own_hosting);
	tell_hosting(args, out);
	return 0;
}

static int read_speeds(const struct args *args, const struct cluster *cluster, struct workload *out,
	struct err *err)
{
	int rc;

	out->own_profile = profile_create(cluster, &out->trace.models);
	out->profile = out->own_profile;
	rc = read_hosting(args, cluster, out, err);
	if (rc || !args->throughputs)
		return rc;
	return profile_read(args->throughputs, cluster, &out->trace.models, out->own_profile, err);
}

/* --profiles: how models train; from the catalogue, or from files. */
static int read_training(const struct args *args, const struct cluster *cluster,
	struct workload *out, struct err *err)
{
	struct notes notes = { 0 };
	int rc = 0;

	if (!args->profiles)
		return 0;
	out->own_training = training_create(cluster, &out->trace.models);
	out->training = out->own_training;
	if (profiles_are_synthetic(args->profiles))
		training_synthesise(out->own_training);
	else
		rc = training_read(args->profiles, cluster, &out->trace.models, out->own_training,
			&notes, &out->profiles_hash, err);
	ui_notes(args, args->profiles, &notes);
	notes_fini(&notes);
	return rc;
}

/* What the profiles changed, by line of the trace. */
static void note_change(const struct args *args, const struct workload *w,
	const struct training_changed *c, struct notes *out)
{
	const struct job *job = &w->trace.jobs[c->job];
	const struct training_model *facts = training_of(w->training, job->model);
	size_t line = notes_line(&w->notes, c->job);

	if (c->change == TRAINING_OVERRULED)
		notes_add(out, NOTE_ASSUMED, line, "duration_s", NULL,
			"run times (and steps) of the trace do not count where --profiles %s says how long "
			"a model trains",
			args->profiles);
	if (c->change == TRAINING_REBATCHED)
		notes_add(out, NOTE_ASSUMED, line, "batch", NULL,
			"model %s takes a total batch of %.0f to %.0f, not %d: %d is taken%s",
			w->trace.models.at[job->model], facts->initial_batch, facts->max_batch,
			(int)c->asked, (int)c->taken, facts->by_job ? "" : " (but not with compat=)");
}

static void tell_training(const struct args *args, const char *source, const struct workload *w,
	const struct training_bound *bound)
{
	struct notes notes = { 0 };

	for (size_t i = 0; i < bound->n; i++)
		note_change(args, w, &bound->at[i], &notes);
	ui_notes(args, source, &notes);
	notes_fini(&notes);
	if (bound->untimed)
		return; /* nothing can run, and that is what will be said */
	if (bound->jobs == 0)
		ui_say(args,
			"warning: --profiles %s says nothing of any job here; all go at the speed of their "
			"model",
			args->profiles);
	else if (bound->jobs < w->trace.njobs)
		ui_say(args,
			"%u of %u jobs train as --profiles %s says, the others at the speed of their model",
			bound->jobs, w->trace.njobs, args->profiles);
}

static int read_and_bind_training(const struct args *args, const char *source,
	const struct cluster *cluster, struct workload *out, struct err *err)
{
	int rc = read_training(args, cluster, out, err);
	struct training_bound bound;

	if (rc || !out->training)
		return rc;
	training_bind(out->training, out->profile, &out->trace, &bound);
	tell_training(args, source, out, &bound);
	training_bound_fini(&bound);
	return 0;
}

/* All that comes after the trace. */
static int read_rest(const struct args *args, const char *source, const struct cluster *cluster,
	struct workload *out, struct err *err)
{
	int rc = read_speeds(args, cluster, out, err);

	if (!rc)
		rc = read_and_bind_training(args, source, cluster, out, err);
	if (!rc && !out->training)
		speeds_tell(args, &out->trace, cluster, out->profile);
	return rc;
}

static int read_plain(const struct args *args, const char *source, uint64_t seed,
	const struct cluster *cluster, struct workload *out, struct err *err)
{
	int rc = read_trace(args, source, seed, cluster, out, err);

	return rc ? rc : read_rest(args, source, cluster, out, err);
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
	hosting_destroy(out->own_hosting);
	training_destroy(out->own_training);
	trace_fini(&out->trace);
	out->trace = drawn;
	free(out->source);
	out->source = mem_strdup(source);
	rc = read_speeds(args, cluster, out, err);
	/* Its jobs are bound already: they were copied so. */
	return rc ? rc : read_training(args, cluster, out, err);
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

int workload_read_past(const struct args *args, const char *source, struct cluster *cluster,
	struct workload *out, struct err *err)
{
	int rc;

	*out = (struct workload){ 0 };
	rc = read_trace(args, source, 0, NULL, out, err);
	if (!rc && !cluster->nnodes)
		rc = past_cluster(&out->trace, cluster, err);
	if (!rc)
		rc = read_rest(args, source, cluster, out, err);
	if (rc)
		workload_fini(out);
	return rc;
}

int workload_read_text(const struct args *args, const char *source, struct slice text,
	const struct cluster *cluster, struct workload *out, struct err *err)
{
	struct import_options options = { .format = "stint" };
	int rc;

	*out = (struct workload){ .source = mem_strdup(source) };
	rc = trace_read_text(source, text, &options, &out->trace, &out->notes, err);
	if (!rc)
		rc = read_rest(args, source, cluster, out, err);
	if (rc)
		workload_fini(out);
	return rc;
}

uint32_t workload_resample(const struct workload *from, uint64_t seed, struct workload *out)
{
	*out = (struct workload){ .profile = from->profile,
		.training = from->training,
		.profiles_hash = from->profiles_hash };
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
	hosting_destroy(workload->own_hosting);
	training_destroy(workload->own_training);
	trace_fini(&workload->trace);
	notes_fini(&workload->notes);
	free(workload->source);
	*workload = (struct workload){ 0 };
}
