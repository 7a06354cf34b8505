/*
 * What standard output can show.
 */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include "report/term.h"

/* Width 0 (as wide as it gets) and no colour unless it is a terminal. */
struct term term_of_stdout(void);

#endif
