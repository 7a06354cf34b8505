/* The linear share program once more, for machines with wide registers. */
#include "solver/four_wide.h"

#ifdef FOUR_WIDE
#include "solver/arrow.c"

#include "solver/four_wide_end.h"
#endif
