/*
 * Promises against cells.
 */
#include "placement/cell_check.h"

#include <stdlib.h>

#include "base/mem.h"

/* A promise of one chain, as what it takes of a level. */
struct item {
	uint32_t promise;
	uint64_t leaves; /* devices in all its cells */
};

/* What is being looked at. */
struct look {
	const struct cell_design *design;
	uint32_t chain;
	VEC(uint32_t) pins;   /* promises of the chain with a pin */
	VEC(struct item) any; /* those without, largest first */
	uint8_t *touched;     /* scratch: by cell of a level */
};

static uint32_t leaves_of(const struct look *look, uint32_t level)
{
	return look->design->chains.at[look->chain].levels[level].leaves;
}

static int by_size(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->leaves != y->leaves)
		return x->leaves > y->leaves ? -1 : 1;
	return x->promise < y->promise ? -1 : x->promise > y->promise;
}

static void look_init(struct look *look, const struct cell_design *design, uint32_t chain)
{
	*look = (struct look){ .design = design, .chain = chain };
	for (uint32_t i = 0; i < design->promises.n; i++) {
		const struct cell_promise *p = &design->promises.at[i];

		if (p->chain != chain || p->count == 0)
			continue;
		if (p->pin != CELL_NONE)
			vec_push(&look->pins, i);
		else
			vec_push(&look->any,
				(struct item){ i, (uint64_t)p->count * leaves_of(look, p->level) });
	}
	if (look->any.n)
		qsort(look->any.at, look->any.n, sizeof(*look->any.at), by_size);
	look->touched = mem_alloc(cell_count(&design->chains.at[chain], 0) + 1);
}

static void look_fini(struct look *look)
{
	vec_fini(&look->pins);
	vec_fini(&look->any);
	free(look->touched);
}

/* Cells [*from, *to) of a level that the pin of a promise touches. */
static void reach(const struct look *look, uint32_t promise, uint32_t level, uint32_t *from,
	uint32_t *to)
{
	const struct cell_pin *pin = &look->design->pins.at[look->design->promises.at[promise].pin];
	uint32_t own = leaves_of(look, pin->level), there = leaves_of(look, level);

	*from = (uint32_t)((uint64_t)pin->index * own / there);
	*to = own > there ? *from + own / there : *from + 1;
}

/* Cells of a level that none of the pins in the set touches. */
static uint64_t whole_cells(const struct look *look, uint32_t level, const bool *set)
{
	uint32_t n = cell_count(&look->design->chains.at[look->chain], level), whole = n;

	for (size_t i = 0; i < look->pins.n; i++) {
		uint32_t from, to;

		if (!set[i])
			continue;
		reach(look, look->pins.at[i], level, &from, &to);
		for (; from < to; from++) {
			whole -= !look->touched[from];
			look->touched[from] = 1;
		}
	}
	for (size_t i = 0; i < look->pins.n; i++) {
		uint32_t from, to;

		reach(look, look->pins.at[i], level, &from, &to);
		for (; from < to; from++)
			look->touched[from] = 0;
	}
	return whole;
}

/* How many of the promises without pin, the largest of `level` and above first, are more than `have` cells; 0: not all. */
static uint32_t too_many(const struct look *look, uint32_t level, uint64_t have, uint64_t *need)
{
	uint32_t n = 0;

	*need = 0;
	for (size_t i = 0; i < look->any.n; i++) {
		if (look->design->promises.at[look->any.at[i].promise].level < level)
			continue;
		n++;
		*need += look->any.at[i].leaves / leaves_of(look, level);
		if (*need > have)
			return n;
	}
	return 0;
}

/* ---- pins among themselves */

static bool pins_overlap(const struct look *look, struct cell_conflict *out)
{
	for (size_t i = 0; i < look->pins.n; i++) {
		for (size_t k = i + 1; k < look->pins.n; k++) {
			uint32_t a, b, from, to;

			reach(look, look->pins.at[i], 0, &a, &b);
			reach(look, look->pins.at[k], 0, &from, &to);
			if (b <= from || to <= a)
				continue;
			out->chain = look->chain;
			vec_push(&out->promises, look->pins.at[i]);
			vec_push(&out->promises, look->pins.at[k]);
			return true;
		}
	}
	return false;
}

/* ---- the smallest set */

static int ascending(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void note(const struct look *look, uint32_t level, const bool *set, uint32_t n,
	struct cell_conflict *out)
{
	out->chain = look->chain;
	out->level = level;
	out->have = whole_cells(look, level, set);
	out->promises.n = 0;
	for (size_t i = 0; i < look->pins.n; i++) {
		if (set[i])
			vec_push(&out->promises, look->pins.at[i]);
	}
	for (size_t i = 0; n > 0; i++) {
		if (look->design->promises.at[look->any.at[i].promise].level < level)
			continue;
		vec_push(&out->promises, look->any.at[i].promise);
		n--;
	}
	qsort(out->promises.at, out->promises.n, sizeof(*out->promises.at), ascending);
}

/* With exactly these pins: a smaller set than the one known, at any level from the top. */
static void try_pins(const struct look *look, const bool *set, struct cell_conflict *out)
{
	uint32_t npins = 0;
	uint64_t need;

	for (size_t i = 0; i < look->pins.n; i++)
		npins += set[i];
	for (uint32_t level = look->design->chains.at[look->chain].nlevels; level-- > 0;) {
		uint32_t n = too_many(look, level, whole_cells(look, level, set), &need);

		if (n && (out->promises.n == 0 || n + npins < out->promises.n)) {
			note(look, level, set, n, out);
			out->need = need;
		}
	}
}

/* Of many pins those that are not needed are left out one after the other: what stays is minimal, if not smallest. */
static void thin_pins(const struct look *look, bool *set, struct cell_conflict *out)
{
	for (size_t i = 0; i < look->pins.n; i++)
		set[i] = true;
	try_pins(look, set, out);
	for (size_t i = 0; out->promises.n && i < look->pins.n; i++) {
		struct cell_conflict less = { 0 };

		set[i] = false;
		try_pins(look, set, &less);
		set[i] = !less.promises.n;
		if (less.promises.n) {
			cell_conflict_fini(out);
			*out = less;
		}
	}
}

static void try_all_pins(const struct look *look, bool *set, struct cell_conflict *out)
{
	for (uint32_t bits = 1; bits < UINT32_C(1) << look->pins.n; bits++) {
		for (size_t i = 0; i < look->pins.n; i++)
			set[i] = bits >> i & 1;
		try_pins(look, set, out);
	}
}

static void find_in_chain(const struct cell_design *design, uint32_t chain, struct cell_conflict *out)
{
	enum { PINS_EXACT = 12 };
	struct look look;
	bool *set;

	look_init(&look, design, chain);
	set = mem_alloc(look.pins.n + 1);
	if (pins_overlap(&look, out)) {
		try_pins(&look, set, out); /* one alone may be too large */
	} else {
		try_pins(&look, set, out);
		if (look.pins.n <= PINS_EXACT)
			try_all_pins(&look, set, out);
		else if (!out->promises.n)
			thin_pins(&look, set, out);
	}
	free(set);
	look_fini(&look);
}

void cell_conflict_fini(struct cell_conflict *conflict)
{
	vec_fini(&conflict->promises);
}

bool cell_check(const struct cell_design *design, struct cell_conflict *out)
{
	struct cell_conflict best = { 0 };
	bool good;

	for (uint32_t i = 0; i < design->chains.n; i++) {
		struct cell_conflict found = { 0 };

		find_in_chain(design, i, &found);
		if (found.promises.n && (!best.promises.n || found.promises.n < best.promises.n)) {
			cell_conflict_fini(&best);
			best = found;
		} else {
			cell_conflict_fini(&found);
		}
	}
	good = best.promises.n == 0;
	if (out)
		*out = best;
	else
		cell_conflict_fini(&best);
	return good;
}

/* ---- for people */

/* What is left of a level once everybody has theirs; below 0: so many lack. */
static int64_t slack_at(const struct look *look, const bool *all, uint32_t level)
{
	int64_t slack = (int64_t)whole_cells(look, level, all);

	for (size_t i = 0; i < look->any.n; i++) {
		if (look->design->promises.at[look->any.at[i].promise].level >= level)
			slack -= (int64_t)(look->any.at[i].leaves / leaves_of(look, level));
	}
	return slack;
}

/* One more of a level takes what is below it, too. */
static int64_t spare_at(const struct look *look, const bool *all, uint32_t level)
{
	int64_t spare = slack_at(look, all, level);

	for (uint32_t below = 0; below < level && spare > 0; below++) {
		int64_t per_cell = leaves_of(look, level) / leaves_of(look, below);
		int64_t left = slack_at(look, all, below) / per_cell;

		if (left < spare)
			spare = left > 0 ? left : 0;
	}
	return spare;
}

void cell_figures(const struct cell_design *design, uint32_t chain, uint32_t level,
	struct cell_figures *out)
{
	struct look look;
	bool *all;

	look_init(&look, design, chain);
	all = mem_alloc(look.pins.n + 1);
	for (size_t i = 0; i < look.pins.n; i++)
		all[i] = true;
	*out = (struct cell_figures){ .exist = cell_count(&design->chains.at[chain], level),
		.spare = spare_at(&look, all, level) };
	for (size_t i = 0; i < design->promises.n; i++) {
		const struct cell_promise *p = &design->promises.at[i];

		if (p->chain != chain || p->level != level)
			continue;
		out->promised += p->count;
		out->pinned += p->pin != CELL_NONE;
	}
	free(all);
	look_fini(&look);
}

static void tell_promise(const struct cell_design *design, uint32_t promise, struct buf *out)
{
	const struct cell_promise *p = &design->promises.at[promise];
	const struct cell_level *level = &design->chains.at[p->chain].levels[p->level];

	if (p->pin != CELL_NONE)
		buf_printf(out, "%s (%s pinned to %s)", design->vcs.at[p->vc], level->name,
			design->pins.at[p->pin].name);
	else
		buf_printf(out, "%s (%u %s)", design->vcs.at[p->vc], p->count, level->name);
}

void cell_conflict_text(const struct cell_design *design, const struct cell_conflict *conflict,
	struct buf *out)
{
	const struct cell_chain *chain = &design->chains.at[conflict->chain];
	size_t n = conflict->promises.n;

	for (size_t i = 0; i < n; i++) {
		buf_str(out, i == 0 ? "" : i + 1 < n ? ", " : " and ");
		tell_promise(design, conflict->promises.at[i], out);
	}
	if (conflict->need == 0)
		buf_printf(out, " are pinned to the same devices of %s", chain->name);
	else
		buf_printf(out, " need%s %llu %s of %s, there %s %llu", n == 1 ? "s" : "",
			(unsigned long long)conflict->need, chain->levels[conflict->level].name,
			chain->name, conflict->have == 1 ? "is" : "are",
			(unsigned long long)conflict->have);
}

int cell_check_err(const struct cell_design *design, struct err *err)
{
	struct cell_conflict conflict;
	struct buf text = { 0 };
	int rc = 0;

	if (!cell_check(design, &conflict)) {
		cell_conflict_text(design, &conflict, &text);
		rc = err_set(err, ERR_REFUSED, "more cells are promised than can be kept: %s", text.at);
	}
	cell_conflict_fini(&conflict);
	buf_fini(&text);
	return rc;
}
