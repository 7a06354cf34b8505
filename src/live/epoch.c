/*
 * Epochs as JSON and back, and what is left of dependencies between two of them.
 */
#include "live/epoch.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "io/cluster_io.h"
#include "live/live_job.h"

/* ---- writing */

static void put_cluster(struct json *j, const struct cluster *cluster)
{
	struct buf yaml = { 0 };

	cluster_write_yaml(cluster, &yaml);
	json_str(j, "cluster", yaml.at ? yaml.at : "");
	buf_fini(&yaml);
}

static void put_cells(struct json *j, const struct tenant *tenant)
{
	if (!tenant->ncells)
		return;
	json_begin_array(j, "cells");
	for (uint32_t i = 0; i < tenant->ncells; i++) {
		json_begin_object(j, NULL);
		json_str(j, "cell", tenant->cells[i].cell);
		if (tenant->cells[i].type)
			json_str(j, "type", tenant->cells[i].type);
		if (tenant->cells[i].pinned)
			json_str(j, "pinned", tenant->cells[i].pinned);
		json_int(j, "count", tenant->cells[i].count);
		json_end(j, '}');
	}
	json_end(j, ']');
}

/* Of a promise by type an object, else a number; what was not said is left out. */
static void put_quota(struct json *j, const struct tenants *table, const struct tenant *tenant)
{
	if (tenant->promised && !tenant->nparts)
		json_int(j, "guaranteed", tenant->guaranteed);
	if (tenant->nparts) {
		json_begin_object(j, "guaranteed");
		for (uint32_t i = 0; i < tenant->nparts; i++)
			json_int(j, table->types.at[tenant->parts[i].type],
				tenant->parts[i].guaranteed);
		json_end(j, '}');
		json_begin_object(j, "lend");
		for (uint32_t i = 0; i < tenant->nparts; i++) {
			if (tenant->parts[i].lend != QUOTA_ALL)
				json_int(j, table->types.at[tenant->parts[i].type],
					tenant->parts[i].lend);
		}
		json_end(j, '}');
	}
	if (tenant->borrow != QUOTA_ALL)
		json_int(j, "borrow", tenant->borrow);
	if (!tenant->nparts && tenant->lend != QUOTA_ALL)
		json_int(j, "lend", tenant->lend);
}

static void put_tenant(struct json *j, const struct tenants *table, const struct tenant *tenant)
{
	json_begin_object(j, NULL);
	json_str(j, "name", tenant->name);
	if (tenant->parent != TENANT_NONE)
		json_str(j, "parent", table->at[tenant->parent].name);
	json_double(j, "weight", tenant->weight);
	json_str(j, "within", within_names[tenant->within]);
	put_cells(j, tenant);
	put_quota(j, table, tenant);
	json_end(j, '}');
}

static void put_tenants(struct json *j, const struct tenants *tenants)
{
	json_begin_array(j, "tenants");
	for (uint32_t i = 0; i < tenants->n; i++)
		put_tenant(j, tenants, &tenants->at[i]);
	json_end(j, ']');
}

static void put_rule(struct json *j, const char *key, const char *spec)
{
	if (spec)
		json_str(j, key, spec);
}

static void put_care(struct json *j, const struct epoch *epoch)
{
	char *devices = epoch->devices ? json_dumps(epoch->devices, JSON_COMPACT) : NULL;

	json_int(j, "avoid_after", epoch->care.avoid_after);
	json_int(j, "drain_after", epoch->care.drain_after);
	json_int(j, "drain_users", epoch->care.drain_users);
	if (epoch->health.devices.n)
		health_to_json(&epoch->health, "health", j);
	if (devices)
		json_raw(j, "devices", devices, strlen(devices));
	free(devices);
}

void epoch_to_json(const struct epoch *epoch, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_begin_object(&j, NULL);
	json_str(&j, "why", epoch->why);
	put_rule(&j, "policy", epoch->rules.policy);
	put_rule(&j, "placer", epoch->rules.placer);
	put_rule(&j, "admit", epoch->rules.admit);
	json_int(&j, "seed", (int64_t)epoch->seed);
	json_double(&j, "born_s", epoch->born_s);
	put_cluster(&j, &epoch->cluster);
	put_tenants(&j, &epoch->tenants);
	put_rule(&j, "hosts", epoch->hosts);
	put_care(&j, epoch);
	json_end(&j, '}');
}

/* ---- reading */

static const char *copy_member(const json_t *json, const char *key)
{
	const char *text = member_text(json, key);

	return text ? mem_strdup(text) : NULL;
}

static int read_cluster(const json_t *json, struct cluster *out, struct err *err)
{
	const char *yaml = member_text(json, "cluster");

	if (!yaml)
		return err_set(err, ERR_FORMAT, "an epoch without a cluster");
	if (cluster_read_yaml("the epoch's cluster", yaml, strlen(yaml), out, err) < 0)
		return err->code;
	return 0;
}

static int within_of(const char *word)
{
	for (int i = 0; word && within_names[i]; i++) {
		if (!strcmp(word, within_names[i]))
			return i;
	}
	return -1;
}

static int read_cells(const json_t *json, uint32_t tenant, struct tenants *out, struct err *err)
{
	const json_t *list = json_object_get(json, "cells"), *one;
	size_t i, n = json_array_size(list);
	struct tenant_cell *cells = mem_alloc(mem_array_size(n + 1, sizeof(*cells)));
	int rc = 0;

	json_array_foreach(list, i, one)
	{
		int64_t count = member_int(one, "count", 0);

		cells[i] = (struct tenant_cell){ member_text(one, "cell"), member_text(one, "type"),
			member_text(one, "pinned"), (uint32_t)count, 0 };
		if (!cells[i].cell || count < 1 || count > UINT32_MAX)
			rc = err_set(err, ERR_FORMAT, "tenant %s has cells that cannot be",
				out->at[tenant].name);
	}
	if (!rc)
		tenants_set_cells(out, tenant, cells, (uint32_t)n);
	free(cells);
	return rc;
}

static bool read_count(const json_t *json, uint32_t *out)
{
	json_int_t n = json_integer_value(json);

	if (!json)
		return true;
	*out = (uint32_t)n;
	return json_is_integer(json) && n >= 0 && n <= QUOTA_MAX;
}

/* Records of before quotas have none of these. */
static bool read_quota(const json_t *json, struct tenants *out, uint32_t i)
{
	const json_t *guaranteed = json_object_get(json, "guaranteed"), *value;
	const json_t *lend = json_object_get(json, "lend");
	const char *type;
	uint32_t n = 0;

	if (!read_count(json_object_get(json, "borrow"), &out->at[i].borrow))
		return false;
	if (json_is_object(guaranteed)) {
		json_object_foreach((json_t *)guaranteed, type, value)
		{
			uint32_t lent = QUOTA_ALL;

			if (!read_count(value, &n) || !read_count(json_object_get(lend, type), &lent) ||
				!tenants_promise_part(out, i, type, n, lent))
				return false;
		}
		return true;
	}
	if (!read_count(guaranteed, &n) || !read_count(lend, &out->at[i].lend))
		return false;
	if (guaranteed)
		tenants_promise(out, i, n);
	return true;
}

static int read_tenant(const json_t *json, struct tenants *out, struct err *err)
{
	const char *name = member_text(json, "name");
	double weight = member_number(json, "weight", 1);
	int within = within_of(member_text(json, "within"));
	uint32_t i;

	if (!name || within < 0 || !(weight >= TENANT_WEIGHT_MIN && weight <= TENANT_WEIGHT_MAX))
		return err_set(err, ERR_FORMAT,
			"a tenant without a name, or with a weight or order that cannot be");
	i = tenants_add(out, name, strlen(name));
	if (i == TENANT_NONE)
		return err_set(err, ERR_FORMAT, "tenant %s stands twice", name);
	out->at[i].weight = weight;
	out->at[i].within = (enum within)within;
	if (!read_quota(json, out, i))
		return err_set(err, ERR_FORMAT, "tenant %s with a quota that cannot be", name);
	return read_cells(json, i, out, err);
}

/* Once all are there: a parent may stand after those below it. */
static int read_parents(const json_t *list, struct tenants *out, struct err *err)
{
	for (uint32_t i = 0; i < out->n; i++) {
		const char *parent = member_text(json_array_get(list, i), "parent");

		if (!parent)
			continue;
		out->at[i].parent = tenants_find(out, parent, strlen(parent));
		if (out->at[i].parent == TENANT_NONE)
			return err_set(err, ERR_FORMAT, "tenant %s stands below %s, which is not there",
				out->at[i].name, parent);
	}
	if (tenants_cycle(out) != TENANT_NONE)
		return err_set(err, ERR_FORMAT, "tenant %s stands below itself",
			out->at[tenants_cycle(out)].name);
	return 0;
}

static int read_tenants(const json_t *json, struct tenants *out, struct err *err)
{
	const json_t *list = json_object_get(json, "tenants"), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (read_tenant(one, out, err) < 0)
			return err->code;
	}
	return read_parents(list, out, err);
}

int epoch_from_json(const json_t *json, struct epoch *out, struct err *err)
{
	struct epoch e = {
		.seed = (uint64_t)member_int(json, "seed", 0),
		.born_s = member_number(json, "born_s", 0),
		.care = { (int32_t)member_int(json, "avoid_after", 0),
			(int32_t)member_int(json, "drain_after", 0),
			(int32_t)member_int(json, "drain_users", 0) },
	};

	if (read_cluster(json, &e.cluster, err) < 0)
		return err->code;
	if (read_tenants(json, &e.tenants, err) < 0) {
		epoch_fini(&e);
		return err->code;
	}
	e.rules = (struct rule_specs){
		.policy = copy_member(json, "policy"),
		.placer = copy_member(json, "placer"),
		.admit = copy_member(json, "admit"),
	};
	e.hosts = (char *)copy_member(json, "hosts");
	health_from_json(json_object_get(json, "health"), &e.cluster, &e.health);
	e.devices = json_incref(json_object_get(json, "devices"));
	*out = e;
	return 0;
}

void epoch_fini(struct epoch *epoch)
{
	free((char *)epoch->rules.policy);
	free((char *)epoch->rules.placer);
	free((char *)epoch->rules.admit);
	cluster_fini(&epoch->cluster);
	tenants_fini(&epoch->tenants);
	free(epoch->hosts);
	health_fini(&epoch->health);
	json_decref(epoch->devices);
	*epoch = (struct epoch){ 0 };
}

/* ---- dependencies */

enum settled { STILL_OPEN, WAS_MET, NEVER_MET };

static enum settled settle(int64_t kind, const char *state)
{
	int ended = state ? live_state_of(state) : -1;
	bool ok = ended == LIVE_COMPLETED;

	if (ended < LIVE_COMPLETED)
		return STILL_OPEN;
	if (kind == AFTER_ANY || kind == AFTER_START)
		return WAS_MET;
	return ok == (kind == AFTER_OK) ? WAS_MET : NEVER_MET;
}

void epoch_settle_after(json_t *status, const char *(*state_of)(void *ctx, uint32_t job), void *ctx)
{
	json_t *after = json_object_get(status, "after");

	for (size_t i = 0; i < json_array_size(after);) {
		json_t *one = json_array_get(after, i);
		int64_t job = json_integer_value(json_array_get(one, 1));
		enum settled how = STILL_OPEN;

		if (job > 0)
			how = settle(json_integer_value(json_array_get(one, 0)),
				state_of(ctx, (uint32_t)job));
		if (how == WAS_MET) {
			json_array_remove(after, i);
			continue;
		}
		if (how == NEVER_MET) {
			json_array_set_new(one, 1, json_integer(0));
			json_object_set_new(status, "gate_job", json_integer(job));
		}
		i++;
	}
	if (after && json_array_size(after) == 0)
		json_object_del(status, "after");
}
