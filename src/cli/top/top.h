/*
 * The screen of `top` with somebody in front of it: draws what changed, and
 * turns keys into questions.  Whoever uses it fills the view.
 */
#ifndef CLI_TOP_TOP_H
#define CLI_TOP_TOP_H

#include "cli/command.h"
#include "cli/top/board.h"
#include "cli/top/canvas.h"
#include "cli/top/draw.h"
#include "cli/top/view.h"
#include "report/term.h"

struct top {
	struct term term;
	struct view view;
	struct trend trend;
	struct letters letters;
	struct board board;
	char alert[200]; /* "" : none */
	struct canvas shown, next;
	bool gone; /* nobody is in front of it any more */
};

/* --color: "auto" (and NULL), "always" or "never"; ERR_USAGE for anything else. */
int top_term(const struct args *args, struct term *out, struct err *err);

/* Takes the terminal.  Release with top_end(), also after a failure. */
int top_begin(struct top *top, struct err *err);
/* Gives it back. */
void top_end(struct top *top);

/* The view has changed: counts, letters, the list. */
void top_settle(struct top *top);
/* Brings the terminal up to date. */
void top_draw(struct top *top);
/*
 * Waits for so many seconds at most, for a key or a wake-up, and draws again if that changed something.  What
 * remains to be done is returned: ASK_QUIT also when the terminal is gone.
 */
enum board_ask top_wait(struct top *top, double seconds, uint32_t *job);

/* All of it as text, once. */
void top_print(struct top *top, int lines, struct buf *out);

#endif
