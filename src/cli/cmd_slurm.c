/*
 * stint slurm: what a cluster looks like from here, the hook that holds jobs for
 * Stint, and giving them back.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/page.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/members.h"
#include "cli/hook_files.h"
#include "cli/live_print.h"
#include "cli/slurm_talk.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "live/slurm/fact.h"

/* ---- status */

struct gpus {
	uint32_t nodes, all, used, usable;
};

/* "v100 x 8, p100 x 8" of the partition's nodes. */
static struct gpus gpus_of(const json_t *partition, const json_t *nodes, struct buf *types)
{
	json_t *counts = json_object();
	const json_t *names = json_object_get(partition, "nodes"), *node, *gpu;
	struct gpus sum = { 0 };
	const char *type;
	json_t *count;
	size_t i, k;

	json_array_foreach(nodes, i, node)
	{
		uint32_t here = 0;

		if (!texts_have(names, member_text(node, "name")))
			continue;
		json_array_foreach(json_object_get(node, "gpus"), k, gpu)
		{
			json_int_t n = member_int(gpu, "count", 0);

			type = member_text(gpu, "type");
			type = type && *type ? type : "gpu (no type)";
			here += (uint32_t)n;
			json_object_set_new(counts, type,
				json_integer(n + json_integer_value(json_object_get(counts, type))));
		}
		sum.nodes += here > 0;
		sum.all += here;
		sum.used += (uint32_t)member_int(node, "used", 0);
		sum.usable += member_bool(node, "usable", false) ? here : 0;
	}
	json_object_foreach(counts, type, count)
	{
		buf_printf(types, "%s%s x %lld", types->n ? ", " : "", type,
			(long long)json_integer_value(count));
	}
	json_decref(counts);
	return sum;
}

struct queue {
	uint32_t pending, running, marked;
};

static bool is_ours(const json_t *job)
{
	const char *mark = member_text(job, "admin_comment"), *key = member_text(job, "comment");

	return (mark && !strncmp(mark, "stint:", 6) && mark[6] != ' ') ||
		(key && !strncmp(key, "stint:", 6) && strchr(key + 6, ':'));
}

static struct queue queue_of(const json_t *jobs, const char *partition)
{
	struct queue sum = { 0 };
	const json_t *job;
	size_t i;

	json_array_foreach(jobs, i, job)
	{
		const char *state = member_text(job, "state"), *in = member_text(job, "partition");

		if (!in || !state || strcmp(in, partition) != 0)
			continue;
		sum.pending += !strcmp(state, "PENDING");
		sum.running += !strcmp(state, "RUNNING");
		sum.marked += is_ours(job) && (!strcmp(state, "PENDING") || !strcmp(state, "RUNNING"));
	}
	return sum;
}

static void status_rows(const json_t *answers, struct table *table)
{
	const json_t *nodes = json_object_get(json_array_get(answers, 2), "nodes");
	const json_t *jobs = json_object_get(json_array_get(answers, 3), "jobs"), *partition;
	size_t i;

	table_column(table, "PARTITION", ALIGN_LEFT, 0);
	table_column(table, "STATE", ALIGN_LEFT, 2);
	table_column(table, "NODES", ALIGN_RIGHT, 3);
	table_column(table, "GPUS", ALIGN_RIGHT, 0);
	table_column(table, "IN USE", ALIGN_RIGHT, 1);
	table_column(table, "TYPES", ALIGN_LEFT, 1);
	table_column(table, "PENDING", ALIGN_RIGHT, 0);
	table_column(table, "RUNNING", ALIGN_RIGHT, 0);
	table_column(table, "STINT'S", ALIGN_RIGHT, 2);
	json_array_foreach(json_object_get(json_array_get(answers, 1), "partitions"), i, partition)
	{
		const char *name = member_text(partition, "name");
		struct buf types = { 0 };
		struct gpus gpus = gpus_of(partition, nodes, &types);
		struct queue queue = queue_of(jobs, name);

		table_cell(table, name);
		table_cell(table, member_bool(partition, "up", false) ? "up" : "down");
		table_cellf(table, "%u", gpus.nodes);
		table_cellf(table, "%u", gpus.all);
		table_cellf(table, "%u", gpus.used);
		table_cell(table, types.n ? types.at : "none");
		table_cellf(table, "%u", queue.pending);
		table_cellf(table, "%u", queue.running);
		table_cellf(table, "%u", queue.marked);
		buf_fini(&types);
	}
}

static void put_status(const json_t *answers, const struct term *term, struct buf *out)
{
	const json_t *hello = json_array_get(answers, 0);
	const char *accounting = member_text(hello, "accounting"),
		   *jobcomp = member_text(hello, "jobcomp");
	struct table table = { 0 };

	live_linef(out, "cluster", "%s, Slurm %s", member_text(hello, "cluster"),
		member_text(hello, "slurm"));
	live_line(out, "you",
		member_bool(hello, "operator", false)
			? "may change the jobs of others: 'stint daemon --driver slurm' can drive a partition"
			: "may look on: 'stint slurm attach' works; driving needs root or a Slurm operator");
	live_linef(out, "history", "accounting %s, job completion log %s",
		accounting ? accounting : "?", jobcomp ? jobcomp : "none");
	buf_char(out, '\n');
	status_rows(answers, &table);
	table_write(&table, TABLE_TEXT, term, out, NULL);
	table_fini(&table);
}

static json_t *look_requests(void)
{
	return json_pack("[{s:s},{s:s,s:i},{s:s,s:i}]", "op", "partitions", "op", "nodes", "since",
		0, "op", "jobs", "since", 0);
}

static int check_answers(const json_t *answers, struct err *err)
{
	const json_t *one;
	size_t i;

	json_array_foreach(answers, i, one)
	{
		if (slurm_talk_failed(one, err) < 0)
			return err->code;
	}
	return 0;
}

static int print_status(const struct args *args, const json_t *answers, struct err *err)
{
	struct term term = term_of_stdout();
	struct buf out = { 0 };
	int rc;

	if (args->json) {
		json_t *all = json_pack("{s:s,s:O,s:O,s:O}", "schema", "slurm_status/1", "cluster",
			json_array_get(answers, 0), "partitions",
			json_object_get(json_array_get(answers, 1), "partitions"), "nodes",
			json_object_get(json_array_get(answers, 2), "nodes"));
		char *text = json_dumps(all, JSON_COMPACT);

		buf_str(&out, text);
		free(text);
		json_decref(all);
	} else {
		put_status(answers, &term, &out);
	}
	rc = ui_print(&out, err);
	buf_fini(&out);
	return rc;
}

static int run_status(const struct args *args, struct err *err)
{
	struct slurm_words words = { 0 };
	json_t *answers = NULL;
	int rc = slurm_words_read(args, &words, err);

	if (rc == 0)
		rc = slurm_talk(&words, look_requests(), &answers, err);
	if (rc == 0)
		rc = check_answers(answers, err);
	if (rc == 0)
		rc = print_status(args, answers, err);
	json_decref(answers);
	slurm_words_fini(&words);
	return rc;
}

/* ---- hook */

/* Partition names are Slurm's words: nothing that a Lua string would stumble over. */
static int check_name(const char *name, struct err *err)
{
	for (const char *c = name; *c; c++) {
		if (*c == '"' || *c == '\\' || (unsigned char)*c <= ' ')
			return err_set(err, ERR_USAGE, "--partition '%s' is no name of a partition",
				name);
	}
	return 0;
}

static int run_hook(const struct args *args, struct err *err)
{
	static const char sign[] = "@PARTITION@";
	const char *text = page_files[0].bytes, *at = strstr(text, sign);
	struct buf script = { 0 }, out = { 0 };
	struct json j;
	int rc;

	if (!args->partition)
		return err_set(err, ERR_USAGE,
			"--partition is needed: jobs of which partition the hook shall hold; 'stint slurm status' lists them");
	if (check_name(args->partition, err) < 0)
		return err->code;
	buf_add(&script, text, (size_t)(at - text));
	buf_str(&script, args->partition);
	buf_str(&script, at + strlen(sign));
	json_init(&j, &out, false);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "slurm_hook/1");
	json_str(&j, "partition", args->partition);
	json_str(&j, "script", script.at);
	json_end(&j, '}');
	rc = ui_print(args->json ? &out : &script, err);
	buf_fini(&script);
	buf_fini(&out);
	return rc;
}

/* ---- release */

/* Held, or to begin in years: so the hook lets jobs wait for others. */
static bool is_kept(const json_t *job)
{
	return member_bool(job, "held", false) ||
		member_number(job, "eligible", 0) > (double)time(NULL) + 5 * 365 * 86400.0;
}

static void add_name(json_t *list, const char *name, bool keep)
{
	json_array_append_new(list,
		keep ? json_pack("{s:s,s:s,s:b}", "job", name, "admin_comment", "", "user", true)
		     : json_pack("{s:s}", "job", name));
}

/* Of an array the tasks that wait, one by one: others of it may run.  How many. */
static size_t add_names(const json_t *job, json_t *list, bool keep)
{
	const char *name = member_text(job, "job"), *tasks = member_text(job, "tasks");
	slurm_tasks numbers = { 0 };
	size_t n;

	if (json_object_get(job, "task") || !tasks || !*tasks) {
		add_name(list, name, keep);
		return 1;
	}
	tasks_read(tasks, &numbers);
	for (n = 0; n < numbers.n; n++) {
		char *task = mem_printf("%s_%u", name, numbers.at[n]);

		add_name(list, task, keep);
		free(task);
	}
	vec_fini(&numbers);
	return n;
}

/*
 * Requests for the jobs that wait, held for Stint or by it: they are released, but for those that
 * their users hold, which are theirs to release then.
 */
static json_t *release_requests(const json_t *jobs, const char *partition, size_t *n)
{
	json_t *free_them = json_array(), *keep_them = json_array();
	const json_t *job;
	size_t i;

	*n = 0;
	json_array_foreach(jobs, i, job)
	{
		const char *state = member_text(job, "state"), *in = member_text(job, "partition");

		if (!state || strcmp(state, "PENDING") != 0 || !is_ours(job) || !is_kept(job) ||
			(partition && (!in || strcmp(in, partition) != 0)))
			continue;
		*n += comment_holds(member_text(job, "comment")) ? add_names(job, keep_them, true)
								 : add_names(job, free_them, false);
	}
	return json_pack("[{s:s,s:o},{s:s,s:o}]", "op", "release", "jobs", free_them, "op", "hold",
		"jobs", keep_them);
}

struct released {
	size_t held, failed, kept; /* kept: by their users */
};

static int count_failed(const json_t *answer, size_t *failed, struct err *err)
{
	const json_t *one;
	size_t i;
	int rc = slurm_talk_failed(answer, err);

	json_array_foreach(json_object_get(answer, "results"), i, one)
	{
		if (slurm_talk_failed(one, err) < 0) {
			rc = err->code;
			++*failed;
		}
	}
	return rc;
}

static int print_released(const struct released *r, struct err *err)
{
	struct buf out = { 0 };
	struct json j;
	int rc;

	json_init(&j, &out, false);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "slurm_released/1");
	json_int(&j, "held", (int64_t)r->held);
	json_int(&j, "released", (int64_t)(r->held - r->failed - r->kept));
	json_int(&j, "kept", (int64_t)r->kept);
	json_end(&j, '}');
	rc = ui_print(&out, err);
	buf_fini(&out);
	return rc;
}

static int tell_released(const struct args *args, const struct released *r, struct err *err)
{
	if (args->json)
		return print_released(r, err);
	if (!r->held)
		ui_say(args, "no job waits for Stint: there is nothing to release");
	else if (args->dry_run)
		ui_say(args, "%zu jobs would be released", r->held);
	else
		ui_say(args, "%zu of %zu jobs are Slurm's to start again", r->held - r->failed,
			r->held);
	if (r->kept)
		ui_say(args, "%zu of them stay held, by their users", r->kept);
	return 0;
}

static int send_release(const struct slurm_words *words, json_t *requests, struct released *r,
	struct err *err)
{
	json_t *answers = NULL;
	int rc = slurm_talk(words, json_incref(requests), &answers, err);

	if (rc == 0) {
		r->kept = json_array_size(json_object_get(json_array_get(answers, 2), "results"));
		rc = count_failed(json_array_get(answers, 1), &r->failed, err);
	}
	if (rc == 0)
		rc = count_failed(json_array_get(answers, 2), &r->failed, err);
	json_decref(answers);
	return rc;
}

static int release_all(const struct args *args, const struct slurm_words *words, struct err *err)
{
	json_t *answers = NULL, *requests = NULL;
	struct released released = { 0 };
	int rc = slurm_talk(words, json_pack("[{s:s,s:i}]", "op", "jobs", "since", 0), &answers, err);

	if (rc == 0)
		rc = check_answers(answers, err);
	if (rc == 0)
		requests = release_requests(json_object_get(json_array_get(answers, 1), "jobs"),
			args->partition, &released.held);
	if (rc == 0 && released.held && !args->dry_run)
		rc = send_release(words, requests, &released, err);
	if (rc == 0)
		rc = tell_released(args, &released, err);
	json_decref(answers);
	json_decref(requests);
	return rc;
}

static int run_release(const struct args *args, struct err *err)
{
	struct slurm_words words = { 0 };
	int rc = slurm_words_read(args, &words, err);

	if (rc == 0)
		rc = release_all(args, &words, err);
	slurm_words_fini(&words);
	return rc;
}

/* ---- commands */

static const struct flag status_flags[] = {
	SWITCH(json, "as JSON"),
	{ 0 },
};
static const struct flag hook_flags[] = {
	TEXT(partition, "NAME", "whose jobs are held"),
	SWITCH(json, "the script as a member of a JSON object"),
	{ 0 },
};
static const struct flag release_flags[] = {
	TEXT(partition, "NAME", "this partition only (all)"),
	SWITCH(dry_run, "say how many, and release none"),
	SWITCH(json, "how many, as JSON"),
	SWITCH(quiet, "errors only"),
	{ 0 },
};
static const struct flag_group group_status = { .title = "output", .flags = status_flags };
static const struct flag_group group_hook = { .title = "which", .flags = hook_flags };
static const struct flag_group group_release = { .title = "which", .flags = release_flags };
static const char *const status_examples[] = { "stint slurm status", NULL };
static const char *const hook_examples[] = {
	"stint slurm hook --partition gpu > /etc/slurm/job_submit.lua",
	NULL,
};
static const char *const release_examples[] = {
	"stint slurm release --dry-run",
	"stint slurm release --partition gpu",
	NULL,
};

const struct command command_slurm_status = {
	.name = "slurm status",
	.summary = "what the Slurm cluster is, and what Stint could do there",
	.operands = "",
	.live = true,
	.groups = { &group_status },
	.about = "Asks the controller once and changes nothing.  The cluster is the one that sinfo and squeue\n"
		 "know here: $SLURM_CONF, else /etc/slurm/slurm.conf.",
	.examples = status_examples,
	.run = run_status,
};

const struct command command_slurm_hook = {
	.name = "slurm hook",
	.summary = "the job_submit script that holds jobs of a partition for Stint",
	.operands = "",
	.live = true,
	.groups = { &group_hook },
	.about = "Prints job_submit.lua.  With it users go on with 'sbatch -p PARTITION' as they did, and their\n"
		 "GPU jobs wait until Stint starts them.  Put it beside slurm.conf, set JobSubmitPlugins=lua\n"
		 "and run 'scontrol reconfigure'.  doc/slurm.md says which jobs it leaves alone.",
	.examples = hook_examples,
	.run = run_hook,
};

const struct command command_slurm_release = {
	.name = "slurm release",
	.summary = "give jobs that wait for Stint back to Slurm",
	.operands = "",
	.live = true,
	.groups = { &group_release },
	.about = "The way back: jobs that the hook held, or that a daemon put back, are released without a pin, and\n"
		 "Slurm starts them as it likes.  What runs is not touched.  Stop the daemon and take the hook out\n"
		 "first, or they are held again.",
	.examples = release_examples,
	.run = run_release,
};
