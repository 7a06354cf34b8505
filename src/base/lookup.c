/*
 * Names that are in no table.
 */
#include "base/lookup.h"

#include "base/text.h"

int lookup_failed(const char *kind, const char *name, const char *const *known, size_t n,
	const char *see, struct err *err)
{
	int nearest = text_nearest(name, known, n);

	if (nearest >= 0)
		return err_set(err, ERR_MISSING,
			"there is no %s '%s'; did you mean '%s'? `%s` lists them all", kind, name,
			known[nearest], see);
	return err_set(err, ERR_MISSING, "there is no %s '%s'; `%s` lists them", kind, name, see);
}
