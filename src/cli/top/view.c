#include "cli/top/view.h"

#include <math.h>
#include <string.h>

/* Without x, which stands for a device that is down. */
static const char alphabet[LETTERS + 1] = "abcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWYZ";

void view_fini(struct view *view)
{
	arena_fini(&view->memory);
	*view = (struct view){ 0 };
}

void view_clear(struct view *view)
{
	struct arena memory = view->memory;

	arena_reset(&memory);
	*view = (struct view){ .memory = memory };
}

/* ---- letters */

int letter_number(char letter)
{
	const char *at = letter ? strchr(alphabet, letter) : NULL;

	return at ? (int)(at - alphabet) : LETTERS;
}

static int letter_of(const struct letters *letters, uint32_t job)
{
	for (int i = 0; i < LETTERS; i++) {
		if (letters->job[i] == (uint64_t)job + 1)
			return i;
	}
	return -1;
}

/* Those who have one keep it; the others get what is free, in the order of the list. */
static void give_letters(struct view *view, struct letters *letters)
{
	struct letters next = { 0 };
	int free_one = 0;

	for (uint32_t i = 0; i < view->njobs; i++) {
		struct view_job *job = &view->jobs[i];
		int had = job->part == PART_RUNNING ? letter_of(letters, job->id) : -1;

		if (had >= 0)
			next.job[had] = (uint64_t)job->id + 1;
		job->letter = had >= 0 ? alphabet[had] : '\0';
	}
	for (uint32_t i = 0; i < view->njobs; i++) {
		struct view_job *job = &view->jobs[i];

		while (free_one < LETTERS && next.job[free_one])
			free_one++;
		if (job->letter || job->part != PART_RUNNING || free_one == LETTERS)
			continue;
		next.job[free_one] = (uint64_t)job->id + 1;
		job->letter = alphabet[free_one];
	}
	*letters = next;
}

void view_finish(struct view *view, struct letters *letters)
{
	give_letters(view, letters);
	view->held = view->down = view->drained = view->idle = 0;
	for (uint32_t i = 0; i < view->ndevices; i++) {
		const struct view_device *device = &view->devices[i];

		view->down += device->down;
		view->drained += device->drained;
		view->held += device->holders > 0;
		view->idle += device->job < view->njobs && view->jobs[device->job].idle;
	}
}

/* ---- trend */

void trend_init(struct trend *trend, double step_s, bool whole)
{
	*trend = (struct trend){ .step_s = step_s, .whole = whole, .from_s = NAN };
}

static void make_room(struct trend *h)
{
	uint32_t half = TREND_STEPS / 2;

	if (!h->whole) {
		memmove(h->held, h->held + 1, (TREND_STEPS - 1) * sizeof(double));
		memmove(h->waiting, h->waiting + 1, (TREND_STEPS - 1) * sizeof(double));
		h->from_s += h->step_s;
		h->n--;
		return;
	}
	for (uint32_t i = 0; i < half; i++) {
		h->held[i] = (h->held[2 * i] + h->held[2 * i + 1]) / 2;
		h->waiting[i] = (h->waiting[2 * i] + h->waiting[2 * i + 1]) / 2;
	}
	h->n = half;
	h->step_s *= 2;
}

/* A new last step; the one before holds until something else is known. */
static void push(struct trend *h, double held, double waiting)
{
	if (h->n == TREND_STEPS)
		make_room(h);
	h->held[h->n] = held;
	h->waiting[h->n] = waiting;
	h->n++;
	h->weight = 1;
}

static void into_last(struct trend *h, double held, double waiting)
{
	uint32_t last = h->n - 1;

	h->weight++;
	h->held[last] += (held - h->held[last]) / h->weight;
	h->waiting[last] += (waiting - h->waiting[last]) / h->weight;
}

void trend_add(struct trend *h, double at_s, double held, double waiting)
{
	if (!h->n) {
		h->from_s = at_s;
		push(h, held, waiting);
		return;
	}
	/* A gap longer than all that is kept leaves nothing of what was before. */
	if (!h->whole && at_s - h->from_s > 2 * TREND_STEPS * h->step_s) {
		trend_init(h, h->step_s, false);
		trend_add(h, at_s, held, waiting);
		return;
	}
	while (at_s >= h->from_s + (h->n + 1) * h->step_s)
		push(h, h->held[h->n - 1], h->waiting[h->n - 1]);
	if (at_s >= h->from_s + h->n * h->step_s)
		push(h, held, waiting);
	else
		into_last(h, held, waiting);
}
