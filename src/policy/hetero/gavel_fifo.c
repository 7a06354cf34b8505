/*
 * First in, first out: the oldest job has its fastest type, then the next.
 */
#include "policy/hetero/gavel.h"

/* The fastest type with room for row `i`; -1: none has. */
static int fastest_with_room(const struct program *p, uint32_t i, const double *room)
{
	int best = -1;

	for (uint32_t w = 0; w < p->types; w++) {
		double speed = p->speed[i * p->types + w];

		if (room[w] >= p->gang[i] &&
			(best < 0 || speed > p->speed[i * p->types + (uint32_t)best]))
			best = (int)w;
	}
	return best;
}

/* As the published code does it: nobody overtakes, whole devices. */
static void in_line(const struct program *p, struct shares *shares)
{
	double room[TYPES_MAX];

	for (uint32_t w = 0; w < p->types; w++)
		room[w] = p->capacity[w];
	for (uint32_t i = 0; i < p->jobs; i++) {
		int w = fastest_with_room(p, i, room);

		if (w < 0)
			return;
		shares->x[i * p->types + (uint32_t)w] = 1;
		room[w] -= p->gang[i];
	}
}

int gavel_fifo(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	if (!gavel_published(self))
		return gavel_queue(self, p, shares, err);
	in_line(p, shares);
	return 0;
}
