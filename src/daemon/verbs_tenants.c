/*
 * Tenants: their weights, what they have and what they have used.
 */
#include <math.h>
#include <string.h>

#include "base/scan.h"
#include "daemon/library.h"
#include "daemon/loans.h"
#include "daemon/verbs_run.h"
#include "io/tenants_io.h"
#include "io/tenants_quota.h"
#include "model/quota.h"
#include "placement/quota.h"

struct uses {
	VEC(struct desk_use) at;
	struct arena *names;
};

/* How far back use is counted, and of how many ended jobs at most. */
enum { USE_DAYS = 7, USE_JOBS = 20000 };

static struct desk_use *use_of(struct uses *uses, const char *name)
{
	for (size_t i = 0; i < uses->at.n; i++) {
		if (!strcmp(uses->at.at[i].name, name))
			return &uses->at.at[i];
	}
	vec_push(&uses->at, (struct desk_use){ .name = arena_strdup(uses->names, name) });
	return &uses->at.at[uses->at.n - 1];
}

static int see_use(void *ctx, const struct record_job *row)
{
	struct scan s = scan_of(slice_of(row->status));
	struct slice key, value;
	double served_s = 0;

	while (scan_member(&s, &key, &value)) {
		if (scan_is(key, "served_s"))
			slice_double(value, &served_s);
	}
	use_of(ctx, row->tenant ? row->tenant : "")->used_gpu_s += served_s;
	return 0;
}

static void count_ended(struct record *record, double now_s, struct uses *uses)
{
	struct record_filter filter = {
		.uid = UINT32_MAX,
		.limit = USE_JOBS,
		.ended_since_s = now_s - USE_DAYS * 86400.0,
	};
	struct err ignored = { 0 };

	record_ended_jobs(record, &filter, see_use, uses, &ignored);
}

/* Of live jobs, onto the desk. */
static void count_live(struct daemon *d, struct desk *desk)
{
	const struct tenants *stated = core_tenants(d->core);
	struct uses uses = { .names = &desk->words };
	struct loans loans;
	size_t n;
	const struct live_job *const *jobs = core_jobs(d->core, &n);

	loans_look(d->core, &loans);
	for (uint32_t i = 0; i < stated->n; i++)
		use_of(&uses, stated->at[i].name);
	for (size_t i = 0; i < n; i++) {
		const struct job *seen = core_engine_job(d->core, jobs[i]);
		struct desk_use *use = use_of(&uses, jobs[i]->tenant ? jobs[i]->tenant : "");

		use->running += jobs[i]->state != LIVE_PENDING;
		use->pending += jobs[i]->state == LIVE_PENDING;
		use->gpus += seen->grant ? seen->grant->gpus : 0;
		use->lent += loans_of(&loans, d->core, jobs[i]);
		use->used_gpu_s += job_served_s(seen, desk->now_s);
	}
	desk->nuses = uses.at.n;
	desk->uses = arena_array(&desk->words, struct desk_use, uses.at.n + 1);
	if (uses.at.n)
		memcpy(desk->uses, uses.at.at, uses.at.n * sizeof(*desk->uses));
	loans_fini(&loans);
	vec_fini(&uses.at);
}

/* ---- quotas, onto the desk */

static double limit(uint32_t devices)
{
	return devices == QUOTA_ALL ? INFINITY : devices;
}

/* Whether somebody other than a ledger of quotas knows what is borrowed. */
static bool tells_loans(const struct daemon *d)
{
	return core_cells(d->core) || core_traits(d->core) & POLICY_QUOTAS;
}

/*
 * With all below.  Borrowed is what a ledger says, else what is on loan, else what is beyond the guarantee that nobody
 * keeps.
 */
static void count_held(const struct daemon *d, const struct desk *desk, struct desk_tenant *tenants)
{
	const struct quota *quota = core_quota(d->core);
	bool lent = tells_loans(d);

	for (size_t i = 0; i < desk->nuses; i++) {
		const struct desk_use *use = &desk->uses[i];
		uint32_t at = 0;

		while (at < desk->ntenants && strcmp(tenants[at].name, use->name) != 0)
			at++;
		for (; at < desk->ntenants; at = tenants[at].parent) {
			tenants[at].held += use->gpus;
			tenants[at].borrowed += use->lent;
		}
	}
	for (uint32_t i = 0; i < desk->ntenants; i++) {
		if (!lent)
			tenants[i].borrowed = fmax(0, tenants[i].held - tenants[i].devices);
		if (quota) {
			struct quota_standing s = quota_standing(quota, i);

			tenants[i].held = s.held;
			tenants[i].borrowed = s.borrowed;
		}
	}
}

/* "2 node, 4 pair of v100". */
static const char *words_of_cells(const struct tenant *t, struct arena *words)
{
	struct buf text = { 0 };
	const char *said;

	for (uint32_t i = 0; i < t->ncells; i++) {
		const struct tenant_cell *cell = &t->cells[i];

		buf_printf(&text, "%s%u %s", i ? ", " : "", cell->count, cell->cell);
		if (cell->type)
			buf_printf(&text, " of %s", cell->type);
		if (cell->pinned)
			buf_printf(&text, " at %s", cell->pinned);
	}
	said = arena_strdup(words, text.at ? text.at : "");
	buf_fini(&text);
	return said;
}

/* Of rules that keep quotas by themselves what they keep, else what nobody does. */
static const char *note_of(const struct daemon *d, struct desk *desk)
{
	const struct tenants *stated = core_tenants(d->core);
	bool cells = tenants_have_cells(stated);

	if (desk->quotas)
		return cells && !desk->cells ? "cells are not kept: stint policy set --placer hived"
					     : NULL;
	if (desk->by_policy)
		return arena_printf(&desk->words,
			"policy %s keeps quotas itself: a tenant's guaranteed jobs within its guarantee, else within what the policy's options say; others are guests, and what they have is borrowed",
			desk->policy);
	if (quota_is_set(stated))
		return "quotas are not kept: stint policy set --admit quota";
	if (cells)
		return desk->cells ? NULL : "cells are not kept: stint policy set --placer hived";
	return "quotas are not kept: stint policy set --admit quota";
}

static void put_quotas(const struct daemon *d, struct desk *desk)
{
	const struct tenants *stated = core_tenants(d->core);
	struct promises promises;
	struct buf yaml = { 0 };

	promises_make(stated, &d->epoch.cluster, &promises);
	for (uint32_t i = 0; i < stated->n && i < desk->ntenants; i++) {
		const struct tenant *t = &stated->at[i];
		struct desk_tenant *out = &desk->tenants[i];
		struct buf text = { 0 };

		quota_tell_guaranteed(stated, t, &text);
		out->guaranteed = arena_strdup(&desk->words, text.at ? text.at : "");
		out->devices = (double)promises.of[i].total;
		out->cells = words_of_cells(t, &desk->words);
		out->borrow = limit(t->borrow);
		out->lend = t->nparts ? 0 : limit(t->lend);
		for (uint32_t k = 0; k < t->nparts; k++)
			out->lend += limit(t->parts[k].lend);
		buf_fini(&text);
	}
	promises_fini(&promises);
	tenants_write_yaml(stated, &yaml);
	desk->yaml = stated->n ? arena_strdup(&desk->words, yaml.at) : NULL;
	desk->quotas = core_quota(d->core) != NULL;
	desk->cells = core_cells(d->core) != NULL;
	desk->by_policy = core_traits(d->core) & POLICY_QUOTAS;
	desk->note = note_of(d, desk);
	buf_fini(&yaml);
	count_held(d, desk, desk->tenants);
}

/* ---- the answer */

static const struct desk_tenant *stated_of(const struct desk *desk, const char *name)
{
	for (uint32_t i = 0; i < desk->ntenants; i++) {
		if (!strcmp(desk->tenants[i].name, name))
			return &desk->tenants[i];
	}
	return NULL;
}

static double weight_of(const struct desk *desk, const char *name)
{
	const struct desk_tenant *t = stated_of(desk, name);

	return t ? t->weight : 1;
}

static uint32_t parent_of(const struct desk *desk, const char *name)
{
	const struct desk_tenant *t = stated_of(desk, name);

	return t ? t->parent : TENANT_NONE;
}

static bool has_jobs(const struct uses *uses, const char *name)
{
	for (size_t i = 0; i < uses->at.n; i++) {
		const struct desk_use *use = &uses->at.at[i];

		if (!strcmp(use->name, name))
			return use->running || use->pending || use->used_gpu_s > 0;
	}
	return false;
}

/* Of all that stand below a tenant (TENANT_NONE: at the top); its own jobs, if any, count as one of these with weight 1. */
static double weights_below(const struct desk *desk, const struct uses *uses, uint32_t parent)
{
	double weights = 0;

	for (size_t i = 0; i < uses->at.n; i++) {
		if (parent_of(desk, uses->at.at[i].name) == parent)
			weights += weight_of(desk, uses->at.at[i].name);
	}
	if (weights > 0 && parent != TENANT_NONE && has_jobs(uses, desk->tenants[parent].name))
		weights += 1;
	return weights;
}

/* By weight among those below the same parent, of what that has. */
static double share_of(const struct desk *desk, const struct uses *uses, const char *name)
{
	uint32_t parent = parent_of(desk, name);
	double weights = weights_below(desk, uses, parent), above = 1;

	if (parent != TENANT_NONE)
		above = share_of(desk, uses, desk->tenants[parent].name);
	return weights > 0 ? above * weight_of(desk, name) / weights : 0;
}

/* Of one that others stand below, what its own jobs have of its share; NAN: nobody does, or it has none. */
static double own_part(const struct desk *desk, const struct uses *uses, const char *name)
{
	const struct desk_tenant *t = stated_of(desk, name);
	double weights = t ? weights_below(desk, uses, (uint32_t)(t - desk->tenants)) : 0;

	return weights > 0 && has_jobs(uses, name) ? 1 / weights : NAN;
}

/* With all below. */
static double used_by(const struct desk *desk, const struct uses *uses, const char *name)
{
	double used = 0;

	for (size_t i = 0; i < uses->at.n; i++) {
		const char *who = uses->at.at[i].name;

		for (; strcmp(who, name) != 0; who = desk->tenants[parent_of(desk, who)].name) {
			if (parent_of(desk, who) == TENANT_NONE)
				break;
		}
		used += !strcmp(who, name) ? uses->at.at[i].used_gpu_s : 0;
	}
	return used;
}

static void put_quota(const struct desk *desk, const struct desk_use *use, struct json *j)
{
	const struct desk_tenant *t = stated_of(desk, use->name);
	uint32_t beyond = desk->cells || desk->by_policy ? use->lent : use->gpus;

	if (t && t->parent != TENANT_NONE)
		json_str(j, "parent", desk->tenants[t->parent].name);
	json_double(j, "guaranteed", t ? t->devices : 0);
	if (t && *t->guaranteed)
		json_str(j, "guaranteed_as_said", t->guaranteed);
	if (t && *t->cells)
		json_str(j, "cells", t->cells);
	json_double(j, "borrow", t ? t->borrow : INFINITY); /* no limit is null */
	json_double(j, "lend", t ? t->lend : INFINITY);
	json_double(j, "held_gpus", t ? t->held : use->gpus);
	json_double(j, "borrowed_gpus", t ? t->borrowed : beyond);
}

static void put_use(const struct desk *desk, const struct uses *uses, const struct desk_use *use,
	double all, struct json *j)
{
	double share = share_of(desk, uses, use->name), own = own_part(desk, uses, use->name);

	json_begin_object(j, NULL);
	json_str(j, "name", use->name);
	json_double(j, "weight", weight_of(desk, use->name));
	json_double(j, "share", share);
	if (!isnan(own))
		json_double(j, "own_share", share * own);
	json_int(j, "running", use->running);
	json_int(j, "pending", use->pending);
	json_int(j, "running_gpus", use->gpus);
	json_double(j, "used_gpu_s", use->used_gpu_s);
	if (all > 0 && share > 0)
		json_double(j, "standing", used_by(desk, uses, use->name) / all / share);
	put_quota(desk, use, j);
	json_end(j, '}');
}

static void put_uses(const struct desk *desk, const struct uses *uses, const char *only, struct json *j)
{
	double all = 0;

	for (size_t i = 0; i < uses->at.n; i++)
		all += uses->at.at[i].used_gpu_s;
	json_begin_array(j, "tenants");
	for (size_t i = 0; i < uses->at.n; i++) {
		if (!only || strcmp(only, uses->at.at[i].name) == 0)
			put_use(desk, uses, &uses->at.at[i], all, j);
	}
	json_end(j, ']');
}

static void answer_quota(struct record *record, const struct desk *desk, struct call *call,
	const char *only)
{
	struct arena names = { 0 };
	struct uses uses = { .names = &names };
	struct json j;

	for (size_t i = 0; i < desk->nuses; i++)
		vec_push(&uses.at, desk->uses[i]);
	count_ended(record, desk->now_s, &uses);
	call_begin(call, &j);
	json_str(&j, "policy", desk->policy);
	json_int(&j, "devices", desk->ndevices);
	json_int(&j, "use_days", USE_DAYS);
	json_bool(&j, "quotas", desk->quotas);
	json_bool(&j, "by_policy", desk->by_policy);
	json_bool(&j, "cells", desk->cells);
	if (desk->note)
		json_str(&j, "note", desk->note);
	if (desk->yaml)
		json_str(&j, "yaml", desk->yaml);
	if (desk->limits)
		json_raw(&j, "limits", desk->limits, strlen(desk->limits));
	put_uses(desk, &uses, only, &j);
	json_end(&j, '}');
	vec_fini(&uses.at);
	arena_fini(&names);
}

static void read_quota(struct record *record, const struct desk *desk, struct call *call)
{
	answer_quota(record, desk, call, member_text(call->args, "tenant"));
}

void verb_quota(struct daemon *d, struct call *call)
{
	struct buf text = { 0 };
	struct json j;

	library_ask(d, call, read_quota);
	count_live(d, call->desk);
	put_quotas(d, call->desk);
	json_init(&j, &text, false);
	limits_put(d, call, &j);
	call->desk->limits = arena_strdup(&call->desk->words, text.at);
	buf_fini(&text);
}

/* After a change, which is answered by the loop once it is durable. */
static void answer_changed(struct daemon *d, struct call *call)
{
	struct desk *desk = desk_create(d);

	core_take_over(d->core);
	count_live(d, desk);
	put_quotas(d, desk);
	answer_quota(d->record, desk, call, NULL);
	desk_destroy(desk);
}

/* Everybody who has jobs is in the table from then on. */
static void state_tenants(struct daemon *d)
{
	size_t n;
	const struct live_job *const *jobs = core_jobs(d->core, &n);

	for (size_t i = 0; i < n; i++) {
		if (jobs[i]->tenant)
			tenants_add(&d->epoch.tenants, jobs[i]->tenant, strlen(jobs[i]->tenant));
	}
}

/* ---- changes */

static int set_weight(struct tenant *tenant, const json_t *args, struct err *err)
{
	double weight = member_number(args, "weight", tenant->weight);

	if (!(weight >= TENANT_WEIGHT_MIN && weight <= TENANT_WEIGHT_MAX))
		return err_set(err, ERR_USAGE, "weight: a number from %g to %g is needed",
			TENANT_WEIGHT_MIN, TENANT_WEIGHT_MAX);
	tenant->weight = weight;
	return 0;
}

static int set_quota(struct tenants *tenants, uint32_t i, const json_t *args, struct err *err)
{
	const char *guaranteed = member_text(args, "guaranteed");
	const char *borrow = member_text(args, "borrow"), *lend = member_text(args, "lend");
	const char *parent = member_text(args, "parent");

	if (set_weight(&tenants->at[i], args, err) < 0 ||
		(guaranteed && quota_say_guaranteed(tenants, i, guaranteed, err) < 0) ||
		(lend && quota_say_lend(tenants, i, lend, err) < 0))
		return err->code;
	if (borrow && !quota_number(borrow, true, &tenants->at[i].borrow))
		return err_set(err, ERR_USAGE,
			"borrow: \"%.80s\" is not a number of devices; write 4, or all", borrow);
	return parent ? quota_say_parent(tenants, i, parent, err) : 0;
}

/* The table as it shall be; everybody who has jobs is in it. */
static int change_tenants(struct daemon *d, const struct call *call, struct err *err)
{
	struct tenants *tenants = &d->epoch.tenants;
	const char *name = member_text(call->args, "tenant"), *yaml = member_text(call->args, "yaml");

	if (yaml) {
		struct tenants read = { 0 };

		if (tenants_read_yaml("tenants", yaml, strlen(yaml), &read, err) < 0)
			return err->code = err->code == ERR_REFUSED ? ERR_REFUSED : ERR_USAGE;
		tenants_fini(tenants);
		*tenants = read;
	}
	state_tenants(d);
	if (yaml)
		return 0;
	if (!name || !*name)
		return err_set(err, ERR_USAGE, "tenant: a name is needed");
	tenants_add(tenants, name, strlen(name));
	return set_quota(tenants, tenants_find(tenants, name, strlen(name)), call->args, err);
}

void verb_set_quota(struct daemon *d, struct call *call)
{
	struct tenants before;
	struct err err = { 0 };

	tenants_copy(&d->epoch.tenants, &before);
	if (change_tenants(d, call, &err) == 0 &&
		quota_check(&d->epoch.tenants, &d->epoch.cluster, &err) == 0 &&
		daemon_new_epoch(d, "tenants", &err) == 0) {
		tenants_fini(&before);
		answer_changed(d, call);
		return;
	}
	tenants_fini(&d->epoch.tenants);
	d->epoch.tenants = before;
	if (err.code == ERR_USAGE)
		call_problem(call, 400, 2, "%s", err.text);
	else
		call_fail(call, err.code, err.text);
}
