/*
 * stint fit: models of how fast and how well jobs train, from measurements.
 */
#include "cli/fit.h"

/* A new kind is a row here, a flag below, and its file. */
static const struct fit_kind {
	const char *word;
	size_t offset; /* of its file in struct args */
	int (*run)(const struct args *args, struct err *err);
} kinds[] = {
	{ "--goodput", offsetof(struct args, goodput), fit_goodput_run },
	{ "--optimus-loss", offsetof(struct args, optimus_loss), fit_optimus_loss_run },
	{ "--optimus-speed", offsetof(struct args, optimus_speed), fit_optimus_speed_run },
	{ "--labels", offsetof(struct args, labels), fit_labels_run },
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static bool is_asked(const struct args *args, const struct fit_kind *kind)
{
	return *(const char *const *)((const char *)args + kind->offset) != NULL;
}

static int which(const struct args *args, const struct fit_kind **out, struct err *err)
{
	struct buf all = { 0 };
	int asked = 0;

	for (int i = 0; i < KINDS; i++) {
		buf_printf(&all, "%s%s FILE", i ? ", " : "", kinds[i].word);
		if (!is_asked(args, &kinds[i]))
			continue;
		*out = &kinds[i];
		asked++;
	}
	if (asked == 0)
		err_set(err, ERR_USAGE, "fit needs to know what to fit: %s", all.at);
	else if (asked > 1)
		err_set(err, ERR_USAGE, "fit makes one fit at a time: one of %s", all.at);
	buf_fini(&all);
	return asked == 1 ? 0 : ERR_USAGE;
}

static int fit(const struct args *args, struct err *err)
{
	const struct fit_kind *kind;
	int rc = which(args, &kind, err);

	return rc ? rc : kind->run(args, err);
}

static const struct flag kind_flags[] = {
	TEXT(goodput, "FILE",
		"throughput and efficiency from measured steps (CSV); more files may follow"),
	TEXT(optimus_loss, "FILE", "a loss curve, and when it flattens (CSV: step,loss)"),
	TEXT(optimus_speed, "FILE",
		"steps per second by workers and parameter servers (CSV: workers,servers,speed,batch)"),
	TEXT(labels, "FILE",
		"what runs of a category should get, from what they used (CSV: category,time_s,cpus,mem,disk)"),
	{ 0 },
};

static const struct flag label_flags[] = {
	TEXT(worker, "AMOUNTS",
		"what a run gets that needs more, cpus=16,mem=64G (default: the largest of its category)"),
	TEXT(guess, "AMOUNTS", "what people would ask for, to compare with"),
	TEXT(label_rule, "RULE", "waste (default), throughput or quantile"),
	NUMBER(quantile, FLAG_NUMBER, "P", 0.95, 1e-6, 1, "of that rule (default 0.95)"),
	NUMBER(learn, FLAG_INT, "N", 10, 1, 1e6,
		"runs that get the largest before labels count (default 10)"),
	{ 0 },
};

static const struct flag output_flags[] = {
	SWITCH(json, "everything as JSON"),
	TEXT(out, "DIR", "write a profile that --profiles reads"),
	TEXT(svg, "FILE", "write the curves"),
	TEXT(html, "FILE", "write a page with curves and tables"),
	SWITCH(quiet, "no messages"),
	{ 0 },
};

static const struct flag_group flags_kind = { .title = "what to fit", .flags = kind_flags };
static const struct flag_group flags_label = { .title = "labels", .flags = label_flags };
static const struct flag_group flags_output = {
	.title = "output",
	.flags = output_flags,
	.aside = true,
};

static const char *const examples[] = {
	"stint fit --goodput samples.csv",
	"stint fit --goodput samples.csv --svg curves.svg --out profiles",
	"stint fit --goodput bert/placements-aws.csv bert/scalability-aws.csv --json",
	"stint fit --labels usage.csv --worker cpus=16,mem=64G",
	NULL,
};

const struct command command_fit = {
	.name = "fit",
	.summary = "fit a model of training speed to measurements",
	.operands = "[FILE...]",
	.min_operands = 0,
	.max_operands = 1000,
	.groups = { &flags_kind, &flags_label, &flags_output },
	.about = "--goodput reads a table with a row for each measured configuration: replicas and nodes (or\n"
		 "placement, such as 44 for four devices on each of two nodes), local_bsz (samples of a device\n"
		 "in a pass), step_time and sync_time (seconds; sync_time is the part of the step that is\n"
		 "synchronisation), and optionally model, type, accum (passes before the one that synchronises;\n"
		 "step_time is then of all), grad_sqr, grad_var and batch (gradient statistics and the total\n"
		 "batch that they belong to).  For each model and type it prints the seven parameters, how far\n"
		 "off they are, what could not be seen and is therefore assumed, and the throughput to expect.\n"
		 "doc/goodput.md has the model.\n"
		 "\n"
		 "--optimus-loss fits 1 / (b0 k + b1) + b2 to losses by step or epoch; outliers are left out and\n"
		 "later points count more.  --optimus-speed fits steps per second to at least 5 points (4 with\n"
		 "async 1, 3 without a column servers): the curves of Optimus.\n"
		 "\n"
		 "--labels says for each category how much of each resource its next run should get first, so that\n"
		 "least is wasted if those that need more run again with the largest; doc/tasks.md.",
	.examples = examples,
	.run = fit,
};
