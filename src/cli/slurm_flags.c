/*
 * Flags as options of the hands.
 */
#include "cli/slurm_flags.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/programs.h"

enum { RATE = 500 };

static int read_take(const char *word, enum slurm_take *out, struct err *err)
{
	static const char *const words[] = {
		[SLURM_TAKE_MARKED] = "marked",
		[SLURM_TAKE_ALL] = "all",
		[SLURM_TAKE_NONE] = "none",
	};

	*out = SLURM_TAKE_MARKED;
	for (size_t i = 0; word && i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i], word)) {
			*out = (enum slurm_take)i;
			return 0;
		}
	}
	if (word)
		return err_set(err, ERR_USAGE,
			"--take %s: marked (jobs that the hook holds), all (that wait in the partition) or none",
			word);
	return 0;
}

/* "2/3": the second of three. */
static int read_scheduler(const char *word, struct slurm_options *out, struct err *err)
{
	struct slice n = slice_of(word ? word : "1/1"), k = slice_cut(&n, '/');
	int64_t which, all;

	if (!slice_int(k, &which) || !slice_int(n, &all) || which < 1 || which > all || all > 64)
		return err_set(err, ERR_USAGE, "--scheduler %s: which of how many, such as 2/3", word);
	out->scheduler = (uint32_t)which - 1;
	out->schedulers = (uint32_t)all;
	return 0;
}

int slurm_words_read(const struct args *args, struct slurm_words *out, struct err *err)
{
	size_t n = 0;

	out->program = program_find("stint-slurm", "STINT_SLURM");
	if (!out->program)
		return err_set(err, ERR_MISSING,
			"stint-slurm, which speaks with Slurm, is not beside this program: install libslurm-dev and build again, or name it with $STINT_SLURM");
	/* Commands that ask once have no flags of how often. */
	out->rate = mem_printf("%ld", args->slurm_rate > 0 ? (long)args->slurm_rate : RATE);
	out->bridge[n++] = out->program;
	out->bridge[n++] = "--rate";
	out->bridge[n++] = out->rate;
	if (args->slurm_record) {
		out->bridge[n++] = "--record";
		out->bridge[n++] = args->slurm_record;
	}
	out->options = (struct slurm_options){
		.bridge = out->bridge,
		.partition = args->partition,
		.poll_s = args->slurm_poll,
		.patience_s = args->slurm_patience,
	};
	if (read_scheduler(args->scheduler, &out->options, err) < 0)
		return err->code;
	return read_take(args->take, &out->options.take, err);
}

void slurm_words_fini(struct slurm_words *words)
{
	free(words->program);
	free(words->rate);
}

#define ASKING \
	NUMBER(slurm_poll, FLAG_SECONDS, "TIME", 1, 0.1, 3600, \
		"how often its jobs are looked at when nothing was ordered (1s)"), \
		NUMBER(slurm_rate, FLAG_INT, "N", RATE, 1, 100000, \
			"at most N calls of the controller a second (500)"), \
		TEXT(slurm_record, "FILE", \
			"every line that is said to and by stint-slurm, for bug reports")

const struct flag_group slurm_flags_look = {
	.title = "the Slurm cluster",
	.flags =
		(const struct flag[]){
			TEXT(partition, "NAME", "this partition only (all)"),
			ASKING,
			{ 0 },
		},
};

const struct flag_group slurm_flags_drive = {
	.title = "a Slurm cluster",
	.flags =
		(const struct flag[]){
			TEXT(driver, "WORLD",
				"who runs the jobs: local (default) or slurm (doc/slurm.md)"),
			TEXT(partition, "NAME", "the partition of Slurm whose jobs are started here"),
			TEXT(take, "WHICH",
				"jobs of sbatch to take over: marked (held by the hook, default), all, none"),
			TEXT(scheduler, "K/N",
				"of N daemons that share nodes the K-th: each begins with other nodes (doc/parsync.md)"),
			NUMBER(slurm_patience, FLAG_SECONDS, "TIME", 30, 1, 86400,
				"take back a job that was released and has not started after this time (30s)"),
			ASKING,
			{ 0 },
		},
};
