/*
 * stint rounds: one policy with rounds of several lengths, and which is best.
 *
 * Every length with every seed is a piece of work of its own.  Its results go
 * to a cell named by the piece, so that the output is the same at any number
 * of threads.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "base/work.h"
#include "cli/html_file.h"
#include "cli/record.h"
#include "cli/resample.h"
#include "cli/setup.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "report/rounds_report.h"

enum { PLAIN_WIDTH = 120, LENGTHS_MAX = 1000 };

static const char lengths_preset[] = "30,60,120,360,900,1800,3600";

struct rounds_call;

struct piece {
	struct rounds_call *call;
	uint32_t length, seed;
	uint32_t ended; /* jobs, as last reported */
	struct err err;
	int rc;
};

struct rounds_call {
	struct args args;        /* with a policy for each length */
	const char *policy;      /* as it was written */
	VEC(double) lengths;     /* rising */
	VEC(const char *) specs; /* malloc'ed: the policy with each length */
	double own_s;            /* the policy's own length */
	struct setup setup;
	uint64_t *seeds;
	uint32_t nseeds;
	struct workload *works; /* by seed; the first is empty: it is the setup's */
	struct piece *pieces;
	size_t npieces;
	struct comparison result;
	double *idle_gpu_s; /* [lengths][seeds] */
	char *note;
	struct html_file html, svg;
	atomic_bool stop;
	atomic_uint_fast64_t ended;
	pthread_mutex_t bar_lock;
	struct bar bar;
};

/* ---- lengths */

static const struct option *length_option(const struct policy *policy)
{
	for (const struct option *o = policy->options; o && o->name; o++)
		if (!strcmp(o->name, "round_s") && o->kind == OPTION_DOUBLE)
			return o;
	return NULL;
}

static int tell_no_rounds(const struct policy *policy, struct err *err)
{
	struct buf known = { 0 };
	int rc;

	for (size_t i = 0; policies[i]; i++)
		if (length_option(policies[i]))
			buf_printf(&known, "%s%s", known.n ? ", " : "", policies[i]->name);
	rc = err_set(err, ERR_USAGE, "policy %s has no rounds (no option round_s); these do: %s",
		policy->name, known.at ? known.at : "none");
	buf_fini(&known);
	return rc;
}

/* Whether the policy does not keep to the length it is given. */
static bool chosen_anew(const struct policy *policy, const void *state)
{
	for (const struct option *o = policy->options; o && o->name; o++) {
		if (strcmp(o->name, "round_auto") == 0)
			return *((const bool *)state + o->offset);
	}
	return false;
}

/* The length that the policy has with the options it was given. */
static int find_own(struct rounds_call *call, struct err *err)
{
	const char *colon = strchr(call->policy, ':');
	char *name = mem_strndup(call->policy, strcspn(call->policy, ":"));
	const struct policy *policy = policy_find(name, err);
	const struct option *option;
	void *state;
	int rc;

	free(name);
	if (!policy) {
		err->code = ERR_USAGE;
		return ERR_USAGE;
	}
	option = length_option(policy);
	if (!option)
		return tell_no_rounds(policy, err);
	state = mem_alloc(policy->state_size);
	option_defaults(policy->options, state);
	rc = option_parse(policy->options, state, policy->name, colon ? colon + 1 : "", err);
	memcpy(&call->own_s, (const char *)state + option->offset, sizeof(call->own_s));
	if (!rc && chosen_anew(policy, state))
		rc = err_set(err, ERR_USAGE,
			"round_auto=1 chooses its own rounds: leave it out to compare lengths");
	free(state);
	return rc;
}

static int by_length(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sort_lengths(struct rounds_call *call)
{
	size_t kept = 0;

	qsort(call->lengths.at, call->lengths.n, sizeof(double), by_length);
	for (size_t i = 0; i < call->lengths.n; i++)
		if (!i || call->lengths.at[i] != call->lengths.at[kept - 1])
			call->lengths.at[kept++] = call->lengths.at[i];
	call->lengths.n = kept;
}

/* The field belongs to compare; this command does not look at it otherwise. */
static const char *lengths_of(const struct args *args)
{
	return args->rounds ? args->rounds : lengths_preset;
}

static int read_lengths(struct rounds_call *call, struct err *err)
{
	struct slice rest = slice_of(lengths_of(&call->args));

	while (rest.n > 0) {
		struct slice item = slice_trim(slice_cut(&rest, ','));
		double length_s;

		if (!slice_seconds(item, &length_s) || !(length_s > 0) || !isfinite(length_s))
			return err_set(err, ERR_USAGE,
				"--rounds: '%.*s' is no length; say 60,360,1h or the like",
				(int)item.n, item.at);
		vec_push(&call->lengths, length_s);
		if (call->lengths.n > LENGTHS_MAX)
			return err_set(err, ERR_USAGE, "--rounds names more than %d lengths",
				LENGTHS_MAX);
	}
	if (!call->lengths.n)
		return err_set(err, ERR_USAGE, "--rounds names no length");
	vec_push(&call->lengths, call->own_s);
	sort_lengths(call);
	return 0;
}

/* Of a name given twice the last counts. */
static void make_specs(struct rounds_call *call)
{
	for (size_t i = 0; i < call->lengths.n; i++) {
		struct buf spec = { 0 };

		buf_printf(&spec, "%s%sround_s=", call->policy,
			!strchr(call->policy, ':')                              ? ":"
				: call->policy[strlen(call->policy) - 1] == ':' ? ""
										: ",");
		buf_double(&spec, call->lengths.at[i]);
		vec_push(&call->specs, spec.at);
	}
	call->args.policy = (struct words){ .at = call->specs.at, .n = call->specs.n };
}

/* ---- seeds */

static int make_works(struct rounds_call *call, struct err *err)
{
	const struct workload *base = &call->setup.base;
	bool drawn = workload_is_drawn(base->source);
	int rc = 0;

	call->nseeds = (uint32_t)call->args.seeds;
	call->seeds = mem_alloc(mem_array_size(call->nseeds, sizeof(*call->seeds)));
	call->works = mem_alloc(mem_array_size(call->nseeds, sizeof(*call->works)));
	for (uint32_t k = 0; k < call->nseeds && !rc; k++) {
		call->seeds[k] = (uint64_t)call->args.seed + k;
		if (k > 0 && drawn)
			rc = workload_redraw(&call->args, base, k, &call->setup.cluster,
				&call->works[k], err);
		else if (k > 0)
			workload_resample(base, call->seeds[k], &call->works[k]);
	}
	if (call->nseeds > 1)
		call->note = drawn
			? mem_printf("means of %u workloads that the generator draws", call->nseeds)
			: mem_printf("means of %u workloads: the trace, and resamples of it "
				     "in blocks of %u jobs",
				  call->nseeds, resample_block(&base->trace));
	return rc;
}

static const struct workload *work_of(const struct rounds_call *call, uint32_t seed)
{
	return seed ? &call->works[seed] : &call->setup.base;
}

/* ---- runs */

static bool moved(void *ctx, uint32_t ended, double now_s)
{
	struct piece *piece = ctx;
	struct rounds_call *call = piece->call;
	double all = (double)call->npieces * call->setup.base.trace.njobs;

	(void)now_s;
	atomic_fetch_add(&call->ended, ended - piece->ended);
	piece->ended = ended;
	if (pthread_mutex_trylock(&call->bar_lock) == 0) {
		bar_move(&call->bar, (double)atomic_load(&call->ended) / all);
		pthread_mutex_unlock(&call->bar_lock);
	}
	return !ui_interrupted() && !atomic_load(&call->stop);
}

static int carry_out_piece(struct piece *piece, struct err *err)
{
	struct rounds_call *call = piece->call;
	const struct workload *workload = work_of(call, piece->seed);
	struct outcome outcome = { 0 };
	struct run run = {
		.setup = &call->setup,
		.workload = workload,
		.pair = &call->setup.pairings[piece->length],
		.seed = call->seeds[piece->seed],
		.progress = moved,
		.progress_ctx = piece,
	};
	int rc = run_carry_out(&run, &outcome, err);

	if (rc)
		return rc;
	comparison_put(&call->result, piece->length, piece->seed, &workload->trace, &outcome);
	call->idle_gpu_s[(size_t)piece->length * call->nseeds + piece->seed] = rounds_idle(&outcome);
	outcome_fini(&outcome);
	moved(piece, workload->trace.njobs, 0);
	return 0;
}

static void run_piece(void *ctx, size_t number)
{
	struct rounds_call *call = ctx;
	struct piece *piece = &call->pieces[number];
	int rc;

	if (ui_interrupted() || atomic_load(&call->stop))
		return;
	rc = carry_out_piece(piece, &piece->err);
	/* A run that was told to stop has not failed; who told it has. */
	if (rc && !(rc == ERR_REFUSED && (ui_interrupted() || atomic_load(&call->stop)))) {
		piece->rc = rc;
		atomic_store(&call->stop, true);
	}
}

static void init_result(struct rounds_call *call)
{
	uint32_t n = (uint32_t)call->lengths.n;
	struct contender *contenders = mem_alloc(mem_array_size(n, sizeof(*contenders)));

	for (uint32_t i = 0; i < n; i++)
		contenders[i] = (struct contender){ call->setup.pairings[i].label,
			call->setup.pairings[i].policy->full, call->setup.pairings[i].placer->full };
	comparison_init(&call->result, NULL, contenders, n, call->seeds, call->nseeds);
	free(contenders);
	call->npieces = (size_t)n * call->nseeds;
	call->idle_gpu_s = mem_alloc(mem_array_size(call->npieces, sizeof(double)));
	call->pieces = mem_alloc(mem_array_size(call->npieces, sizeof(*call->pieces)));
	for (size_t i = 0; i < call->npieces; i++)
		call->pieces[i] = (struct piece){
			.call = call,
			.seed = (uint32_t)(i / n),
			.length = (uint32_t)(i % n),
		};
}

static int carry_out(struct rounds_call *call, struct err *err)
{
	init_result(call);
	bar_begin(&call->bar, &call->args, "rounds");
	work_each(call->npieces, (int)call->args.threads, run_piece, call);
	bar_end(&call->bar);
	if (ui_interrupted())
		return err_set(err, ERR_REFUSED, "interrupted");
	for (size_t i = 0; i < call->npieces; i++)
		if (call->pieces[i].rc) {
			*err = call->pieces[i].err;
			return err_prefix(err, "%s, seed %llu",
				call->setup.pairings[call->pieces[i].length].label,
				(unsigned long long)call->seeds[call->pieces[i].seed]);
		}
	comparison_finish(&call->result);
	return 0;
}

/* ---- what comes out */

static struct rounds_report report_of(const struct rounds_call *call)
{
	struct rounds_report report = {
		.result = &call->result,
		.round_s = call->lengths.at,
		.idle_gpu_s = call->idle_gpu_s,
		.policy = call->policy,
		.cluster = call->setup.cluster.spec,
		.source = call->setup.base.source,
		.note = call->note,
	};

	while (call->lengths.at[report.own] != call->own_s)
		report.own++;
	return report;
}

static void html_page(const struct rounds_call *call, const struct args *given, struct buf *out)
{
	struct rounds_report report = report_of(call);
	struct buf title = { 0 }, command = { 0 }, trace = { 0 }, settings = { 0 };

	buf_printf(&title, "Rounds of %s", call->policy);
	args_command(given, &command);
	trace_title(&call->setup.base.trace, &trace);
	setup_settings(&call->setup, &settings);
	rounds_report_html(&report,
		&(struct html_info){
			.title = title.at,
			.command = command.at,
			.version = STINT_VERSION,
			.trace = trace.at,
			.cluster = report.cluster,
			.settings = settings.at,
		},
		out);
	buf_fini(&title);
	buf_fini(&command);
	buf_fini(&trace);
	buf_fini(&settings);
}

/* Files appear now, or not at all. */
static int keep(struct rounds_call *call, const struct args *given, struct err *err)
{
	struct rounds_report report = report_of(call);
	struct buf text = { 0 };
	int rc = 0;

	if (given->html) {
		html_page(call, given, &text);
		rc = html_file_write(&call->html, &text, err);
	}
	if (!rc && given->svg) {
		buf_clear(&text);
		rounds_report_svg(&report, &text);
		rc = html_file_write(&call->svg, &text, err);
	}
	buf_fini(&text);
	return rc;
}

/* Every run must have come to its end. */
static int verdict(const struct rounds_call *call, struct err *err)
{
	for (uint32_t i = 0; i < call->result.npolicies; i++) {
		for (uint32_t k = 0; k < call->nseeds; k++) {
			int rc = run_verdict(&call->args, &call->result.policies[i].cells[k].summary,
				"'stint sim' with this policy names them", err);

			if (rc)
				return err_prefix(err, "%s", call->result.policies[i].label);
		}
	}
	return 0;
}

static int tell(const struct rounds_call *call, struct err *err)
{
	const struct args *args = &call->args;
	struct rounds_report report = report_of(call);
	struct buf text = { 0 };
	struct term term = term_of_stdout();
	int rc;

	/* Files and pipes are looked at too. */
	if (!term.width)
		term.width = PLAIN_WIDTH;
	if (args->json)
		rounds_report_json(&report, &text);
	else
		rounds_report_text(&report, &term, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	if (!rc && args->html)
		ui_say(args, "wrote %s", args->html);
	if (!rc && args->svg)
		ui_say(args, "wrote %s", args->svg);
	return rc ? rc : verdict(call, err);
}

/* ---- the whole */

/* Before anything is read. */
static int check_one(const struct args *args, struct err *err)
{
	size_t rules = setup_count(&args->policy);

	if (rules > 1)
		return err_set(err, ERR_USAGE, "rounds looks at one policy and %zu are given", rules);
	rules = setup_count(&args->placer);
	if (rules > 1)
		return err_set(err, ERR_USAGE,
			"rounds looks at runs with one placer and %zu are given", rules);
	return 0;
}

static int prepare(struct rounds_call *call, struct err *err)
{
	struct args *args = &call->args;
	int rc = check_one(args, err);

	if (!rc)
		rc = find_own(call, err);
	if (!rc)
		rc = read_lengths(call, err);
	if (rc)
		return rc;
	make_specs(call);
	rc = setup_read(args, args->operands.at[0], &call->setup, err);
	if (rc)
		return rc;
	ui_guard();
	rc = html_file_open(&call->html, args->html, NULL, err);
	if (!rc)
		rc = html_file_open(&call->svg, args->svg, NULL, err);
	return rc ? rc : make_works(call, err);
}

static void release(struct rounds_call *call)
{
	for (uint32_t k = 1; call->works && k < call->nseeds; k++)
		workload_fini(&call->works[k]);
	for (size_t i = 0; i < call->specs.n; i++)
		free((char *)call->specs.at[i]);
	html_file_abandon(&call->html);
	html_file_abandon(&call->svg);
	comparison_fini(&call->result);
	vec_fini(&call->lengths);
	vec_fini(&call->specs);
	free(call->works);
	free(call->pieces);
	free(call->seeds);
	free(call->idle_gpu_s);
	free(call->note);
	setup_fini(&call->setup);
}

static int rounds(const struct args *args, struct err *err)
{
	struct rounds_call call = {
		.args = *args,
		.policy = args->policy.n ? args->policy.at[0] : "gavel",
		.bar_lock = PTHREAD_MUTEX_INITIALIZER,
	};
	int rc = prepare(&call, err);

	if (!rc)
		rc = carry_out(&call, err);
	if (!rc)
		rc = keep(&call, args, err);
	if (!rc)
		rc = tell(&call, err);
	release(&call);
	return rc;
}

static const struct flag length_flags[] = {
	{ .name = "rounds",
		.kind = FLAG_TEXT,
		.offset = offsetof(struct args, rounds),
		.value = "LIST",
		.help = "lengths (default 30,60,120,360,900,1800,3600); the policy's own is added" },
	NUMBER(seeds, FLAG_INT, "N", 1, 1, 10000,
		"workloads for each: the trace and resamples, or draws (default 1)"),
	{ 0 },
};

static const struct flag output_flags[] = {
	SWITCH(json, "everything as JSON"),
	TEXT(svg, "FILE", "write the curve"),
	TEXT(html, "FILE", "write a page with the curve and tables"),
	NUMBER(threads, FLAG_INT, "N", 0, 0, 1024,
		"runs at a time (0, the default: all cores); results stay the same"),
	SWITCH(quiet, "no messages, no progress bar"),
	{ 0 },
};

static const struct flag_group flags_lengths = { .title = "what to try", .flags = length_flags };
static const struct flag_group flags_output = {
	.title = "output",
	.flags = output_flags,
	.aside = true,
};

static const char *const examples[] = {
	"stint rounds trace.csv --cluster 4x8:v100,4x8:k80 --policy gavel:objective=max-min",
	"stint rounds trace.csv --cluster 4x8:v100 --rounds 1m,5m,30m --resume-cost 30 --seeds 10",
	"stint rounds synth:jobs=200 --cluster 2x4:v100,2x4:p100 --policy gavel --html rounds.html",
	NULL,
};

const struct command command_rounds = {
	.name = "rounds",
	.summary = "try rounds of several lengths and say which is best",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_lengths, &flags_world, &flags_deciders, &flags_belief, &flags_workload,
		&flags_output },
	.about = "Runs the workload under one policy that has an option round_s (here by default gavel), once\n"
		 "for each length, and shows what each costs: GPU-time spent on stopping and resuming jobs,\n"
		 "and GPU-time of devices that were idle while jobs waited (at most so much).  Best is the\n"
		 "least mean completion time.  With --seeds N all run the same N workloads, and the best is\n"
		 "compared with the policy's own length by a paired test, corrected for the choice.\n"
		 "Exit code 5 means that in some run a job was refused or can never finish.",
	.examples = examples,
	.run = rounds,
};
