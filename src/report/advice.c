#include "report/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "report/table.h"
#include "report/units.h"

const char *const advice_words[] = {
	[ADVICE_PRESENT] = "present",
	[ADVICE_BETTER] = "better",
	[ADVICE_SAME] = "no clear difference",
	[ADVICE_WORSE] = "worse",
	[ADVICE_DROPPED] = "tried once",
	[ADVICE_CANNOT] = "cannot run",
};

bool advice_prefers(size_t metric, double x, double y)
{
	if (isnan(x) || isnan(y))
		return isnan(y) && !isnan(x);
	return metrics[metric].better == BETTER_HIGH ? x > y : x < y;
}

static bool is_judged(const struct advice_entry *e)
{
	return e->verdict != ADVICE_CANNOT && e->verdict != ADVICE_DROPPED;
}

static bool is_trifle(const struct effect *e)
{
	return fabs(e->change) < ADVICE_TRIFLE;
}

static enum advice_verdict verdict_of(const struct advice_entry *e)
{
	if (!(e->p < ADVICE_SURE) || is_trifle(&e->effect) || !e->effect.sign)
		return ADVICE_SAME;
	return e->effect.sign > 0 ? ADVICE_BETTER : ADVICE_WORSE;
}

static void choose(struct advice *a)
{
	a->best = -1;
	for (uint32_t i = 1; i < a->n; i++) {
		const struct advice_entry *e = &a->entries[i];

		if (e->verdict != ADVICE_BETTER)
			continue;
		if (a->best < 0 ||
			advice_prefers(a->goal, e->effect.after, a->entries[a->best].effect.after))
			a->best = (int)i;
	}
}

void advice_judge(struct advice *a)
{
	double *p = mem_alloc(mem_array_size(a->n + 1u, sizeof(*p)));

	for (uint32_t i = 0; i < a->n; i++) {
		struct advice_entry *e = &a->entries[i];

		if (e->verdict != ADVICE_CANNOT)
			e->effect = effect_of(a->result, a->goal, 0, i);
		p[i] = i && is_judged(e) ? e->effect.p : NAN;
	}
	effect_holm(p, a->n);
	for (uint32_t i = 0; i < a->n; i++) {
		struct advice_entry *e = &a->entries[i];

		e->p = p[i];
		if (i && is_judged(e))
			e->verdict = verdict_of(e);
	}
	a->entries[0].verdict = ADVICE_PRESENT;
	free(p);
	choose(a);
}

/* ---- words */

static void sure(const struct advice_entry *e, struct buf *out)
{
	buf_printf(out, "better in %u of %u seeds, p %s", e->effect.better, e->effect.n,
		e->p < 0.001 ? "< 0.001" : "= ");
	if (e->p >= 0.001)
		buf_printf(out, "%.3f", e->p);
}

/* Others that cannot be told from the best: their intervals hold its change. */
static void others(const struct advice *a, struct buf *out)
{
	const struct effect *best = &a->entries[a->best].effect;
	uint32_t n = 0;

	for (uint32_t i = 1; i < a->n; i++) {
		const struct advice_entry *e = &a->entries[i];

		if ((int)i == a->best || e->verdict != ADVICE_BETTER ||
			best->change < e->effect.low || best->change > e->effect.high)
			continue;
		buf_printf(out, "%s%s", n ? ", " : "; about as good: ", e->label);
		n++;
	}
}

void advice_lead(const struct advice *a, struct buf *out)
{
	const char *title = metrics[a->goal].title;
	const struct advice_entry *present = &a->entries[0];

	if (a->best < 0) {
		buf_printf(out,
			"the present policy, %s, is among the best for %s: none of the others is "
			"significantly better",
			present->label, title);
		return;
	}
	buf_printf(out, "%s would have been better than %s: %s ", a->entries[a->best].label,
		present->label, title);
	effect_text(&a->entries[a->best].effect, a->goal, out);
	buf_str(out, ", ");
	sure(&a->entries[a->best], out);
	others(a, out);
}

/* ---- table */

static int rank_of(const struct advice_entry *e)
{
	return e->verdict == ADVICE_CANNOT ? 2 : e->verdict == ADVICE_DROPPED;
}

/* Best first; those with one seed below, those that do not run last. */
static uint32_t *order_of(const struct advice *a)
{
	uint32_t *order = mem_alloc(mem_array_size(a->n + 1u, sizeof(*order)));

	for (uint32_t i = 0; i < a->n; i++) {
		const struct advice_entry *e = &a->entries[i];
		uint32_t at = i;

		for (; at > 0; at--) {
			const struct advice_entry *before = &a->entries[order[at - 1]];

			if (rank_of(before) < rank_of(e) ||
				(rank_of(before) == rank_of(e) &&
					!advice_prefers(a->goal, e->effect.after, before->effect.after)))
				break;
			order[at] = order[at - 1];
		}
		order[at] = i;
	}
	return order;
}

static void put_row(struct table *table, const struct advice *a, uint32_t i)
{
	const struct advice_entry *e = &a->entries[i];
	struct buf text = { 0 };

	table_cell(table, e->label);
	if ((int)i == a->best)
		table_strong(table);
	unit_text(metrics[a->goal].unit, e->effect.after, &text);
	table_cell(table, text.at);
	buf_clear(&text);
	if (i)
		effect_text(&e->effect, a->goal, &text);
	table_cell(table, text.n ? text.at : "");
	if (isnan(e->p))
		table_cell(table, "");
	else
		table_cellf(table, e->p < 0.001 ? "<0.001" : "%.3f", e->p);
	table_cellf(table, "%u", e->effect.n);
	table_cell(table, advice_words[e->verdict]);
	buf_fini(&text);
}

static void put_cannot(const struct advice *a, struct buf *out)
{
	for (uint32_t i = 0; i < a->n; i++) {
		if (a->entries[i].verdict == ADVICE_CANNOT)
			buf_printf(out, "%s cannot be used here: %s\n", a->entries[i].label,
				a->entries[i].why);
	}
}

void advice_text(const struct advice *a, const struct term *term, struct buf *out)
{
	uint32_t *order = order_of(a);
	struct table table = { 0 };

	table_column(&table, "policy", ALIGN_LEFT, 0);
	table_column(&table, metrics[a->goal].title, ALIGN_RIGHT, 0);
	table_column(&table, "against the present", ALIGN_RIGHT, 0);
	table_column(&table, "p", ALIGN_RIGHT, 1);
	table_column(&table, "seeds", ALIGN_RIGHT, 2);
	table_column(&table, "", ALIGN_LEFT, 0);
	for (uint32_t i = 0; i < a->n; i++) {
		if (a->entries[order[i]].verdict != ADVICE_CANNOT)
			put_row(&table, a, order[i]);
	}
	table_write(&table, TABLE_TEXT, term, out, NULL);
	put_cannot(a, out);
	table_fini(&table);
	free(order);
}

/* ---- JSON */

static void entry_json(struct json *j, const char *key, const struct advice_entry *e)
{
	json_begin_object(j, key);
	json_str(j, "policy", e->label);
	json_str(j, "verdict", advice_words[e->verdict]);
	json_double(j, "value", e->effect.after);
	json_double(j, "change", e->effect.change);
	json_double(j, "low", e->effect.low);
	json_double(j, "high", e->effect.high);
	json_double(j, "p", e->p);
	json_int(j, "seeds", e->effect.n);
	json_int(j, "better_in", e->effect.better);
}

void advice_members(struct json *j, const struct advice *a, const char *command)
{
	uint32_t *order = order_of(a);

	json_str(j, "goal", metrics[a->goal].key);
	json_str(j, "present", a->entries[0].label);
	if (a->best < 0) {
		json_str(j, "recommend", NULL);
	} else {
		entry_json(j, "recommend", &a->entries[a->best]);
		json_str(j, "command", command);
		json_end(j, '}');
	}
	json_begin_array(j, "policies");
	for (uint32_t i = 0; i < a->n; i++) {
		if (a->entries[order[i]].verdict == ADVICE_CANNOT)
			continue;
		entry_json(j, NULL, &a->entries[order[i]]);
		json_end(j, '}');
	}
	json_end(j, ']');
	json_begin_array(j, "cannot");
	for (uint32_t i = 0; i < a->n; i++) {
		if (a->entries[i].verdict != ADVICE_CANNOT)
			continue;
		json_begin_object(j, NULL);
		json_str(j, "policy", a->entries[i].label);
		json_str(j, "why", a->entries[i].why);
		json_end(j, '}');
	}
	json_end(j, ']');
	free(order);
}
