/*
 * The screen of `top` on a canvas: figures, devices, jobs that run and jobs
 * that wait, or a text over them.
 */
#ifndef CLI_TOP_DRAW_H
#define CLI_TOP_DRAW_H

#include "cli/top/board.h"
#include "cli/top/canvas.h"
#include "cli/top/view.h"

/* What there is to draw.  All borrowed. */
struct scene {
	const struct view *view;
	const struct trend *trend;
	struct board *board; /* settled; remembers where lists were scrolled to */
	const char *alert;   /* a line about the screen itself; NULL: none */
	bool plain;          /* once, for a pipe: nothing about keys */
};

/* Fills a blank canvas of any size. */
void draw_scene(const struct scene *scene, struct canvas *canvas);

/* Lines that show everything, with every job there is room for in `most`. */
int draw_height(const struct scene *scene, int columns, int most);

#endif
