/*
 * One event as one line of JSON.
 *
 * A run of a million jobs has millions of lines, so that nothing here goes
 * through printf.
 */
#include "store/event_log.h"

#include <math.h>

#include "base/json.h"

static void put_key(struct buf *out, const char *key)
{
	buf_add(out, ",\"", 2);
	buf_str(out, key);
	buf_add(out, "\":", 2);
}

static void put_number(struct buf *out, const char *key, double x)
{
	put_key(out, key);
	if (isfinite(x))
		buf_double(out, x);
	else
		buf_add(out, "null", 4);
}

static void put_text(struct buf *out, const char *key, const char *text)
{
	put_key(out, key);
	json_quote(out, text);
}

/* The set bits as people write them: "0-3,6". */
static void put_devices(struct buf *out, uint64_t devices)
{
	bool first = true;

	buf_char(out, '"');
	for (int i = 0; i < 64; i++) {
		int begin = i;

		if (!(devices >> i & 1))
			continue;
		while (i < 63 && devices >> (i + 1) & 1)
			i++;
		if (!first)
			buf_char(out, ',');
		first = false;
		buf_double(out, begin);
		if (i > begin) {
			buf_char(out, '-');
			buf_double(out, i);
		}
	}
	buf_char(out, '"');
}

static const char *node_name(const struct cluster *cluster, uint32_t node)
{
	return node < cluster->nnodes ? cluster->nodes[node].name : "?";
}

static void put_places(struct buf *out, const struct grant *grant, const struct cluster *cluster)
{
	put_key(out, "on");
	buf_char(out, '[');
	for (uint32_t i = 0; i < grant->nslots; i++) {
		buf_add(out, i ? ",[" : "[", i ? 2 : 1);
		json_quote(out, node_name(cluster, grant->slots[i].node));
		buf_char(out, ',');
		put_devices(out, grant->slots[i].devices);
		buf_char(out, ']');
	}
	buf_char(out, ']');
}

static void put_parts(struct buf *out, const struct grant *grant, const struct cluster *cluster)
{
	struct grant_part parts[TYPES_MAX];
	uint32_t n = grant_parts(grant, cluster, parts);

	put_key(out, "types");
	buf_char(out, '[');
	for (uint32_t i = 0; i < n; i++) {
		buf_add(out, i ? ",[" : "[", i ? 2 : 1);
		json_quote(out, cluster->types[parts[i].type].name);
		buf_char(out, ',');
		buf_double(out, parts[i].gpus);
		buf_char(out, ']');
	}
	buf_char(out, ']');
}

static void put_grant(struct buf *out, const struct grant *grant, const struct cluster *cluster)
{
	if (grant->type < cluster->ntypes)
		put_text(out, "type", cluster->types[grant->type].name);
	if (grant->mixed)
		put_parts(out, grant, cluster);
	put_number(out, "gpus", grant->gpus);
	put_places(out, grant, cluster);
	if (grant->batch == BATCH_TUNED)
		put_text(out, "batch", "tuned");
	else if (grant->batch)
		put_number(out, "batch", grant->batch);
	if (grant->share != 1)
		put_number(out, "share", grant->share);
	if (grant->balanced) {
		put_key(out, "balanced");
		buf_str(out, "true");
	}
	if (grant->cpus > 0)
		put_number(out, "cpus", grant->cpus);
	if (grant->mem_bytes > 0)
		put_number(out, "mem_bytes", (double)grant->mem_bytes);
	if (grant->guest) {
		put_key(out, "guest");
		buf_str(out, "true");
	}
	if (grant->host)
		put_text(out, "host", cluster->nodes[grant->host - 1].name);
	if (grant->link_Bps > 0)
		put_number(out, "link_Bps", grant->link_Bps);
}

/* Whether the reason is about how many there are, so that `have` 0 is a number and not "unknown". */
static bool counts_devices(enum why why)
{
	return why == WHY_BUSY || why == WHY_FRAGMENTED || why == WHY_TOO_LARGE ||
		why == WHY_DEADLINE || why == WHY_QUOTA;
}

static void put_reason(struct buf *out, const struct reason *reason, const char *other)
{
	put_text(out, "why", why_name(reason->why));
	if (reason->need)
		put_number(out, "need", reason->need);
	if (counts_devices(reason->why))
		put_number(out, "have", reason->have);
	if (reason->at_s > 0 && isfinite(reason->at_s))
		put_number(out, "fits_at", reason->at_s);
	if (reason->share > 0 || (reason->why == WHY_TURN && reason->against > 0)) {
		put_number(out, "share", reason->share);
		put_number(out, "against", reason->against);
	}
	if (reason->other == JOB_NONE)
		return;
	if (other)
		put_text(out, "other", other);
	else
		put_number(out, "other_id", reason->other);
}

static void put_job(struct buf *out, const struct event *event, const struct job *job)
{
	if (job && job->label)
		put_text(out, "job", job->label);
	else if (event->job != JOB_NONE)
		put_number(out, "job_id", event->job);
}

/* What only some kinds of event have. */
static void put_rest(struct buf *out, const struct event *event, const struct job *job,
	const char *other, const struct cluster *cluster)
{
	switch (event->kind) {
	case EV_SUBMIT:
		if (job)
			put_number(out, "gpus", job->gpus);
		break;
	case EV_START:
	case EV_MIGRATE:
	case EV_RESIZE:
	case EV_RENEW:
		put_number(out, "attempt", event->attempt);
		if (event->grant)
			put_grant(out, event->grant, cluster);
		put_number(out, "ready", job ? job->ready_s : event->at_s + event->value);
		break;
	case EV_LOST:
		put_number(out, "attempt", event->attempt);
		put_text(out, "node", node_name(cluster, event->node));
		put_number(out, "lost_s", event->value);
		break;
	case EV_PREEMPT:
		put_number(out, "attempt", event->attempt);
		if (event->reason.why != WHY_NONE)
			put_reason(out, &event->reason, other);
		break;
	case EV_FINISH:
	case EV_WITHDRAW:
	case EV_BEGUN:
		put_number(out, "attempt", event->attempt);
		break;
	case EV_YIELD:
		put_number(out, "attempt", event->attempt);
		put_number(out, "lost_s", event->value);
		break;
	case EV_PROGRESS:
		put_number(out, "done", event->value);
		break;
	case EV_DEVICES_DOWN:
	case EV_DEVICES_UP:
	case EV_DEVICES_DRAINED:
		put_text(out, "node", node_name(cluster, event->node));
		put_key(out, "devices");
		put_devices(out, event->devices);
		break;
	case EV_NODE_DOWN:
	case EV_NODE_UP:
		put_text(out, "node", node_name(cluster, event->node));
		break;
	case EV_REJECT:
	case EV_HOLD:
	case EV_WAIT:
		put_reason(out, &event->reason, other);
		break;
	case EV_ADMIT:
	case EV_LOAN:
	case EV_TIMER:
	case EV_END:
	case EV_KINDS:
		break;
	}
}

void event_format(const struct event *event, const struct job *job, const char *other,
	const struct cluster *cluster, struct buf *out)
{
	buf_add(out, "{\"t\":", 5);
	if (isfinite(event->at_s))
		buf_double(out, event->at_s);
	else
		buf_add(out, "null", 4);
	put_text(out, "ev", event_name(event->kind));
	put_job(out, event, job);
	put_rest(out, event, job, other, cluster);
	buf_char(out, '}');
}
