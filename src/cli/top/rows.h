/*
 * Lists of jobs on a canvas: columns that fit the width, the least important
 * left out first.
 */
#ifndef CLI_TOP_ROWS_H
#define CLI_TOP_ROWS_H

#include "cli/top/board.h"
#include "cli/top/canvas.h"

/* Where a list goes. */
struct rows_place {
	enum top_part part;
	int y, lines;
	bool titles; /* the first line is the columns' names */
	bool mark;   /* the chosen row is shown as such */
};

/* Draws as many rows as there is room for, the chosen one among them.  Remembers in `board` where it scrolled to. */
void rows_draw(const struct rows_place *place, const struct view *view, struct board *board,
	struct canvas *canvas);

#endif
