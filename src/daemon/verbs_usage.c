/*
 * Device time by user, tenant, model, type and calendar time.
 */
#include <math.h>
#include <string.h>

#include "daemon/spans.h"
#include "daemon/device_hours.h"
#include "daemon/verbs_run.h"

struct counting {
	struct hours hours;
	const struct desk *desk;
	double from_s;
};

static void add_span(struct counting *c, const struct span_job *job, const struct hold_span *span)
{
	double from_s = fmax(span->from_s, c->from_s);
	double to_s = isnan(span->to_s) ? c->desk->now_s : fmin(span->to_s, c->desk->now_s);

	hours_add(&c->hours,
		&(struct hours_span){
			.job = job->id,
			.devices = (uint32_t)__builtin_popcountll(span->devices),
			.user = job->user,
			.tenant = job->tenant,
			.model = job->model,
			.name = job->name,
			.type = span->type,
			.from_s = wallclock_s(&c->desk->wall, from_s),
			.to_s = wallclock_s(&c->desk->wall, to_s),
			.lasted_s = to_s - from_s,
		});
}

static void add_job(void *ctx, const struct span_job *job)
{
	for (size_t i = 0; i < job->n; i++)
		add_span(ctx, job, &job->spans[i]);
}

/* ---- the answer */

static void put_sums(const struct hours *hours, const struct hours_row *row, struct json *j)
{
	json_int(j, "jobs", row->jobs);
	json_double(j, "gpu_hours", row->gpu_s / 3600);
	json_double(j, "slot_hours", row->slot_s / 3600);
	if (!hours->prices.n)
		return;
	json_double(j, "cost", row->cost);
	json_double(j, "unpriced_hours", row->unpriced_s / 3600);
}

static void put_row(const struct hours *hours, const struct hours_row *row, struct json *j)
{
	json_begin_object(j, NULL);
	for (size_t i = 0; i < hours->nby; i++)
		json_str(j, hours_words[hours->by[i]], row->words[i]);
	put_sums(hours, row, j);
	json_end(j, '}');
}

static void put_usage(const struct counting *c, struct call *call)
{
	const struct hours *hours = &c->hours;
	struct json j;

	call_begin(call, &j);
	json_double(&j, "from", wallclock_s(&c->desk->wall, c->from_s));
	json_double(&j, "to", wallclock_s(&c->desk->wall, c->desk->now_s));
	json_begin_array(&j, "by");
	for (size_t i = 0; i < hours->nby; i++)
		json_str(&j, NULL, hours_words[hours->by[i]]);
	json_end(&j, ']');
	json_begin_array(&j, "rows");
	for (size_t i = 0; i < hours->rows.n; i++)
		put_row(hours, &hours->rows.at[i], &j);
	json_end(&j, ']');
	json_begin_object(&j, "total");
	put_sums(hours, &hours->total, &j);
	json_end(&j, '}');
	json_end(&j, '}');
}

/* What is asked for; answered with 400 where it cannot be. */
static bool read_question(struct call *call, struct hours *hours)
{
	const char *by = member_text(call->args, "by"), *price = member_text(call->args, "price");
	struct err err = { 0 };

	if (!(member_number(call->args, "since_s", 86400) > 0))
		call_problem(call, 400, 2, "since_s: seconds back from now, above 0");
	else if (hours_set_by(hours, by ? by : "user", &err))
		call_problem(call, 400, 2, "by: %s", err.text);
	else if (hours_set_prices(hours, price ? price : "", &err))
		call_problem(call, 400, 2, "price: %s", err.text);
	else
		return true;
	return false;
}

static void read_usage(struct record *record, const struct desk *desk, struct call *call)
{
	struct counting c = { .desk = desk };
	const struct span_range range = { .all_nodes = true,
		.from_s = fmax(0, desk->now_s - member_number(call->args, "since_s", 86400)) };
	struct err err = { 0 };

	c.from_s = range.from_s;
	if (read_question(call, &c.hours)) {
		if (spans_walk(record, desk, &range, add_job, &c, NULL, &err) < 0) {
			call_fail(call, err.code, err.text);
		} else {
			hours_sort(&c.hours);
			put_usage(&c, call);
		}
	}
	hours_fini(&c.hours);
}

void verb_usage(struct daemon *d, struct call *call)
{
	library_ask(d, call, read_usage);
}
