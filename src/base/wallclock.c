/*
 * A short list of steps, searched from the end: most questions are about now.
 */
#include "base/wallclock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void wallclock_init(struct wallclock *w, double offset_s)
{
	*w = (struct wallclock){ 0 };
	vec_push(&w->steps, ((struct wall_step){ -INFINITY, offset_s }));
}

void wallclock_fini(struct wallclock *w)
{
	vec_fini(&w->steps);
}

void wallclock_copy(const struct wallclock *from, struct wallclock *out)
{
	*out = (struct wallclock){ 0 };
	for (size_t i = 0; i < from->steps.n; i++)
		vec_push(&out->steps, from->steps.at[i]);
}

/* What the least is lost with: a clock that is slewed for years makes many small steps. */
static void join_smallest(struct wallclock *w)
{
	struct wall_step *at = w->steps.at;
	size_t least = 1;

	for (size_t i = 1; i < w->steps.n; i++) {
		if (fabs(at[i].offset_s - at[i - 1].offset_s) <
			fabs(at[least].offset_s - at[least - 1].offset_s))
			least = i;
	}
	for (size_t i = least; i + 1 < w->steps.n; i++)
		at[i] = at[i + 1];
	w->steps.n--;
}

void wallclock_step(struct wallclock *w, double from_s, double offset_s)
{
	if (w->steps.n >= WALLCLOCK_STEPS)
		join_smallest(w);
	vec_push(&w->steps, ((struct wall_step){ from_s, offset_s }));
}

double wallclock_offset(const struct wallclock *w)
{
	return w->steps.at[w->steps.n - 1].offset_s;
}

double wallclock_offset_at(const struct wallclock *w, double at_s)
{
	size_t i = w->steps.n - 1;

	while (i > 0 && at_s < w->steps.at[i].from_s)
		i--;
	return w->steps.at[i].offset_s;
}

double wallclock_s(const struct wallclock *w, double at_s)
{
	return at_s + wallclock_offset_at(w, at_s);
}

void wallclock_put(const struct wallclock *w, struct buf *out)
{
	for (size_t i = 0; i < w->steps.n; i++)
		buf_printf(out, "%s%.17g %.17g", i ? " " : "", i ? w->steps.at[i].from_s : 0,
			w->steps.at[i].offset_s);
}

/* The next number of the text; false: there is none. */
static bool next_number(const char **text, double *out)
{
	char *end;

	*out = strtod(*text, &end);
	if (end == *text || !isfinite(*out))
		return false;
	*text = end;
	return true;
}

bool wallclock_get(struct wallclock *w, const char *text)
{
	struct wallclock got = { 0 };
	struct wall_step step;
	bool fine = true;

	while (fine && text[strspn(text, " ")]) {
		fine = next_number(&text, &step.from_s) && next_number(&text, &step.offset_s);
		if (got.steps.n == 0)
			step.from_s = -INFINITY;
		else
			fine = fine && step.from_s >= got.steps.at[got.steps.n - 1].from_s;
		vec_push(&got.steps, step);
	}
	if (!fine || !got.steps.n) {
		wallclock_fini(&got);
		return false;
	}
	*w = got;
	return true;
}

double wallclock_resume(double kept_s, double last_s, double offset_s, double real_s, double boot_s,
	double away_s)
{
	double now_s = isnan(kept_s) ? fmin(real_s - offset_s, last_s + away_s) : kept_s + boot_s;

	return fmax(last_s, now_s) - boot_s;
}
