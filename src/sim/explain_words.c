/*
 * An explanation in words, and as JSON.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/explain.h"

enum { SHOWN = 8 }; /* of a list of others */
enum {
	CHAIN = 12,
	CHAIN_LOOK = 4
}; /* of those who follow each other; and how far ahead is looked */

static const struct snapshot *world(const struct explanation *e)
{
	return e->config.from;
}

static const struct snapshot_job *subject(const struct explanation *e)
{
	return &world(e)->jobs.at[e->config.job];
}

static const char *tenant_of(const struct snapshot *s, const struct job *job)
{
	return job->tenant < s->tenant_names.n ? s->tenant_names.at[job->tenant] : NULL;
}

static const char *plural(double n)
{
	return n == 1 ? "" : "s";
}

const char *change_name(enum change_kind kind)
{
	static const char *const names[CHANGE_KINDS] = {
		[CHANGE_RELEASE] = "release",
		[CHANGE_GPUS] = "gpus",
		[CHANGE_CPUS] = "cpus",
		[CHANGE_MEM] = "mem",
		[CHANGE_TYPES] = "types",
		[CHANGE_TIME] = "time",
		[CHANGE_PRIORITY] = "priority",
		[CHANGE_GUARANTEED] = "guaranteed",
		[CHANGE_BORROW] = "borrow",
		[CHANGE_WAIT] = "wait",
		[CHANGE_HOLD] = "hold",
	};

	return names[kind];
}

/* ---- devices */

static uint32_t held_of(const struct snapshot *s, uint32_t type)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < s->nrunning; i++) {
		struct grant_part parts[TYPES_MAX];
		uint32_t n = grant_parts(s->jobs.at[i].grant, &s->cluster, parts);

		for (uint32_t k = 0; k < n; k++)
			held += parts[k].type == type ? parts[k].gpus : 0;
	}
	return held;
}

static uint32_t down_of(const struct snapshot *s, uint32_t type)
{
	uint32_t down = 0;

	for (size_t i = 0; i < s->down.n; i++) {
		if (s->cluster.nodes[s->down.at[i].node].type == type)
			down += (uint32_t)__builtin_popcountll(s->down.at[i].devices);
	}
	return down;
}

/* Those of the devices that somebody has. */
static uint64_t held_among(const struct snapshot *s, uint32_t node, uint64_t devices)
{
	uint64_t held = 0;

	for (uint32_t i = 0; i < s->nrunning; i++) {
		const struct grant *grant = s->jobs.at[i].grant;

		for (uint32_t k = 0; k < grant->nslots; k++)
			held |= grant->slots[k].node == node ? grant->slots[k].devices : 0;
	}
	return devices & held;
}

/* Drained, neither down nor held: kept from everybody by that alone. */
static uint32_t drained_of(const struct snapshot *s, uint32_t type)
{
	uint32_t drained = 0;

	for (size_t i = 0; i < s->drained.n; i++) {
		const struct snapshot_drained *some = &s->drained.at[i];
		uint64_t out = held_among(s, some->node, some->devices);

		if (s->cluster.nodes[some->node].type != type)
			continue;
		for (size_t k = 0; k < s->down.n; k++)
			out |= s->down.at[k].node == some->node ? s->down.at[k].devices : 0;
		drained += (uint32_t)__builtin_popcountll(some->devices & ~out);
	}
	return drained;
}

/* Neither held, down nor drained; several that share a device count it several times, so never below 0. */
static uint32_t free_of(const struct snapshot *s, uint32_t type)
{
	uint32_t away = held_of(s, type) + down_of(s, type) + drained_of(s, type);

	return s->cluster.types[type].devices > away ? s->cluster.types[type].devices - away : 0;
}

static uint32_t free_for(const struct explanation *e)
{
	uint32_t n = 0;

	for (uint32_t type = 0; type < world(e)->cluster.ntypes; type++)
		n += job_may_use(&subject(e)->job, type) ? free_of(world(e), type) : 0;
	return n;
}

/* ---- texts */

static void type_names(const struct snapshot *s, uint32_t types, struct buf *out)
{
	size_t before = out->n;

	for (uint32_t type = 0; type < s->cluster.ntypes; type++) {
		if (types >> type & 1)
			buf_printf(out, "%s%s", out->n > before ? ", " : "",
				s->cluster.types[type].name);
	}
}

/* As people call the job at that place. */
static const char *called(const struct explanation *e, uint32_t place, char out[32])
{
	snapshot_call(&world(e)->jobs.at[place], out);
	return out;
}

/* How many stand one behind the other before it, at most `most`: what it waits for longest. */
static uint32_t chain_before(const struct snapshot *s, uint32_t place, uint32_t most, uint32_t *via)
{
	const struct snapshot_job *one = &s->jobs.at[place];
	uint32_t longest = 0;

	for (uint32_t i = 0; most && i < one->nafter && i < SHOWN; i++) {
		uint32_t next, n = 1 + chain_before(s, one->after[i], most - 1, &next);

		if (n > longest) {
			longest = n;
			*via = one->after[i];
		}
	}
	return longest;
}

/* "7 after 5 after 2, which runs": where it follows somebody who follows somebody. */
static void chain_text(const struct explanation *e, struct buf *out)
{
	const struct snapshot *s = world(e);
	uint32_t place = e->config.job, via = 0, shown = 0;
	char name[32];

	if (chain_before(s, place, 2, &via) < 2)
		return;
	buf_printf(out, ": %s", called(e, place, name));
	while (shown++ < CHAIN && chain_before(s, place, CHAIN_LOOK, &via)) {
		buf_printf(out, " after %s", called(e, via, name));
		place = via;
	}
	if (s->jobs.at[place].nafter)
		buf_str(out, " and so on");
	else
		buf_printf(out, ", which %s", place < s->nrunning ? "runs" : "waits for devices");
}

static void dependency_text(const struct explanation *e, struct buf *out)
{
	const struct snapshot_job *one = subject(e);
	char name[32];

	for (uint32_t i = 0; i < one->nafter && i < SHOWN; i++)
		buf_printf(out, "%s%s",
			i                          ? ", "
				: one->nafter == 1 ? "it follows job "
						   : "it follows jobs ",
			called(e, one->after[i], name));
	buf_str(out, one->nafter == 1 ? ", which has not ended" : ", which have not all ended");
	chain_text(e, out);
}

static void said_text(const struct explanation *e, struct buf *out)
{
	char other[48], name[32];
	bool named = e->said.other < world(e)->jobs.n;

	if (named)
		snprintf(other, sizeof(other), "job %s", called(e, e->said.other, name));
	reason_text(&e->said, named ? other : NULL, out);
}

static void host_text(const struct job *job, struct buf *out)
{
	char size[32];

	buf_str(out, "beside devices there is no room for its ");
	if (job->cpus > 0)
		buf_printf(out, "%g CPU%s", job->cpus, plural(job->cpus));
	if (job->mem_bytes > 0)
		buf_printf(out, "%s%s of memory", job->cpus > 0 ? " and " : "",
			text_size((double)job->mem_bytes, size));
}

static void drained_text(const struct snapshot *s, const struct snapshot_drained *some, struct buf *out)
{
	int n = __builtin_popcountll(some->devices);

	buf_printf(out, "%d device%s of node %s %s drained", n, plural(n),
		s->cluster.nodes[some->node].name, n == 1 ? "is" : "are");
	if (some->why)
		buf_printf(out, " (%s)", some->why);
}

static void all_drained_text(const struct snapshot *s, struct buf *out)
{
	for (size_t i = 0; i < s->drained.n && i < SHOWN; i++) {
		if (i)
			buf_str(out, ", ");
		drained_text(s, &s->drained.at[i], out);
	}
}

static void avoid_text(const struct snapshot *s, const struct job *job, struct buf *out)
{
	int n = 0;

	for (uint32_t i = 0; i < job->navoid; i++)
		n += __builtin_popcountll(job->avoid[i].devices);
	buf_printf(out, "it failed on %d device%s of node %s and waits for others", n, plural(n),
		s->cluster.nodes[job->avoid[0].node].name);
}

/* What is said of its tenant, or NULL. */
static const struct tenant *quota_of(const struct explanation *e)
{
	const char *name = tenant_of(world(e), &subject(e)->job);
	uint32_t i = name ? tenants_find(&world(e)->tenants, name, strlen(name)) : TENANT_NONE;

	return i == TENANT_NONE ? NULL : &world(e)->tenants.at[i];
}

/* Devices in the hands of a tenant; not of those below it. */
static uint32_t held_by(const struct snapshot *s, uint32_t tenant)
{
	uint32_t held = 0;

	for (uint32_t i = 0; i < s->nrunning; i++)
		held += s->jobs.at[i].job.tenant == tenant ? s->jobs.at[i].grant->gpus : 0;
	return held;
}

static void limits_text(const struct tenant *t, struct buf *out)
{
	buf_printf(out, "is guaranteed %u", t ? t->guaranteed : 0);
	if (t && t->borrow != QUOTA_ALL)
		buf_printf(out, " and may borrow %u", t->borrow);
}

static void quota_text(const struct explanation *e, struct buf *out)
{
	const char *tenant = tenant_of(world(e), &subject(e)->job);

	buf_printf(out, "quotas keep it waiting: %s%s ", tenant ? "its tenant " : "its tenant",
		tenant ? tenant : "");
	limits_text(quota_of(e), out);
	buf_printf(out, " and has %u; it needs %d", held_by(world(e), subject(e)->job.tenant),
		subject(e)->job.min_gpus);
}

static void own_text(const struct explanation *e, enum constraint c, struct buf *out)
{
	const struct snapshot *s = world(e);
	const struct job *job = &subject(e)->job;
	const char *tenant = tenant_of(s, job);
	char text[32];

	switch (c) {
	case BY_HOLD:
		buf_str(out,
			e->config.gate_text ? e->config.gate_text
					    : "it is held back until somebody lets it go");
		break;
	case BY_BEGIN:
		buf_printf(out, "it may not start for another %s",
			text_duration(subject(e)->opens_s - s->now_s, text));
		break;
	case BY_DEPENDENCY:
		dependency_text(e, out);
		break;
	case BY_ADMISSION:
		buf_printf(out, "the admission rule %s holds it back", s->admit);
		break;
	case BY_QUOTA:
		quota_text(e, out);
		break;
	case BY_DOWN:
		buf_str(out, "devices it could use are down");
		break;
	case BY_DRAINED:
		all_drained_text(s, out);
		break;
	case BY_AVOID:
		avoid_text(s, job, out);
		break;
	case BY_HOST:
		host_text(job, out);
		break;
	case BY_TYPES:
		buf_str(out, "it may use only ");
		type_names(s, job->types, out);
		break;
	case BY_DEADLINE:
		buf_str(out, "its deadline stands in its way");
		break;
	case BY_SHARE:
		buf_printf(out, "%s%s has other jobs, which count against it",
			tenant ? "its tenant " : "its tenant", tenant ? tenant : "");
		break;
	case BY_PRIORITY:
		buf_printf(out, "its priority is %d, and others stand as high or higher",
			job->priority);
		break;
	case BY_LENGTH:
		buf_printf(out, "it is believed to run for %s, too long to go in between",
			text_duration(job_run_s(job), text));
		break;
	case BY_SIZE:
		buf_printf(out, "it asks for %d device%s at once; %u it could use %s free",
			job->min_gpus, plural(job->min_gpus), free_for(e),
			free_for(e) == 1 ? "is" : "are");
		break;
	case BY_QUEUE:
		buf_str(out, "others that wait come before it");
		break;
	case BY_BUSY:
		buf_printf(out,
			"others hold devices: it needs %d, and of those it could use %u %s free",
			job->min_gpus, free_for(e), free_for(e) == 1 ? "is" : "are");
		break;
	default:
		break;
	}
}

void explain_cause_text(const struct explanation *e, const struct cause *cause, struct buf *out)
{
	if (cause->said)
		said_text(e, out);
	if (cause->said && (cause->constraint == BY_DRAINED || cause->constraint == BY_AVOID))
		buf_str(out, ": "); /* which, a policy does not say */
	else if (cause->said)
		return;
	own_text(e, cause->constraint, out);
}

static void wait_text(const struct explanation *e, const struct change *c, struct buf *out)
{
	const struct snapshot *s = world(e);
	char text[32], name[32];

	buf_str(out, "wait for ");
	for (uint32_t i = 0; i < c->njobs && i < SHOWN; i++)
		buf_printf(out, "%s%s", i ? ", " : "", called(e, c->jobs[i], name));
	if (c->njobs > SHOWN)
		buf_printf(out, " and %u more", c->njobs - SHOWN);
	buf_printf(out, " to end, believed to take another %s",
		text_duration(explain_left_s(s, c->jobs[c->njobs - 1]), text));
}

void explain_change_text(const struct explanation *e, const struct change *c, struct buf *out)
{
	const struct snapshot *s = world(e);
	const struct job *job = &subject(e)->job;
	char text[32], name[32];

	switch (c->kind) {
	case CHANGE_RELEASE:
		buf_str(out, "let it go");
		break;
	case CHANGE_GPUS:
		buf_printf(out, "%s%.0f %s%s instead of %d", explain_is_elastic(job) ? "at least " : "",
			c->value, e->config.slots ? "CPU" : "GPU", plural(c->value), job->min_gpus);
		break;
	case CHANGE_CPUS:
		buf_printf(out, "%.0f CPU%s instead of %g", c->value, plural(c->value), job->cpus);
		break;
	case CHANGE_MEM:
		buf_printf(out, "%s of memory", text_size(c->value, text));
		buf_printf(out, " instead of %s", text_size((double)job->mem_bytes, text));
		break;
	case CHANGE_TYPES:
		buf_printf(out, "type %s as well", s->cluster.types[(uint32_t)c->value].name);
		break;
	case CHANGE_TIME:
		buf_printf(out, "a run time of %s or less", text_duration(c->value, text));
		break;
	case CHANGE_PRIORITY:
		buf_printf(out, "priority %.0f instead of %d", c->value, job->priority);
		break;
	case CHANGE_GUARANTEED:
		buf_printf(out, "%.0f guaranteed device%s for %s instead of %u", c->value,
			plural(c->value), tenant_of(s, job),
			quota_of(e) ? quota_of(e)->guaranteed : 0);
		break;
	case CHANGE_BORROW:
		buf_printf(out, "%.0f device%s that %s may borrow instead of %u", c->value,
			plural(c->value), tenant_of(s, job), quota_of(e) ? quota_of(e)->borrow : 0);
		break;
	case CHANGE_WAIT:
		wait_text(e, c, out);
		break;
	case CHANGE_HOLD:
		buf_printf(out, "hold job %s%s", called(e, (uint32_t)c->value, name),
			c->value < s->nrunning ? ", which stops it" : "");
		break;
	default:
		break;
	}
}

/* What to type; where a job cannot be changed, what to submit it with. */
static void put_command(const struct explanation *e, const struct change *c, struct json *j)
{
	const struct snapshot *s = world(e);
	char name[32];
	struct buf text = { 0 };
	const char *key = "command";

	switch (c->kind) {
	case CHANGE_RELEASE:
		buf_printf(&text, "stint release %s", called(e, e->config.job, name));
		break;
	case CHANGE_PRIORITY:
		buf_printf(&text, "stint update %s --priority %.0f", called(e, e->config.job, name),
			c->value);
		break;
	case CHANGE_HOLD:
		buf_printf(&text, "stint hold %s%s", c->value < s->nrunning ? "--stop " : "",
			called(e, (uint32_t)c->value, name));
		break;
	case CHANGE_GUARANTEED:
	case CHANGE_BORROW:
		buf_printf(&text, "stint quota set %s --%s %.0f", tenant_of(s, &subject(e)->job),
			change_name(c->kind), c->value);
		break;
	case CHANGE_GPUS:
		key = "resubmit";
		buf_printf(&text, "--%s %.0f",
			explain_is_elastic(&subject(e)->job) ? "min-gpus"
				: e->config.slots            ? "cpus-per-task"
							     : "gpus",
			c->value);
		break;
	case CHANGE_CPUS:
		key = "resubmit";
		buf_printf(&text, "--cpus-per-task %.0f", c->value);
		break;
	case CHANGE_MEM:
		key = "resubmit";
		buf_printf(&text, "--mem %.0fG", c->value / EXPLAIN_GIB);
		break;
	case CHANGE_TYPES:
		key = "resubmit";
		buf_str(&text, "--type ");
		for (uint32_t type = 0, n = 0; type < s->cluster.ntypes; type++) {
			if (type == (uint32_t)c->value || job_may_use(&subject(e)->job, type))
				buf_printf(&text, "%s%s", n++ ? "," : "", s->cluster.types[type].name);
		}
		break;
	case CHANGE_TIME:
		key = "resubmit";
		buf_printf(&text, "--estimate %.0fs", c->value);
		break;
	default:
		break;
	}
	if (text.n)
		json_str(j, key, text.at);
	buf_fini(&text);
}

/* ---- evidence */

static void put_type(struct json *j, const struct snapshot *s, uint32_t type)
{
	json_str(j, "type", s->cluster.types[type].name);
}

static void put_runner(const struct explanation *e, uint32_t i, double born_s, struct json *j)
{
	const struct snapshot *s = world(e);
	const struct snapshot_job *one = &s->jobs.at[i];
	const char *tenant = tenant_of(s, &one->job);
	double since_s = one->job.held_s;
	struct buf text = { 0 };
	char lasted[32], name[32];

	snapshot_call(one, name);
	buf_printf(&text, "job %s%s%s %s %u %s", name, tenant ? " of " : "", tenant ? tenant : "",
		isfinite(since_s) ? "has held" : "holds", one->grant->gpus,
		s->cluster.types[one->grant->type].name);
	if (isfinite(since_s))
		buf_printf(&text, " for %s", text_duration(fmax(0, s->now_s - since_s), lasted));
	json_begin_object(j, NULL);
	json_str(j, "text", text.at);
	json_int(j, "job", one->number);
	if (tenant)
		json_str(j, "tenant", tenant);
	json_int(j, "gpus", one->grant->gpus);
	put_type(j, s, one->grant->type);
	if (isfinite(since_s))
		json_double(j, "since", born_s + since_s);
	json_end(j, '}');
	buf_fini(&text);
}

struct holder {
	uint32_t job, gpus;
};

static int by_size(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	if (x->gpus != y->gpus)
		return x->gpus > y->gpus ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

/* Who has devices that it could use, the largest first. */
static void put_holders(const struct explanation *e, double born_s, struct json *j)
{
	const struct snapshot *s = world(e);
	struct holder *holders = mem_alloc(mem_array_size(s->nrunning + 1u, sizeof(*holders)));
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nrunning; i++) {
		const struct grant *grant = s->jobs.at[i].grant;

		if (grant->mixed || job_may_use(&subject(e)->job, grant->type))
			holders[n++] = (struct holder){ i, grant->gpus };
	}
	qsort(holders, n, sizeof(*holders), by_size);
	for (uint32_t i = 0; i < n && i < SHOWN; i++)
		put_runner(e, holders[i].job, born_s, j);
	if (n > SHOWN) {
		json_begin_object(j, NULL);
		struct buf text = { 0 };

		buf_printf(&text, "and %u smaller ones", n - SHOWN);
		json_str(j, "text", text.at);
		json_end(j, '}');
		buf_fini(&text);
	}
	free(holders);
}

static void put_free(const struct explanation *e, bool all, struct json *j)
{
	const struct snapshot *s = world(e);

	for (uint32_t type = 0; type < s->cluster.ntypes; type++) {
		struct buf text = { 0 };
		uint32_t down = down_of(s, type);

		if (!all && !job_may_use(&subject(e)->job, type))
			continue;
		buf_printf(&text, "%u of %u %s %s free", free_of(s, type),
			s->cluster.types[type].devices, s->cluster.types[type].name,
			free_of(s, type) == 1 ? "is" : "are");
		if (down)
			buf_printf(&text, ", %u %s down", down, down == 1 ? "is" : "are");
		json_begin_object(j, NULL);
		json_str(j, "text", text.at);
		json_int(j, "gpus", free_of(s, type));
		put_type(j, s, type);
		json_end(j, '}');
		buf_fini(&text);
	}
}

static void put_drained(const struct explanation *e, struct json *j)
{
	const struct snapshot *s = world(e);

	for (size_t i = 0; i < s->drained.n && i < SHOWN; i++) {
		const struct snapshot_drained *some = &s->drained.at[i];
		struct buf text = { 0 };

		drained_text(s, some, &text);
		json_begin_object(j, NULL);
		json_str(j, "text", text.at);
		json_int(j, "gpus", __builtin_popcountll(some->devices));
		put_type(j, s, s->cluster.nodes[some->node].type);
		json_end(j, '}');
		buf_fini(&text);
	}
}

static void put_avoided(const struct explanation *e, struct json *j)
{
	const struct job *job = &subject(e)->job;
	struct buf text = { 0 };

	avoid_text(world(e), job, &text);
	json_begin_object(j, NULL);
	json_str(j, "text", text.at);
	json_end(j, '}');
	buf_fini(&text);
}

static void put_waiter(const struct explanation *e, uint32_t i, const char *how, struct json *j)
{
	const struct snapshot *s = world(e);
	const struct snapshot_job *one = &s->jobs.at[i];
	const char *tenant = tenant_of(s, &one->job);
	struct buf text = { 0 };
	char name[32];

	snapshot_call(one, name);
	buf_printf(&text, "job %s%s%s %s %d device%s", name, tenant ? " of " : "",
		tenant ? tenant : "", how, one->job.min_gpus, plural(one->job.min_gpus));
	if (one->job.priority)
		buf_printf(&text, ", priority %d", one->job.priority);
	json_begin_object(j, NULL);
	json_str(j, "text", text.at);
	json_int(j, "job", one->number);
	if (tenant)
		json_str(j, "tenant", tenant);
	json_int(j, "gpus", one->job.min_gpus);
	json_end(j, '}');
	buf_fini(&text);
}

/* The one the policy named, then those that came before it or stand higher. */
static void put_queue(const struct explanation *e, struct json *j)
{
	const struct snapshot *s = world(e);
	const struct job *own = &subject(e)->job;
	uint32_t shown = 0;

	if (e->said.other < s->jobs.n && e->said.other >= s->nrunning) {
		put_waiter(e, e->said.other, "waits for", j);
		shown++;
	}
	for (uint32_t i = s->nrunning; i < s->jobs.n && shown < SHOWN; i++) {
		const struct snapshot_job *one = &s->jobs.at[i];

		if (i == e->config.job || i == e->said.other || one->opens_s > s->now_s || one->nafter)
			continue;
		if (one->job.arrival_s > own->arrival_s && one->job.priority <= own->priority)
			continue;
		put_waiter(e, i, "waits for", j);
		shown++;
	}
}

/* By tenant: devices in use, and the part of all that is. */
static void put_shares(const struct explanation *e, struct json *j)
{
	const struct snapshot *s = world(e);
	uint32_t *used = mem_alloc(mem_array_size(s->tenant_names.n + 1u, sizeof(*used)));
	uint32_t own = subject(e)->job.tenant, shown = 0;

	for (uint32_t i = 0; i < s->nrunning; i++) {
		uint32_t tenant = s->jobs.at[i].job.tenant;

		used[tenant < s->tenant_names.n ? tenant : s->tenant_names.n] +=
			s->jobs.at[i].grant->gpus;
	}
	for (uint32_t k = 0; k < s->tenant_names.n && shown < SHOWN; k++) {
		double share = s->cluster.devices ? (double)used[k] / s->cluster.devices : 0;
		struct buf text = { 0 };

		if (k != own && !used[k])
			continue;
		shown++;
		buf_printf(&text, "tenant %s has %u of %u devices, %.0f %%", s->tenant_names.at[k],
			used[k], s->cluster.devices, share * 100);
		json_begin_object(j, NULL);
		json_str(j, "text", text.at);
		json_str(j, "tenant", s->tenant_names.at[k]);
		json_int(j, "gpus", used[k]);
		json_double(j, "share", share);
		json_end(j, '}');
		buf_fini(&text);
	}
	free(used);
}

/* What each tenant is guaranteed, may borrow, and has. */
static void put_quotas(const struct explanation *e, struct json *j)
{
	const struct snapshot *s = world(e);

	for (uint32_t k = 0, shown = 0; k < s->tenants.n && shown < SHOWN; k++) {
		const struct tenant *t = &s->tenants.at[k];
		uint32_t name = names_find(&s->tenant_names, t->name, strlen(t->name));
		uint32_t held = held_by(s, name);
		struct buf text = { 0 };

		if (t != quota_of(e) && !held && !t->guaranteed)
			continue;
		shown++;
		buf_printf(&text, "tenant %s ", t->name);
		limits_text(t, &text);
		buf_printf(&text, ", has %u", held);
		json_begin_object(j, NULL);
		json_str(j, "text", text.at);
		json_str(j, "tenant", t->name);
		json_int(j, "gpus", held);
		json_int(j, "guaranteed", t->guaranteed);
		json_end(j, '}');
		buf_fini(&text);
	}
}

static void put_named(const struct explanation *e, double born_s, struct json *j)
{
	if (e->said.other >= world(e)->jobs.n)
		return;
	if (e->said.other < world(e)->nrunning)
		put_runner(e, e->said.other, born_s, j);
	else
		put_waiter(e, e->said.other, "asks for", j);
}

static void put_followed(const struct explanation *e, double born_s, struct json *j)
{
	for (uint32_t i = 0; i < subject(e)->nafter && i < SHOWN; i++) {
		uint32_t other = subject(e)->after[i];

		if (other < world(e)->nrunning)
			put_runner(e, other, born_s, j);
		else
			put_waiter(e, other, "waits for", j);
	}
}

static void put_evidence(const struct explanation *e, const struct cause *cause, double born_s,
	struct json *j)
{
	json_begin_array(j, "evidence");
	switch (cause->constraint) {
	case BY_BUSY:
	case BY_SIZE:
		put_free(e, false, j);
		put_holders(e, born_s, j);
		break;
	case BY_TYPES:
	case BY_DOWN:
		put_free(e, true, j);
		break;
	case BY_DRAINED:
		put_drained(e, j);
		put_free(e, true, j);
		break;
	case BY_AVOID:
		put_avoided(e, j);
		put_free(e, false, j);
		break;
	case BY_QUEUE:
	case BY_PRIORITY:
	case BY_LENGTH:
		put_queue(e, j);
		break;
	case BY_SHARE:
		put_shares(e, j);
		break;
	case BY_QUOTA:
		put_quotas(e, j);
		break;
	case BY_DEPENDENCY:
		put_followed(e, born_s, j);
		break;
	default:
		put_named(e, born_s, j);
		break;
	}
	json_end(j, ']');
}

/* ---- the whole */

static void put_verdict(const struct explanation *e, struct json *j)
{
	struct buf text = { 0 };
	char time[32];

	if (e->starts && e->decides_s > world(e)->now_s)
		buf_printf(&text, "nothing holds it back: it starts with the next round, in %s",
			text_duration(e->decides_s - world(e)->now_s, time));
	else if (e->starts)
		buf_str(&text, "nothing holds it back: it starts with the next decision");
	else if (!e->causes.n)
		buf_str(&text, "it waits, and no single cause was found");
	else
		explain_cause_text(e, &e->causes.at[0], &text);
	if (e->never)
		buf_str(&text, "; it would not start even if nothing else were here");
	if (e->changes.n) {
		buf_str(&text, "; this would start it: ");
		explain_change_text(e, &e->changes.at[0], &text);
	}
	json_str(j, "verdict", text.at);
	buf_fini(&text);
}

static void put_cause(const struct explanation *e, size_t i, double born_s, struct json *j)
{
	const struct cause *cause = &e->causes.at[i];
	struct buf text = { 0 };

	explain_cause_text(e, cause, &text);
	json_begin_object(j, NULL);
	json_int(j, "rank", (int64_t)i + 1);
	json_str(j, "cause", cause->word);
	json_str(j, "text", text.at);
	json_bool(j, "alone", cause->alone);
	json_bool(j, "needed", cause->needed);
	json_bool(j, "policy", cause->said);
	put_evidence(e, cause, born_s, j);
	json_end(j, '}');
	buf_fini(&text);
}

static void put_value(const struct explanation *e, const struct change *c, struct json *j)
{
	uint32_t place = c->value >= 0 ? (uint32_t)c->value : 0;

	switch (c->kind) {
	case CHANGE_TYPES:
		json_str(j, "value", world(e)->cluster.types[place].name);
		break;
	case CHANGE_WAIT:
	case CHANGE_HOLD:
	case CHANGE_RELEASE:
		json_int(j, "value", world(e)->jobs.at[place].number);
		break;
	default:
		json_double(j, "value", c->value);
		break;
	}
	if (c->kind != CHANGE_WAIT)
		return;
	json_begin_array(j, "jobs");
	for (uint32_t i = 0; i < c->njobs; i++)
		json_int(j, NULL, world(e)->jobs.at[c->jobs[i]].number);
	json_end(j, ']');
}

static void put_change(const struct explanation *e, const struct change *c, struct json *j)
{
	struct buf text = { 0 };

	explain_change_text(e, c, &text);
	json_begin_object(j, NULL);
	json_str(j, "kind", change_name(c->kind));
	put_value(e, c, j);
	json_str(j, "text", text.at);
	put_command(e, c, j);
	json_end(j, '}');
	buf_fini(&text);
}

void explain_to_json(const struct explanation *e, double born_s, struct json *j)
{
	put_verdict(e, j);
	json_bool(j, "starts", e->starts);
	json_double(j, "decides", born_s + e->decides_s);
	json_begin_array(j, "causes");
	for (size_t i = 0; i < e->causes.n; i++)
		put_cause(e, i, born_s, j);
	json_end(j, ']');
	json_begin_array(j, "changes");
	for (size_t i = 0; i < e->changes.n; i++)
		put_change(e, &e->changes.at[i], j);
	json_end(j, ']');
	json_bool(j, "cut", e->cut);
	json_int(j, "tries", e->tries);
}
