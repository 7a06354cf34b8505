/*
 * Grants compared.
 */
#include "model/grant.h"

bool grant_same_devices(const struct grant *a, const struct grant *b)
{
	if (a->nslots != b->nslots)
		return false;
	for (uint32_t i = 0; i < a->nslots; i++) {
		if (a->slots[i].node != b->slots[i].node || a->slots[i].devices != b->slots[i].devices)
			return false;
	}
	return true;
}
