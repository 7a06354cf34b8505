/*
 * A binary heap of gains, and sharing out by it.
 */
#include <math.h>

#include "policy/elastic/gain.h"

static bool before(struct gain a, struct gain b)
{
	return a.gain > b.gain || (a.gain == b.gain && a.row < b.row);
}

void gain_init(struct gain_heap *heap, struct arena *arena, uint32_t rows)
{
	heap->at = arena_array(arena, struct gain, rows);
	heap->n = 0;
}

void gain_push(struct gain_heap *heap, double gain, uint32_t row)
{
	struct gain item = { gain, row };
	uint32_t i;

	if (isnan(gain))
		return;
	for (i = heap->n++; i > 0 && before(item, heap->at[(i - 1) / 2]); i = (i - 1) / 2)
		heap->at[i] = heap->at[(i - 1) / 2];
	heap->at[i] = item;
}

struct gain gain_pop(struct gain_heap *heap)
{
	struct gain top = heap->at[0], item = heap->at[--heap->n];
	uint32_t i = 0, child;

	for (; (child = 2 * i + 1) < heap->n; i = child) {
		if (child + 1 < heap->n && before(heap->at[child + 1], heap->at[child]))
			child++;
		if (!before(heap->at[child], item))
			break;
		heap->at[i] = heap->at[child];
	}
	heap->at[i] = item;
	return top;
}

uint32_t gain_share_out(struct arena *arena, uint32_t rows, const struct gain_steps *steps, void *self)
{
	struct gain_heap heap;
	uint32_t made = 0;

	gain_init(&heap, arena, rows);
	for (uint32_t row = 0; row < rows; row++)
		gain_push(&heap, steps->gain(self, row), row);
	while (heap.n > 0) {
		struct gain best = gain_pop(&heap);

		if (best.gain <= 0)
			break;
		if (steps->take(self, best.row)) {
			made++;
			gain_push(&heap, steps->gain(self, best.row), best.row);
		} else if (steps->stop_at_misfit) {
			break;
		}
	}
	return made;
}
