/*
 * stint compare: several policies on the same workloads.
 *
 * Every policy with every seed is a piece of work of its own.  Its results go
 * to a cell named by the piece, so that the output is the same at any number
 * of threads.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/work.h"
#include "cli/html_file.h"
#include "cli/record.h"
#include "cli/resample.h"
#include "cli/setup.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "report/compare.h"
#include "report/compare_models.h"

enum { PLAIN_WIDTH = 120 }; /* of a table that goes to no terminal, unless COLUMNS says otherwise */

/* What another seed changes. */
enum vary {
	VARY_CHANCE,   /* errors, failures, random choices */
	VARY_DRAW,     /* the generator draws another workload */
	VARY_RESAMPLE, /* the trace is resampled */
};

/* The workload of one seed, made when the first of its runs begins and gone after the last. */
struct seed_work {
	pthread_mutex_t lock;
	const struct workload *workload; /* NULL: not made yet */
	struct workload own;             /* unless it is the base */
	uint32_t left;                   /* runs that have not ended */
};

struct compare_call;

struct piece {
	struct compare_call *call;
	uint32_t pair, seed;
	struct run_dir dir; /* inside that of the call */
	uint32_t ended;     /* jobs, as last reported */
	struct beyond beyond;
	struct err err;
	int rc;
};

struct compare_call {
	const struct args *args;
	struct setup setup;
	enum vary vary;
	uint64_t *seeds;
	uint32_t nseeds;
	struct seed_work *works;
	struct piece *pieces; /* seed by seed, so that few workloads are alive at a time */
	size_t npieces;
	struct run_dir dir;
	struct html_file html;
	struct comparison result;
	char *note; /* what the seeds change, for people */
	atomic_bool stop;
	atomic_uint_fast64_t ended;
	pthread_mutex_t bar_lock;
	struct bar bar;
};

/* ---- seeds */

static bool has_chance(const struct setup *setup)
{
	const struct args *args = setup->args;
	bool all_random = true;

	for (size_t i = 0; i < setup->npairings; i++)
		all_random &= setup->pairings[i].policy->random || setup->pairings[i].placer->random;
	return (args->error > 0 && !args->oracle) || args->estimate || args->mtbf > 0 || all_random;
}

static int choose_vary(const struct setup *setup, enum vary *out, struct err *err)
{
	const char *when = setup->args->resample ? setup->args->resample : "auto";

	if (!strcmp(when, "yes"))
		*out = VARY_RESAMPLE;
	else if (!strcmp(when, "no"))
		*out = workload_is_drawn(setup->base.source) ? VARY_DRAW : VARY_CHANCE;
	else if (strcmp(when, "auto") != 0)
		return err_set(err, ERR_USAGE, "--resample is '%s', but must be auto, yes or no", when);
	else if (workload_is_drawn(setup->base.source))
		*out = VARY_DRAW;
	else
		*out = has_chance(setup) ? VARY_CHANCE : VARY_RESAMPLE;
	return 0;
}

static char *note_of(const struct compare_call *call)
{
	unsigned long long first = call->seeds[0], last = call->seeds[call->nseeds - 1];

	if (call->nseeds == 1)
		return NULL;
	switch (call->vary) {
	case VARY_DRAW:
		return mem_printf("seeds %llu to %llu draw %u workloads from the generator; "
				  "every policy runs the same ones",
			first, last, call->nseeds);
	case VARY_RESAMPLE:
		return mem_printf("seed %llu is the trace itself; %u more resample it in blocks of %u jobs "
				  "(moving-block bootstrap); every policy runs the same workloads",
			first, call->nseeds - 1, resample_block(&call->setup.base.trace));
	default:
		return mem_printf("seeds %llu to %llu change errors, failures and random choices; "
				  "the workload stays",
			first, last);
	}
}

static void make_works(struct compare_call *call)
{
	call->works = mem_alloc(mem_array_size(call->nseeds, sizeof(*call->works)));
	for (uint32_t k = 0; k < call->nseeds; k++) {
		pthread_mutex_init(&call->works[k].lock, NULL);
		call->works[k].left = call->result.npolicies;
	}
}

static int make_workload(struct compare_call *call, uint32_t k, struct err *err)
{
	const struct setup *setup = &call->setup;
	struct seed_work *work = &call->works[k];
	int rc = 0;

	if (!k || call->vary == VARY_CHANCE) {
		work->workload = &setup->base;
		return 0;
	}
	if (call->vary == VARY_RESAMPLE)
		workload_resample(&setup->base, call->seeds[k], &work->own);
	else
		rc = workload_redraw(call->args, &setup->base, k, &setup->cluster, &work->own, err);
	if (!rc)
		work->workload = &work->own;
	return rc;
}

static int begin_seed(struct compare_call *call, uint32_t k, const struct workload **out,
	struct err *err)
{
	struct seed_work *work = &call->works[k];
	int rc = 0;

	pthread_mutex_lock(&work->lock);
	if (!work->workload)
		rc = make_workload(call, k, err);
	*out = work->workload;
	pthread_mutex_unlock(&work->lock);
	return rc;
}

static void end_seed(struct compare_call *call, uint32_t k)
{
	struct seed_work *work = &call->works[k];

	pthread_mutex_lock(&work->lock);
	if (--work->left == 0)
		workload_fini(&work->own);
	pthread_mutex_unlock(&work->lock);
}

/* ---- one piece */

static bool moved(void *ctx, uint32_t ended, double now_s)
{
	struct piece *piece = ctx;
	struct compare_call *call = piece->call;
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

static int run_piece_on(struct piece *piece, const struct workload *workload, struct err *err)
{
	struct compare_call *call = piece->call;
	struct outcome outcome = { 0 };
	struct run run = {
		.setup = &call->setup,
		.workload = workload,
		.pair = &call->setup.pairings[piece->pair],
		.seed = call->seeds[piece->seed],
		.want_spans = call->args->html && !piece->seed,
		.dir = call->args->out ? &piece->dir : NULL,
		.progress = moved,
		.progress_ctx = piece,
	};
	int rc = run_carry_out(&run, &outcome, err);

	if (rc)
		return rc;
	comparison_put(&call->result, piece->pair, piece->seed, &workload->trace, &outcome);
	piece->beyond = outcome.beyond;
	outcome_fini(&outcome);
	moved(piece, workload->trace.njobs, 0);
	if (!run.dir)
		return 0;
	return run_record(&run, &call->result.policies[piece->pair].cells[piece->seed].summary, err);
}

static void run_piece(void *ctx, size_t number)
{
	struct compare_call *call = ctx;
	struct piece *piece = &call->pieces[number];
	const struct workload *workload;
	int rc;

	if (ui_interrupted() || atomic_load(&call->stop))
		return;
	rc = begin_seed(call, piece->seed, &workload, &piece->err);
	if (!rc) {
		rc = run_piece_on(piece, workload, &piece->err);
		end_seed(call, piece->seed);
	}
	/* A run that was told to stop has not failed; who told it has. */
	if (rc && !(rc == ERR_REFUSED && (ui_interrupted() || atomic_load(&call->stop)))) {
		piece->rc = rc;
		/* What one policy does wrong is no reason to keep the others from their results. */
		if (rc == ERR_BROKEN)
			run_dir_drop_part(&piece->dir);
		else
			atomic_store(&call->stop, true);
	}
}

/* ---- directories */

/* "tiresias+queues=2-seed3", "srtf_consolidate-seed0": what every file system takes. */
static void add_name(struct buf *out, const char *label)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=.,";

	for (const char *c = label; *c; c++)
		buf_char(out, *c == ':' ? '+' : strchr(plain, *c) ? *c : '-');
}

static void piece_name(const struct compare_call *call, const struct piece *piece, struct buf *out)
{
	const struct pairing *pair = &call->setup.pairings[piece->pair];

	add_name(out, pair->policy->label);
	if (call->setup.placers.n > 1) {
		buf_char(out, '_');
		add_name(out, pair->placer->label);
	}
	if (call->nseeds > 1)
		buf_printf(out, "-seed%llu", (unsigned long long)call->seeds[piece->seed]);
}

static int open_dirs(struct compare_call *call, struct err *err)
{
	struct buf name = { 0 };
	int rc;

	if (!call->args->out)
		return 0;
	rc = run_dir_open(&call->dir, DIR_COMPARE, call->args->out, true, err);
	for (size_t i = 0; i < call->npieces && !rc; i++) {
		buf_clear(&name);
		piece_name(call, &call->pieces[i], &name);
		rc = run_dir_open_part(&call->pieces[i].dir, &call->dir, name.at, err);
	}
	buf_fini(&name);
	return rc;
}

/* Everything appears at once, or not at all. */
static int keep_dirs(struct compare_call *call, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	if (!call->args->out)
		return 0;
	comparison_json(&call->result, call->args->timings, &text);
	rc = run_dir_write(&call->dir, COMPARE_FIGURES, &text, err);
	buf_fini(&text);
	return rc ? rc : run_dir_commit(&call->dir, err);
}

/* ---- the whole */

static int check_form(const struct args *args, struct err *err)
{
	if (args->json + args->csv + args->markdown > 1)
		return err_set(err, ERR_USAGE, "--json, --csv and --markdown: give one");
	return 0;
}

static void init_result(struct compare_call *call)
{
	const struct setup *setup = &call->setup;
	uint32_t n = (uint32_t)setup->npairings;
	struct contender *contenders = mem_alloc(mem_array_size(n, sizeof(*contenders)));

	for (uint32_t i = 0; i < n; i++)
		contenders[i] = (struct contender){ setup->pairings[i].label,
			setup->pairings[i].policy->full, setup->pairings[i].placer->full };
	comparison_init(&call->result, &setup->cluster, contenders, n, call->seeds, call->nseeds);
	free(contenders);
}

static void init_pieces(struct compare_call *call)
{
	uint32_t n = call->result.npolicies;

	call->npieces = (size_t)n * call->nseeds;
	call->pieces = mem_alloc(mem_array_size(call->npieces, sizeof(*call->pieces)));
	for (size_t i = 0; i < call->npieces; i++)
		call->pieces[i] = (struct piece){
			.call = call,
			.seed = (uint32_t)(i / n),
			.pair = (uint32_t)(i % n),
		};
}

static int prepare(struct compare_call *call, struct err *err)
{
	const struct args *args = call->args;
	int rc = check_form(args, err);

	if (!rc)
		rc = setup_read(args, args->operands.at[0], &call->setup, err);
	if (!rc)
		rc = choose_vary(&call->setup, &call->vary, err);
	if (rc)
		return rc;
	ui_guard();
	call->nseeds = (uint32_t)args->seeds;
	call->seeds = mem_alloc(mem_array_size(call->nseeds, sizeof(*call->seeds)));
	for (uint32_t k = 0; k < call->nseeds; k++)
		call->seeds[k] = (uint64_t)args->seed + k;
	init_result(call);
	init_pieces(call);
	make_works(call);
	call->note = note_of(call);
	rc = open_dirs(call, err);
	if (!rc)
		rc = html_file_open(&call->html, args->html, &call->dir, err);
	return rc;
}

/* Whatever stops everything goes before what one policy did. */
static const struct piece *first_failed(const struct compare_call *call)
{
	const struct piece *first = NULL;

	for (size_t i = 0; i < call->npieces; i++) {
		const struct piece *piece = &call->pieces[i];

		if (piece->rc && piece->rc != ERR_BROKEN)
			return piece;
		if (piece->rc && !first)
			first = piece;
	}
	return first;
}

static int tell_failed(const struct compare_call *call, const struct piece *piece, struct err *err)
{
	*err = piece->err;
	return err_prefix(err, "%s, seed %llu", call->setup.pairings[piece->pair].label,
		(unsigned long long)call->seeds[piece->seed]);
}

static void note_failures(struct compare_call *call)
{
	struct buf why = { 0 };

	for (size_t i = 0; i < call->npieces; i++) {
		const struct piece *piece = &call->pieces[i];

		if (!piece->rc)
			continue;
		buf_clear(&why);
		if (call->nseeds > 1)
			buf_printf(&why, "seed %llu: ", (unsigned long long)call->seeds[piece->seed]);
		buf_str(&why, piece->err.text);
		comparison_fail(&call->result, piece->pair, why.at);
	}
	buf_fini(&why);
}

static bool all_failed(const struct compare_call *call)
{
	for (uint32_t i = 0; i < call->result.npolicies; i++)
		if (!call->result.policies[i].failed)
			return false;
	return true;
}

static int carry_out(struct compare_call *call, struct err *err)
{
	const struct piece *failed;

	ui_say(call->args, "%s", call->note ? call->note : "one seed: --seeds 10 would add intervals");
	bar_begin(&call->bar, call->args, "comparing");
	work_each(call->npieces, (int)call->args->threads, run_piece, call);
	bar_end(&call->bar);
	if (ui_interrupted())
		return err_set(err, ERR_REFUSED, "interrupted");
	note_failures(call);
	failed = first_failed(call);
	if (failed && (failed->rc != ERR_BROKEN || all_failed(call)))
		return tell_failed(call, failed, err);
	comparison_finish(&call->result);
	return 0;
}

static int keep(struct compare_call *call, struct err *err)
{
	struct buf text = { 0 };
	int rc = 0;

	if (call->args->html) {
		html_of(&call->setup, &call->result, call->note, call->args->timings, &text);
		rc = html_file_write(&call->html, &text, err);
		buf_fini(&text);
	}
	return rc ? rc : keep_dirs(call, err);
}

static void format(const struct compare_call *call, struct buf *out)
{
	const struct args *args = call->args;
	struct term term = term_of_stdout();
	struct compare_style style = {
		.form = args->csv        ? TABLE_CSV
			: args->markdown ? TABLE_MARKDOWN
					 : TABLE_TEXT,
		.timings = args->timings || (!args->csv && !args->markdown && isatty(STDOUT_FILENO)),
	};

	/* Files and pipes are looked at too. */
	if (!term.width)
		term.width = PLAIN_WIDTH;
	if (args->json)
		comparison_json(&call->result, args->timings, out);
	else if (args->by_model)
		comparison_models_table(&call->result, &style, &term, out);
	else
		comparison_table(&call->result, &style, &term, out);
}

/* Every run must have come to its end. */
static int verdict(const struct compare_call *call, struct err *err)
{
	const struct comparison *c = &call->result;

	if (c->nfailed)
		return tell_failed(call, first_failed(call), err);
	for (uint32_t k = 0; k < c->nseeds; k++)
		for (uint32_t i = 0; i < c->npolicies; i++) {
			int rc = run_verdict(call->args, &c->policies[i].cells[k].summary,
				"'stint sim' with this policy names them", err);

			if (rc)
				return err_prefix(err, "%s", c->policies[i].label);
		}
	return 0;
}

/* The table shows times of jobs that finished; who --until cut short must not go unseen. */
static void tell_cut_short(const struct compare_call *call)
{
	const struct comparison *c = &call->result;
	uint32_t most = 0;

	for (uint32_t i = 0; i < c->npolicies; i++)
		for (uint32_t k = 0; k < c->nseeds; k++) {
			uint32_t n = c->policies[i].cells[k].summary.jobs_unfinished;

			most = n > most ? n : most;
		}
	if (most && call->args->until > 0)
		ui_say(call->args, "up to %u job%s of a run had not ended when time ran out", most,
			most == 1 ? "" : "s");
}

/* Once, with the first as an example. */
static void tell_beyond(const struct compare_call *call)
{
	const struct piece *first = NULL;
	uint32_t runs = 0;

	for (size_t i = 0; i < call->npieces; i++) {
		if (!call->pieces[i].beyond.jobs)
			continue;
		if (runs++ == 0)
			first = &call->pieces[i];
	}
	if (first)
		run_tell_beyond(call->args, &first->beyond, call->setup.pairings[first->pair].label,
			runs);
}

static int tell(const struct compare_call *call, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	format(call, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	if (rc)
		return rc;
	if (call->args->out && call->dir.replaces)
		ui_say(call->args, "replaced the earlier comparison in %s", call->args->out);
	if (call->args->out)
		ui_say(call->args, "wrote %s: a directory for each run, and compare.json",
			call->args->out);
	if (call->args->html)
		ui_say(call->args, "wrote %s", call->args->html);
	tell_cut_short(call);
	tell_beyond(call);
	return verdict(call, err);
}

static void release(struct compare_call *call)
{
	for (size_t i = 0; i < call->npieces; i++)
		run_dir_abandon(&call->pieces[i].dir);
	run_dir_abandon(&call->dir);
	for (uint32_t k = 0; call->works && k < call->nseeds; k++) {
		workload_fini(&call->works[k].own);
		pthread_mutex_destroy(&call->works[k].lock);
	}
	html_file_abandon(&call->html);
	comparison_fini(&call->result);
	free(call->works);
	free(call->pieces);
	free(call->seeds);
	free(call->note);
	setup_fini(&call->setup);
}

static int compare(const struct args *args, struct err *err)
{
	struct compare_call call = { .args = args, .bar_lock = PTHREAD_MUTEX_INITIALIZER };
	int rc = prepare(&call, err);

	if (!rc)
		rc = carry_out(&call, err);
	if (!rc)
		rc = keep(&call, err);
	if (!rc)
		rc = tell(&call, err);
	release(&call);
	return rc;
}

static const struct flag seed_flags[] = {
	NUMBER(seeds, FLAG_INT, "N", 1, 1, 10000, "runs of each policy (default 1)"),
	TEXT(resample, "WHEN", "seeds resample the trace: yes, no, auto (default: if nothing is random)"),
	{ 0 },
};

static const struct flag output_flags[] = {
	TEXT(out, "DIR", "write a directory for each run, and compare.json"),
	TEXT(html, "FILE", "write a report with plots"),
	SWITCH(json, "every figure as JSON"),
	SWITCH(csv, "every figure as CSV"),
	SWITCH(markdown, "the table as Markdown"),
	SWITCH(by_model, "the figures of each model instead of all jobs together"),
	SWITCH(timings, "decision and CPU times, which differ from run to run"),
	NUMBER(threads, FLAG_INT, "N", 0, 0, 1024,
		"runs at a time (0, the default: all cores); results stay the same"),
	SWITCH(quiet, "no messages, no progress bar"),
	{ 0 },
};

static const struct flag_group flags_seeds = { .title = "how often", .flags = seed_flags };
static const struct flag_group flags_output = {
	.title = "output",
	.flags = output_flags,
	.aside = true,
};

static const char *const examples[] = {
	"stint compare trace.csv --cluster 16x8:v100 --policy fifo,srtf,las --policy tiresias:queues=2",
	"stint compare trace.csv --cluster 16x8:v100 --policy fifo,gittins --seeds 10 --html report.html",
	"stint compare synth:jobs=500 --cluster 8x8:v100 --policy fifo,srtf --error 0.5 --json",
	NULL,
};

const struct command command_compare = {
	.name = "compare",
	.summary = "run several policies on the same workloads, with intervals",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_world, &flags_deciders, &flags_seeds, &flags_belief, &flags_workload,
		&flags_output },
	.about = "TRACE is as in 'stint help sim'.  With --seeds N every policy runs N times: a generated\n"
		 "workload is drawn anew, errors and failures are drawn anew, and a fixed trace without\n"
		 "anything random is resampled in blocks (seed 0 is the trace itself).  With several\n"
		 "placers every policy runs with each of them.\n"
		 "A policy that fails has a row that says so, and the exit code is 1; the others are compared.\n"
		 "Exit code 5 means that in some run a job was refused or can never finish; the others\n"
		 "have run and the results are written.  An earlier comparison in DIR is replaced.",
	.more = help_estimate,
	.examples = examples,
	.run = compare,
};
