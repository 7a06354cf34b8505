/*
 * stint quota: tenants, their weights, and what they have and used.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/live.h"
#include "cli/live_print.h"
#include "cli/term.h"
#include "cli/ui.h"

static void tenant_row(struct table *table, const json_t *tenant)
{
	char used[DURATION_SIZE];
	double share = live_number(tenant, "share");

	table_cell(table, live_text(tenant, "name"));
	table_cellf(table, "%g", live_number(tenant, "weight"));
	table_cellf(table, "%.4g", live_number(tenant, "running_gpus"));
	table_cellf(table, "%.0f", live_number(tenant, "running"));
	table_cellf(table, "%.0f", live_number(tenant, "pending"));
	table_cell(table, live_duration(live_number(tenant, "used_gpu_s"), used));
	if (isnan(share))
		table_cell(table, "-");
	else
		table_cellf(table, "%.0f%%", share * 100);
}

static int show(const json_t *reply, struct err *err)
{
	const json_t *tenants = json_object_get(reply, "tenants");
	struct term term = term_of_stdout();
	struct table table = { 0 };
	struct buf text = { 0 };
	int rc;

	table_column(&table, "TENANT", ALIGN_LEFT, 0);
	table_column(&table, "WEIGHT", ALIGN_RIGHT, 1);
	table_column(&table, "GPUS", ALIGN_RIGHT, 0);
	table_column(&table, "RUNNING", ALIGN_RIGHT, 2);
	table_column(&table, "PENDING", ALIGN_RIGHT, 3);
	table_column(&table, "GPU TIME", ALIGN_RIGHT, 4);
	table_column(&table, "SHARE", ALIGN_RIGHT, 5);
	for (size_t i = 0; i < json_array_size(tenants); i++)
		tenant_row(&table, json_array_get(tenants, i));
	if (json_array_size(tenants))
		table_write(&table, TABLE_TEXT, &term, &text, NULL);
	else
		fprintf(stderr, "no tenants yet: the first job of one makes it known\n");
	rc = ui_print(&text, err);
	table_fini(&table);
	buf_fini(&text);
	return rc;
}

static int set(const struct args *args, json_t **reply, struct err *err)
{
	json_t *body;

	if (args->operands.n != 2 || strcmp(args->operands.at[0], "set") != 0 || isnan(args->load))
		return err_set(err, ERR_USAGE, "write: stint quota set TENANT --weight W");
	body = json_pack("{s:s, s:f}", "tenant", args->operands.at[1], "weight", args->load);
	if (!body)
		return err_set(err, ERR_USAGE, "the tenant's name is not UTF-8");
	return live_post(args, "/v1/quota", body, reply, err);
}

static int run(const struct args *args, struct err *err)
{
	bool changes = args->operands.n > 0;
	json_t *reply;
	int rc;

	if (!changes && !isnan(args->load))
		return err_set(err, ERR_USAGE,
			"--weight of whom? write: stint quota set TENANT --weight W");
	rc = changes ? set(args, &reply, err) : live_get(args, "/v1/quota", &reply, err);
	if (rc)
		return rc;
	if (args->json)
		rc = live_print_json(reply, err);
	else if (!changes)
		rc = show(reply, err);
	else
		printf("tenant %s: weight %g\n", args->operands.at[1], args->load);
	json_decref(reply);
	return rc;
}

static const struct flag flags[] = {
	{
		.name = "weight",
		.kind = FLAG_NUMBER,
		.offset = offsetof(struct args, load),
		.value = "W",
		.preset = NAN,
		.min = 1e-6,
		.max = 1e6,
		.help = "the tenant's part where shares are weighed",
	},
	SWITCH(json, "print the daemon's answer"),
	{ 0 },
};

static const struct flag_group flags_quota = { .title = "tenants", .flags = flags };
static const char *const examples[] = { "stint quota", "stint quota set vision --weight 2", NULL };

const struct command command_quota = {
	.name = "quota",
	.summary = "tenants, their weights and what they use",
	.operands = "[set TENANT --weight W]",
	.max_operands = 2,
	.live = true,
	.groups = { &flags_quota, &flags_daemon },
	.examples = examples,
	.run = run,
};
