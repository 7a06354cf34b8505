/*
 * stint update: what was asked for a job that waits, changed.
 */
#include <stddef.h>
#include <string.h>

#include "cli/change_jobs.h"
#include "cli/draft.h"
#include "cli/live.h"

#define SAID(name_, letter_, value_, help_) \
	{ \
		.name = (name_), .kind = FLAG_SAID, .letter = (letter_), \
		.offset = offsetof(struct args, said), .value = (value_), .help = (help_) \
	}

static const struct flag asked_flags[] = {
	SAID("priority", 0, "N", "larger goes first"),
	SAID("weight", 0, "W", "weight among jobs under policies that share by weight"),
	SAID("time", 't', "TIME", "new time limit, counted from its start; 0: none"),
	SAID("deadline", 0, "WHEN", "deadline: now+6h, 18:00"),
	SAID("gpus", 'G', "N", "number of GPUs; 0: CPUs only"),
	SAID("min_gpus", 0, "N", "fewest GPUs the job can run on"),
	SAID("max_gpus", 0, "N", "most GPUs the job can use"),
	SAID("cpus_per_task", 'c', "N", "CPUs of the whole job"),
	SAID("mem", 0, "SIZE", "memory of the whole job, such as 64G"),
	SAID("dependency", 'd', "LIST", "start after other jobs: afterok:7:8, afterany:9; none: at once"),
	{ 0 },
};

static const struct flag which_flags[] = {
	SWITCH(all, "all of yours that have not ended"),
	LETTER('J', name, FLAG_TEXT, .value = "NAME",
		.help = "with numbers: their new name; without: all of yours with this name"),
	TEXT(reason, "TEXT", "text kept with the job"),
	SWITCH(quiet, "print nothing"),
	SWITCH(json, "print the daemon's answers"),
	{ 0 },
};

static const struct flag_group flags_asked = { .title = "what changes", .flags = asked_flags };
static const struct flag_group flags_which = { .title = "which jobs", .flags = which_flags };

/* ---- what is sent */

/* The field of the API, from a submission to which the flags were applied. */
static void put_change(const char *name, const struct submission *s, json_t *body)
{
	const struct {
		const char *flag, *member;
		double value;
		bool whole;
	} rows[] = {
		{ "priority", "priority", s->priority, true },
		{ "weight", "weight", s->weight, false },
		{ "time", "time_s", s->time_s, false },
		{ "deadline", "deadline", s->deadline_s, false },
		{ "gpus", "gpus", s->gpus, true },
		{ "min_gpus", "min_gpus", s->min_gpus, true },
		{ "max_gpus", "max_gpus", s->max_gpus, true },
		{ "cpus_per_task", "cpus", s->cpus, false },
		{ "mem", "mem_bytes", (double)s->mem_bytes, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!strcmp(name, rows[i].flag))
			json_object_set_new(body, rows[i].member,
				rows[i].whole ? json_integer((json_int_t)rows[i].value)
					      : json_real(rows[i].value));
	}
}

static bool is_none(const char *text)
{
	return !*text || !strcmp(text, "none");
}

/* Texts go as they were said; of a dependency "none" is none. */
static int put_words(const struct said *said, json_t *body, struct err *err)
{
	bool dependency = !strcmp(said->name, "dependency");

	if (!dependency && strcmp(said->name, "name") != 0)
		return 0;
	return change_put_text(body, said->name,
		dependency && is_none(said->value) ? "" : said->value, err);
}

static int apply_change(const struct args *args, struct submission *s, json_t *body, struct err *err)
{
	const struct submission_context context = { .now_s = draft_now() };
	int rc = 0;

	for (size_t i = 0; i < args->said.n && !rc; i++) {
		const struct said *said = &args->said.at[i];

		if (strcmp(said->name, "dependency") != 0 || !is_none(said->value))
			rc = draft_apply_flag(said, s, &context, err);
		if (!rc && s->mem_auto)
			rc = err_set(err, ERR_USAGE, "--mem: a size is needed, such as 64G");
		if (!rc)
			rc = put_words(said, body, err);
		if (!rc)
			put_change(said->name, s, body);
	}
	return rc;
}

static int say_what(struct err *err)
{
	struct buf names = { 0 };

	for (const struct flag *flag = asked_flags; flag->name; flag++)
		buf_printf(&names, "%s--%s",
			flag == asked_flags    ? ""
				: flag[1].name ? ", "
					       : " or ",
			flag->name);
	for (size_t i = 0; i < names.n; i++)
		names.at[i] = names.at[i] == '_' ? '-' : names.at[i];
	err_set(err, ERR_USAGE, "what shall change? say --name, %s", names.at);
	buf_fini(&names);
	return ERR_USAGE;
}

static int change_as_said(const struct args *args, struct err *err)
{
	json_t *body = json_object();
	struct submission s;
	int rc;

	submission_init(&s);
	rc = apply_change(args, &s, body, err);
	submission_fini(&s);
	if (!rc)
		rc = change_put_text(body, "reason", args->reason, err);
	if (!rc)
		rc = change_jobs(args, 0, body, err);
	json_decref(body);
	return rc;
}

/* --name beside numbers of jobs is their new name; alone it says which jobs are meant. */
static int run(const struct args *args, struct err *err)
{
	struct args with_name = *args;
	int rc;

	if (!args->said.n && !(args->name && args->operands.n))
		return say_what(err);
	if (!args->name || !args->operands.n)
		return change_as_said(args, err);
	with_name.name = NULL;
	with_name.said = (struct said_list){ 0 };
	for (size_t i = 0; i < args->said.n; i++)
		vec_push(&with_name.said, args->said.at[i]);
	vec_push(&with_name.said, ((struct said){ "name", args->name }));
	rc = change_as_said(&with_name, err);
	vec_fini(&with_name.said);
	return rc;
}

/* ---- the command */

static const char *const examples[] = {
	"stint update --priority 10 7",
	"stint update --time 8h 7 8",
	"stint update --gpus 2 --name small 7",
	"stint update --dependency none 7_3",
	NULL,
};

const struct command command_update = {
	.name = "update",
	.summary = "change what was asked for jobs",
	.operands = "[JOB...]",
	.max_operands = CHANGE_JOBS_MAX,
	.live = true,
	.groups = { &flags_asked, &flags_which, &flags_daemon },
	.about = "Only jobs that wait can be changed.  What is asked for is checked as at submission: a job that\n"
		 "could never run is refused with exit code 5 and stays as it was.  Its command cannot be\n"
		 "changed; cancel it and submit it again.",
	.examples = examples,
	.run = run,
};
