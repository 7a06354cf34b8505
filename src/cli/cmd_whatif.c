/*
 * stint whatif: what happened, beside what would have happened with other
 * devices, another policy or other quotas of tenants.
 *
 * Every change is shown alone, and all of them together, so that it can be
 * seen which one helps.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/form.h"
#include "cli/grid.h"
#include "cli/html_file.h"
#include "cli/past.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "io/tenants_io.h"
#include "io/tenants_quota.h"
#include "model/cluster_change.h"
#include "model/quota.h"
#include "policy/admission.h"
#include "report/effect.h"
#include "report/html.h"

enum { PLAIN_WIDTH = 120 };

/* What shall be otherwise. */
struct changes {
	bool devices, quota;
	struct cluster cluster;
	struct tenants tenants;
	const char *admit; /* with these; NULL: as it was */
	struct words new_types;
	struct buf devices_label, quota_label, placer_label;
	struct buf added, removed; /* what was done, in words */
};

/* Which scenario: with the devices changed, with the quotas changed. */
enum { HAS_DEVICES = 1, HAS_QUOTA = 2, SCENARIOS = 4 };

/* One line of the answer. */
struct line {
	char *label;
	unsigned scenario;
	size_t policy;
	bool placer;
};

struct whatif_call {
	struct args args;
	struct past past;
	struct changes changes;
	struct cluster_change *adds, *removes;
	struct scenario scenarios[SCENARIOS];
	bool there[SCENARIOS];
	VEC(struct line) lines;
	struct grid grid;
	struct html_file html;
	char *tenants_path, *quota_path; /* in --out */
};

/* ---- devices */

/* Each item of a repeated comma list. */
static int parse_changes(const char *flag, const struct words *words, struct cluster_change **out,
	size_t *n, struct err *err)
{
	*n = 0;
	for (size_t i = 0; i < words->n; i++) {
		struct slice rest = slice_of(words->at[i]);

		while (rest.n) {
			struct cluster_change one;
			int rc = cluster_change_parse(slice_cut(&rest, ','), &one, err);

			if (rc)
				return err_prefix(err, "--%s", flag);
			*out = mem_resize(*out, mem_array_size(*n + 1, sizeof(**out)));
			(*out)[(*n)++] = one;
		}
	}
	return 0;
}

static void add_label(struct buf *label, char sign, const struct cluster_change *c)
{
	if (label->n)
		buf_char(label, ' ');
	buf_char(label, sign);
	if (c->nodes)
		buf_printf(label, "%ux", c->nodes);
	buf_printf(label, "%u:%s", c->devices, c->type);
}

static int change_devices(struct whatif_call *call, size_t nadds, size_t nremoves, struct err *err)
{
	struct changes *ch = &call->changes;
	int rc = 0;

	cluster_copy(&call->past.cluster, &ch->cluster);
	for (size_t i = 0; i < nremoves && !rc; i++) {
		rc = cluster_shrink(&ch->cluster, &call->removes[i], &ch->removed, err);
		if (rc)
			return err_prefix(err, "--remove %s", call->removes[i].type);
		add_label(&ch->devices_label, '-', &call->removes[i]);
	}
	for (size_t i = 0; i < nadds && !rc; i++) {
		rc = cluster_grow(&ch->cluster, &call->adds[i], &ch->added, err);
		if (rc)
			return err_prefix(err, "--add %s", call->adds[i].type);
		add_label(&ch->devices_label, '+', &call->adds[i]);
	}
	return rc;
}

static void tell_devices(const struct whatif_call *call)
{
	const struct changes *ch = &call->changes;
	struct buf text = { 0 };

	if (!ch->devices)
		return;
	cluster_format(&ch->cluster, &text);
	if (ch->removed.n)
		ui_say(&call->args, "removed %s", ch->removed.at);
	if (ch->added.n)
		ui_say(&call->args, "added %s", ch->added.at);
	ui_say(&call->args, "the cluster would have been %s: %u devices instead of %u", text.at,
		ch->cluster.devices, call->past.cluster.devices);
	buf_fini(&text);
}

/* ---- quotas */

/* A file has the whole table, a word one tenant. */
static int change_tenant(struct changes *ch, const char *word, struct err *err)
{
	struct tenants read = { 0 };
	bool file = !quota_word_tenant(word) && file_exists(word);
	int rc = file ? tenants_read(word, &read, err) : quota_say(&ch->tenants, word, err);

	if (rc)
		return file ? rc : err_prefix(err, "--quota");
	if (file) {
		tenants_fini(&ch->tenants);
		ch->tenants = read;
	}
	buf_printf(&ch->quota_label, "%s%s", ch->quota_label.n ? " " : "",
		file && strrchr(word, '/') ? strrchr(word, '/') + 1 : word);
	return 0;
}

/* A guarantee or a limit holds only under a rule that keeps it: where there was none, it is changed as well. */
static void change_admission(struct whatif_call *call)
{
	struct changes *ch = &call->changes;

	if (!quota_is_set(&ch->tenants) || setup_keeps_quotas(call->past.admit))
		return;
	ch->admit = admit_quota.name;
	ui_say(&call->args, "with --quota the admission rule is %s instead of %s", ch->admit,
		call->past.admit);
}

static int change_quota(struct whatif_call *call, struct err *err)
{
	struct changes *ch = &call->changes;
	const struct words *quota = &call->args.quota;
	struct buf yaml = { 0 };
	int rc = 0;

	tenants_copy(&call->past.tenants, &ch->tenants);
	for (size_t i = 0; i < quota->n && !rc; i++)
		rc = change_tenant(ch, quota->at[i], err);
	if (rc || !quota->n)
		return rc;
	/* Read again, so that they are what the file in --out will be. */
	tenants_write_yaml(&ch->tenants, &yaml);
	tenants_fini(&ch->tenants);
	rc = tenants_read_yaml("--quota", yaml.at, yaml.n, &ch->tenants, err);
	buf_fini(&yaml);
	if (!rc)
		change_admission(call);
	return rc;
}

static bool has_children(const struct tenants *tenants, const char *name, size_t n)
{
	uint32_t parent = tenants_find(tenants, name, n);

	for (uint32_t i = 0; i < tenants->n && parent != TENANT_NONE; i++) {
		if (tenants->at[i].parent == parent)
			return true;
	}
	return false;
}

/* A quota of somebody who has no job changes nothing: most likely a slip. */
static int check_tenants(const struct whatif_call *call, struct err *err)
{
	const struct trace *trace = &call->scenarios[0].setup.base.trace;
	const struct tenants *stated = &call->past.tenants;
	struct buf list = { 0 };
	int rc = 0;

	for (size_t i = 0; i < call->args.quota.n && !rc; i++) {
		const char *word = call->args.quota.at[i];
		size_t n = quota_word_tenant(word);

		if (!n || names_find(&trace->tenants, word, n) != NAME_NONE ||
			tenants_find(stated, word, n) != TENANT_NONE ||
			has_children(&call->changes.tenants, word, n))
			continue;
		for (uint32_t k = 0; k < trace->tenants.n && k < 8; k++)
			buf_printf(&list, "%s%s", k ? ", " : "", trace->tenants.at[k]);
		rc = err_set(err, ERR_USAGE, "--quota %s: no job is of that tenant; there %s%s", word,
			list.n ? "are jobs of " : "are no tenants at all", list.n ? list.at : "");
	}
	buf_fini(&list);
	return rc;
}

/* ---- lines */

static void add_line(struct whatif_call *call, char *label, unsigned scenario, size_t policy, bool placer)
{
	vec_push(&call->lines, (struct line){ label, scenario, policy, placer });
}

static void join(struct buf *label, const char *more)
{
	if (more && *more)
		buf_printf(label, "%s%s", label->n ? ", " : "", more);
}

/* Everything at once, with that policy. */
static void add_together(struct whatif_call *call, size_t policy)
{
	const struct changes *ch = &call->changes;
	const struct chosen_list *who = &call->scenarios[0].setup.policies;
	struct buf label = { 0 };

	join(&label, ch->devices_label.at);
	if (policy)
		join(&label, who->at[policy].label);
	join(&label, ch->placer_label.at);
	join(&label, ch->quota_label.at);
	add_line(call, label.at, (ch->devices ? HAS_DEVICES : 0) | (ch->quota ? HAS_QUOTA : 0),
		policy, call->args.placer.n);
}

static void make_lines(struct whatif_call *call)
{
	const struct changes *ch = &call->changes;
	const struct chosen_list *who = &call->scenarios[0].setup.policies;
	bool placer = call->args.placer.n;
	int kinds = ch->devices + ch->quota + (who->n > 1) + placer;

	add_line(call, mem_strdup("as it was"), 0, 0, false);
	if (ch->devices)
		add_line(call, mem_strdup(ch->devices_label.at), HAS_DEVICES, 0, false);
	for (size_t i = 1; i < who->n; i++)
		add_line(call, mem_strdup(who->at[i].label), 0, i, false);
	if (placer)
		add_line(call, mem_strdup(ch->placer_label.at), 0, 0, true);
	if (ch->quota)
		add_line(call, mem_strdup(ch->quota_label.at), HAS_QUOTA, 0, false);
	if (kinds < 2)
		return;
	for (size_t i = who->n > 1; i < who->n; i++)
		add_together(call, i);
}

/* ---- preparing */

static int check_args(const struct args *args, struct err *err)
{
	int rc = form_check(args, err);

	if (rc)
		return rc;
	if (args->placer.n > 1 ||
		(args->placer.n && strchr(args->placer.at[0], ',') && !strchr(args->placer.at[0], ':')))
		return err_set(err, ERR_USAGE, "one other --placer at a time");
	if (!args->add.n && !args->remove.n && !args->policy.n && !args->placer.n && !args->quota.n)
		return err_set(err, ERR_USAGE,
			"what if what? say --add 4:a100, --remove 8:v100, --policy NAME, --placer NAME or "
			"--quota TENANT=WEIGHT or TENANT:guaranteed=8,borrow=4");
	return 0;
}

static int read_changes(struct whatif_call *call, struct err *err)
{
	struct changes *ch = &call->changes;
	const struct args *args = &call->args;
	size_t nadds, nremoves = 0;
	int rc = parse_changes("add", &args->add, &call->adds, &nadds, err);

	if (!rc)
		rc = parse_changes("remove", &args->remove, &call->removes, &nremoves, err);
	for (size_t i = 0; !rc && i < nadds; i++)
		vec_push(&ch->new_types, call->adds[i].type);
	ch->devices = nadds + nremoves;
	ch->quota = args->quota.n;
	if (args->placer.n)
		buf_printf(&ch->placer_label, "placer %s", args->placer.at[0]);
	if (!rc)
		rc = past_read(args,
			&(struct past_wish){ .cluster = true, .new_types = &ch->new_types },
			&call->past, err);
	call->args.seed = (int64_t)call->past.seed;
	if (!rc)
		rc = change_devices(call, nadds, nremoves, err);
	return rc ? rc : change_quota(call, err);
}

static int make_scenario(struct whatif_call *call, unsigned which, struct err *err)
{
	const struct args *args = &call->args;
	bool quota = which & HAS_QUOTA;
	struct scenario_wish wish = {
		.cluster = which & HAS_DEVICES ? &call->changes.cluster : &call->past.cluster,
		.tenants = quota ? &call->changes.tenants : &call->past.tenants,
		.tenants_path = quota   ? call->quota_path
			: args->tenants ? args->tenants
					: call->tenants_path,
		.policies = args->policy,
		.placer = args->placer.n ? args->placer.at[0] : NULL,
		.admit = quota ? call->changes.admit : NULL,
		.quiet = which,
	};

	call->there[which] = true;
	if (quota && setup_keeps_quotas(wish.admit ? wish.admit : call->past.admit) &&
		quota_check(wish.tenants, wish.cluster, err) < 0)
		return err_prefix(err, "--quota");
	return scenario_init(&call->scenarios[which], &call->past, &wish, err);
}

static int make_scenarios(struct whatif_call *call, struct err *err)
{
	const struct changes *ch = &call->changes;
	int rc = make_scenario(call, 0, err);

	if (!rc && ch->devices)
		rc = make_scenario(call, HAS_DEVICES, err);
	if (!rc && ch->quota)
		rc = make_scenario(call, HAS_QUOTA, err);
	if (!rc && ch->devices && ch->quota)
		rc = make_scenario(call, HAS_DEVICES | HAS_QUOTA, err);
	return rc ? rc : check_tenants(call, err);
}

static bool is_new(const struct whatif_call *call, const char *type)
{
	return cluster_find_type(&call->past.cluster, type) < 0;
}

/* What is not known of speeds makes a faster type look like any other. */
static void tell_alike(const struct whatif_call *call)
{
	const struct words *types = &call->changes.new_types;

	for (size_t i = 0; i < types->n; i++) {
		if (!is_new(call, types->at[i]) || scenario_names_models(&call->scenarios[0]))
			continue;
		ui_say(&call->args,
			"no job names a model: run times are taken to be the same on %s as elsewhere",
			types->at[i]);
		return;
	}
}

/* Run times of a type that is gone become those of another. */
static void tell_gone(const struct whatif_call *call)
{
	const struct cluster *was = &call->past.cluster;

	for (uint32_t i = 0; call->changes.devices && i < was->ntypes; i++) {
		if (cluster_find_type(&call->changes.cluster, was->types[i].name) < 0)
			ui_say(&call->args,
				"warning: without any %s, run times that were measured there are taken as they are",
				was->types[i].name);
	}
}

static void init_grid(struct whatif_call *call, enum vary vary)
{
	const struct changes *ch = &call->changes;
	size_t n = call->lines.n;
	struct arm *arms = mem_alloc(mem_array_size(n, sizeof(*arms)));

	for (size_t i = 0; i < n; i++) {
		const struct line *line = &call->lines.at[i];
		const struct scenario *s = &call->scenarios[line->scenario];

		arms[i] = (struct arm){
			.label = line->label,
			.setup = &s->setup,
			.pair = scenario_pair(s, line->policy, line->placer),
		};
	}
	/* Added nodes come last: one Gantt chart fits all.  Removed ones leave holes: none fits. */
	grid_init(&call->grid, &call->args, arms, (uint32_t)n, ch->removed.n ? NULL : &ch->cluster,
		vary);
	call->grid.what = "replaying";
	call->grid.result.what = "what if";
	free(arms);
}

static int open_files(struct whatif_call *call, struct err *err)
{
	int rc = 0;

	if (call->args.out)
		rc = grid_open(&call->grid, err);
	if (!rc)
		rc = html_file_open(&call->html, call->args.html, &call->grid.dir, err);
	return rc;
}

static void name_files(struct whatif_call *call)
{
	if (!call->args.out)
		return;
	call->tenants_path = path_join(call->args.out, COMPARE_TENANTS);
	call->quota_path = path_join(call->args.out, COMPARE_QUOTA);
}

/* Tenants of a record get the hash of the file that is written of them. */
static int settle_tenants(struct whatif_call *call, struct err *err)
{
	struct tenants *tenants = &call->past.tenants;
	struct buf yaml = { 0 };
	int rc;

	if (call->args.tenants || !tenants->n)
		return 0;
	tenants_write_yaml(tenants, &yaml);
	tenants_fini(tenants);
	rc = tenants_read_yaml("tenants", yaml.at, yaml.n, tenants, err);
	buf_fini(&yaml);
	return rc;
}

static int prepare(struct whatif_call *call, struct err *err)
{
	enum vary vary;
	int rc = check_args(&call->args, err);

	name_files(call);
	if (!rc)
		rc = read_changes(call, err);
	if (!rc)
		rc = settle_tenants(call, err);
	if (!rc)
		rc = make_scenarios(call, err);
	if (!rc)
		rc = vary_choose(&call->scenarios[0].setup, &vary, err);
	if (rc)
		return rc;
	tell_devices(call);
	tell_alike(call);
	tell_gone(call);
	ui_guard();
	make_lines(call);
	init_grid(call, vary);
	return open_files(call, err);
}

/* ---- the answer */

static double jct_change(double real, double simulated)
{
	return 100 * (simulated / real - 1);
}

/* How far the simulation is from what really happened says how far to trust it. */
static void tell_real(const struct whatif_call *call)
{
	const struct summary *real = &call->past.real;
	const struct summary *as_it_was = grid_summary(&call->grid, 0, 0);
	char a[32], b[32];

	if (!call->past.is_record || !as_it_was)
		return;
	ui_say(&call->args,
		"it really went: mean completion time %s, utilisation %.1f %%; simulated as it was: %s (%+.1f %%), %.1f %%",
		text_duration(real->jct_mean_s, a), 100 * real->utilisation,
		text_duration(as_it_was->jct_mean_s, b),
		jct_change(real->jct_mean_s, as_it_was->jct_mean_s), 100 * as_it_was->utilisation);
}

static bool changes_nothing(const struct grid *grid, uint32_t arm)
{
	for (uint32_t s = 0; s < grid->nseeds; s++) {
		const struct summary *a = grid_summary(grid, 0, s), *b = grid_summary(grid, arm, s);

		if (!a || !b || a->event_hash != b->event_hash)
			return false;
	}
	return true;
}

/* Of what happened itself. */
static uint32_t jobs_left(const struct grid *grid, uint32_t arm)
{
	const struct summary *s = grid_summary(grid, arm, 0);

	return s ? s->jobs_submitted - s->jobs_finished : 0;
}

/* "+4:a100: mean JCT -12 % (-15 to -9), wait -80 % (-90 to -70)". */
static void add_effect(const struct grid *grid, uint32_t arm, struct buf *out)
{
	static const char *const shown[] = { "jct_mean_s", "wait_mean_s", "makespan_s" };

	uint32_t lost = jobs_left(grid, arm);

	buf_printf(out, "%s: ", grid->arms[arm].label);
	if (lost > jobs_left(grid, 0)) {
		buf_printf(out, "%u of %u jobs cannot run, so that its figures are of other jobs\n",
			lost, grid_summary(grid, arm, 0)->jobs_submitted);
		return;
	}
	if (changes_nothing(grid, arm)) {
		buf_str(out, "changes nothing, every run is as it was\n");
		return;
	}
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		size_t m = metric_index(shown[i]);
		struct effect e = effect_of(&grid->result, m, 0, arm);

		buf_printf(out, "%s%s ", i ? ", " : "", metrics[m].title);
		effect_text(&e, m, out);
	}
	buf_char(out, '\n');
}

static void add_effects(const struct grid *grid, struct buf *out)
{
	buf_str(out, "\nagainst as it was");
	if (grid->nseeds > 1)
		buf_str(out, ", with the 95 % interval");
	buf_str(out, ":\n");
	for (uint32_t i = 1; i < grid->narms; i++) {
		buf_str(out, "  ");
		add_effect(grid, i, out);
	}
}

static void effect_json(struct json *j, const char *key, const struct effect *e)
{
	json_begin_object(j, key);
	json_double(j, "change", e->change);
	json_double(j, "low", e->low);
	json_double(j, "high", e->high);
	json_double(j, "p", e->p);
	json_end(j, '}');
}

static void arm_json(struct json *j, const struct whatif_call *call, uint32_t i)
{
	const struct line *line = &call->lines.at[i];
	const struct setup *setup = &call->scenarios[line->scenario].setup;
	const struct comparison *c = &call->grid.result;
	struct buf spec = { 0 };
	struct effect e;

	cluster_format(&setup->cluster, &spec);
	json_begin_object(j, NULL);
	json_str(j, "label", line->label);
	json_str(j, "cluster", spec.at);
	json_int(j, "devices", setup->cluster.devices);
	json_double(j, "cost_per_h", cluster_price_per_h(&setup->cluster));
	json_str(j, "policy", call->grid.arms[i].pair->policy->full);
	json_str(j, "placer", call->grid.arms[i].pair->placer->full);
	json_str(j, "quota", line->scenario & HAS_QUOTA ? call->changes.quota_label.at : NULL);
	json_bool(j, "changes_nothing", i && changes_nothing(&call->grid, i));
	json_begin_object(j, "against_as_it_was");
	for (size_t m = 0; i && metrics[m].key; m++) {
		if (!metrics[m].rank || metrics[m].timing)
			continue;
		e = effect_of(c, m, 0, i);
		effect_json(j, metrics[m].key, &e);
	}
	json_end(j, '}');
	json_end(j, '}');
	buf_fini(&spec);
}

static void past_json(struct json *j, const struct past *past)
{
	json_begin_object(j, "history");
	json_str(j, "source", past->name);
	json_bool(j, "record", past->is_record);
	json_int(j, "jobs", past->njobs);
	json_int(j, "left_out", past->left_out);
	json_double(j, "from_s", past->from_s);
	json_double(j, "to_s", past->to_s);
	json_end(j, '}');
	if (!past->is_record)
		return;
	json_begin_object(j, "really");
	json_double(j, "jct_mean_s", past->real.jct_mean_s);
	json_double(j, "wait_mean_s", past->real.wait_mean_s);
	json_double(j, "makespan_s", past->real.makespan_s);
	json_int(j, "preemptions", (int64_t)past->real.preemptions);
	json_end(j, '}');
}

static void whatif_json(const struct whatif_call *call, struct buf *out)
{
	const struct changes *ch = &call->changes;
	struct json j;

	json_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_str(&j, "schema", "whatif/1");
	past_json(&j, &call->past);
	json_str(&j, "added", ch->added.at);
	json_str(&j, "removed", ch->removed.at);
	json_str(&j, "note", call->grid.note);
	json_begin_array(&j, "arms");
	for (uint32_t i = 0; i < call->grid.narms; i++)
		arm_json(&j, call, i);
	json_end(&j, ']');
	comparison_members(&j, &call->grid.result, call->args.timings);
	json_end(&j, '}');
	buf_char(out, '\n');
}

static void format(const struct whatif_call *call, struct buf *out)
{
	const struct args *args = &call->args;
	struct term term = term_of_stdout();
	struct compare_style style = {
		.form = form_of_table(args),
		.timings = args->timings,
	};

	if (!term.width)
		term.width = PLAIN_WIDTH;
	if (args->json) {
		whatif_json(call, out);
		return;
	}
	comparison_table(&call->grid.result, &style, &term, out);
	if (style.form == TABLE_TEXT)
		add_effects(&call->grid, out);
}

/* ---- files */

static void page(const struct whatif_call *call, struct buf *out)
{
	const struct past *past = &call->past;
	struct buf title = { 0 }, command = { 0 }, trace = { 0 }, spec = { 0 }, settings = { 0 };
	const char *notes[3];
	size_t n = 0;

	buf_str(&title, "What if: ");
	buf_str(&title, call->lines.at[call->lines.n - 1].label);
	args_command(&call->args, &command);
	past_title(past, &trace);
	cluster_format(&past->cluster, &spec);
	setup_settings(&call->scenarios[0].setup, &settings);
	if (call->grid.note)
		notes[n++] = call->grid.note;
	if (call->changes.added.n)
		notes[n++] = call->changes.added.at;
	html_compare(&call->grid.result,
		&(struct html_info){
			.title = title.at,
			.command = command.at,
			.version = STINT_VERSION,
			.trace = trace.at,
			.cluster = spec.at,
			.settings = settings.at,
			.notes = notes,
			.nnotes = n,
			.timings = call->args.timings,
		},
		out);
	buf_fini(&title);
	buf_fini(&command);
	buf_fini(&trace);
	buf_fini(&spec);
	buf_fini(&settings);
}

static int keep_tenants(const struct run_dir *dir, const char *name, const struct tenants *tenants,
	struct err *err)
{
	struct buf yaml = { 0 };
	int rc;

	tenants_write_yaml(tenants, &yaml);
	rc = run_dir_write(dir, name, &yaml, err);
	buf_fini(&yaml);
	return rc;
}

static int keep_dir(struct whatif_call *call, struct err *err)
{
	const struct run_dir *dir = &call->grid.dir;
	struct buf text = { 0 };
	int rc = past_keep(&call->past, dir, err);

	if (!rc && !call->args.tenants && call->past.tenants.n)
		rc = keep_tenants(dir, COMPARE_TENANTS, &call->past.tenants, err);
	if (!rc && call->changes.quota)
		rc = keep_tenants(dir, COMPARE_QUOTA, &call->changes.tenants, err);
	if (!rc) {
		whatif_json(call, &text);
		rc = run_dir_write(dir, COMPARE_WHATIF, &text, err);
		buf_fini(&text);
	}
	return rc ? rc : grid_keep(&call->grid, call->args.timings, err);
}

static int keep(struct whatif_call *call, struct err *err)
{
	struct buf text = { 0 };
	int rc = 0;

	if (call->args.html) {
		page(call, &text);
		rc = html_file_write(&call->html, &text, err);
		buf_fini(&text);
	}
	return !rc && call->args.out ? keep_dir(call, err) : rc;
}

static int tell(const struct whatif_call *call, struct err *err)
{
	const struct args *args = &call->args;
	struct buf text = { 0 };
	int rc;

	format(call, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	if (rc)
		return rc;
	tell_real(call);
	if (args->out)
		ui_say(args, "wrote %s: a directory for each run, compare.json and whatif.json",
			args->out);
	if (args->html)
		ui_say(args, "wrote %s", args->html);
	return grid_verdict(&call->grid, NULL, err);
}

static int carry_out(struct whatif_call *call, struct err *err)
{
	int rc;

	if (call->grid.note)
		ui_say(&call->args, "%s", call->grid.note);
	rc = grid_run(&call->grid, 0, call->grid.nseeds, err);
	if (!rc)
		grid_finish(&call->grid);
	return rc;
}

static void release(struct whatif_call *call)
{
	struct changes *ch = &call->changes;

	grid_fini(&call->grid);
	html_file_abandon(&call->html);
	for (size_t i = 0; i < call->lines.n; i++)
		free(call->lines.at[i].label);
	vec_fini(&call->lines);
	for (unsigned i = 0; i < SCENARIOS; i++) {
		if (call->there[i])
			scenario_fini(&call->scenarios[i]);
	}
	past_fini(&call->past);
	cluster_fini(&ch->cluster);
	tenants_fini(&ch->tenants);
	vec_fini(&ch->new_types);
	buf_fini(&ch->devices_label);
	buf_fini(&ch->quota_label);
	buf_fini(&ch->placer_label);
	buf_fini(&ch->added);
	buf_fini(&ch->removed);
	free(call->adds);
	free(call->removes);
	free(call->tenants_path);
	free(call->quota_path);
}

static int whatif(const struct args *args, struct err *err)
{
	struct whatif_call call = { .args = *args };
	int rc = prepare(&call, err);

	if (!rc)
		rc = carry_out(&call, err);
	if (!rc)
		rc = keep(&call, err);
	if (!rc)
		rc = tell(&call, err);
	release(&call);
	return rc;
}

static const struct flag change_flags[] = {
	LIST(add, "DEVICES:TYPE", "more devices: 4:a100, or nodes 2x8:a100; lists and repeats add up"),
	LIST(remove, "DEVICES:TYPE", "fewer devices, likewise"),
	LIST(policy, "NAME[:OPTIONS]", "another policy; see 'stint policies'"),
	LIST(placer, "NAME[:OPTIONS]", "another placer; see 'stint placers'"),
	LIST(quota, "TENANT=WEIGHT",
		"another weight of a tenant, TENANT:guaranteed=8,borrow=4,lend=2,parent=OTHER, or a file of tenants"),
	{ 0 },
};

static const struct flag output_flags[] = {
	TEXT(out, "DIR", "write a directory for each run, compare.json and whatif.json"),
	TEXT(html, "FILE", "write a report with plots"),
	SWITCH(json, "every figure as JSON"),
	SWITCH(csv, "every figure as CSV"),
	SWITCH(markdown, "the table as Markdown"),
	SWITCH(timings, "decision and CPU times, which differ from run to run"),
	NUMBER(threads, FLAG_INT, "N", 0, 0, 1024,
		"runs at a time (0, the default: all cores); results stay the same"),
	SWITCH(quiet, "no messages, no progress bar"),
	{ 0 },
};

static const struct flag_group flags_changes = { .title = "what if", .flags = change_flags };
static const struct flag_group flags_output = {
	.title = "output",
	.flags = output_flags,
	.aside = true,
};

static const char *const examples[] = {
	"stint whatif --add 4:a100 --policy sia --since 7d",
	"stint whatif --quota vision:guaranteed=8,lend=4 --quota nlp:borrow=8 --since 7d",
	"stint whatif --quota vision=2 --quota nlp=1 --out whatif/ && stint replay whatif/as-it-was-seed0",
	"stint whatif trace.csv --cluster 16x8:v100 --was fifo --remove 2x8:v100 --policy srtf,las",
	NULL,
};

const struct command command_whatif = {
	.name = "whatif",
	.summary = "replay what happened with other devices, policy or quotas",
	.operands = "[TRACE|STATE]",
	.max_operands = 1,
	.groups = { &flags_changes, &flags_past, &flags_world, &flags_belief, &flags_workload,
		&flags_output },
	.about = "Without an operand the daemon's own record is replayed: the jobs that ran and ended, with\n"
		 "the run times, costs and beliefs of then, on the machine and under the rules of then.\n"
		 "STATE is a daemon's directory or a copy of its stint.db; a TRACE needs --cluster.\n"
		 "Every change is shown alone and all of them together, beside 'as it was', each with\n"
		 "--seeds runs: seed 0 is what happened, the others resample it in blocks.\n"
		 "--add 4:a100 comes as nodes like those of the type that are here (else up to eight a\n"
		 "node), and it says so; --remove takes the last nodes first.  Exit code 5 means that in\n"
		 "some run a job could not run: its figures are of other jobs than 'as it was'.",
	.examples = examples,
	.run = whatif,
};
