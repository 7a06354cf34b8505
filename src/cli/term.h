/*
 * What standard output can show.
 */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include "report/term.h"

/* The width is what COLUMNS says, else that of the terminal, else 0: as wide as it gets.  Colour is for terminals. */
struct term term_of_stdout(void);

/* Whether the descriptor is a terminal that colours may be sent to. */
bool term_has_colour(int fd);

#endif
