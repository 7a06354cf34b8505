/*
 * stint eta: when jobs start and end, as the policy run forward says.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/live_tell.h"

static void put_track(const json_t *track, bool waits, struct buf *out)
{
	double n = live_number(track, "n");
	char error[32], plain[32];

	if (!(n > 0)) {
		buf_str(out, "no earlier forecasts to calibrate by yet\n");
		return;
	}
	buf_printf(out,
		"of the last %.0f %s %.0f %% came within their interval (80 %% should); median error %s",
		n, waits ? "starts" : "ends", 100 * live_number(track, "coverage"),
		text_lasts(live_number(track, "median_error_s"), error));
	if (!isnan(live_number(track, "plain_error_s")))
		buf_printf(out, ", by the jobs' estimates alone %s",
			text_lasts(live_number(track, "plain_error_s"), plain));
	buf_char(out, '\n');
}

static void put_answer(const json_t *answer, const struct term *term, struct buf *out)
{
	double now = live_number(answer, "at"), never = live_number(answer, "never");
	const char *state = live_text(answer, "state");
	bool waits = state && !strcmp(state, "PENDING");

	(void)term;
	buf_str(out, "job ");
	live_job_name(answer, out);
	buf_printf(out, ", %s%s%s\n", state ? state : "?", live_text(answer, "reason") ? ": " : "",
		live_text(answer, "reason") ? live_text(answer, "reason") : "");
	if (json_object_get(answer, "not_before")) {
		live_bound(answer, out);
	} else {
		if (waits) {
			buf_str(out, "  starts  ");
			live_interval(json_object_get(answer, "start"), now, out);
			buf_char(out, '\n');
		}
		buf_str(out, "  ends    ");
		live_interval(json_object_get(answer, "finish"), now, out);
		buf_char(out, '\n');
	}
	if (live_text(answer, "why") && !strcmp(live_text(answer, "why"), "launch"))
		buf_str(out,
			"  as if its next launch worked: until one does, it neither starts nor ends\n");
	if (never > 0) {
		buf_printf(out,
			"  in %.0f %% of the futures it does not start within 30 days: see 'stint explain ",
			100 * never);
		live_job_name(answer, out);
		buf_str(out, "'\n");
	}
	buf_printf(out, "  %.0f futures; ", live_number(answer, "futures"));
	put_track(json_object_get(answer, "calibration"), waits, out);
	live_few_futures(answer, "  ", out);
}

/* ---- all of them */

static void put_cell(const json_t *moments, double now, struct buf *out)
{
	char low[32], mid[32], high[32], cell[112];
	double p90 = live_number(moments, "p90");

	if (!json_is_object(moments))
		snprintf(cell, sizeof(cell), "-");
	else
		snprintf(cell, sizeof(cell), "%s (%s - %s)",
			text_lasts(fmax(0, live_number(moments, "p50") - now), mid),
			text_lasts(fmax(0, live_number(moments, "p10") - now), low),
			isnan(p90) ? "?" : text_lasts(fmax(0, p90 - now), high));
	buf_printf(out, " %-34s", cell);
}

static void put_start(const json_t *job, double now, struct buf *out)
{
	double bound = live_number(job, "not_before");
	char lasts[32], cell[64];

	if (isnan(bound)) {
		put_cell(json_object_get(job, "start"), now, out);
		return;
	}
	snprintf(cell, sizeof(cell), "not before %s", text_lasts(fmax(0, bound - now), lasts));
	buf_printf(out, " %-34s", cell);
}

/* Of a long queue the futures have the first jobs only. */
static void put_rest(const json_t *answer, double now, struct buf *out)
{
	double rest = live_number(answer, "left_out"), bound = live_number(answer, "rest_not_before");
	char lasts[32];

	if (!(rest > 0))
		return;
	buf_printf(out, "beyond the first %.0f jobs: %.0f more", live_number(answer, "simulated"),
		rest);
	if (isnan(bound))
		buf_str(out, " that are held\n");
	else
		buf_printf(out,
			", none of which starts before %s from now; 'stint eta JOB' has the bound of one\n",
			text_lasts(fmax(0, bound - now), lasts));
}

/* A row of the table: jobs that run first, then by expected start, then by number. */
struct row {
	const json_t *job;
	double start; /* -INFINITY: it runs; INFINITY: it is not known when */
	double id;
};

static struct row row_of(const json_t *job)
{
	const json_t *start = json_object_get(job, "start");
	double bound = live_number(job, "not_before"), at = live_number(start, "p50");
	bool runs = !json_is_object(start) && isnan(bound) && !(live_number(job, "never") > 0);

	return (struct row){
		.job = job,
		.start = runs           ? -INFINITY
			: !isnan(at)    ? at
			: !isnan(bound) ? bound
					: INFINITY,
		.id = live_number(job, "id"),
	};
}

static int by_start(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static void put_row(const json_t *job, double now, struct buf *out)
{
	double never = live_number(job, "never");
	struct buf name = { 0 };

	live_job_name(job, &name);
	buf_printf(out, "%8s", name.at);
	put_start(job, now, out);
	put_cell(json_object_get(job, "finish"), now, out);
	if (never > 0)
		buf_printf(out, " never in %.0f %% of futures", 100 * never);
	while (out->n && out->at[out->n - 1] == ' ')
		out->at[--out->n] = '\0';
	buf_char(out, '\n');
	buf_fini(&name);
}

static void put_rows(const json_t *jobs, double now, struct buf *out)
{
	size_t n = json_array_size(jobs);
	struct row *rows = mem_alloc(mem_array_size(n, sizeof(*rows)));

	for (size_t i = 0; i < n; i++)
		rows[i] = row_of(json_array_get(jobs, i));
	qsort(rows, n, sizeof(*rows), by_start);
	for (size_t i = 0; i < n; i++)
		put_row(rows[i].job, now, out);
	free(rows);
}

static void put_all(const json_t *answer, const struct term *term, struct buf *out)
{
	const json_t *jobs = json_object_get(answer, "jobs");
	double now = live_number(answer, "now");

	(void)term;
	if (!json_array_size(jobs)) {
		buf_str(out, "no jobs run or wait\n");
		return;
	}
	buf_printf(out, "%8s %-34s %s\n", "job", "starts in (80 % interval)",
		"ends in (80 % interval)");
	put_rows(jobs, now, out);
	put_rest(answer, now, out);
	buf_printf(out, "\n%.0f futures; ", live_number(answer, "futures"));
	put_track(json_object_get(answer, "calibration"), true, out);
	live_few_futures(answer, "", out);
}

static int run(const struct args *args, struct err *err)
{
	return args->operands.n ? live_tell_jobs(args, "eta", put_answer, err)
				: live_tell(args, "/v1/forecast?fresh=true", put_all, err);
}

static const struct flag flags[] = { SWITCH(json, "print the daemon's answer"), { 0 } };
static const struct flag_group flags_eta = { .title = "output", .flags = flags, .aside = true };
static const char *const examples[] = { "stint eta", "stint eta 7", "stint eta 7_3 --json", NULL };

const struct command command_eta = {
	.name = "eta",
	.summary = "when jobs start and end, as an interval with its track record",
	.operands = "[JOB...]",
	.max_operands = 100,
	.live = true,
	.groups = { &flags_eta, &flags_daemon },
	.about = "The policy itself is run forward from this moment over 200 futures, in which jobs take as\n"
		 "long, and others come, as the record has it of the past.  Eight of ten starts should lie in\n"
		 "the interval that is shown; how many did is told with it.  'stint forecast' measures the\n"
		 "same on a whole workload.",
	.examples = examples,
	.run = run,
};
