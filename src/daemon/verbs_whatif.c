/*
 * What if: the recent past again, with other devices or other rules.
 *
 * That takes seconds or minutes, and all of a simulator.  So the program itself
 * is run beside the daemon (`stint whatif STATE --json`), with less right to the
 * CPU, a limit on its time and its output, and one at a time.  What comes back
 * are figures of all jobs together, which anybody who may ask for them may see.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "daemon/verbs_run.h"
#include "model/cluster_change.h"
#include "placement/placer.h"
#include "policy/policy.h"

#define TIME_S 300.0
#define AGAIN_S 10.0 /* what-ifs take seconds to minutes */
#define SINCE_MAX_S 1e10

enum {
	OUTPUT_MAX = 8 << 20,
	AT_ONCE = 2, /* one runs, one waits for it */
	ARGS_MAX = 20,
	ADD_MAX = 256, /* characters */
	ADD_DEVICES_MAX = 65536,
	SPEC_MAX = 512,
};

struct whatif_task {
	struct task task;
	const atomic_bool *stop;
	struct arena words;
	const char *argv[ARGS_MAX];
	size_t nargs;
	int rc; /* of running it */
	struct err err;
	struct child_end end;
};

static void run_task(struct task *task)
{
	struct whatif_task *t = (struct whatif_task *)task;
	struct child_ask ask = {
		.argv = t->argv,
		.out_max = OUTPUT_MAX,
		.timeout_s = TIME_S,
		.stop = t->stop,
	};

	t->rc = child_run(&ask, &t->end, &t->err);
}

static void destroy_task(struct task *task)
{
	struct whatif_task *t = (struct whatif_task *)task;

	child_end_fini(&t->end);
	arena_fini(&t->words);
	free(t);
}

/* ---- what is asked for */

static void add_arg(struct whatif_task *t, const char *word)
{
	t->argv[t->nargs++] = arena_strdup(&t->words, word);
}

static void add_flag(struct whatif_task *t, const char *flag, const char *value)
{
	add_arg(t, flag);
	add_arg(t, value);
}

static int take_since(struct whatif_task *t, const json_t *args, struct err *err)
{
	double since_s = member_number(args, "since_s", 604800);
	struct buf text = { 0 };

	if (!(since_s >= 0 && since_s <= SINCE_MAX_S))
		return err_set(err, ERR_USAGE, "since_s: seconds from 0 (all there is) to %g",
			SINCE_MAX_S);
	buf_double(&text, since_s);
	add_flag(t, "--since", text.at);
	buf_fini(&text);
	return 0;
}

static int take_add(struct whatif_task *t, const json_t *args, struct err *err)
{
	const char *add = member_text(args, "add");
	struct slice rest = slice_of(add ? add : "");
	uint64_t devices = 0;

	if (rest.n > ADD_MAX)
		return err_set(err, ERR_USAGE, "add: at most %d characters", ADD_MAX);
	while (rest.n) {
		struct cluster_change one;

		if (cluster_change_parse(slice_cut(&rest, ','), &one, err) < 0)
			return err_prefix(err, "add");
		devices += (uint64_t)(one.nodes ? one.nodes : 1) * one.devices;
	}
	if (devices > ADD_DEVICES_MAX)
		return err_set(err, ERR_USAGE, "add: at most %d devices", ADD_DEVICES_MAX);
	if (devices)
		add_flag(t, "--add", add);
	return 0;
}

/* A rule's options as they are read, without anything that the rule makes of them. */
struct rule_read {
	const char *name;
	const struct option *options;
	size_t size;
	void *state;
};

static int find_policy(const char *name, struct rule_read *out, struct err *err)
{
	const struct policy *found = policy_find(name, err);

	if (found)
		*out = (struct rule_read){ found->name, found->options, found->state_size, NULL };
	return found ? 0 : err->code;
}

static int find_placer(const char *name, struct rule_read *out, struct err *err)
{
	const struct placer *found = placer_find(name, err);

	if (found)
		*out = (struct rule_read){ found->name, found->options, found->state_size, NULL };
	return found ? 0 : err->code;
}

typedef int find_rule(const char *name, struct rule_read *out, struct err *err);

static int read_rule(find_rule *find, const char *spec, struct rule_read *out, struct err *err)
{
	size_t n = strcspn(spec, ":");
	char *name = mem_strndup(spec, n);
	int rc = find(name, out, err);

	free(name);
	if (rc < 0)
		return rc;
	out->state = mem_alloc(out->size + 1);
	option_defaults(out->options, out->state);
	rc = option_parse(out->options, out->state, out->name, spec[n] ? spec + n + 1 : "", err);
	if (rc < 0)
		free(out->state);
	return rc;
}

/* Whoever asks is not the one whose files the daemon may read. */
static int refuse_files(const struct rule_read *rule, struct err *err)
{
	for (const struct option *o = rule->options; o && o->name; o++) {
		if (option_file(o, rule->state))
			return err_set(err, ERR_REFUSED,
				"%s: %s names a file, which is not read for others; use 'stint whatif'",
				rule->name, o->name);
	}
	return 0;
}

static bool is_same(const struct rule_read *a, const struct rule_read *b)
{
	struct buf one = { 0 }, other = { 0 };
	bool same;

	if (a->options != b->options || strcmp(a->name, b->name) != 0)
		return false;
	option_format(a->options, a->state, &one);
	option_format(b->options, b->state, &other);
	same = one.n == other.n && (!one.n || !memcmp(one.at, other.at, one.n));
	buf_fini(&one);
	buf_fini(&other);
	return same;
}

/* A rule as it is now is what everything is compared with, and is left out. */
static int take_rule(struct whatif_task *t, const char *flag, find_rule *find, const char *said,
	const char *now, struct err *err)
{
	struct rule_read next, is;
	int rc;

	if (!said)
		return 0;
	if (strlen(said) > SPEC_MAX)
		return err_set(err, ERR_USAGE, "%s: at most %d characters", flag + 2, SPEC_MAX);
	if (read_rule(find, said, &next, err) < 0)
		return err->code;
	rc = refuse_files(&next, err);
	if (rc == 0 && read_rule(find, now, &is, err) == 0) {
		if (!is_same(&next, &is))
			add_flag(t, flag, said);
		free(is.state);
	}
	free(next.state);
	return rc;
}

static int take_rules(struct whatif_task *t, const struct daemon *d, const json_t *args, struct err *err)
{
	if (take_rule(t, "--policy", find_policy, member_text(args, "policy"),
		    d->epoch.rules.policy, err) < 0)
		return err->code;
	return take_rule(t, "--placer", find_placer, member_text(args, "placer"),
		d->epoch.rules.placer, err);
}

static int take_args(struct whatif_task *t, struct daemon *d, const json_t *args, struct err *err)
{
	size_t changes;

	add_arg(t, d->config.program);
	add_arg(t, "whatif");
	add_arg(t, d->config.state_dir);
	add_arg(t, "--json");
	add_arg(t, "--quiet");
	add_flag(t, "--threads", "1");
	if (take_since(t, args, err) < 0)
		return err->code;
	changes = t->nargs;
	if (take_add(t, args, err) < 0 || take_rules(t, d, args, err) < 0)
		return err->code;
	if (t->nargs == changes)
		return err_set(err, ERR_USAGE,
			"this is as it is now: choose another policy or placer, or more devices (add: 4:a100)");
	return 0;
}

/* Answered with why not, if there are too many; where there are many users, none keeps the others waiting. */
static bool is_busy(struct daemon *d, struct call *call)
{
	size_t all = 0, own = 0;
	struct err err = { 0 };

	for (size_t i = 0; i < d->waiting.n; i++) {
		const struct call *other = d->waiting.at[i];

		if (other->verb != call->verb || !other->task)
			continue;
		all++;
		own += other->caller.uid == call->caller.uid;
	}
	call->retry_s = AGAIN_S;
	if (limits_check_whatifs(d, call, own, &err) < 0)
		call_fail(call, err.code, err.text);
	else if (all >= AT_ONCE)
		call_problem(call, 429, 4,
			"%zu of these are being worked out already; ask again in a while", all);
	else
		call->retry_s = 0;
	return call->status != 0;
}

static void begin(struct daemon *d, struct call *call)
{
	struct whatif_task *t = mem_alloc(sizeof(*t));
	struct err err = { 0 };

	t->task.run = run_task;
	t->task.destroy = destroy_task;
	t->stop = &d->closing;
	if (take_args(t, d, call->args, &err) < 0) {
		destroy_task(&t->task);
		/* A policy that is not there is something wrong in what was asked, not a page that is missing. */
		call_fail(call, err.code == ERR_MISSING ? ERR_USAGE : err.code, err.text);
		return;
	}
	daemon_give_to(d, &d->whatif, call, &t->task);
}

/* ---- answers */

/* "stint whatif: no such …" without who says it. */
static const char *words_of(const struct child_end *end)
{
	static const char prefix[] = "stint whatif: ";
	const char *text = end->err.n ? end->err.at : "it failed without a word";

	return strncmp(text, prefix, sizeof(prefix) - 1) ? text : text + sizeof(prefix) - 1;
}

static void answer_failure(struct call *call, const struct child_end *end)
{
	const char *text = words_of(end);
	int n = (int)strcspn(text, "\n");

	if (end->timed_out)
		call_problem(call, 503, 7,
			"not done after %g s; ask of a shorter time, or use 'stint whatif'", TIME_S);
	else if (end->stopped)
		call_problem(call, 503, 6, "the daemon is stopping");
	else if (end->code == 2)
		call_problem(call, 400, 2, "%.*s", n, text);
	else if (end->code == 3) /* not 404: the page is there, the jobs are not */
		call_problem(call, 409, 3, "%.*s", n, text);
	else if (end->code == 4) /* refused: such as a record of an older version */
		call_problem(call, 409, 4, "%.*s", n, text);
	else
		call_problem(call, 500, 1, "the simulation failed: %.*s", n, text);
}

/* 5: some job could not run after the change; the figures say so. */
static bool has_answer(const struct child_end *end)
{
	return (end->code == 0 || end->code == 5) && end->out.n && !end->out_cut;
}

static void answer(struct call *call)
{
	struct whatif_task *t = (struct whatif_task *)call->task;

	if (t->rc < 0) {
		call_problem(call, 500, 1, "%s", t->err.text);
	} else if (!has_answer(&t->end)) {
		answer_failure(call, &t->end);
	} else {
		call->status = 200;
		call->body = t->end.out;
		t->end.out = (struct buf){ 0 };
	}
}

void verb_whatif(struct daemon *d, struct call *call)
{
	if (call->task)
		answer(call);
	else if (!d->config.program)
		call_problem(call, 404, 3, "this daemon has no simulator");
	else if (!is_busy(d, call))
		begin(d, call);
}
