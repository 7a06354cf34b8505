/*
 * Devices on a canvas: a cell each where there is room, else a cell for each
 * node, else a bar for each type.
 */
#ifndef CLI_TOP_GRID_H
#define CLI_TOP_GRID_H

#include "cli/top/canvas.h"
#include "cli/top/view.h"

enum grid_form {
	GRID_WIDE,   /* a device is its sign and a mark */
	GRID_NARROW, /* its sign alone */
	GRID_NODES,  /* a node is a sign */
	GRID_TYPES,  /* a type is a bar */
	GRID_ALL,    /* one bar */
};

struct grid {
	enum grid_form form;
	int lines;  /* in all */
	int label;  /* columns of names, with the blank after them */
	int blocks; /* nodes side by side */
	int block;  /* columns of one */
	int per;    /* devices, or nodes, on a line of one */
	int each;   /* lines of a node */
};

/* The form with the most to see that needs at most so many lines (at least 1). */
struct grid grid_plan(const struct view *view, int columns, int lines);
void grid_draw(const struct grid *grid, const struct view *view, struct canvas *canvas, int y);

/* How the job with this letter is coloured, here and in lists. */
enum style letter_style(char letter);

#endif
