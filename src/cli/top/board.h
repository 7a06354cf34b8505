/*
 * What a person does with the screen of `top`: where they are, how jobs are
 * sorted and which are left out, and what keys mean.  No terminal, no daemon:
 * what has to be asked of others is returned.
 */
#ifndef CLI_TOP_BOARD_H
#define CLI_TOP_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/vec.h"
#include "cli/top/view.h"

enum board_mode { MODE_LIST, MODE_TEXT, MODE_FILTER, MODE_CONFIRM };

enum board_sort { SORT_QUEUE, SORT_NAME, SORT_USER, SORT_DEVICES, SORT_TIME, SORT_LEFT, SORTS };

/* What a key asks for. */
enum board_ask {
	ASK_NOTHING,
	ASK_QUIT,
	ASK_REDRAW, /* the terminal may show anything */
	ASK_DETAILS,
	ASK_CANCEL,
	ASK_HOLD,
	ASK_RELEASE,
	ASK_PRIORITY, /* ask_priority is the new one */
	ASK_FASTER,
	ASK_SLOWER,
};

/* A zeroed board is valid: begin with board_settle(). */
struct board {
	enum board_mode mode;
	enum top_part part;
	enum board_sort sort;
	bool mine, paused;
	bool acts; /* jobs can be cancelled, held and released here */
	bool runs; /* time can be made to pass faster and slower here */
	struct buf filter;
	char message[160]; /* until the next key */

	/* the list: rows are places in the view's jobs */
	VEC(uint32_t) rows[PARTS];
	uint64_t chosen[PARTS]; /* 1 + number of the job, 0: none */
	size_t at[PARTS];       /* its row */
	size_t first[PARTS];    /* row on the first line */
	int page;               /* rows of the present part that are shown */

	/* a text over the list: details of a job, or help */
	struct buf text;
	char title[80];
	size_t text_first;
	int text_lines, text_page;
	uint32_t details_of; /* the job, or VIEW_NONE */

	enum board_ask asked; /* to be confirmed */
	uint32_t ask_job;
	char ask_label[40]; /* of the job that was asked about last */
	char ask_first[40]; /* the same, or of several elements of an array the first */
	struct buf ask_ids; /* of several: their numbers; empty: it is one job */
	bool ask_stops;     /* the change ends its command for now */
	int32_t ask_priority;
};

void board_fini(struct board *board);

/* Sorts and filters anew; the chosen job stays chosen, or the one that takes its row. */
void board_settle(struct board *board, const struct view *view);

/* The chosen job, or NULL. */
const struct view_job *board_chosen(const struct board *board, const struct view *view);

/*
 * A key.  Where an answer is needed, `*job` is the job it is about: show the text of ASK_DETAILS with
 * board_show().
 */
enum board_ask board_key(struct board *board, const struct view *view, uint32_t key, uint32_t *job);

/* Shows a text over the list. */
void board_show(struct board *board, const char *title, const char *text);
/* A line until the next key. */
void board_say(struct board *board, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const char *board_sort_name(enum board_sort sort);
const char *board_verb(enum board_ask ask); /* "cancel", "hold", "release", "update" */

#endif
