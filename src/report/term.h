/*
 * What a terminal can show.  The caller finds out; report only obeys.
 */
#ifndef REPORT_TERM_H
#define REPORT_TERM_H

#include <stdbool.h>

struct term {
	int width;   /* columns; 0: as wide as it gets */
	bool utf8;   /* else ASCII only */
	bool colour; /* signs carry the meaning anyway */
};

#endif
