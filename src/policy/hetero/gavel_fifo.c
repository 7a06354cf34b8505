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

/* ---- pairs, as the published code has them */

/* Two on the same devices must make more than this, each in parts of what it makes alone. */
#define WORTH_SHARING 1.5

/* What a pair makes on a type. */
static double worth(const struct program *p, uint32_t pair, uint32_t w)
{
	const double *both = &p->pair_speed[((size_t)pair * p->types + w) * 2];
	double a = p->speed[(size_t)p->pair[pair].a * p->types + w];
	double b = p->speed[(size_t)p->pair[pair].b * p->types + w];

	return a > 0 && b > 0 ? both[0] / a + both[1] / b : 0;
}

/* The type that a job has to itself; -1: none. */
static int type_alone(const struct program *p, const struct shares *shares, uint32_t row)
{
	for (uint32_t w = 0; w < p->types; w++) {
		if (shares->x[(size_t)row * p->types + w] > 0)
			return (int)w;
	}
	return -1;
}

/* Puts row `i` beside whoever it goes best with; false: there is nobody. */
static bool join_somebody(const struct program *p, struct shares *shares, uint32_t i)
{
	uint32_t best = 0, host = 0;
	int type = -1;

	for (uint32_t k = 0; k < p->pairs; k++) {
		uint32_t other = p->pair[k].a == i ? p->pair[k].b : p->pair[k].a;
		int w = p->pair[k].a == i || p->pair[k].b == i ? type_alone(p, shares, other) : -1;

		if (w < 0 || !(worth(p, k, (uint32_t)w) > WORTH_SHARING))
			continue;
		if (type >= 0 && !(worth(p, k, (uint32_t)w) > worth(p, best, (uint32_t)type)))
			continue;
		best = k;
		host = other;
		type = w;
	}
	if (type < 0)
		return false;
	shares->x[(size_t)host * p->types + (uint32_t)type] = 0;
	shares->pair_x[(size_t)best * p->types + (uint32_t)type] = 1;
	return true;
}

/* As the published code does it: nobody overtakes, whole devices; who finds none may share. */
static void in_line(const struct program *p, struct shares *shares)
{
	double room[TYPES_MAX];
	uint32_t i = 0;

	for (uint32_t w = 0; w < p->types; w++)
		room[w] = p->capacity[w];
	for (; i < p->jobs; i++) {
		int w = fastest_with_room(p, i, room);

		if (w < 0)
			break;
		shares->x[i * p->types + (uint32_t)w] = 1;
		room[w] -= p->gang[i];
	}
	while (p->pairs > 0 && i < p->jobs && join_somebody(p, shares, i))
		i++;
}

int gavel_fifo(void *self, const struct program *p, struct shares *shares, struct err *err)
{
	if (!gavel_published(self))
		return gavel_queue(self, p, shares, err);
	in_line(p, shares);
	return 0;
}
