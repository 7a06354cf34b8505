/*
 * stint fit --goodput: measured steps to the goodput model, by model and type.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/fit.h"
#include "cli/html_file.h"
#include "cli/setup.h"
#include "cli/term.h"
#include "cli/ui.h"
#include "io/goodput_samples.h"
#include "io/training_io.h"
#include "report/fit_report.h"

enum { PLAIN_WIDTH = 140 };

/* Of training that nothing is known of: for the profile alone. */
enum { EPOCH_ITERATIONS = 1000 };

struct fit_call {
	const struct args *args;
	struct goodput_samples measured;
	struct goodput_sample *sorted; /* by group, in the order of the file */
	struct fit_group *groups;
	size_t n;
	struct buf source;
	struct html_file html, svg;
};

/* ---- reading */

static int read_one(struct fit_call *call, const char *path, struct err *err)
{
	buf_printf(&call->source, "%s%s", call->source.n ? ", " : "", path);
	return goodput_samples_read(path, &call->measured, err);
}

static int read_all(struct fit_call *call, struct err *err)
{
	int rc = read_one(call, call->args->goodput, err);

	for (size_t i = 0; i < call->args->operands.n && !rc; i++)
		rc = read_one(call, call->args->operands.at[i], err);
	return rc;
}

static struct fit_group *group_of(struct fit_call *call, const char *model, const char *type)
{
	for (size_t i = 0; i < call->n; i++)
		if (call->groups[i].model == model && call->groups[i].type == type)
			return &call->groups[i];
	call->groups[call->n] = (struct fit_group){ .model = model, .type = type };
	return &call->groups[call->n++];
}

/* Gradient statistics change in the course of training: the last row counts. */
static void make_groups(struct fit_call *call)
{
	const struct goodput_samples *m = &call->measured;
	size_t at = 0;

	call->groups = mem_alloc(mem_array_size(m->n, sizeof(*call->groups)));
	call->sorted = mem_alloc(mem_array_size(m->n, sizeof(*call->sorted)));
	for (size_t i = 0; i < m->n; i++)
		group_of(call, m->models.at[m->at[i].model], m->types.at[m->at[i].type])->n++;
	for (size_t k = 0; k < call->n; k++) {
		struct fit_group *g = &call->groups[k];

		g->samples = &call->sorted[at];
		for (size_t i = 0; i < m->n; i++) {
			const struct goodput_measure *one = &m->at[i];

			if (m->models.at[one->model] != g->model || m->types.at[one->type] != g->type)
				continue;
			call->sorted[at++] = one->sample;
			if (one->initial > 0) {
				g->initial = one->initial;
				g->gradient = one->gradient;
			}
		}
	}
}

static int fit_all(struct fit_call *call, struct err *err)
{
	struct goodput_fit_options options = { .tolerance = 1e-9, .thorough = true };

	for (size_t k = 0; k < call->n; k++) {
		struct fit_group *g = &call->groups[k];
		int rc = goodput_fit(g->samples, g->n, &options, &g->fit, err);

		if (rc)
			return err_prefix(err, "%s on %s", g->model, g->type);
	}
	return 0;
}

/* ---- a profile folder of what was fitted */

static void put_pass(const struct fit_group *g, struct goodput_shape shape, double local,
	struct buf *out)
{
	double step_s = goodput_step_s(&g->fit.params, shape, local);
	double grad_s = goodput_grad_s(&g->fit.params, local);

	buf_printf(out, "%.9g,%.9g", step_s, fmax(step_s - grad_s, 0));
}

/* The batches of the profile: five from the least to the largest measured; of a single one down to an eighth. */
static size_t profile_batches(const struct fit_group *g, double out[5])
{
	struct fit_range r = fit_group_range(g);
	double low = floor(fmax(r.min_local < r.max_local ? r.min_local : r.min_local / 8, 1));
	double high = floor(fmax(r.max_local, low + 1)), last = 0;
	size_t n = 0;

	for (int i = 0; i < 5; i++) {
		double local = round(low * pow(high / low, i / 4.0));

		if (local != last)
			out[n++] = local;
		last = local;
	}
	return n;
}

/* Sizes of nodes, whatever was measured: the fit says what it takes of the others. */
enum { NODE_DEVICES = 16, PLACED_DEVICES = 8 };

static void put_placements(const struct fit_group *g, struct buf *out)
{
	double locals[5];
	size_t n = profile_batches(g, locals);

	buf_str(out, "placement,local_bsz,step_time,sync_time\n");
	for (double replicas = 1; replicas <= PLACED_DEVICES; replicas++)
		for (size_t i = 0; i < n; i++) {
			buf_printf(out, "%g,%g,", replicas, locals[i]);
			put_pass(g, (struct goodput_shape){ 1, replicas }, locals[i], out);
			buf_char(out, '\n');
		}
}

/* One device of each node, and twice as many up to full nodes: what lies between follows. */
static void put_scalability(const struct fit_group *g, struct buf *out)
{
	static const double nodes[] = { 1, 2, 3, 4, 6, 8, 12, 16 };
	double locals[5];
	size_t n = profile_batches(g, locals);

	buf_str(out, "num_nodes,num_replicas,local_bsz,step_time,sync_time\n");
	for (size_t k = 0; k < sizeof(nodes) / sizeof(*nodes); k++)
		for (int each = 1; each <= NODE_DEVICES; each *= 2) {
			struct goodput_shape shape = { nodes[k], nodes[k] * each };

			for (size_t i = 0; i < n; i++) {
				buf_printf(out, "%g,%g,%g,", shape.nodes, shape.replicas, locals[i]);
				put_pass(g, shape, locals[i], out);
				buf_char(out, '\n');
			}
		}
}

static int write_in(const char *folder, const char *name, const struct buf *text, struct err *err)
{
	char *path = path_join(folder, name);
	int rc = file_write(path, text->at, text->n, err);

	free(path);
	return rc;
}

static int write_table(const char *folder, const char *kind, const struct fit_group *g,
	void (*put)(const struct fit_group *, struct buf *), struct err *err)
{
	char *name = mem_printf("%s-%s.csv", kind, g->type);
	struct buf text = { 0 };
	int rc;

	put(g, &text);
	rc = write_in(folder, name, &text, err);
	buf_fini(&text);
	free(name);
	return rc;
}

static int write_validation(const char *folder, const struct fit_group *g, struct err *err)
{
	char *name = mem_printf("validation-%.0f.csv", g->initial);
	double max = fmax(g->initial, 16 * fit_group_range(g).max_local);
	struct buf text = { 0 };
	int rc;

	buf_printf(&text, "progress,iteration,metric,grad_sqr,grad_var\n%d,%d,0,%.17g,%.17g\n",
		EPOCH_ITERATIONS, EPOCH_ITERATIONS, g->gradient.sqr, g->gradient.var);
	rc = write_in(folder, name, &text, err);
	buf_clear(&text);
	buf_printf(&text, "name,value\nepochs,1\nslowdown,1\nmax_batch,%.0f\n", max);
	if (!rc)
		rc = write_in(folder, "model.csv", &text, err);
	buf_fini(&text);
	free(name);
	return rc;
}

/* Names become file names. */
static int check_name(const char *name, struct err *err)
{
	if (strchr(name, '/') || name[0] == '.')
		return err_set(err, ERR_FORMAT, "'%s' cannot be the name of a file in a profile", name);
	return 0;
}

static int write_group(const struct args *args, const struct fit_group *g, struct err *err)
{
	char *folder = path_join(args->out, g->model);
	int rc = check_name(g->model, err);

	if (!rc)
		rc = check_name(g->type, err);
	if (!rc)
		rc = dir_make(folder, err);
	if (!rc)
		rc = write_table(folder, "placements", g, put_placements, err);
	if (!rc)
		rc = write_table(folder, "scalability", g, put_scalability, err);
	if (!rc && g->initial > 0 && g->gradient.sqr > 0)
		rc = write_validation(folder, g, err);
	else if (!rc)
		ui_say(args,
			"%s: no gradient statistics (columns grad_sqr, grad_var, batch), so no validation-BATCH.csv; "
			"--profiles needs one",
			folder);
	free(folder);
	return rc;
}

static int write_profile(const struct fit_call *call, struct err *err)
{
	const struct args *args = call->args;
	bool whole = false;
	int rc = 0;

	for (size_t k = 0; args->out && k < call->n && !rc; k++) {
		rc = write_group(args, &call->groups[k], err);
		whole |= call->groups[k].initial > 0;
	}
	if (rc || !args->out)
		return rc;
	ui_say(args, "wrote the profile %s", args->out);
	if (whole)
		ui_say(args,
			"samples do not say how long training takes: validation-BATCH.csv has one epoch of %d "
			"iterations, edit it",
			EPOCH_ITERATIONS);
	return 0;
}

/* ---- the whole */

static struct fit_report report_of(const struct fit_call *call)
{
	return (struct fit_report){ call->groups, call->n, call->source.at };
}

static int write_pictures(struct fit_call *call, struct err *err)
{
	struct fit_report report = report_of(call);
	struct buf text = { 0 }, command = { 0 };
	int rc = 0;

	if (call->args->svg) {
		fit_report_svg(&report, &text);
		rc = html_file_write(&call->svg, &text, err);
	}
	if (!rc && call->args->html) {
		buf_clear(&text);
		args_command(call->args, &command);
		fit_report_html(&report,
			&(struct html_info){ .title = "Goodput model",
				.command = command.at,
				.version = STINT_VERSION,
				.trace = call->source.at },
			&text);
		rc = html_file_write(&call->html, &text, err);
	}
	buf_fini(&text);
	buf_fini(&command);
	return rc;
}

static int tell(const struct fit_call *call, struct err *err)
{
	const struct args *args = call->args;
	struct fit_report report = report_of(call);
	struct term term = term_of_stdout();
	struct buf text = { 0 };
	int rc;

	if (!term.width)
		term.width = PLAIN_WIDTH;
	if (args->json)
		fit_report_json(&report, &text);
	else
		fit_report_text(&report, &term, &text);
	rc = ui_print(&text, err);
	buf_fini(&text);
	if (!rc && args->svg)
		ui_say(args, "wrote %s", args->svg);
	if (!rc && args->html)
		ui_say(args, "wrote %s", args->html);
	return rc;
}

static void release(struct fit_call *call)
{
	html_file_abandon(&call->html);
	html_file_abandon(&call->svg);
	goodput_samples_fini(&call->measured);
	buf_fini(&call->source);
	free(call->groups);
	free(call->sorted);
}

int fit_goodput_run(const struct args *args, struct err *err)
{
	struct fit_call call = { .args = args };
	int rc = read_all(&call, err);

	if (!rc) {
		ui_guard();
		make_groups(&call);
		rc = html_file_open(&call.html, args->html, NULL, err);
	}
	if (!rc)
		rc = html_file_open(&call.svg, args->svg, NULL, err);
	if (!rc)
		rc = fit_all(&call, err);
	if (!rc)
		rc = write_pictures(&call, err);
	if (!rc)
		rc = write_profile(&call, err);
	if (!rc)
		rc = tell(&call, err);
	release(&call);
	return rc;
}
