/*
 * stint forecast: how good forecasts of starts and ends would have been on a
 * workload.
 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "cli/setup.h"
#include "cli/ui.h"
#include "sim/backtest.h"

struct forecast_call {
	const struct args *args;
	struct setup setup;
	struct backtest result;
	struct bar bar;
};

static void moved(void *ctx, uint32_t done, uint32_t asks)
{
	bar_move(&((struct forecast_call *)ctx)->bar, (double)done / asks);
}

/* ---- what a person reads */

static void put_part(const char *what, const struct backtest_part *part, struct buf *out)
{
	char real[32], error[32], plain[32], width[32];

	if (!part->jobs) {
		buf_printf(out, "%-8s nobody had to wait when asked\n", what);
		return;
	}
	buf_printf(out, "%-8s %6u %9.1f %% %7.1f %% %7.1f %%  %10s %10s %10s %10s\n", what,
		part->jobs, 100 * part->coverage, 100 * part->below, 100 * part->above,
		text_duration(part->median_s, real), text_duration(part->median_width_s, width),
		text_duration(part->median_error_s, error), text_duration(part->plain_error_s, plain));
}

static void for_people(const struct forecast_call *call, struct buf *out)
{
	const struct backtest *r = &call->result;

	buf_printf(out, "%s on %s, %s: asked %u times, %u futures each\n\n",
		call->setup.pairings[0].label, call->setup.cluster.spec, call->setup.base.source,
		r->asks, r->asks ? r->futures / r->asks : 0);
	buf_str(out,
		"           jobs  in p10-p90   before    after       came   interval  error p50      plain\n");
	put_part("start", &r->start, out);
	put_part("end", &r->finish, out);
	buf_printf(out,
		"\nOf 80 %% intervals 80 %% should hold.  came, interval, error: medians; plain is the error of a\n"
		"forecast in which all run as long as was said and nobody else comes.  CPU for a forecast: %.0f ms\n",
		r->asks ? 1000 * r->cpu_s / r->asks : 0);
}

/* ---- what a program reads */

static void put_json_part(const char *what, const struct backtest_part *part, struct json *j)
{
	json_begin_object(j, what);
	json_int(j, "jobs", part->jobs);
	json_double(j, "coverage", part->coverage);
	json_double(j, "before", part->below);
	json_double(j, "after", part->above);
	json_double(j, "median_s", part->median_s);
	json_double(j, "median_interval_s", part->median_width_s);
	json_double(j, "median_error_s", part->median_error_s);
	json_double(j, "plain_error_s", part->plain_error_s);
	json_end(j, '}');
}

static void for_programs(const struct forecast_call *call, struct buf *out)
{
	const struct backtest *r = &call->result;
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "backtest/1");
	json_str(&j, "trace", call->setup.base.source);
	json_str(&j, "cluster", call->setup.cluster.spec);
	json_str(&j, "policy", call->setup.pairings[0].policy->full);
	json_int(&j, "asks", r->asks);
	json_int(&j, "futures", r->futures);
	json_double(&j, "cpu_s", r->cpu_s);
	put_json_part("start", &r->start, &j);
	put_json_part("end", &r->finish, &j);
	json_end(&j, '}');
}

/* ---- running */

static int carry_out(struct forecast_call *call, struct err *err)
{
	const struct args *args = call->args;
	const struct pairing *pair = &call->setup.pairings[0];
	struct sim_config config;
	int rc;

	setup_config(&call->setup, &call->setup.base, pair, (uint64_t)args->seed, &config);
	bar_begin(&call->bar, args, pair->label);
	rc = backtest_run(
		&(struct backtest_config){
			.sim = &config,
			.asks = (uint32_t)args->asks,
			.futures = (uint32_t)args->futures,
			.held_back = args->held_back,
			.raw = args->raw,
			.progress = moved,
			.progress_ctx = call,
		},
		&call->result, err);
	bar_end(&call->bar);
	return rc;
}

static int forecast(const struct args *args, struct err *err)
{
	struct forecast_call call = { .args = args };
	struct buf text = { 0 };
	int rc = 0;

	if (setup_count(&args->policy) > 1 || setup_count(&args->placer) > 1)
		rc = err_set(err, ERR_USAGE, "forecast runs one policy with one placer");
	if (!rc)
		rc = setup_read(args, args->operands.at[0], &call.setup, err);
	if (!rc)
		rc = carry_out(&call, err);
	if (!rc) {
		if (args->json)
			for_programs(&call, &text);
		else
			for_people(&call, &text);
		rc = ui_print(&text, err);
	}
	buf_fini(&text);
	setup_fini(&call.setup);
	return rc;
}

static const struct flag forecast_flags[] = {
	NUMBER(asks, FLAG_INT, "N", 200, 1, 100000, "forecasts, spread over the arrivals (default 200)"),
	NUMBER(futures, FLAG_INT, "N", 200, 1, 100000, "futures of each (default 200)"),
	NUMBER(held_back, FLAG_NUMBER, "PART", 0.5, 0.01, 1,
		"of the jobs, the last ones: those that count; the others are for learning (default 0.5)"),
	SWITCH(raw, "intervals of the simulated futures, not calibrated by earlier forecasts"),
	{ 0 },
};
static const struct flag_group flags_forecast = { .title = "forecasts", .flags = forecast_flags };

static const struct flag output_flags[] = {
	SWITCH(json, "the result as JSON"),
	SWITCH(quiet, "no messages, no progress bar"),
	{ 0 },
};
static const struct flag_group flags_output = { .title = "output", .flags = output_flags, .aside = true };

static const char *const examples[] = {
	"stint forecast synth:jobs=2000,load=1.1 --cluster 4x8:v100 --policy easy --error 0.7",
	"stint forecast trace.csv --cluster 16x8:v100 --policy tiresias --asks 100 --json",
	NULL,
};

const struct command command_forecast = {
	.name = "forecast",
	.summary = "how good forecasts of starts and ends would have been on a workload",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.groups = { &flags_forecast, &flags_world, &flags_deciders, &flags_belief, &flags_workload,
		&flags_output },
	.about = "The workload is simulated; now and then the moment is copied and run forward over many\n"
		 "futures, with nothing but what was known then, as the daemon does it for 'stint eta'.\n"
		 "Of every job that had to wait, the first forecast is held against what really came.",
	.examples = examples,
	.run = forecast,
};
