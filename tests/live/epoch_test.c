/*
 * Epochs as JSON, and dependencies between two of them.
 */
#include "live/epoch.h"

#include <string.h>

#include "live/live_job.h"
#include "support/property.h"

static void an_epoch_reads_back_as_it_was(void **state)
{
	struct epoch epoch = {
		.why = "start",
		.rules = { "gavel:round_s=60", NULL, "load:limit=2" },
		.seed = UINT64_MAX - 5,
		.born_s = 1763366400.25,
	};
	struct epoch again;
	struct buf text = { 0 }, second = { 0 };
	struct err err = { 0 };
	json_t *json;
	uint32_t lab;

	(void)state;
	assert_int_equal(cluster_parse("2x8:v100,1x4:a100", &epoch.cluster, &err), 0);
	lab = tenants_add(&epoch.tenants, "a \"lab\"", 7);
	epoch.tenants.at[lab].weight = 0.1;
	epoch.tenants.at[lab].parent = tenants_add(&epoch.tenants, "above", 5);
	epoch.tenants.at[1].within = WITHIN_FIFO;
	tenants_promise(&epoch.tenants, 1, 9);
	epoch.tenants.at[1].borrow = 3;
	epoch.tenants.at[1].lend = 0;
	tenants_promise_part(&epoch.tenants, lab, "v100", 4, 1);
	tenants_promise_part(&epoch.tenants, lab, "a100", 2, QUOTA_ALL);
	epoch_to_json(&epoch, &text);
	json = json_loads(text.at, 0, NULL);
	assert_string_equal(member_text(json, "why"), "start");
	assert_int_equal(epoch_from_json(json, &again, &err), 0);
	assert_true(again.seed == epoch.seed && again.born_s == epoch.born_s);
	assert_true(cluster_hash(&again.cluster) == cluster_hash(&epoch.cluster));
	assert_null(again.rules.placer);
	assert_int_equal(again.tenants.at[0].parent, 1);
	assert_true(again.tenants.at[0].weight == 0.1);
	assert_int_equal(again.tenants.at[1].within, WITHIN_FIFO);
	assert_true(again.tenants.at[1].promised && again.tenants.at[1].guaranteed == 9);
	assert_true(again.tenants.at[1].borrow == 3 && again.tenants.at[1].lend == 0);
	assert_true(again.tenants.at[0].nparts == 2 && again.tenants.at[0].guaranteed == 6);
	assert_true(again.tenants.at[0].borrow == QUOTA_ALL && again.tenants.at[0].lend == QUOTA_ALL);
	for (uint32_t i = 0; i < 2; i++) {
		const struct tenant_part *part = &again.tenants.at[0].parts[i];
		bool v100 = !strcmp(again.tenants.types.at[part->type], "v100");

		assert_true(part->guaranteed == (v100 ? 4 : 2) && part->lend == (v100 ? 1 : QUOTA_ALL));
	}
	again.why = "start";
	epoch_to_json(&again, &second);
	assert_string_equal(text.at, second.at);
	json_decref(json);
	buf_fini(&text);
	buf_fini(&second);
	epoch_fini(&again);
	cluster_fini(&epoch.cluster);
	tenants_fini(&epoch.tenants);
}

static const struct {
	const char *what, *json, *says;
} broken[] = {
	{ "no cluster", "{}", "cluster" },
	{ "a cluster that is none", "{\"cluster\":\"nodes: 3\"}", "cluster" },
	{ "a tenant without a name",
		"{\"cluster\":\"nodes:\\n  - {devices: 1}\\n\",\"tenants\":[{}]}", "tenant" },
	{ "a parent that is not there",
		"{\"cluster\":\"nodes:\\n  - {devices: 1}\\n\",\"tenants\":[{\"name\":\"a\",\"within\":\"fair\",\"parent\":\"b\"}]}",
		"below b" },
	{ "twice", "{\"cluster\":\"nodes:\\n  - {devices: 1}\\n\",\"tenants\":[{\"name\":\"a\",\"within\":\"fair\"},{\"name\":\"a\",\"within\":\"fair\"}]}",
		"twice" },
	{ "below itself",
		"{\"cluster\":\"nodes:\\n  - {devices: 1}\\n\",\"tenants\":[{\"name\":\"a\",\"within\":\"fair\",\"parent\":\"a\"}]}",
		"below itself" },
	{ "a quota that cannot be",
		"{\"cluster\":\"nodes:\\n  - {devices: 1}\\n\",\"tenants\":[{\"name\":\"a\",\"within\":\"fair\",\"guaranteed\":-1}]}",
		"quota" },
	{ "a weight that cannot be",
		"{\"cluster\":\"nodes:\\n  - {devices: 1}\\n\",\"tenants\":[{\"name\":\"a\",\"within\":\"fair\",\"weight\":-1}]}",
		"weight" },
};

static void what_is_no_epoch_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(broken); i++) {
		json_t *json = json_loads(broken[i].json, 0, NULL);
		struct epoch epoch;
		struct err err = { 0 };

		assert_non_null(json);
		assert_true(epoch_from_json(json, &epoch, &err) < 0);
		if (!strstr(err.text, broken[i].says))
			fail_msg("%s: %s", broken[i].what, err.text);
		json_decref(json);
	}
}

/* ---- dependencies */

static const char *state_of(void *ctx, uint32_t job)
{
	(void)ctx;
	return job == 1 ? "COMPLETED" : job == 2 ? "FAILED" : NULL;
}

static const struct {
	const char *before, *after;
} settled[] = {
	{ "{}", "{}" },
	{ "{\"after\":[[0,1]]}", "{}" },
	{ "{\"after\":[[0,2]]}", "{\"after\":[[0,0]],\"gate_job\":2}" },
	{ "{\"after\":[[1,1],[1,2],[1,3]]}", "{\"after\":[[1,3]]}" },
	{ "{\"after\":[[2,1]]}", "{\"after\":[[2,0]],\"gate_job\":1}" },
	{ "{\"after\":[[2,2]]}", "{}" },
	{ "{\"after\":[[3,1],[3,2]]}", "{}" },
	{ "{\"after\":[[0,3],[0,0]]}", "{\"after\":[[0,3],[0,0]]}" },
};

static void what_ended_is_settled(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(settled); i++) {
		json_t *status = json_loads(settled[i].before, 0, NULL);
		char *text;

		epoch_settle_after(status, state_of, NULL);
		text = json_dumps(status, JSON_COMPACT);
		assert_string_equal(text, settled[i].after);
		free(text);
		json_decref(status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_epoch_reads_back_as_it_was),
		cmocka_unit_test(what_is_no_epoch_is_refused),
		cmocka_unit_test(what_ended_is_settled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
