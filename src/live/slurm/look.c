/*
 * Looking: what Slurm has of jobs and nodes, and who else uses its GPUs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/members.h"
#include "live/slurm/driver.h"

#define LOOK_PATIENCE_S 60.0
#define NODES_EVERY_S 5.0
#define UNEXPLAINED_S 15.0 /* what is used and shown by nobody is believed after so long */

/* ---- partitions */

static void hear_partitions(void *ctx, const struct wire_answer *answer)
{
	struct slurm *s = ctx;
	json_t *list = answer->ok ? json_object_get(answer->body, "partitions") : NULL;
	const json_t *one;
	size_t i;

	if (!list)
		return;
	json_decref(s->partitions);
	s->partitions = json_incref(list);
	s->has_partition = !s->partition;
	json_array_foreach(list, i, one)
	{
		const char *name = member_text(one, "name");

		if (!s->partition || !name || strcmp(name, s->partition) != 0)
			continue;
		s->has_partition = true;
		json_decref(s->names);
		s->names = json_incref(json_object_get(one, "nodes"));
	}
}

void slurm_ask_partitions(struct slurm *s)
{
	wire_send(s->wire, json_pack("{s:s}", "op", "partitions"), LOOK_PATIENCE_S, hear_partitions, s);
}

/* ---- nodes */

static void tell_changed(struct slurm *s)
{
	if (s->base.config.changed)
		s->base.config.changed(s->base.config.ctx);
}

static void hear_nodes(void *ctx, const struct wire_answer *answer)
{
	struct slurm *s = ctx;
	bool differs, ok = answer->ok && json_is_array(json_object_get(answer->body, "nodes"));

	slurm_heard(s, ok);
	slurm_answered(s, answer);
	if (!ok)
		return;
	differs = nodes_read(&s->nodes, answer->body, s->names);
	s->nodes_stamp = member_int(answer->body, "stamp", 0);
	s->nodes_known = true;
	s->nodes_seen = s->node_looks;
	if (differs)
		tell_changed(s);
}

void slurm_ask_nodes(struct slurm *s)
{
	s->node_looks++;
	s->nodes_due_s = slurm_now(s) + fmax(s->poll_s, NODES_EVERY_S);
	wire_send(s->wire,
		json_pack("{s:s,s:I}", "op", "nodes", "since", s->nodes_known ? s->nodes_stamp : 0),
		LOOK_PATIENCE_S, hear_nodes, s);
}

bool slurm_run_node_bad(const struct slurm *s, const struct run *run, bool *dead)
{
	const json_t *name;
	bool bad = false;
	size_t i;

	*dead = false;
	json_array_foreach(run->nodes, i, name)
	{
		for (size_t k = 0; k < s->nodes.at.n; k++) {
			const struct slurm_node *node = &s->nodes.at.at[k];

			if (strcmp(node->name, json_string_value(name)) != 0)
				continue;
			bad |= !node->usable;
			*dead |= node->dead;
		}
	}
	return bad;
}

/* ---- who else uses GPUs */

/* GPUs that it holds are not those of an attempt of ours. */
static bool is_guest(const struct slurm *s, const struct slurm_job *j)
{
	if (j->fact.on.n == 0)
		return false;
	return (j->kind != KIND_OWN && j->kind != KIND_TAKEN) || !slurm_is_marked(s, j);
}

static bool is_host(const struct slurm *s, const char *name)
{
	for (uint32_t i = 0; i < s->nhosts; i++) {
		if (!strcmp(s->hosts[i], name))
			return true;
	}
	return false;
}

/* GPUs of the node that jobs hold, ours and others'. */
static uint32_t shown_on(const struct slurm *s, const char *node)
{
	uint32_t n = 0;

	for (size_t i = 0; i < s->jobs.at.n; i++) {
		const struct fact *f = &s->jobs.at.at[i]->fact;

		for (size_t k = 0; k < f->on.n; k++)
			n += strcmp(f->on.at[k].node, node) ? 0 : f->on.at[k].gpus;
	}
	return n;
}

size_t slurm_guests(const struct slurm *s, struct nodes_guest **out)
{
	VEC(struct nodes_guest) list = { 0 };

	for (size_t i = 0; i < s->jobs.at.n; i++) {
		const struct slurm_job *j = s->jobs.at.at[i];

		for (size_t k = 0; k < j->fact.on.n && is_guest(s, j); k++) {
			struct nodes_guest guest = { j->fact.on.at[k].node, j->fact.on.at[k].gpus, "" };

			snprintf(guest.who, sizeof(guest.who), "job %s of %.40s", j->name,
				j->fact.user);
			if (guest.gpus && is_host(s, guest.node))
				vec_push(&list, guest);
		}
	}
	for (size_t i = 0; i < s->nodes.at.n; i++) {
		const struct slurm_node *node = &s->nodes.at.at[i];
		uint32_t shown = shown_on(s, node->name);
		struct nodes_guest guest = { node->name, node->used - shown, "nobody that Slurm shows" };

		if (node->unexplained_s > 0 && node->used > shown &&
			slurm_now(s) > node->unexplained_s + UNEXPLAINED_S)
			vec_push(&list, guest);
	}
	*out = list.at;
	return list.n;
}

/* A controller that was restarted may count GPUs as used that no job holds: there nothing will start. */
static void count_unexplained(struct slurm *s)
{
	for (size_t i = 0; i < s->nodes.at.n; i++) {
		struct slurm_node *node = &s->nodes.at.at[i];

		if (node->used <= shown_on(s, node->name))
			node->unexplained_s = 0;
		else if (node->unexplained_s == 0)
			node->unexplained_s = slurm_now(s);
	}
}

static void compare_guests(struct slurm *s)
{
	struct nodes_guest *guests;
	size_t n;
	uint64_t hash = HASH_START;

	count_unexplained(s);
	n = slurm_guests(s, &guests);
	for (size_t i = 0; i < n; i++) {
		hash = hash_bytes(hash, guests[i].node, strlen(guests[i].node));
		hash = hash_bytes(hash, guests[i].who, strlen(guests[i].who));
		hash = hash_u64(hash, guests[i].gpus);
	}
	free(guests);
	if (hash != s->guests)
		tell_changed(s);
	s->guests = hash;
}

void slurm_held(const struct slurm *s, bool *held, uint32_t n)
{
	memset(held, 0, n * sizeof(*held));
	for (size_t i = 0; i < s->jobs.at.n; i++) {
		const struct run *run = &s->jobs.at.at[i]->run;

		for (uint32_t k = 0; k < run->ndevices; k++) {
			if (run->devices[k] < n)
				held[run->devices[k]] = true;
		}
	}
}

/* ---- jobs */

void slurm_bind(struct slurm *s, struct slurm_job *j, const char *name, double submit_s)
{
	bool news = strcmp(j->name, name) != 0;
	struct slurm_job *other = jobs_find_name(&s->jobs, name);

	if (other && other != j)
		other->dead = true, jobs_set_name(&s->jobs, other, "");
	if (news)
		jobs_set_name(&s->jobs, j, name);
	if (submit_s > 0)
		j->submit_s = submit_s;
	if (news)
		paper_write(s, j);
}

static bool is_alive(const struct fact *fact)
{
	return fact->state == FACT_PENDING || fact->state == FACT_RUNNING;
}

/* A job with a key of ours: it is the one we know, a double of it, or nobody's. */
static struct slurm_job *of_key(struct slurm *s, const char *name, const struct slurm_key *key,
	const struct fact *now)
{
	struct slurm_job *j = jobs_find(&s->jobs, key->job), *stray = jobs_find_name(&s->jobs, name);

	if (j && j->kind == KIND_OWN && !strcmp(j->name, name))
		return j;
	/* Unknown to us by name: after a lost answer, or from before a restart. */
	if (j && j->kind == KIND_OWN && !is_alive(&j->fact) &&
		key->generation >= j->generation + (*j->name ? 1 : 0)) {
		j->generation = key->generation;
		slurm_bind(s, j, name, now->submit_s);
		return j;
	}
	if (stray || !is_alive(now))
		return stray;
	stray = jobs_add(&s->jobs, KIND_STRAY);
	jobs_set_name(&s->jobs, stray, name);
	slurm_say(s, LEVEL_NOTICE,
		"job %s in Slurm is a double of job %u, or was its: cancelling it", name, key->job);
	return stray;
}

/* Numbers begin anew when a controller loses its state: the same number need not be the same job. */
static bool is_same(const struct slurm *s, const struct slurm_job *j, const json_t *told)
{
	const char *mark = member_text(told, "admin_comment");
	struct slurm_mark m;

	return j->kind != KIND_TAKEN || j->outside ||
		member_number(told, "submit", 0) == j->submit_s ||
		(mark && mark_read(mark, s->site, &m) && m.job == j->job);
}

/* A job that a user submitted, which has been ours: it is known by its mark. */
static bool is_ours_no_more(const struct slurm *s, const json_t *told)
{
	const char *mark = member_text(told, "admin_comment");
	struct slurm_mark m;

	return mark && mark_read(mark, s->site, &m);
}

/* The entry for a job that Slurm tells of; NULL: it does not concern us. */
static struct slurm_job *entry_for(struct slurm *s, const char *name, const json_t *told,
	uint32_t at_once)
{
	const char *comment = member_text(told, "comment"), *word = member_text(told, "state");
	struct slurm_job *j = jobs_find_name(&s->jobs, name);
	struct fact now = { 0 };
	struct slurm_key key;
	bool holds = json_array_size(json_object_get(told, "on")) > 0;
	bool pending = word && !strcmp(word, "PENDING");

	if (comment && key_read(comment, s->site, &key)) {
		fact_read(&now, told);
		j = of_key(s, name, &key, &now);
		fact_fini(&now);
		return j;
	}
	if (j && j->kind != KIND_GUEST)
		return is_same(s, j, told) ? j : NULL;
	if (pending && !is_ours_no_more(s, told)) {
		struct slurm_job *offer = j ? j : jobs_add(&s->jobs, KIND_GUEST);

		if (slurm_consider(s, offer, name, told, at_once)) {
			jobs_set_name(&s->jobs, offer, name);
			return offer;
		}
		if (!j)
			offer->dead = true;
	}
	if (!j && holds) {
		j = jobs_add(&s->jobs, KIND_GUEST);
		jobs_set_name(&s->jobs, j, name);
	} else if (j && !holds) {
		j->dead = true;
	}
	return j;
}

static void hear_job(struct slurm *s, const char *name, const json_t *told, uint32_t at_once)
{
	struct slurm_job *j = entry_for(s, name, told, at_once);

	if (!j)
		return;
	fact_read(&j->fact, told);
	j->shown = true;
	if (j->kind == KIND_TAKEN || j->kind == KIND_OFFER) {
		const char *type = member_text(told, "gpu_type");

		j->typed = type && *type;
		j->per_node = (uint32_t)member_int(told, "per_node", 0);
	}
	if (j->kind == KIND_OWN) {
		json_decref(j->content);
		j->content = NULL;
	}
}

/* Tasks that were told of with their array and are not any more. */
static void forget_tasks(struct slurm *s, uint32_t array)
{
	for (size_t i = 0; i < s->jobs.at.n; i++) {
		struct slurm_job *j = s->jobs.at.at[i];

		if (j->fact.of_array && name_array(j->name) == array)
			fact_fini(&j->fact);
	}
}

static void hear_array(struct slurm *s, const json_t *told, const char *tasks)
{
	json_int_t array = member_int(told, "array", 0);
	slurm_tasks list = { 0 };
	uint32_t at_once = tasks_read(tasks, &list);
	char name[SLURM_NAME_MAX];

	forget_tasks(s, (uint32_t)array);
	for (size_t i = 0; i < list.n; i++) {
		snprintf(name, sizeof(name), "%lld_%u", (long long)array, list.at[i]);
		hear_job(s, name, told, at_once);
	}
	vec_fini(&list);
}

static void hear_gone(struct slurm *s, const char *name)
{
	struct slurm_job *j = jobs_find_name(&s->jobs, name);

	if (j)
		fact_fini(&j->fact);
	if (!strchr(name, '_'))
		forget_tasks(s, (uint32_t)strtoul(name, NULL, 10));
}

static void hear_all(struct slurm *s, const json_t *body)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(body, "gone"), i, one)
	{
		if (json_is_string(one))
			hear_gone(s, json_string_value(one));
	}
	json_array_foreach(json_object_get(body, "jobs"), i, one)
	{
		const char *name = member_text(one, "job"), *tasks = member_text(one, "tasks");

		if (!name || strlen(name) >= SLURM_NAME_MAX)
			continue;
		if (tasks && *tasks && !json_is_integer(json_object_get(one, "task")))
			hear_array(s, one, tasks);
		else
			hear_job(s, name, one, 0);
	}
}

/* Time in which nobody could look is no time that a job kept us waiting. */
static void credit(struct slurm *s, double gap_s)
{
	for (size_t i = 0; i < s->jobs.at.n && gap_s > 5; i++) {
		struct slurm_job *j = s->jobs.at.at[i];

		if (j->run.attempt && j->run.ordered_s > 0)
			j->run.ordered_s += gap_s;
	}
}

static void after_full_look(struct slurm *s)
{
	for (size_t i = 0; i < s->jobs.at.n; i++) {
		struct slurm_job *j = s->jobs.at.at[i];

		if (!j->shown)
			fact_fini(&j->fact);
	}
}

static void hear_jobs(void *ctx, const struct wire_answer *answer)
{
	struct slurm *s = ctx;
	double now_s = slurm_now(s);
	/* Without a list it would seem that Slurm had forgotten everything. */
	bool full, ok = answer->ok && json_is_array(json_object_get(answer->body, "jobs"));

	slurm_heard(s, ok);
	slurm_answered(s, answer);
	if (!ok)
		return;
	full = member_bool(answer->body, "full", true);
	for (size_t i = 0; i < s->jobs.at.n && full; i++)
		s->jobs.at.at[i]->shown = false;
	hear_all(s, answer->body);
	if (full)
		after_full_look(s);
	s->stamp = member_int(answer->body, "stamp", 0);
	s->want_full &= !full;
	if (s->seen)
		credit(s, now_s - s->looked_s);
	s->seen = s->looks;
	s->looked_before_s = s->looked_s;
	s->looked_s = now_s;
	s->look_cost_s = now_s - s->look_sent_s;
	compare_guests(s);
	for (size_t i = 0; i < s->jobs.at.n; i++)
		slurm_watch(s, s->jobs.at.at[i]);
}

void slurm_ask_jobs(struct slurm *s)
{
	s->looks++;
	s->look_sent_s = slurm_now(s);
	wire_send(s->wire,
		json_pack("{s:s,s:I}", "op", "jobs", "since", s->want_full || !s->seen ? 0 : s->stamp),
		LOOK_PATIENCE_S, hear_jobs, s);
}
