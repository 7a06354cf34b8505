#include "cli/slurm_past.h"

#include <string.h>

#include "cli/ui.h"
#include "sim/recorded.h"

static const struct flag past_flags[] = {
	TEXT(from_sacct, "FILE",
		"instead of TRACE, what Slurm did: sacct --parsable2; - is standard input"),
	TEXT(from_jobcomp, "FILE", "likewise, the log of jobcomp/filetxt"),
	{ 0 },
};

const struct flag_group flags_slurm_past = { .title = "the history of Slurm", .flags = past_flags };

bool slurm_past_asked(const struct args *args)
{
	return args->from_sacct || args->from_jobcomp;
}

int slurm_past_source(struct args *args, const char **source, struct err *err)
{
	size_t given = args->operands.n + (args->from_sacct != NULL) + (args->from_jobcomp != NULL);
	const char *format;

	if (!given)
		return err_set(err, ERR_USAGE,
			"no workload is given: name a TRACE, or a history of Slurm with --from-sacct FILE or "
			"--from-jobcomp FILE");
	if (given > 1)
		return err_set(err, ERR_USAGE, "TRACE, --from-sacct and --from-jobcomp: give one");
	if (!slurm_past_asked(args)) {
		*source = args->operands.at[0];
		return 0;
	}
	format = args->from_sacct ? "sacct" : "jobcomp";
	if (args->format && strcmp(args->format, format) != 0)
		return err_set(err, ERR_USAGE, "--format %s does not go with --from-%s",
			args->format, format);
	args->format = format;
	*source = args->from_sacct ? args->from_sacct : args->from_jobcomp;
	return 0;
}

static void tell_cluster(const struct args *args, const struct cluster *cluster)
{
	ui_say(args,
		"no --cluster is given: the history shows %u node%s with %u GPUs, %s (nodes that jobs ran "
		"on, as many GPUs as were in use at once, nodes of a kind alike); where there are others, say "
		"--cluster",
		cluster->nnodes, cluster->nnodes == 1 ? "" : "s", cluster->devices, cluster->spec);
}

void slurm_past_tell(struct args *args, const struct setup *setup)
{
	const struct trace *trace = &setup->base.trace;
	double most;

	if (!slurm_past_asked(args))
		return;
	if (!args->cluster) {
		tell_cluster(args, &setup->cluster);
		args->cluster = setup->cluster.spec;
	}
	most = past_most_gpus(trace);
	if (!trace->npast)
		ui_say(args, "the history does not say when jobs started: what Slurm did is not shown");
	else if (most > setup->cluster.devices)
		ui_say(args,
			"warning: %.0f GPUs were in use at once, and the cluster has %u: what Slurm did is not "
			"what could be done there",
			most, setup->cluster.devices);
}
