/*
 * Where published data is: STINT_DATA, else ../shared/data.  Tests that need it say
 * loudly what they skip where it is not there.
 */
#ifndef TESTS_SUPPORT_DATA_H
#define TESTS_SUPPORT_DATA_H

#include <stdlib.h>

static inline const char *data_dir(void)
{
	const char *given = getenv("STINT_DATA");

	return given ? given : "../shared/data";
}

#endif
