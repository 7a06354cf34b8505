/*
 * stint capacity: the fewest devices that meet a target.
 *
 * Borg's way to judge a cluster: not how full it is, but how small it could be.
 * For each type that may be bought the number of nodes is searched for; every
 * size runs the whole workload with several seeds, and nine in ten of them must
 * meet the target.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/grid.h"
#include "cli/html_file.h"
#include "cli/past.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "model/catalogue.h"
#include "model/cluster_change.h"
#include "report/capacity_report.h"
#include "report/target.h"
#include "solver/least.h"

enum {
	PLAIN_WIDTH = 100,
	AROUND = 2,        /* sizes on either side of the answer that are looked at */
	USUAL_DEVICES = 8, /* in a node of a type that nobody described */
};

struct capacity_call {
	struct args args; /* as given */
	struct args runs; /* of one size */
	struct past past;
	struct target targets[TARGETS_MAX];
	size_t ntargets;
	struct capacity_option *options;
	size_t noptions;
	struct words types; /* of the options */
	struct html_file html;
	char *note;
	bool told; /* what is to be said of the workload */
};

/* The search in one type. */
struct trial {
	struct capacity_call *call;
	struct capacity_option *option;
};

/* ---- targets, types, prices */

static int add_target(struct capacity_call *call, struct slice text, struct err *err)
{
	char word[128];

	text = slice_trim(text);
	if (call->ntargets == TARGETS_MAX)
		return err_set(err, ERR_USAGE, "at most %d targets", TARGETS_MAX);
	snprintf(word, sizeof(word), "%.*s", text.n > 127 ? 127 : (int)text.n, text.at);
	return target_parse(word, &call->targets[call->ntargets++], err);
}

/* "a and b", "a, b", or one by one. */
static int read_targets(struct capacity_call *call, struct err *err)
{
	const struct words *words = &call->args.target;
	int rc = words->n
		? 0
		: err_set(err, ERR_USAGE, "what shall be reached? say --target \"p90 wait < 2h\"");

	for (size_t i = 0; i < words->n && !rc; i++) {
		const char *at = words->at[i];

		while (!rc && *at) {
			const char *and = strstr(at, " and "), *comma = strchr(at, ',');
			const char *end = and&&(!comma || and < comma) ? and : comma;

			rc = add_target(call,
				end ? (struct slice){ at, (size_t)(end - at) } : slice_of(at), err);
			at = !end ? "" : end + (end == and? strlen(" and ") : 1);
		}
	}
	return rc;
}

static struct capacity_option *add_option(struct capacity_call *call, struct slice type,
	uint32_t per_node)
{
	struct capacity_option *o;

	call->options = mem_resize(call->options,
		mem_array_size(call->noptions + 1, sizeof(*call->options)));
	o = &call->options[call->noptions++];
	*o = (struct capacity_option){ .type = mem_strndup(type.at, type.n), .per_node = per_node };
	return o;
}

/* "a100", "4:a100" (four to a node). */
static int parse_types(struct capacity_call *call, struct err *err)
{
	struct slice rest = slice_of(call->args.types ? call->args.types : "");

	while (rest.n) {
		struct slice item = slice_trim(slice_cut(&rest, ',')), type = item;
		bool sized = item.n && memchr(item.at, ':', item.n);
		int64_t devices = 0;

		if (sized &&
			(!slice_int(slice_cut(&type, ':'), &devices) || devices < 1 ||
				devices > NODE_DEVICES_MAX))
			return err_set(err, ERR_USAGE,
				"--types '%.*s': write TYPE or DEVICES:TYPE, such as 4:a100 for nodes of four "
				"(1 to %d)",
				(int)item.n, item.at, NODE_DEVICES_MAX);
		if (!cluster_is_type_name(type) || type.n >= TYPE_NAME_MAX)
			return err_set(err, ERR_USAGE, "--types '%.*s' is not a type", (int)item.n,
				item.at);
		add_option(call, type, (uint32_t)devices);
	}
	return 0;
}

/* The types that are there, CPU slots only where there is nothing else. */
static int types_of_cluster(struct capacity_call *call, struct err *err)
{
	const struct cluster *cluster = &call->past.cluster;

	for (int cpus = 0; cpus < 2 && !call->noptions; cpus++) {
		for (uint32_t i = 0; i < cluster->ntypes; i++) {
			const struct device_type *type = &cluster->types[i];

			if (type->devices && device_type_is_cpu(type) == cpus)
				add_option(call, slice_of(type->name), 0);
		}
	}
	if (call->noptions)
		return 0;
	return err_set(err, ERR_USAGE,
		"which devices may be bought? say --types v100,a100 (or 4:a100 for nodes of four), or "
		"--cluster for those that there are");
}

/* How large a node is, and what a device costs. */
static int describe(struct capacity_call *call, struct capacity_option *o, struct err *err)
{
	struct cluster one;
	struct cluster_change change = { .nodes = 1, .devices = 1 };
	const struct cluster *cluster = &call->past.cluster;
	int type = cluster_find_type(cluster, o->type), rc;

	snprintf(change.type, sizeof(change.type), "%s", o->type);
	rc = cluster_only(cluster, &change, &one, err);
	if (rc)
		return err_prefix(err, "--types");
	if (!o->per_node)
		o->per_node = type >= 0 && cluster->types[type].max_per_node
			? cluster->types[type].max_per_node
			: USUAL_DEVICES;
	o->price_per_h = one.types[0].price_per_h;
	cluster_fini(&one);
	return 0;
}

/* "a100=3.0". */
static int set_price(struct capacity_call *call, const char *word, struct err *err)
{
	const char *equals = strchr(word, '=');
	double price;
	bool known = false;

	if (!equals || !slice_double(slice_of(equals + 1), &price) || price < 0)
		return err_set(err, ERR_USAGE,
			"--price '%s' is not TYPE=PER_HOUR, such as a100=3.0", word);
	for (size_t i = 0; i < call->noptions; i++) {
		struct capacity_option *o = &call->options[i];

		if (strlen(o->type) != (size_t)(equals - word) ||
			strncasecmp(o->type, word, (size_t)(equals - word)) != 0)
			continue;
		o->price_per_h = price;
		known = true;
	}
	return known ? 0
		     : err_set(err, ERR_USAGE,
			       "--price %s: that type is not among those to be bought", word);
}

static int read_options(struct capacity_call *call, struct err *err)
{
	int rc = call->noptions ? 0 : types_of_cluster(call, err);

	for (size_t i = 0; i < call->noptions && !rc; i++)
		rc = describe(call, &call->options[i], err);
	for (size_t i = 0; i < call->args.price.n && !rc; i++)
		rc = set_price(call, call->args.price.at[i], err);
	return rc;
}

/* ---- one size */

static int cluster_of(const struct trial *t, uint32_t nodes, struct cluster *out, struct err *err)
{
	const struct cluster *there = &t->call->past.cluster;
	struct cluster_change change = { .nodes = nodes, .devices = t->option->per_node };
	struct buf said = { 0 };
	int type, rc = 0;

	snprintf(change.type, sizeof(change.type), "%s", t->option->type);
	if (!t->call->args.keep)
		rc = cluster_only(there, &change, out, err);
	else
		cluster_copy(there, out);
	if (!rc && t->call->args.keep && nodes)
		rc = cluster_grow(out, &change, &said, err);
	buf_fini(&said);
	if (rc)
		return rc;
	/* Policies that weigh cost see what was said of it. */
	type = cluster_find_type(out, t->option->type);
	if (type >= 0 && t->option->price_per_h > 0)
		out->types[type].price_per_h = t->option->price_per_h;
	return 0;
}

static bool never_waited(const struct summary *s)
{
	return !(s->wait_mean_s > 0);
}

static void take_target(const struct grid *grid, const struct target *t, double *counts, double *mean)
{
	double *x = mem_alloc(mem_array_size(grid->nseeds, sizeof(*x)));

	for (uint32_t s = 0; s < grid->nseeds; s++)
		x[s] = metric_value(&metrics[t->metric], grid_summary(grid, 0, s));
	*counts = target_counts(t, x, grid->nseeds);
	*mean = stats_mean(x, grid->nseeds);
	free(x);
}

static void judge(const struct capacity_call *call, const struct grid *grid, struct capacity_point *p)
{
	p->grown = p->idle = true;
	for (uint32_t s = 0; s < grid->nseeds; s++) {
		const struct summary *summary = grid_summary(grid, 0, s);
		uint32_t left = summary->jobs_submitted - summary->jobs_finished -
			summary->deadlines_refused;

		p->left = left > p->left ? left : p->left;
		p->idle &= never_waited(summary);
	}
	p->grown &= !p->left;
	p->ok = p->grown;
	for (size_t i = 0; i < call->ntargets; i++) {
		const struct target *t = &call->targets[i];

		take_target(grid, t, &p->counts[i], &p->mean[i]);
		p->ok &= target_met(t, p->counts[i]);
		p->grown &= !target_grows(t) || target_met(t, p->counts[i]);
	}
}

static int run_size(const struct trial *t, const struct scenario *scenario,
	struct capacity_point *p, struct err *err)
{
	struct capacity_call *call = t->call;
	struct arm arm = {
		.label = t->option->type,
		.setup = &scenario->setup,
		.pair = scenario_pair(scenario, 0, false),
	};
	char what[64];
	struct grid grid;
	enum vary vary;
	int rc = vary_choose(&scenario->setup, &vary, err);

	if (rc)
		return rc;
	snprintf(what, sizeof(what), "%.24s, %u nodes", t->option->type, p->nodes);
	grid_init(&grid, &call->runs, &arm, 1, NULL, vary);
	grid.what = what;
	if (!call->note && grid.note) {
		call->note = mem_strdup(grid.note);
		ui_say(&call->args, "%s", call->note);
	}
	rc = grid_run(&grid, 0, grid.nseeds, err);
	if (!rc)
		judge(call, &grid, p);
	grid_fini(&grid);
	return rc;
}

/* Different types are worth comparing only if jobs are not alike on all of them. */
static void tell_once(struct capacity_call *call, const struct scenario *scenario)
{
	if (call->told)
		return;
	call->told = true;
	if (call->noptions < 2)
		return;
	if (!scenario_names_models(scenario))
		ui_say(&call->args,
			"no job names a model: run times are taken to be the same on every type");
	else if (!scenario->setup.base.trace.measured_on && !scenario->setup.base.trace.jobs[0].by_steps)
		ui_say(&call->args,
			"run times are taken to be the same on every type; --measured-on TYPE says where they "
			"were measured, and models that the catalogue knows then differ");
}

static void tell_point(const struct trial *t, const struct capacity_point *p)
{
	const struct target *target = &t->call->targets[0];
	struct buf text = { 0 };

	unit_text(metrics[target->metric].unit, p->counts[0], &text);
	ui_say(&t->call->args, "%s: %u node%s, %s %s%s", t->option->type, p->nodes,
		p->nodes == 1 ? "" : "s", target->name, text.at,
		p->left         ? ", jobs are left"
			: p->ok ? ", enough"
				: "");
	buf_fini(&text);
}

static int enough(void *ctx, uint32_t nodes, struct err *err)
{
	struct trial *t = ctx;
	struct capacity_call *call = t->call;
	struct capacity_point p = { .nodes = nodes, .devices = nodes * t->option->per_node };
	struct scenario scenario;
	struct cluster cluster;
	int rc = cluster_of(t, nodes, &cluster, err);

	if (rc)
		return rc;
	rc = scenario_init(&scenario, &call->past,
		&(struct scenario_wish){
			.cluster = &cluster,
			.tenants = &call->past.tenants,
			.tenants_path = call->args.tenants,
			.quiet = call->told,
		},
		err);
	if (!rc)
		rc = scenario_translate(&scenario, t->option->type, err);
	if (!rc) {
		tell_once(call, &scenario);
		rc = run_size(t, &scenario, &p, err);
	}
	scenario_fini(&scenario);
	cluster_fini(&cluster);
	if (rc)
		return rc < 0 ? rc : ERR_REFUSED;
	tell_point(t, capacity_add(t->option, &p));
	return p.grown;
}

/* ---- one type */

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* Twice as many changed nothing, and nobody waits: so would four times. */
static bool hopeless(void *ctx, uint32_t nodes)
{
	const struct trial *t = ctx;
	const struct capacity_point *now = capacity_at(t->option, nodes), *before = now - 1;

	if (now == t->option->points.at || before->nodes * 2 > nodes || !now->idle)
		return false;
	for (size_t i = 0; i < t->call->ntargets; i++) {
		if (target_grows(&t->call->targets[i]) && !same(now->counts[i], before->counts[i]))
			return false;
	}
	return now->left == before->left;
}

/* The first target that stands in the way, and what it is there. */
static void add_reached(const struct capacity_call *call, const struct capacity_point *p,
	struct buf *out)
{
	for (size_t i = 0; i < call->ntargets; i++) {
		const struct target *t = &call->targets[i];

		if (target_met(t, p->counts[i]))
			continue;
		buf_printf(out, "%s is ", t->name);
		unit_text(metrics[t->metric].unit, p->counts[i], out);
		return;
	}
}

static char *why_not(const struct trial *t, bool grown)
{
	const struct capacity_option *o = t->option;
	const struct capacity_point *p = capacity_at(o, o->nodes);
	struct buf text = { 0 };

	if (grown) {
		buf_printf(&text, "%u node%s are needed for the rest, and then ", o->nodes,
			o->nodes == 1 ? "" : "s");
		add_reached(t->call, p, &text);
	} else if (p->left) {
		buf_printf(&text, "%u of %u jobs cannot run on %u nodes of it", p->left,
			t->call->past.njobs, o->nodes);
	} else {
		add_reached(t->call, p, &text);
		if (p->idle)
			buf_str(&text, " though nobody waits");
		else
			buf_printf(&text, " with %u nodes; --most allows more", o->nodes);
	}
	return text.at;
}

static uint32_t first_guess(const struct capacity_call *call, const struct capacity_option *o)
{
	double busy = call->past.busy_gpus - (call->args.keep ? call->past.cluster.devices : 0);

	if (!(busy > 0))
		return call->args.keep ? 0 : 1;
	return (uint32_t)fmin(ceil(busy / o->per_node), (double)call->args.most);
}

static int search(struct capacity_call *call, struct capacity_option *o, struct err *err)
{
	struct trial trial = { call, o };
	struct least_question question = {
		.low = call->args.keep ? 0 : 1,
		.most = (uint32_t)call->args.most,
		.start = first_guess(call, o),
		.around = AROUND,
		.enough = enough,
		.hopeless = hopeless,
		.ctx = &trial,
	};
	struct least_answer answer;
	int rc = least_find(&question, &answer, err);

	if (rc)
		return rc;
	o->nodes = answer.n;
	o->monotone = answer.monotone;
	o->by_luck = answer.by_luck;
	o->found = answer.found && capacity_at(o, answer.n)->ok;
	if (!o->found)
		o->why = why_not(&trial, answer.found);
	return 0;
}

/* ---- the whole */

static int prepare(struct capacity_call *call, struct err *err)
{
	struct args *args = &call->args;
	struct past_wish wish = { .cluster = args->keep, .measured = true, .new_types = &call->types };
	int rc = read_targets(call, err);

	if (!rc && args->policy.n > 1)
		rc = err_set(err, ERR_USAGE,
			"one --policy at a time; 'stint advise' tells which one is best");
	if (!rc)
		rc = parse_types(call, err);
	for (size_t i = 0; i < call->noptions; i++)
		vec_push(&call->types, call->options[i].type);
	/* Who shall decide is who decided, unless said otherwise. */
	if (args->policy.n)
		args->was = args->policy.at[0];
	if (args->placer.n)
		args->was_placer = args->placer.at[0];
	if (!rc)
		rc = past_read(args, &wish, &call->past, err);
	if (!rc)
		rc = read_options(call, err);
	if (!rc)
		rc = html_file_open(&call->html, args->html, NULL, err);
	call->runs = *args;
	call->runs.html = NULL; /* no Gantt charts: only figures are looked at */
	call->runs.seed = (int64_t)call->past.seed;
	if (!rc && args->seeds < 11)
		ui_say(args, "%lld seed%s say little of nine in ten; 11 or more do",
			(long long)args->seeds, args->seeds == 1 ? "" : "s");
	return rc;
}

static int write_page(struct capacity_call *call, const struct capacity_report *report, struct err *err)
{
	struct buf title = { 0 }, command = { 0 }, text = { 0 };
	int rc;

	buf_printf(&title, "Capacity for %s", report->targets[0].text);
	args_command(&call->args, &command);
	capacity_html(report,
		&(struct html_info){
			.title = title.at,
			.command = command.at,
			.version = STINT_VERSION,
			.trace = report->history,
			.cluster = report->present,
			.settings = report->policy,
		},
		&text);
	rc = html_file_write(&call->html, &text, err);
	buf_fini(&title);
	buf_fini(&command);
	buf_fini(&text);
	return rc;
}

static int tell(struct capacity_call *call, const struct capacity_report *report, struct err *err)
{
	struct term term = term_of_stdout();
	struct buf text = { 0 };
	int rc;

	if (!term.width)
		term.width = PLAIN_WIDTH;
	if (call->args.json)
		capacity_json(report, &text);
	else
		capacity_text(report, &term, &text);
	rc = ui_print(&text, err);
	buf_clear(&text);
	if (!rc && call->args.html)
		rc = write_page(call, report, err);
	if (!rc && call->args.html)
		ui_say(&call->args, "wrote %s", call->args.html);
	if (!rc && capacity_cheapest(report) < 0) {
		capacity_lead(report, &text);
		rc = err_set(err, ERR_NEVER, "%s", text.at);
	}
	buf_fini(&text);
	return rc;
}

static int answer(struct capacity_call *call, struct err *err)
{
	const struct past *past = &call->past;
	struct buf title = { 0 }, present = { 0 };
	struct capacity_report report = {
		.targets = call->targets,
		.ntargets = call->ntargets,
		.options = call->options,
		.noptions = call->noptions,
		.nseeds = (uint32_t)call->args.seeds,
		.njobs = past->njobs,
		.keep = call->args.keep,
		.present_per_h = cluster_price_per_h(&past->cluster),
		.present_devices = past->cluster.devices,
		.policy = past->policy,
		.note = call->note,
	};
	int rc;

	past_title(past, &title);
	cluster_format(&past->cluster, &present);
	report.history = title.at;
	report.present = past->cluster.nnodes ? present.at : NULL;
	rc = tell(call, &report, err);
	buf_fini(&title);
	buf_fini(&present);
	return rc;
}

static void release(struct capacity_call *call)
{
	html_file_abandon(&call->html);
	for (size_t i = 0; i < call->noptions; i++)
		capacity_option_fini(&call->options[i]);
	free(call->options);
	vec_fini(&call->types);
	past_fini(&call->past);
	free(call->note);
}

static int capacity(const struct args *args, struct err *err)
{
	struct capacity_call call = { .args = *args };
	int rc = prepare(&call, err);

	if (!rc)
		ui_guard();
	for (size_t i = 0; i < call.noptions && !rc; i++)
		rc = search(&call, &call.options[i], err);
	if (!rc)
		rc = answer(&call, err);
	release(&call);
	return rc;
}

static const struct flag buy_flags[] = {
	LIST(target, "TARGET", "\"p90 wait < 2h\"; repeats and 'and' must all hold"),
	TEXT(types, "TYPES", "v100,4:a100: what may be bought, nodes of four (default: as in --cluster)"),
	LIST(price, "TYPE=PER_HOUR", "of a device (default: the catalogue's)"),
	SWITCH(keep, "buy beside what is there, instead of a cluster of one type alone"),
	NUMBER(most, FLAG_INT, "N", 4096, 1, 1e6, "nodes at most (default 4096)"),
	LIST(policy, "NAME[:OPTIONS]", "who decides (default: as --was)"),
	LIST(placer, "NAME[:OPTIONS]", "on which devices (default: as --was-placer)"),
	{ 0 },
};

static const struct flag output_flags[] = {
	TEXT(html, "FILE", "write a report with the curve"),
	SWITCH(json, "every size that was tried, as JSON"),
	NUMBER(threads, FLAG_INT, "N", 0, 0, 1024,
		"runs at a time (0, the default: all cores); results stay the same"),
	SWITCH(quiet, "no messages, no progress bar"),
	{ 0 },
};

static const struct flag_group flags_buy = { .title = "what is wanted", .flags = buy_flags };
static const struct flag_group flags_output = {
	.title = "output",
	.flags = output_flags,
	.aside = true,
};

static const char *const examples[] = {
	"stint capacity trace.csv --types v100,a100 --target \"p90 wait < 2h\"",
	"stint capacity trace.csv --cluster 16x8:v100 --keep --types a100 --price a100=3.0 --target \"mean jct < 6h\"",
	"stint capacity --target \"p99 wait < 1d and utilisation > 50%\" --policy srtf",
	NULL,
};

const struct command command_capacity = {
	.name = "capacity",
	.summary = "the fewest devices that meet a target",
	.operands = "[TRACE|STATE]",
	.max_operands = 1,
	.groups = { &flags_buy, &flags_past, &flags_world, &flags_belief, &flags_workload,
		&flags_output },
	.about = "For each type, the smallest number of nodes with which nine in ten of the seeds meet the\n"
		 "target and every job runs; then the cheapest.  A target is a figure, a comparison and a\n"
		 "value: mean, p50, p90, p95 or p99 of wait or jct, makespan, ftf, utilisation, goodput,\n"
		 "deadline, or a name of summary.json; < <= > >=; s, min, h, d or %.  Sizes are found by\n"
		 "doubling and bisection; two on either side of the answer are looked at as well, because\n"
		 "scheduling is not quite monotone.  Exit code 5 means that no type can meet it.\n"
		 "Without an operand the daemon's record is the workload, as in 'stint help whatif'.",
	.examples = examples,
	.run = capacity,
};
