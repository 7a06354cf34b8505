/*
 * The terminal as a screen of one's own: its second screen, keys as they are
 * pressed, and everything as it was at the end, whatever the end is.
 *
 * There is one terminal, so there is one screen.  It is left when the program
 * leaves it, exits, is interrupted, is told to stop or crashes; Ctrl-Z leaves
 * it for as long as the program is stopped.
 */
#ifndef CLI_TOP_SCREEN_H
#define CLI_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/top/keys.h"

/* Whether standard output is a terminal that can be one. */
bool screen_possible(void);

/* ERR_IO if the terminal refuses.  Signals that end the program leave the screen first, then go on as before. */
int screen_enter(struct err *err);
void screen_leave(void);

/* As the terminal says it is now. */
void screen_size(int *columns, int *lines);
/* All of the text at once.  Does nothing after the screen was left. */
void screen_write(const struct buf *text);

/* Why screen_wait() came back; nothing of this: time is over, or screen_wake(). */
struct screen_news {
	bool fresh;   /* another size, or the terminal was somebody else's: draw everything anew */
	bool gone;    /* nobody is there any more: the terminal hung up */
	uint32_t key; /* KEY_NONE: none was pressed */
};

/* Waits for a key, a wake-up or so many seconds. */
struct screen_news screen_wait(double seconds);
/* From another thread: screen_wait() returns. */
void screen_wake(void);

#endif
