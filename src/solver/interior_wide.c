/* The method once more, for machines with wide registers. */
#include "solver/four_wide.h"

#ifdef FOUR_WIDE
#include "solver/interior.c"

#include "solver/four_wide_end.h"
#endif
