/*
 * A Slurm in this process.
 */
#include "support/fake_slurm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/members.h"

struct fake_slurm *fake_the;

double fake_now(void)
{
	return fake_the->now_s += fake_the->tick_s;
}

void fake_init(struct fake_slurm *f, uint64_t seed)
{
	*f = (struct fake_slurm){ .now_s = 1e9,
		.start_delay_s = 0.5,
		.min_job_age_s = 300,
		.kill_wait_s = 5,
		.work_s = 100,
		.last_id = 100 };
	rng_init(&f->rng, seed, RNG_TEST);
	fake_the = f;
}

static void clear_words(struct fake_job *j, bool pins)
{
	for (size_t i = 0; i < j->on.n; i++)
		free(j->on.at[i]);
	j->on.n = 0;
	for (size_t i = 0; pins && i < j->pins.n; i++)
		free(j->pins.at[i]);
	if (pins)
		j->pins.n = 0;
}

static void destroy(struct fake_job *j)
{
	clear_words(j, true);
	vec_fini(&j->on);
	vec_fini(&j->pins);
	free(j);
}

void fake_fini(struct fake_slurm *f)
{
	for (size_t i = 0; i < f->jobs.n; i++)
		destroy(f->jobs.at[i]);
	for (size_t i = 0; i < f->gone.n; i++)
		free(f->gone.at[i]);
	for (size_t i = 0; i < f->late.n; i++)
		free(f->late.at[i]);
	vec_fini(&f->jobs);
	vec_fini(&f->nodes);
	vec_fini(&f->gone);
	vec_fini(&f->gone_at);
	vec_fini(&f->late);
	vec_fini(&f->late_s);
	vec_fini(&f->completed);
	buf_fini(&f->in);
	buf_fini(&f->out);
}

void fake_node(struct fake_slurm *f, const char *name, const char *type, uint32_t gpus)
{
	struct fake_node node = { .gpus = gpus };

	snprintf(node.name, sizeof(node.name), "%s", name);
	snprintf(node.type, sizeof(node.type), "%s", type);
	vec_push(&f->nodes, node);
}

/* ---- jobs */

void fake_changed(struct fake_slurm *f, struct fake_job *j)
{
	j->version = ++f->version;
}

struct fake_job *fake_find(struct fake_slurm *f, const char *name)
{
	for (size_t i = 0; i < f->jobs.n; i++) {
		if (!strcmp(f->jobs.at[i]->name, name))
			return f->jobs.at[i];
	}
	return NULL;
}

struct fake_job *fake_of(struct fake_slurm *f, const char *site, uint32_t job)
{
	struct fake_job *found = NULL;
	char key[64];
	int n = snprintf(key, sizeof(key), "stint:%s:%u:", site, job);

	for (size_t i = 0; i < f->jobs.n; i++) {
		struct fake_job *j = f->jobs.at[i];

		if (strncmp(j->comment, key, (size_t)n) != 0 && strncmp(j->mark, key, (size_t)n) != 0)
			continue;
		if (!found || found->state == FAKE_ENDED)
			found = j;
	}
	return found;
}

static struct fake_job *new_job(struct fake_slurm *f)
{
	struct fake_job *j = mem_alloc(sizeof(*j));

	snprintf(j->name, sizeof(j->name), "%u", ++f->last_id);
	snprintf(j->user, sizeof(j->user), "ann");
	j->submit_s = floor(f->now_s);
	j->requeue = true;
	j->nodes = 1;
	j->work_s = f->work_s;
	j->term_code = 143;
	j->uid = 1000;
	vec_push(&f->jobs, j);
	fake_changed(f, j);
	return j;
}

struct fake_job *fake_user_job(struct fake_slurm *f, const char *user, uint32_t gpus)
{
	struct fake_job *j = new_job(f);

	snprintf(j->user, sizeof(j->user), "%s", user);
	j->gpus = gpus;
	j->released_s = f->now_s;
	snprintf(j->reason, sizeof(j->reason), "None");
	return j;
}

static const char *key_of(const struct fake_job *j)
{
	return j->comment[0] ? j->comment : j->mark;
}

/* "stint:x:7:" of both keys and marks. */
static size_t key_length(const char *key)
{
	int colons = 0;
	size_t n = 0;

	while (key[n] && colons < 3)
		colons += key[n++] == ':';
	return n;
}

/* Two runs of one job of ours at a time are what must never be. */
static void count_double(struct fake_slurm *f, const struct fake_job *started)
{
	const char *key = key_of(started);
	size_t n = key_length(key);

	for (size_t i = 0; i < f->jobs.n && n; i++) {
		const struct fake_job *j = f->jobs.at[i];

		if (j != started && j->state == FAKE_RUNNING && !strncmp(key_of(j), key, n))
			f->double_runs++;
	}
}

static uint32_t number_of(const struct fake_job *j)
{
	const char *key = key_of(j), *site = strchr(key, ':'),
		   *number = site ? strchr(site + 1, ':') : NULL;

	return number ? (uint32_t)atoi(number + 1) : 0;
}

static uint32_t per_node(const struct fake_job *j)
{
	return j->nodes ? j->gpus / j->nodes : j->gpus;
}

static bool has(char *const *words, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(words[i], word))
			return true;
	}
	return false;
}

static uint32_t used_on(const struct fake_slurm *f, const char *node)
{
	uint32_t used = 0;

	for (size_t i = 0; i < f->jobs.n; i++) {
		const struct fake_job *j = f->jobs.at[i];

		if ((j->state == FAKE_RUNNING || j->completing_s > 0) && has(j->on.at, j->on.n, node))
			used += per_node(j);
	}
	return used;
}

static bool fits(const struct fake_slurm *f, const struct fake_node *node, const struct fake_job *j)
{
	return !node->down && !node->drained && (!j->type[0] || !strcmp(j->type, node->type)) &&
		node->gpus >= used_on(f, node->name) + per_node(j);
}

static void end_run(struct fake_slurm *f, struct fake_job *j, const char *word, int exit, int signal)
{
	j->state = FAKE_ENDED;
	j->end_s = floor(f->now_s);
	j->exit = exit;
	j->signal = signal;
	j->term_at_s = j->completing_s = 0;
	snprintf(j->word, sizeof(j->word), "%s", word);
	clear_words(j, false);
	fake_changed(f, j);
}

static void try_start(struct fake_slurm *f, struct fake_job *j)
{
	size_t chosen[16], n = 0;

	if (j->state != FAKE_PENDING || j->held || j->completing_s > 0 || j->tasks[0] ||
		j->dependency[0] || f->now_s < j->begin_s ||
		f->now_s < j->released_s + f->start_delay_s)
		return;
	for (size_t i = 0; i < f->nodes.n && n < j->nodes; i++) {
		if ((j->pins.n == 0 || has(j->pins.at, j->pins.n, f->nodes.at[i].name)) &&
			fits(f, &f->nodes.at[i], j))
			chosen[n++] = i;
	}
	if (n < j->nodes) {
		if (strcmp(j->reason, "BadConstraints") != 0 && strcmp(j->reason, "Resources") != 0) {
			snprintf(j->reason, sizeof(j->reason), "Resources");
			fake_changed(f, j);
		}
		return;
	}
	for (size_t i = 0; i < n; i++)
		vec_push(&j->on, mem_strdup(f->nodes.at[chosen[i]].name));
	j->state = FAKE_RUNNING;
	j->start_s = floor(f->now_s);
	j->end_s = 0;
	j->runs++;
	snprintf(j->reason, sizeof(j->reason), "None");
	count_double(f, j);
	fake_changed(f, j);
}

static void run_on(struct fake_slurm *f, struct fake_job *j, double seconds)
{
	if (j->completing_s > 0 && f->now_s >= j->completing_s) {
		j->completing_s = 0;
		clear_words(j, false);
		j->submit_s = floor(f->now_s) + 1;
		fake_changed(f, j);
	}
	if (j->state != FAKE_RUNNING)
		return;
	j->work_s -= seconds;
	if (j->work_s <= 0) {
		j->completions++;
		vec_grow_zero(&f->completed, number_of(j) + 1);
		f->completed.at[number_of(j)]++;
		end_run(f, j, "COMPLETED", 0, 0);
	} else if (j->term_at_s > 0 && f->now_s >= j->term_at_s) {
		end_run(f, j, j->term_code ? "FAILED" : "COMPLETED", j->term_code, 0);
	} else if (j->limit_s > 0 && f->now_s > j->start_s + ceil(j->limit_s / 60) * 60) {
		end_run(f, j, "TIMEOUT", 0, 15);
	}
}

static void forget(struct fake_slurm *f, size_t at)
{
	vec_push(&f->gone, mem_strdup(f->jobs.at[at]->name));
	vec_push(&f->gone_at, ++f->version);
	destroy(f->jobs.at[at]);
	memmove(&f->jobs.at[at], &f->jobs.at[at + 1], (f->jobs.n - at - 1) * sizeof(*f->jobs.at));
	f->jobs.n--;
}

void fake_forget(struct fake_slurm *f, struct fake_job *j)
{
	for (size_t i = 0; i < f->jobs.n; i++) {
		if (f->jobs.at[i] == j) {
			forget(f, i);
			return;
		}
	}
}

static void do_late(struct fake_slurm *f);

void fake_pass(struct fake_slurm *f, double seconds)
{
	for (double step; seconds > 1e-9; seconds -= step) {
		step = fmin(seconds, 0.25);
		f->now_s += step;
		do_late(f);
		for (size_t i = 0; i < f->jobs.n; i++)
			run_on(f, f->jobs.at[i], step);
		for (size_t i = 0; i < f->jobs.n; i++)
			try_start(f, f->jobs.at[i]);
		for (size_t i = 0; i < f->jobs.n; i++) {
			if (f->jobs.at[i]->state == FAKE_ENDED &&
				f->now_s > f->jobs.at[i]->end_s + f->min_job_age_s)
				forget(f, i--);
		}
	}
}

/* ---- acts */

void fake_cancel(struct fake_slurm *f, struct fake_job *j)
{
	if (j->state != FAKE_ENDED)
		end_run(f, j, "CANCELLED", 0, 0);
}

void fake_hold(struct fake_slurm *f, struct fake_job *j)
{
	if (j->state != FAKE_PENDING || j->held)
		return;
	j->held = true;
	snprintf(j->reason, sizeof(j->reason), "JobHeldUser");
	fake_changed(f, j);
}

void fake_release(struct fake_slurm *f, struct fake_job *j)
{
	j->held = false;
	j->released_s = f->now_s;
	snprintf(j->reason, sizeof(j->reason), "None");
	fake_changed(f, j);
}

void fake_requeue(struct fake_slurm *f, struct fake_job *j, bool hold)
{
	bool ran = j->state == FAKE_RUNNING;

	j->state = FAKE_PENDING;
	j->restarts++;
	j->begin_s = f->now_s + 121;
	j->released_s = f->now_s;
	j->held = hold;
	snprintf(j->reason, sizeof(j->reason), "%s", hold ? "JobHeldUser" : "BeginTime");
	if (ran)
		j->completing_s = f->now_s + (j->term_code < 0 ? f->kill_wait_s : j->term_s + 0.05);
	else
		j->submit_s = floor(f->now_s) + 1;
	j->term_at_s = 0;
	fake_changed(f, j);
}

void fake_fail_node(struct fake_slurm *f, const char *name)
{
	for (size_t i = 0; i < f->nodes.n; i++) {
		if (!strcmp(f->nodes.at[i].name, name))
			f->nodes.at[i].down = true;
	}
	for (size_t i = 0; i < f->jobs.n; i++) {
		struct fake_job *j = f->jobs.at[i];

		if (j->state != FAKE_RUNNING || !has(j->on.at, j->on.n, name))
			continue;
		if (j->requeue) {
			fake_requeue(f, j, false);
			j->completing_s = f->now_s + 0.01;
		} else {
			end_run(f, j, "NODE_FAIL", 0, 0);
		}
	}
}

/* ---- answers: looking */

static json_t *job_json(const struct fake_slurm *f, const struct fake_job *j)
{
	static const char *const words[] = { "PENDING", "RUNNING", "" };
	json_t *o = json_pack("{s:s,s:s,s:i,s:i,s:s,s:s,s:s,s:s,s:b,s:b,s:s,s:s,s:f,s:i,s:i,s:i,s:s,s:i,s:i,s:i,s:b,"
			      "s:b,s:s,s:s,s:s,s:s,s:s}",
		"job", j->name, "user", j->user, "uid", j->uid, "gid", j->uid, "account", "",
		"name", "train", "partition", "gpu", "state",
		j->state == FAKE_ENDED ? j->word : words[j->state], "completing",
		j->completing_s > 0, "held", j->state == FAKE_PENDING && j->held, "reason",
		j->reason, "comment", j->comment, "submit", j->submit_s, "gpus", j->gpus,
		"per_node", per_node(j), "nodes", j->nodes, "gpu_type", j->type, "exit", j->exit,
		"signal", j->signal, "restarts", j->restarts, "requeue", j->requeue, "batch", 1,
		"admin_comment", j->mark, "command", "/home/ann/train.sh", "cwd", "/home/ann",
		"dependency", j->dependency, "features", j->features);
	json_t *on = json_array();

	(void)f;
	for (size_t i = 0; i < j->on.n; i++)
		json_array_append_new(on, json_pack("[s,i]", j->on.at[i], per_node(j)));
	json_object_set_new(o, "on", on);
	if (j->state != FAKE_PENDING)
		json_object_set_new(o, "start", json_real(j->start_s));
	if (j->state == FAKE_ENDED)
		json_object_set_new(o, "end", json_real(j->end_s));
	if (j->limit_s > 0)
		json_object_set_new(o, "limit_s", json_real(j->limit_s));
	json_object_set_new(o, "out", json_string("/home/ann/out"));
	if (j->array) {
		const char *task = strchr(j->name, '_');

		json_object_set_new(o, "array", json_integer(j->array));
		if (task)
			json_object_set_new(o, "task", json_integer(atoi(task + 1)));
		else
			json_object_set_new(o, "tasks", json_string(j->tasks));
	}
	return o;
}

static void answer_jobs(struct fake_slurm *f, const json_t *request, json_t *answer)
{
	uint64_t since = (uint64_t)member_int(request, "since", 0);
	bool full = since == 0 || !f->knows_stamp;
	json_t *jobs = json_array(), *gone = json_array();

	for (size_t i = 0; i < f->jobs.n; i++) {
		if (full || f->jobs.at[i]->version > since)
			json_array_append_new(jobs, job_json(f, f->jobs.at[i]));
	}
	for (size_t i = 0; i < f->gone.n && !full; i++) {
		if (f->gone_at.at[i] > since)
			json_array_append_new(gone, json_string(f->gone.at[i]));
	}
	f->knows_stamp = true;
	json_object_set_new(answer, "stamp", json_integer((json_int_t)f->version));
	json_object_set_new(answer, "full", json_boolean(full));
	json_object_set_new(answer, "jobs", jobs);
	json_object_set_new(answer, "gone", gone);
}

static void answer_nodes(struct fake_slurm *f, json_t *answer)
{
	json_t *nodes = json_array();

	for (size_t i = 0; i < f->nodes.n; i++) {
		const struct fake_node *n = &f->nodes.at[i];

		json_array_append_new(nodes,
			json_pack("{s:s,s:s,s:b,s:b,s:s,s:i,s:i,s:[{s:s,s:i}],s:i}", "name",
				n->name, "state", n->down ? "DOWN" : "IDLE", "usable",
				!n->down && !n->drained, "drained", n->drained, "reason",
				n->drained ? "fan" : "", "cpus", 16, "mem_mb", 16000, "gpus", "type",
				n->type, "count", n->gpus, "used", used_on(f, n->name) + n->leaked));
	}
	json_object_set_new(answer, "stamp", json_integer(1));
	json_object_set_new(answer, "changed", json_true());
	json_object_set_new(answer, "nodes", nodes);
}

static void answer_partitions(struct fake_slurm *f, json_t *answer)
{
	json_t *names = json_array();

	for (size_t i = 0; i < f->nodes.n; i++)
		json_array_append_new(names, json_string(f->nodes.at[i].name));
	json_object_set_new(answer, "partitions",
		json_pack("[{s:s,s:b,s:o}]", "name", "gpu", "up", 1, "nodes", names));
}

static void answer_hello(struct fake_slurm *f, json_t *answer)
{
	json_t *facts = json_pack("{s:i,s:s,s:s,s:b,s:f,s:f}", "protocol", 1, "slurm", "22.05.8",
		"cluster", "vc", "operator", !f->stranger, "kill_wait_s", f->kill_wait_s,
		"min_job_age_s", f->min_job_age_s);

	json_object_update(answer, facts);
	json_decref(facts);
}

/* ---- answers: acting */

static const char *submit_one(struct fake_slurm *f, const json_t *one, json_t *result)
{
	struct fake_job *j;
	const char *key = member_text(one, "key"), *script = member_text(one, "script");

	if (!script || strncmp(script, "#!", 2) != 0)
		return "refused";
	if (strstr(script, "refuse me"))
		return "refused";
	j = new_job(f);
	snprintf(j->comment, sizeof(j->comment), "%s", key ? key : "");
	snprintf(j->script, sizeof(j->script), "%s", script);
	j->gpus = (uint32_t)member_int(one, "gpus", 0);
	j->held = member_bool(one, "hold", false);
	j->limit_s = member_number(one, "limit_s", 0);
	snprintf(j->reason, sizeof(j->reason), "JobHeldUser");
	f->submitted++;
	json_object_set_new(result, "job", json_string(j->name));
	return NULL;
}

/* The task leaves its array, as it does when somebody names it. */
static struct fake_job *split(struct fake_slurm *f, const char *name)
{
	const char *underscore = strchr(name, '_');
	char base[32];
	struct fake_job *array, *task;

	if (!underscore)
		return NULL;
	snprintf(base, sizeof(base), "%.*s", (int)(underscore - name), name);
	array = fake_find(f, base);
	if (!array || !array->tasks[0])
		return NULL;
	task = new_job(f);
	snprintf(task->name, sizeof(task->name), "%s", name);
	task->array = array->array;
	task->gpus = array->gpus;
	task->submit_s = array->submit_s;
	task->held = array->held;
	memcpy(task->mark, array->mark, sizeof(task->mark));
	memcpy(task->reason, array->reason, sizeof(task->reason));
	/* Only lists such as "0,1,2" are kept here. */
	char kept[32] = "", *word, *rest, list[32];

	snprintf(list, sizeof(list), "%.*s", (int)strcspn(array->tasks, "%"), array->tasks);
	for (word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		if (!strcmp(word, underscore + 1))
			continue;
		strncat(kept, kept[0] ? "," : "", sizeof(kept) - strlen(kept) - 1);
		strncat(kept, word, sizeof(kept) - strlen(kept) - 1);
	}
	if (!kept[0]) {
		fake_forget(f, array);
	} else {
		const char *limit = strchr(array->tasks, '%');

		if (limit)
			strncat(kept, limit, sizeof(kept) - strlen(kept) - 1);
		snprintf(array->tasks, sizeof(array->tasks), "%s", kept);
		fake_changed(f, array);
	}
	return task;
}

static const char *start_one(struct fake_slurm *f, struct fake_job *j, const json_t *one)
{
	const json_t *nodes = json_object_get(one, "nodes"), *name;
	const char *mark = member_text(one, "admin_comment");
	int64_t gpus = member_int(one, "gpus", -1);
	size_t i;

	if (member_int(one, "restarts", j->restarts) != (int64_t)j->restarts ||
		j->state == FAKE_RUNNING || j->completing_s > 0)
		return "busy";
	if (j->state == FAKE_ENDED)
		return "refused";
	if (gpus > 0 && (gpus % (int64_t)json_array_size(nodes) || j->type[0]))
		return "refused";
	clear_words(j, true);
	json_array_foreach(nodes, i, name) vec_push(&j->pins, mem_strdup(json_string_value(name)));
	j->nodes = (uint32_t)json_array_size(nodes);
	if (gpus > 0)
		j->gpus = (uint32_t)gpus;
	snprintf(j->mark, sizeof(j->mark), "%s", mark ? mark : "");
	j->limit_s = member_number(one, "limit_s", j->limit_s);
	j->begin_s = f->now_s;
	fake_release(f, j);
	return NULL;
}

static const char *requeue_one(struct fake_slurm *f, struct fake_job *j, const json_t *one)
{
	bool ended = json_is_object(one) && member_bool(one, "ended", false);

	if (j->state == FAKE_PENDING || (!ended && j->state == FAKE_ENDED))
		return "busy";
	if (!j->requeue)
		return "refused";
	fake_requeue(f, j, true);
	return NULL;
}

static const char *hold_one(struct fake_slurm *f, struct fake_job *j)
{
	if (j->state != FAKE_PENDING)
		return "busy";
	j->held = true;
	snprintf(j->reason, sizeof(j->reason), "JobHeldAdmin");
	fake_changed(f, j);
	return NULL;
}

static const char *release_one(struct fake_slurm *f, struct fake_job *j)
{
	if (j->state != FAKE_PENDING)
		return "busy";
	clear_words(j, true);
	j->mark[0] = '\0';
	j->begin_s = f->now_s;
	fake_release(f, j);
	return NULL;
}

static const char *cancel_one(struct fake_slurm *f, struct fake_job *j)
{
	if (j->state == FAKE_ENDED)
		return "refused";
	fake_cancel(f, j);
	return NULL;
}

static const char *signal_one(struct fake_slurm *f, struct fake_job *j, int number)
{
	if (j->state != FAKE_RUNNING)
		return "busy";
	if (number == 9)
		end_run(f, j, "CANCELLED", 0, 0);
	else if (j->term_code >= 0)
		j->term_at_s = f->now_s + j->term_s + 0.01;
	return NULL;
}

static const char *act_one(struct fake_slurm *f, const char *op, const json_t *request,
	const json_t *one, json_t *result)
{
	const char *name = json_is_string(one) ? json_string_value(one) : member_text(one, "job");
	struct fake_job *j;

	if (!strcmp(op, "submit"))
		return submit_one(f, one, result);
	j = name ? fake_find(f, name) : NULL;
	if (!j && name)
		j = split(f, name);
	if (!j)
		return "missing";
	if (!strcmp(op, "start"))
		return start_one(f, j, one);
	if (!strcmp(op, "requeue"))
		return requeue_one(f, j, one);
	if (!strcmp(op, "hold"))
		return hold_one(f, j);
	if (!strcmp(op, "release"))
		return release_one(f, j);
	if (!strcmp(op, "cancel"))
		return cancel_one(f, j);
	if (!strcmp(op, "signal"))
		return signal_one(f, j, (int)member_int(request, "signal", 0));
	snprintf(j->mark, sizeof(j->mark), "%s", member_text(one, "admin_comment"));
	fake_changed(f, j);
	return NULL;
}

static void act(struct fake_slurm *f, const char *op, const json_t *request, json_t *answer)
{
	json_t *results = json_array();
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(request, "jobs"), i, one)
	{
		json_t *result = json_object();
		const char *kind = act_one(f, op, request, one, result);

		json_object_set_new(result, "ok", json_boolean(!kind));
		if (kind) {
			json_object_set_new(result, "kind", json_string(kind));
			json_object_set_new(result, "error", json_string("so it is"));
		}
		json_array_append_new(results, result);
	}
	json_object_set_new(answer, "results", results);
}

/* ---- the line */

static json_t *answer_of(struct fake_slurm *f, const json_t *request)
{
	const char *op = member_text(request, "op");
	json_t *answer = json_pack("{s:I,s:b}", "id", (json_int_t)member_int(request, "id", 0),
		"ok", 1);

	if (!strcmp(op, "hello"))
		answer_hello(f, answer);
	else if (!strcmp(op, "partitions"))
		answer_partitions(f, answer);
	else if (!strcmp(op, "nodes"))
		answer_nodes(f, answer);
	else if (!strcmp(op, "jobs"))
		answer_jobs(f, request, answer);
	else
		act(f, op, request, answer);
	return answer;
}

static json_t *failure(const json_t *request, const char *kind)
{
	return json_pack("{s:I,s:b,s:s,s:s}", "id", (json_int_t)member_int(request, "id", 0), "ok",
		0, "kind", kind, "error", "so it is");
}

static void say(struct fake_slurm *f, json_t *answer)
{
	char *line = json_dumps(answer, JSON_COMPACT);

	buf_str(&f->out, line);
	buf_char(&f->out, '\n');
	free(line);
	json_decref(answer);
}

static bool chance(struct fake_slurm *f, double *draw, double p)
{
	(void)f;
	*draw -= p;
	return *draw < 0;
}

static void hear(struct fake_slurm *f, const char *line)
{
	json_t *request = json_loads(line, 0, NULL);
	double draw = rng_uniform(&f->rng);
	const char *op = member_text(request, "op");

	f->requests++;
	if (!strcmp(op, "hello") && f->hello_kind)
		say(f, failure(request, f->hello_kind));
	else if (f->down)
		say(f, failure(request, "unreachable"));
	else if (chance(f, &draw, f->faults.after)) {
		json_decref(answer_of(f, request));
		say(f, failure(request, "timeout"));
	} else if (chance(f, &draw, f->faults.before))
		say(f, failure(request, "timeout"));
	else if (chance(f, &draw, f->faults.death)) {
		if (rng_below(&f->rng, 2))
			json_decref(answer_of(f, request));
		f->alive = false;
	} else if (chance(f, &draw, f->faults.garbage)) {
		json_decref(answer_of(f, request));
		buf_str(&f->out, "{\"id\":3,\"ok\n");
	} else if (chance(f, &draw, f->faults.late) && strcmp(op, "signal") != 0) {
		/* Some come after whoever asked has given up. */
		vec_push(&f->late, mem_strdup(line));
		vec_push(&f->late_s,
			f->now_s + (rng_below(&f->rng, 2) ? 1.5 : 80) * rng_uniform(&f->rng));
		f->mute++;
	} else if (chance(f, &draw, f->faults.away))
		say(f, failure(request, "unreachable"));
	else
		say(f, answer_of(f, request));
	json_decref(request);
}

/* What was sent long ago is done now, and answered to whoever is there. */
static void do_late(struct fake_slurm *f)
{
	for (size_t i = 0; i < f->late.n; i++) {
		json_t *request;

		if (f->now_s < f->late_s.at[i])
			continue;
		request = json_loads(f->late.at[i], 0, NULL);
		if (f->up && f->alive)
			say(f, answer_of(f, request));
		else
			json_decref(answer_of(f, request));
		json_decref(request);
		free(f->late.at[i]);
		f->late.at[i] = f->late.at[f->late.n - 1];
		f->late_s.at[i] = f->late_s.at[f->late.n - 1];
		f->late.n--;
		f->late_s.n--;
		i--;
	}
}

static int line_open(void *self, struct err *err)
{
	struct fake_slurm *f = self;

	(void)err;
	f->up = f->alive = true;
	f->knows_stamp = false;
	f->opens++;
	buf_clear(&f->in);
	buf_clear(&f->out);
	return 0;
}

static void line_close(void *self)
{
	struct fake_slurm *f = self;

	f->up = false;
}

static int no_fd(const void *self)
{
	(void)self;
	return -1;
}

static ssize_t line_read(void *self, char *to, size_t n)
{
	struct fake_slurm *f = self;

	if (f->out.n == 0)
		return f->alive ? 0 : -1;
	n = n < f->out.n ? n : f->out.n;
	memcpy(to, f->out.at, n);
	memmove(f->out.at, f->out.at + n, f->out.n - n);
	f->out.n -= n;
	return (ssize_t)n;
}

static ssize_t line_write(void *self, const char *from, size_t n)
{
	struct fake_slurm *f = self;
	char *end;

	if (!f->alive)
		return -1;
	buf_add(&f->in, from, n);
	while ((end = memchr(f->in.at, '\n', f->in.n))) {
		size_t line = (size_t)(end - f->in.at) + 1;

		*end = '\0';
		hear(f, f->in.at);
		memmove(f->in.at, f->in.at + line, f->in.n - line);
		f->in.n -= line;
	}
	return (ssize_t)n;
}

const struct transport fake_transport = {
	.open = line_open,
	.close = line_close,
	.read_fd = no_fd,
	.write_fd = no_fd,
	.read = line_read,
	.write = line_write,
};
