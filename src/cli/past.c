#include "cli/past.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/db_trace.h"
#include "cli/resample.h"
#include "cli/ui.h"
#include "engine/rules.h"
#include "io/cluster_io.h"
#include "io/tenants_io.h"
#include "io/trace_io.h"
#include "policy/policy.h"
#include "model/catalogue.h"
#include "model/cluster_change.h"

static const struct flag past_flags[] = {
	TEXT(state, "DIR",
		"the daemon's directory, or a copy of its stint.db (default: where it keeps it)"),
	NUMBER(since, FLAG_SECONDS, "TIME", NAN, 0, 1e10,
		"jobs of this last stretch of time (0: all; default: 7d of a record, all of a trace)"),
	TEXT(was, "NAME[:OPTIONS]", "the policy of then (default: the record's; of a trace fifo)"),
	TEXT(was_placer, "NAME[:OPTIONS]",
		"the placer of then (default: the record's; of a trace first-fit)"),
	TEXT(admit, "NAME[:OPTIONS]", "who may compete (default: as in the record; else all)"),
	TEXT(tenants, "FILE", TENANTS_HELP ", as they were (default: the record's)"),
	TEXT(measured_on, "TYPE", "on which type run times were measured, where the trace does not say"),
	NUMBER(seeds, FLAG_INT, "N", 11, 1, 10000, "runs of each: seed 0 is what happened (default 11)"),
	TEXT(resample, "WHEN", "seeds resample it: yes, no, auto (default: if nothing is random)"),
	{ 0 },
};

const struct flag_group flags_past = { .title = "what happened", .flags = past_flags };

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

static char *copy_or(const char *text, const char *other)
{
	return mem_strdup(text ? text : other);
}

/* ---- where it is */

static bool is_database(const char *path)
{
	static const char magic[] = "SQLite format 3";
	char head[sizeof(magic)] = { 0 };
	FILE *in = fopen(path, "r");
	bool is = in && fread(head, 1, sizeof(magic) - 1, in) == sizeof(magic) - 1 &&
		!strcmp(head, magic);

	if (in)
		fclose(in);
	return is;
}

/* The operand names a record; NULL: it is a trace, or there is none. */
static const char *record_operand(const struct args *args)
{
	const char *word = args->operands.n ? args->operands.at[0] : NULL;

	if (!word || !strcmp(word, "-"))
		return NULL;
	return file_is_dir(word) || is_database(word) ? word : NULL;
}

/* ---- which jobs */

/* A record's default is recent, a trace's is all of it. */
static double since_of(const struct past *h)
{
	double since = h->args->since;

	return isnan(since) ? (h->is_record ? RECENT_S : 0) : since;
}

static const char *the_only_type(const struct cluster *cluster)
{
	const char *only = NULL;

	for (uint32_t i = 0; i < cluster->ntypes; i++) {
		const struct device_type *type = &cluster->types[i];

		if (!type->devices || device_type_is_cpu(type))
			continue;
		if (only)
			return NULL;
		only = type->name;
	}
	return only;
}

/* Run times were measured on the type that there was, if there was one. */
static const char *measured_on(const struct past *h)
{
	if (h->args->measured_on)
		return h->args->measured_on;
	return h->is_record || h->measured ? the_only_type(&h->cluster) : NULL;
}

static void set_span(struct past *h, const struct trace *trace)
{
	h->njobs = trace->njobs;
	h->from_s = trace->njobs ? trace->jobs[0].arrival_s : NAN;
	h->to_s = trace->njobs ? trace->jobs[trace->njobs - 1].arrival_s : NAN;
	h->busy_gpus = 0;
	for (uint32_t i = 0; i < trace->njobs; i++)
		h->busy_gpus += trace->jobs[i].gpus * trace->work[i] / trace->jobs[i].nominal_rate;
	h->busy_gpus /= fmax(h->to_s - h->from_s, 1);
}

/* The part that is asked for, as a text that every scenario reads. */
static void take_part(struct past *h, const struct trace *trace, struct trace *out)
{
	double since = since_of(h), last = trace->njobs ? trace->jobs[trace->njobs - 1].arrival_s : 0;
	struct trace_part part = {
		.from_s = since > 0 ? last - since : -INFINITY,
		.measured_on = measured_on(h),
	};

	if (h->args->out)
		h->source = path_join(h->args->out, COMPARE_TRACE);
	h->left_out = trace_take(trace, &part, out);
	set_span(h, out);
	trace_write(out, &h->text);
}

/* ---- a trace */

static bool is_plain_file(const struct past *h, const char *path)
{
	return strcmp(path, "-") != 0 && !workload_is_drawn(path) && !(since_of(h) > 0) &&
		!measured_on(h);
}

static int read_trace(struct past *h, const char *path, struct err *err)
{
	struct args silent = *h->args;
	struct workload whole;
	struct trace part;
	int rc;

	silent.quiet |= is_plain_file(h, path); /* else the first scenario says it */
	silent.throughputs = silent.profiles = silent.host_profiles = NULL;
	rc = workload_read(&silent, path, (uint64_t)h->args->seed, &h->cluster, &whole, err);
	if (rc)
		return rc;
	h->name = mem_strdup(!strcmp(path, "-") ? "standard input" : path);
	if (is_plain_file(h, path)) {
		h->source = mem_strdup(path);
		set_span(h, &whole.trace);
	} else {
		take_part(h, &whole.trace, &part);
		if (!h->source) /* not "synth:": every scenario has the same draw */
			h->source = mem_printf("jobs of %s", whole.source);
		trace_fini(&part);
	}
	workload_fini(&whole);
	return 0;
}

static int trace_history(struct past *h, bool need_cluster, struct err *err)
{
	const struct args *args = h->args;
	int rc = 0;

	if (args->state)
		return err_set(err, ERR_USAGE,
			"%s is a trace, and --state names a record: give one", args->operands.at[0]);
	if (!workload_is_drawn(args->operands.at[0]))
		rc = input_exists("trace", args->operands.at[0], err);
	if (!rc && (args->cluster || need_cluster))
		rc = setup_cluster(args->cluster, &h->cluster, err);
	h->policy = copy_or(args->was, PRESET_POLICY);
	h->placer = copy_or(args->was_placer, PRESET_PLACER);
	h->admit = copy_or(args->admit, PRESET_ADMIT);
	h->seed = (uint64_t)args->seed;
	return rc ? rc : read_trace(h, args->operands.at[0], err);
}

/* ---- a record */

/* Jobs that named no type may use whatever there would have been, but for CPU slots. */
static void widen(struct trace *trace, const struct recorded *r, const struct words *new_types)
{
	uint32_t more = 0;

	for (size_t i = 0; new_types && i < new_types->n; i++) {
		uint32_t type = names_add(&trace->types, new_types->at[i], strlen(new_types->at[i]));

		more |= type < 31 ? UINT32_C(1) << type : 0;
	}
	for (uint32_t i = 0; i < trace->njobs; i++) {
		struct job *job = &trace->jobs[i];
		uint32_t id = (uint32_t)strtoul(job->label, NULL, 10);
		const struct live_job *live = recorded_find(r, id)->ended;

		if (job->types && !live->types && !live->cpu_only)
			job->types |= more;
	}
}

/* Of the devices there are, from the first arrival to the last end; rough where they came and went. */
static double real_utilisation(const struct past *h, const struct recorded *r)
{
	double used_s = 0, last_s = h->from_s;

	for (size_t i = 0; i < r->jobs.n; i++) {
		const struct live_job *job = r->jobs.at[i].ended;

		if (job->arrival_s < h->from_s)
			continue;
		used_s += job->base.occupied_s;
		last_s = fmax(last_s, job->end_s);
	}
	return h->cluster.devices && last_s > h->from_s
		? used_s / (h->cluster.devices * (last_s - h->from_s))
		: NAN;
}

static void take_real(struct past *h, const struct recorded *r, const struct trace *trace)
{
	struct outcome real = { 0 };

	recorded_course(r, trace, &real);
	real.from_s = h->from_s;
	summary_of(trace, &real, &h->real);
	h->real.utilisation = real_utilisation(h, r);
	outcome_fini(&real);
}

/* One that only followed another scheduler decides nothing by itself. */
static const char *policy_of_then(const struct past *h, const char *policy)
{
	struct err ignored = { 0 };
	const struct policy *rule = policy ? policy_find(policy, &ignored) : NULL;

	if (!rule || !rule->stand_in)
		return policy;
	ui_say(h->args,
		"another scheduler decided then: in 'as it was' %s stands in for it, --was names another; how it "
		"really went is said below",
		rule->stand_in);
	return rule->stand_in;
}

static int take_rules(struct past *h, struct recorded *r, struct err *err)
{
	const struct args *args = h->args;
	const struct epoch *epoch = &r->epoch;
	int rc = 0;

	if (args->cluster)
		rc = setup_cluster(args->cluster, &h->cluster, err);
	else if (r->has_epoch)
		cluster_copy(&epoch->cluster, &h->cluster);
	else
		rc = err_set(err, ERR_FORMAT,
			"the record does not say on which machine it was made: say it with --cluster");
	if (!rc && r->has_epoch && !args->tenants)
		tenants_copy(&epoch->tenants, &h->tenants);
	h->policy = copy_or(args->was ? args->was : policy_of_then(h, epoch->rules.policy),
		PRESET_POLICY);
	h->placer = copy_or(args->was_placer ? args->was_placer : epoch->rules.placer, PRESET_PLACER);
	h->admit = copy_or(args->admit ? args->admit : epoch->rules.admit, PRESET_ADMIT);
	h->seed = args->seed ? (uint64_t)args->seed : epoch->seed;
	return rc;
}

/* Some of them ran under other rules, and there is only one "as it was". */
static void tell_policies(const struct past *h, const struct recorded *r)
{
	uint32_t earlier = 0;

	for (size_t i = 0; i < r->jobs.n; i++)
		earlier += r->jobs.at[i].ended->arrival_s < r->policy_since_s &&
			r->jobs.at[i].ended->arrival_s >= h->from_s;
	if (earlier && !h->args->was)
		ui_say(h->args,
			"another policy decided when %u of these jobs came: 'as it was' is the last one, %s; "
			"--was names another",
			earlier, h->policy);
}

static int take_jobs(struct past *h, const struct recorded *r, const struct words *new_types,
	struct err *err)
{
	struct trace all = { 0 }, part;

	recorded_remarks(h->args, r);
	if (!r->jobs.n)
		return err_set(err, ERR_MISSING,
			"%s: no job has run and ended yet, so there is no history to look at; wait for some, "
			"or name a trace",
			h->name);
	recorded_trace(r, &all);
	widen(&all, r, new_types);
	all.source = mem_strdup(h->name);
	take_part(h, &all, &part);
	if (!h->source)
		h->source = mem_strdup(h->name);
	take_real(h, r, &part);
	tell_policies(h, r);
	trace_fini(&part);
	trace_fini(&all);
	return 0;
}

static int record_history(struct past *h, const char *where, const struct words *new_types,
	struct err *err)
{
	struct recorded recorded;
	struct record *record = NULL;
	int rc = db_open(where, &h->name, &record, err);

	h->is_record = true;
	if (rc == ERR_MISSING)
		err_set(err, rc, "%s; or name a trace", err->text);
	if (rc == ERR_REFUSED && access(h->name, R_OK) < 0 && errno == EACCES)
		err_set(err, rc,
			"%s for a trace of it ('stint db export --format trace') and name that; the page of "
			"'stint open' has a what-if that the daemon works out for every user",
			err->text);
	if (!rc)
		rc = recorded_read(record, &recorded, err);
	record_close(record);
	if (rc < 0)
		return rc;
	rc = take_rules(h, &recorded, err);
	if (!rc)
		rc = take_jobs(h, &recorded, new_types, err);
	recorded_fini(&recorded);
	return rc;
}

/* ---- either */

void past_title(const struct past *h, struct buf *out)
{
	char since[32];

	buf_printf(out, "%u job%s", h->njobs, plural(h->njobs));
	if (since_of(h) > 0)
		buf_printf(out, " of the last %s", text_duration(since_of(h), since));
	buf_printf(out, " of %s", h->name);
}

static void tell(const struct past *h)
{
	struct buf text = { 0 };

	past_title(h, &text);
	if (h->left_out)
		buf_printf(&text, "; %u earlier one%s left out (--since 0 takes all)", h->left_out,
			h->left_out == 1 ? " is" : "s are");
	ui_say(h->args, "%s", text.at);
	buf_fini(&text);
}

int past_read(const struct args *args, const struct past_wish *wish, struct past *out, struct err *err)
{
	const char *record = record_operand(args);
	int rc;

	*out = (struct past){ .args = args, .measured = wish->measured };
	if (record && args->state)
		return err_set(err, ERR_USAGE, "%s and --state %s are two records: give one",
			record, args->state);
	if (args->operands.n && !record)
		rc = trace_history(out, wish->cluster, err);
	else
		rc = record_history(out, record ? record : args->state, wish->new_types, err);
	if (!rc && args->tenants)
		rc = setup_tenants(args, &out->tenants, err);
	if (!rc && !out->njobs)
		rc = err_set(err, ERR_MISSING, "%s holds no jobs", out->name);
	if (!rc)
		tell(out);
	return rc;
}

void past_fini(struct past *h)
{
	cluster_fini(&h->cluster);
	tenants_fini(&h->tenants);
	summary_fini(&h->real);
	buf_fini(&h->text);
	free(h->name);
	free(h->source);
	free(h->policy);
	free(h->placer);
	free(h->admit);
	*h = (struct past){ 0 };
}

int past_keep(const struct past *h, const struct run_dir *dir, struct err *err)
{
	return h->text.n ? run_dir_write(dir, COMPARE_TRACE, &h->text, err) : 0;
}

/* ---- scenarios */

/* The flags that would have asked for it. */
static void scenario_args(struct scenario *s, const struct past *h, const struct scenario_wish *wish)
{
	struct buf spec = { 0 };

	s->args = *h->args;
	vec_push(&s->policies, h->policy);
	for (size_t i = 0; i < wish->policies.n; i++)
		vec_push(&s->policies, wish->policies.at[i]);
	vec_push(&s->placers, h->placer);
	if (wish->placer)
		vec_push(&s->placers, wish->placer);
	cluster_format(wish->cluster, &spec);
	s->cluster_spec = spec.at;
	s->args.policy = s->policies;
	s->args.placer = s->placers;
	s->args.admit = wish->admit ? wish->admit : h->admit;
	s->args.cluster = wish->cluster->spec ? wish->cluster->spec : s->cluster_spec;
	s->args.tenants = NULL; /* known already, and perhaps in no file yet */
	s->args.quiet |= wish->quiet;
	if (h->text.n) {
		s->args.format = NULL;
		s->args.lenient = false;
	}
}

static int scenario_read(struct scenario *s, const struct past *h, const struct scenario_wish *wish,
	struct err *err)
{
	struct setup *setup = &s->setup;
	const struct args *args = &s->args;
	int rc;

	tenants_copy(wish->tenants, &setup->tenants);
	setup->tenants.hash = wish->tenants->hash;
	cluster_copy(wish->cluster, &setup->cluster);
	rc = setup_loan(args, &setup->cluster, &setup->loan, &setup->loan_hash, err);
	if (!rc && h->text.n)
		rc = workload_read_text(args, h->source, (struct slice){ h->text.at, h->text.n },
			&setup->cluster, &setup->base, err);
	else if (!rc)
		rc = workload_read(args, h->source, (uint64_t)args->seed, &setup->cluster,
			&setup->base, err);
	if (!rc)
		rc = file_hash(args->throughputs, &setup->throughputs_hash, err);
	if (!rc)
		rc = file_hash(args->host_profiles, &setup->host_profiles_hash, err);
	if (!rc)
		rc = file_hash(args->failures, &setup->failures_hash, err);
	return rc;
}

int scenario_init(struct scenario *s, const struct past *h, const struct scenario_wish *wish,
	struct err *err)
{
	int rc;

	*s = (struct scenario){ 0 };
	scenario_args(s, h, wish);
	rc = setup_rules(&s->args, &s->setup, err);
	s->args.tenants = wish->tenants->n ? wish->tenants_path : NULL;
	if (rc && strstr(err->text, "given twice"))
		err_set(err, rc, "%s; the one of then is always among them", err->text);
	return rc ? rc : scenario_read(s, h, wish, err);
}

void scenario_fini(struct scenario *s)
{
	setup_fini(&s->setup);
	vec_fini(&s->policies);
	vec_fini(&s->placers);
	free(s->cluster_spec);
	*s = (struct scenario){ 0 };
}

const struct pairing *scenario_pair(const struct scenario *s, size_t policy, bool other_placer)
{
	return &s->setup.pairings[(other_placer ? s->setup.policies.n : 0) + policy];
}

/* ---- run times of elsewhere */

/* Speeds on a type of elsewhere and on one of here. */
struct exchange {
	struct cluster cluster; /* both types: 0 is here, 1 is there */
	struct profile *profile;
	const struct trace *trace;
};

static int exchange_init(struct exchange *x, const struct scenario *s, const char *here,
	const char *there, struct err *err)
{
	struct cluster_change one = { .nodes = 1, .devices = NODE_DEVICES_MAX };
	struct buf said = { 0 };
	int rc;

	*x = (struct exchange){ .trace = &s->setup.base.trace };
	snprintf(one.type, sizeof(one.type), "%s", here);
	rc = cluster_only(&s->setup.cluster, &one, &x->cluster, err);
	snprintf(one.type, sizeof(one.type), "%s", there);
	if (!rc)
		rc = cluster_grow(&x->cluster, &one, &said, err);
	buf_fini(&said);
	if (rc)
		return rc;
	x->profile = profile_create(&x->cluster, &s->setup.base.trace.models);
	if (s->args.throughputs)
		rc = profile_read(s->args.throughputs, &x->cluster,
			(struct names *)&s->setup.base.trace.models, x->profile, err);
	return rc;
}

static void exchange_fini(struct exchange *x)
{
	profile_destroy(x->profile);
	cluster_fini(&x->cluster);
}

/* How much longer it takes here; 1 where that is not known. */
static double slower_here(const struct exchange *x, const struct job *job)
{
	double here, there;

	if (job->model == NAME_NONE)
		return 1;
	here = profile_rate(x->profile, job->model, 0,
		profile_packed(x->profile, 0, (uint32_t)job->gpus));
	there = profile_rate(x->profile, job->model, 1,
		profile_packed(x->profile, 1, (uint32_t)job->gpus));
	return here > 0 && there > 0 ? there / here : 1;
}

static int translate_from(struct scenario *s, uint32_t there, uint32_t here, struct err *err)
{
	struct trace *trace = &s->setup.base.trace;
	struct exchange x;
	int rc = exchange_init(&x, s, trace->types.at[here], trace->types.at[there], err);

	for (uint32_t i = 0; i < trace->njobs && !rc; i++) {
		double factor;

		if (trace->measured_on[i] != there + 1 || trace->jobs[i].by_steps)
			continue;
		factor = slower_here(&x, &trace->jobs[i]);
		trace->work[i] *= factor;
		trace->jobs[i].work_est *= factor;
		trace->measured_on[i] = (uint8_t)(here + 1);
	}
	exchange_fini(&x);
	return rc;
}

int scenario_translate(struct scenario *s, const char *type, struct err *err)
{
	struct trace *trace = &s->setup.base.trace;
	uint32_t here;
	int rc = 0;

	if (!trace->measured_on)
		return 0;
	here = names_add(&trace->types, type, strlen(type));
	for (uint32_t i = 0; i < trace->njobs && !rc; i++) {
		uint32_t there = trace->measured_on[i];

		/* A type that nobody knows says nothing of any other. */
		if (there && there - 1 != here &&
			cluster_find_type(&s->setup.cluster, trace->types.at[there - 1]) < 0 &&
			catalogue_accelerator(trace->types.at[there - 1]))
			rc = translate_from(s, there - 1, here, err);
	}
	return rc;
}

bool scenario_names_models(const struct scenario *s)
{
	const struct trace *trace = &s->setup.base.trace;

	for (uint32_t i = 0; i < trace->njobs; i++) {
		if (trace->jobs[i].model != NAME_NONE)
			return true;
	}
	return false;
}
