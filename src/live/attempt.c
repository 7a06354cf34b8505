/*
 * Attempts and grants as JSON and back.
 */
#include "live/attempt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "live/live_job.h"

static const char *const phase_names[] = { "waiting", "launched", "running", "over" };
static const char *const stop_names[] = { "none", "preempt", "move", "lost", "cancel", "hold",
	"requeue", "idle" };

const char *phase_name(enum phase phase)
{
	return phase_names[phase];
}

const char *stop_name(enum stop stop)
{
	return stop_names[stop];
}

static int find_word(const char *word, const char *const *words, int n)
{
	for (int i = 0; word && i < n; i++) {
		if (!strcmp(word, words[i]))
			return i;
	}
	return -1;
}

struct grant *grant_copy(const struct grant *grant)
{
	size_t size = sizeof(*grant) + grant->nslots * sizeof(grant->slots[0]);
	struct grant *copy = mem_alloc(size);

	memcpy(copy, grant, size);
	return copy;
}

struct attempt *attempt_create(uint32_t job, uint32_t number, const struct grant *grant, double now_s)
{
	struct attempt *a = mem_alloc(sizeof(*a));

	*a = (struct attempt){
		.job = job,
		.number = number,
		.grant = grant_copy(grant),
		.ordered_s = now_s,
		.launched_s = NAN,
		.begun_s = NAN,
		.asked_s = NAN,
		.over_s = NAN,
		.told_s = NAN,
		.code = -1,
	};
	return a;
}

void attempt_destroy(struct attempt *a)
{
	if (!a)
		return;
	free(a->grant);
	free(a->next);
	free(a->wish);
	free(a->text);
	free(a);
}

const struct grant *attempt_claim(const struct attempt *a)
{
	return a->wish ? a->wish : a->next ? a->next : a->grant;
}

void grant_to_json(const struct grant *grant, const struct cluster *cluster, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_begin_object(&j, NULL);
	json_str(&j, "type", cluster->types[grant->type].name);
	json_int(&j, "gpus", grant->gpus);
	json_begin_array(&j, "on");
	for (uint32_t i = 0; i < grant->nslots; i++) {
		json_begin_array(&j, NULL);
		json_int(&j, NULL, grant->slots[i].node);
		json_int(&j, NULL, (int64_t)grant->slots[i].devices);
		json_end(&j, ']');
	}
	json_end(&j, ']');
	if (grant->mixed)
		json_bool(&j, "mixed", true);
	if (grant->balanced)
		json_bool(&j, "balanced", true);
	if (grant->guest)
		json_bool(&j, "guest", true);
	if (grant->batch)
		json_int(&j, "batch", grant->batch);
	if (grant->share != 1)
		json_double(&j, "share", grant->share);
	if (grant->until_s > 0) {
		json_double(&j, "until_s", grant->until_s);
		json_double(&j, "steps", grant->steps);
	}
	if (grant->cpus > 0)
		json_double(&j, "cpus", grant->cpus);
	if (grant->mem_bytes > 0)
		json_int(&j, "mem_bytes", grant->mem_bytes);
	json_end(&j, '}');
}

static bool slot_from_json(const json_t *json, const struct cluster *cluster, struct slot *out)
{
	int64_t node = json_integer_value(json_array_get(json, 0));
	uint64_t devices = (uint64_t)json_integer_value(json_array_get(json, 1)), all;

	if (node < 0 || node >= cluster->nnodes || !devices)
		return false;
	all = cluster->nodes[node].devices >= 64 ? UINT64_MAX
						 : (UINT64_C(1) << cluster->nodes[node].devices) - 1;
	*out = (struct slot){ (uint32_t)node, devices };
	return !(devices & ~all);
}

int grant_from_json(const json_t *json, const struct cluster *cluster, struct grant **out,
	struct err *err)
{
	const json_t *on = json_object_get(json, "on");
	uint32_t n = (uint32_t)json_array_size(on);
	const char *type = member_text(json, "type");
	int known = type ? cluster_find_type(cluster, type) : -1;
	struct grant *g;

	if (known < 0 || n == 0)
		return err_set(err, ERR_FORMAT, "devices of a type that is not here");
	g = mem_alloc(sizeof(*g) + n * sizeof(g->slots[0]));
	g->type = (uint32_t)known;
	g->nslots = n;
	for (uint32_t i = 0; i < n; i++) {
		if (!slot_from_json(json_array_get(on, i), cluster, &g->slots[i])) {
			free(g);
			return err_set(err, ERR_FORMAT, "devices that are not here any more");
		}
		g->gpus += (uint32_t)__builtin_popcountll(g->slots[i].devices);
	}
	g->mixed = member_bool(json, "mixed", false);
	g->balanced = member_bool(json, "balanced", false);
	g->guest = member_bool(json, "guest", false);
	g->batch = (uint32_t)member_int(json, "batch", 0);
	g->share = member_number(json, "share", 1);
	g->until_s = member_number(json, "until_s", 0);
	g->steps = member_number(json, "steps", 0);
	g->cpus = member_number(json, "cpus", 0);
	g->mem_bytes = member_int(json, "mem_bytes", 0);
	*out = g;
	return 0;
}

static void put_time(struct json *j, const char *key, double at_s)
{
	if (!isnan(at_s))
		json_double(j, key, at_s);
}

static void put_grant(struct json *j, const char *key, const struct grant *grant,
	const struct cluster *cluster)
{
	struct buf text = { 0 };

	if (!grant)
		return;
	grant_to_json(grant, cluster, &text);
	json_raw(j, key, text.at, text.n);
	buf_fini(&text);
}

void attempt_status(const struct attempt *a, const struct cluster *cluster, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_begin_object(&j, NULL);
	json_int(&j, "job", a->job);
	json_int(&j, "attempt", a->number);
	json_str(&j, "phase", phase_name(a->phase));
	if (a->stop)
		json_str(&j, "stop", stop_name(a->stop));
	put_grant(&j, "grant", a->grant, cluster);
	put_grant(&j, "next", a->next, cluster);
	if (a->next_told)
		json_bool(&j, "next_told", true);
	put_grant(&j, "wish", a->wish, cluster);
	put_time(&j, "ordered_s", a->ordered_s);
	put_time(&j, "launched_s", a->launched_s);
	put_time(&j, "begun_s", a->begun_s);
	put_time(&j, "asked_s", a->asked_s);
	put_time(&j, "over_s", a->over_s);
	put_time(&j, "told_s", a->told_s);
	if (a->code >= 0)
		json_int(&j, "code", a->code);
	if (a->signal)
		json_int(&j, "signal", a->signal);
	if (a->text)
		json_str(&j, "text", a->text);
	json_end(&j, '}');
}

/* One that may be missing. */
static int read_grant(const json_t *status, const char *key, const struct cluster *cluster,
	struct grant **out, struct err *err)
{
	const json_t *json = json_object_get(status, key);

	return json ? grant_from_json(json, cluster, out, err) : 0;
}

int attempt_from_status(const json_t *status, const struct cluster *cluster, struct attempt **out,
	struct err *err)
{
	int phase = find_word(member_text(status, "phase"), phase_names, PHASE_OVER + 1);
	int stop = find_word(member_text(status, "stop"), stop_names, STOP_IDLE + 1);
	const char *text = member_text(status, "text");
	struct grant *grant;
	struct attempt *a;

	if (phase < 0)
		return err_set(err, ERR_FORMAT, "an attempt's status without a known phase");
	if (grant_from_json(json_object_get(status, "grant"), cluster, &grant, err) < 0)
		return err->code;
	a = mem_alloc(sizeof(*a));
	a->job = (uint32_t)member_int(status, "job", 0);
	a->number = (uint32_t)member_int(status, "attempt", 0);
	a->grant = grant;
	if (read_grant(status, "next", cluster, &a->next, err) < 0 ||
		read_grant(status, "wish", cluster, &a->wish, err) < 0) {
		attempt_destroy(a);
		return err->code;
	}
	a->next_told = member_bool(status, "next_told", false);
	a->phase = (enum phase)phase;
	a->stop = stop < 0 ? STOP_NONE : (enum stop)stop;
	a->ordered_s = member_number(status, "ordered_s", NAN);
	a->launched_s = member_number(status, "launched_s", NAN);
	a->begun_s = member_number(status, "begun_s", NAN);
	a->asked_s = member_number(status, "asked_s", NAN);
	a->over_s = member_number(status, "over_s", NAN);
	a->told_s = member_number(status, "told_s", NAN);
	a->code = (int)member_int(status, "code", -1);
	a->signal = (int)member_int(status, "signal", 0);
	a->text = text ? mem_strdup(text) : NULL;
	*out = a;
	return 0;
}
