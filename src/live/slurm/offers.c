/*
 * Jobs that users submitted to Slurm: those that we can run are taken in, held,
 * and the daemon is told; the rest is Slurm's.
 *
 * A task of an array is a job of its own.  Of an array with a limit ("%4") only so
 * many are taken in at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/members.h"
#include "base/plain.h"
#include "live/slurm/driver.h"

#define OFFER_AGAIN_S 5.0           /* what the daemon could not write down is told again */
#define NEVER_S (5 * 365 * 86400.0) /* who begins after so long, begins when it is told to */

/* ---- whether */

static const char *text_of(const json_t *told, const char *name)
{
	const char *text = member_text(told, name);

	return text ? text : "";
}

static bool in_partition(const struct slurm *s, const json_t *told)
{
	struct slice rest = slice_of(text_of(told, "partition"));

	while (s->partition && rest.n) {
		if (slice_is(slice_cut(&rest, ','), s->partition))
			return true;
	}
	return false;
}

static bool has_type(const struct slurm *s, const char *type)
{
	for (size_t i = 0; i < s->nodes.at.n; i++) {
		if (!strcmp(s->nodes.at.at[i].type, type))
			return true;
	}
	return false;
}

static const char *cannot(const struct slurm *s, const json_t *told)
{
	int64_t nodes = member_int(told, "nodes", 1), per_node = member_int(told, "per_node", 0);

	if (member_int(told, "gpus", 0) <= 0)
		return "it asks for no GPUs";
	if (*text_of(told, "req_nodes"))
		return "it names its nodes";
	if (*text_of(told, "features"))
		return "it asks for features of nodes";
	if (*text_of(told, "reservation"))
		return "it runs in a reservation";
	if (*text_of(told, "licenses"))
		return "it needs licences";
	if (member_bool(told, "exclusive", false))
		return "it wants nodes to itself";
	if (member_bool(told, "het", false))
		return "it is part of a heterogeneous job";
	if (*text_of(told, "gpu_type") && !has_type(s, text_of(told, "gpu_type")))
		return "no node has the type of GPUs that it asks for";
	if (*text_of(told, "exc_nodes"))
		return "it excludes nodes";
	if (nodes > 1 && per_node <= 0)
		return "it asks for several nodes and does not say how many GPUs of each";
	return NULL;
}

bool slurm_why_not(const struct slurm *s, const json_t *told, char *why, size_t size)
{
	const char *text = cannot(s, told);

	if (text)
		snprintf(why, size, "stint: left to Slurm: %s", text);
	return text;
}

static bool is_marked_for_us(const json_t *told)
{
	return !strcmp(text_of(told, "admin_comment"), SLURM_MARK);
}

/* The hook lets jobs with dependencies begin in ten years. */
static bool begins_never(const struct slurm *s, const json_t *told)
{
	return member_number(told, "eligible", 0) > slurm_now(s) + NEVER_S;
}

/* One that its user holds shall wait where it is. */
static bool is_wanted(const struct slurm *s, const json_t *told)
{
	bool held = member_bool(told, "held", false);

	if (s->take == SLURM_TAKE_NONE || !member_bool(told, "batch", false) ||
		!in_partition(s, told) || *text_of(told, "dependency"))
		return false;
	if (is_marked_for_us(told))
		return held || begins_never(s, told);
	return s->take == SLURM_TAKE_ALL && !held && !*text_of(told, "admin_comment");
}

bool slurm_consider(struct slurm *s, struct slurm_job *j, const char *name, const json_t *told,
	uint32_t at_once)
{
	char why[128];

	(void)name;
	if (!is_wanted(s, told))
		return false;
	if (slurm_why_not(s, told, why, sizeof(why))) {
		if (!is_marked_for_us(told) || comment_holds(member_text(told, "comment")))
			return false;
		j->kind = KIND_BACK;
		free(j->why);
		j->why = mem_strdup(why);
		return true;
	}
	j->kind = KIND_OFFER;
	j->at_once = at_once;
	json_decref(j->offer);
	j->offer = json_incref((json_t *)told);
	return true;
}

/* ---- telling */

static void set_text(json_t *o, const char *name, const char *text)
{
	if (text && *text)
		json_object_set_new(o, name, json_string(text));
}

static void set_number(json_t *o, const char *name, double number)
{
	if (number > 0)
		json_object_set_new(o, name, json_real(number));
}

static json_t *submission_of(const struct slurm *s, const json_t *told)
{
	const char *command = text_of(told, "command");
	json_t *o = json_object();
	double eligible_s = member_number(told, "eligible", 0);
	char *name = mem_strdup(text_of(told, "name"));

	text_make_plain(name);
	set_text(o, "name", name);
	free(name);
	json_object_set_new(o, "command", json_pack("[s]", *command ? command : "sbatch"));
	set_text(o, "cwd", *text_of(told, "cwd") ? text_of(told, "cwd") : "/");
	json_object_set_new(o, "gpus", json_integer(member_int(told, "gpus", 0)));
	/* As many nodes as it asks for: its script sees to the rest. */
	json_object_set_new(o, "nodes", json_integer(member_int(told, "nodes", 1)));
	set_text(o, "types", text_of(told, "gpu_type"));
	set_number(o, "time_s", member_number(told, "limit_s", 0));
	set_number(o, "cpus", member_number(told, "cpus", 0));
	if (member_int(told, "mem_mb", 0) > 0)
		json_object_set_new(o, "mem_bytes",
			json_integer(member_int(told, "mem_mb", 0) * (INT64_C(1) << 20)));
	json_object_set_new(o, "requeue", json_boolean(member_bool(told, "requeue", true)));
	if (comment_holds(member_text(told, "comment")))
		json_object_set_new(o, "hold", json_true());
	if (eligible_s > slurm_now(s) + 1 && !begins_never(s, told))
		set_number(o, "begin", eligible_s);
	return o;
}

/* Tasks of its array that we have and that are not over. */
static uint32_t of_same_array(const struct slurm *s, const struct slurm_job *j)
{
	uint32_t array = name_array(j->name), n = 0;

	for (size_t i = 0; i < s->jobs.at.n; i++) {
		const struct slurm_job *other = s->jobs.at.at[i];

		n += other->kind == KIND_TAKEN && !other->forgotten && !other->dead &&
			name_array(other->name) == array;
	}
	return n;
}

static uint32_t offered_now(const struct slurm *s, const struct slurm_job *j)
{
	uint32_t array = name_array(j->name), n = 0;

	for (size_t i = 0; i < s->jobs.at.n; i++) {
		const struct slurm_job *other = s->jobs.at.at[i];

		n += other != j && other->kind == KIND_OFFER && other->offered_s > 0 &&
			name_array(other->name) == array;
	}
	return n;
}

void slurm_offer(struct slurm *s, struct slurm_job *j)
{
	double now_s = slurm_now(s);
	const char *account = text_of(j->offer, "account"), *user = text_of(j->offer, "user");
	struct arrival arrival = {
		.uid = (uid_t)member_int(j->offer, "uid", 0),
		.gid = (gid_t)member_int(j->offer, "gid", 0),
		.tenant = *account ? account
			: *user    ? user
				   : NULL,
		.at_s = j->fact.submit_s,
	};
	char key[96];

	if (j->fact.state != FACT_PENDING) {
		j->kind = KIND_GUEST;
		return;
	}
	if (!j->fact.held || j->order || j->need_look > s->seen ||
		(j->offered_s > 0 && now_s < j->offered_s + OFFER_AGAIN_S))
		return;
	if (j->at_once && of_same_array(s, j) + offered_now(s, j) >= j->at_once)
		return;
	j->offered_s = now_s;
	j->submit_s = j->fact.submit_s;
	outside_key_write(key, sizeof(key), j->name, j->submit_s);
	arrival.key = key;
	arrival.submission = submission_of(s, j->offer);
	j->offered_held = json_is_true(json_object_get(arrival.submission, "hold"));
	if (s->base.config.arrived)
		s->base.config.arrived(s->base.config.ctx, &arrival);
	json_decref(arrival.submission);
}
