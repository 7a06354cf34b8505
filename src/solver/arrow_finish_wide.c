/* Finish-time fairness once more, for machines with wide registers. */
#include "solver/four_wide.h"

#ifdef FOUR_WIDE
#include "solver/arrow_finish.c"

#include "solver/four_wide_end.h"
#endif
