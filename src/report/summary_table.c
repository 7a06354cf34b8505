/*
 * One run in a dozen lines for people.
 */
#include "report/compare.h"

#include <math.h>
#include <string.h>

#include "report/units.h"

/* Figures that belong on one line. */
struct line {
	const char *name;
	const char *keys[5];
	bool always; /* even where it is zero; never where it is not known */
};

static const struct line lines[] = {
	{ "completion time", { "jct_mean_s", "jct_p50_s", "jct_p95_s", "jct_p99_s", "jct_max_s" }, true },
	{ "waiting", { "wait_mean_s", "wait_p50_s", "wait_p95_s", "wait_p99_s" }, true },
	{ "makespan", { "makespan_s" }, true },
	{ "GPU-time", { "utilisation", "useful", "held_gpu_s" }, true },
	{ "training", { "efficiency", "goodput" }, true },
	{ "fairness", { "ftf_mean", "ftf_max", "jain" }, true },
	{ "deadlines", { "deadline_met" }, true },
	{ "refused", { "deadlines_refused" }, false },
	{ "missed", { "deadlines_missed" }, false },
	{ "disturbed", { "preemptions", "migrations", "resizes", "failures", "restarts_mean" }, false },
	{ "spent", { "overhead_gpu_s", "lost_gpu_s" }, false },
	{ "speeds are off", { "speed_error_before", "speed_error" }, true },
};

static const char *short_title(const struct metric *m)
{
	if (!strcmp(m->key, "restarts_mean"))
		return "restarts per job";
	if (!strcmp(m->key, "held_gpu_s"))
		return "in all";
	if (strstr(m->key, "_mean"))
		return "mean";
	if (!strncmp(m->title, "wait ", 5))
		return m->title + 5;
	if (!strcmp(m->key, "jct_max_s"))
		return "max";
	if (!strcmp(m->key, "ftf_max"))
		return "worst";
	if (!strcmp(m->key, "utilisation"))
		return "held";
	if (!strcmp(m->key, "speed_error_before"))
		return "at the start";
	if (!strcmp(m->key, "speed_error"))
		return "at the end";
	return m->title;
}

static void put_line(const struct line *line, const struct summary *s, struct buf *out)
{
	bool alone = !line->keys[1], first = true;

	for (size_t i = 0; i < 5 && line->keys[i]; i++) {
		const struct metric *m = metric_find(line->keys[i]);
		double value = metric_value(m, s);

		if (!isfinite(value) || (!line->always && value == 0))
			continue;
		if (first)
			buf_printf(out, "%-16s ", line->name);
		else
			buf_str(out, ", ");
		first = false;
		if (!alone)
			buf_printf(out, "%s ", short_title(m));
		unit_text(m->unit, value, out);
	}
	if (!first)
		buf_char(out, '\n');
}

static void put_jobs(const struct summary *s, struct buf *out)
{
	buf_printf(out, "%-16s %u submitted, %u finished", "jobs", (unsigned)s->jobs_submitted,
		(unsigned)s->jobs_finished);
	if (s->jobs_rejected)
		buf_printf(out, ", %u rejected", (unsigned)s->jobs_rejected);
	if (s->jobs_unfinished)
		buf_printf(out, ", %u unfinished", (unsigned)s->jobs_unfinished);
	buf_char(out, '\n');
}

static void put_waits(const struct summary *s, struct buf *out)
{
	double total = 0;
	bool first = true;

	for (int w = 0; w < WHY_COUNT; w++)
		total += s->waited_by_why_s[w];
	for (int w = 0; total > 0 && w < WHY_COUNT; w++) {
		double share = s->waited_by_why_s[w] / total;

		if (share < 0.001)
			continue;
		if (first)
			buf_printf(out, "%-16s ", "waited because");
		else
			buf_str(out, ", ");
		buf_printf(out, "%s %.1f %%", why_name(w), share * 100);
		first = false;
	}
	if (!first)
		buf_char(out, '\n');
}

/* "share computations 81, leases kept 0.93". */
static void put_figures(const struct summary *s, struct buf *out)
{
	for (uint32_t i = 0; i < s->nfigures; i++) {
		if (i == 0)
			buf_printf(out, "%-16s ", "policy");
		else
			buf_str(out, ", ");
		for (const char *c = s->figures[i].name; *c; c++)
			buf_char(out, *c == '_' ? ' ' : *c);
		buf_printf(out, " %.6g", s->figures[i].value);
	}
	if (s->nfigures)
		buf_char(out, '\n');
}

static void put_timings(const struct summary *s, struct buf *out)
{
	buf_printf(out, "%-16s %llu decision%s in ", "scheduler", (unsigned long long)s->decisions,
		s->decisions == 1 ? "" : "s");
	unit_text(UNIT_SECONDS, s->decision_cpu_s, out);
	buf_str(out, " of CPU time, the whole run ");
	unit_text(UNIT_SECONDS, s->cpu_s, out);
	if (s->rss_bytes > 0) {
		buf_str(out, ", memory ");
		unit_text(UNIT_BYTES, (double)s->rss_bytes, out);
	}
	buf_char(out, '\n');
}

static void summary_text(const struct summary *s, bool timings, struct buf *out)
{
	put_jobs(s, out);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		put_line(&lines[i], s, out);
	put_waits(s, out);
	put_figures(s, out);
	if (timings)
		put_timings(s, out);
}

void summary_table(const struct summary *s, const struct compare_style *style,
	const struct term *term, struct buf *out)
{
	struct table table = { 0 };

	if (style->form == TABLE_TEXT) {
		summary_text(s, style->timings, out);
		return;
	}
	table_column(&table, "figure", ALIGN_LEFT, 0);
	table_column(&table, "value", ALIGN_RIGHT, 0);
	for (const struct metric *m = metrics; m->key; m++) {
		struct buf text = { 0 };

		if (m->timing && !style->timings)
			continue;
		if (style->form == TABLE_MARKDOWN)
			unit_text(m->unit, metric_value(m, s), &text);
		else if (isfinite(metric_value(m, s)))
			buf_double(&text, metric_value(m, s));
		table_cell(&table, style->form == TABLE_MARKDOWN ? m->title : m->key);
		table_cell(&table, text.at);
		buf_fini(&text);
	}
	table_write(&table, style->form, term, out, NULL);
	table_fini(&table);
}
