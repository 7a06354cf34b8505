#include "cli/ui.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/plain.h"
#include "cli/term.h"

int ui_exit_code(int rc)
{
	if (rc > 0)
		return rc;
	switch (rc) {
	case 0:
		return EXIT_OK;
	case ERR_USAGE:
		return EXIT_USAGE;
	case ERR_MISSING:
		return EXIT_NOT_FOUND;
	case ERR_REFUSED:
		return EXIT_REFUSED;
	case ERR_NEVER:
		return EXIT_NEVER;
	case ERR_UNREACHABLE:
		return EXIT_UNREACHABLE;
	case ERR_TIMEOUT:
		return EXIT_TIMED_OUT;
	default:
		return EXIT_FAILED;
	}
}

void ui_say(const struct args *args, const char *fmt, ...)
{
	va_list list;
	char *text = NULL;

	if (args->quiet)
		return;
	va_start(list, fmt);
	if (vasprintf(&text, fmt, list) < 0)
		text = NULL;
	va_end(list);
	if (text)
		ui_err("%s\n", text);
	free(text);
}

static void put(FILE *to, const char *fmt, va_list list)
{
	struct buf out = { 0 };
	char *text = NULL;

	if (vasprintf(&text, fmt, list) < 0)
		text = NULL;
	if (text)
		text_escape_lines(&out, text, strlen(text));
	if (out.n)
		fputs(out.at, to);
	buf_fini(&out);
	free(text);
}

void ui_err(const char *fmt, ...)
{
	va_list list;

	va_start(list, fmt);
	put(stderr, fmt, list);
	va_end(list);
}

void ui_out(const char *fmt, ...)
{
	va_list list;

	va_start(list, fmt);
	put(stdout, fmt, list);
	va_end(list);
}

const char *ui_note_level(enum note_level level)
{
	static const char *const names[] = {
		[NOTE_ASSUMED] = "assumed",
		[NOTE_DROPPED] = "dropped",
		[NOTE_WARNING] = "warning",
		[NOTE_PROBLEM] = "problem",
	};

	return names[level];
}

void ui_note(const char *path, const struct note *note, struct buf *out)
{
	buf_str(out, path);
	if (note->line)
		buf_printf(out, ":%zu", note->line);
	buf_printf(out, ": %s: ", ui_note_level(note->level));
	if (note->field)
		buf_printf(out, "%s: ", note->field);
	buf_str(out, note->text);
	if (note->count > 1)
		buf_printf(out, " (%zu times)", note->count);
	if (note->fix)
		buf_printf(out, "; %s", note->fix);
	buf_char(out, '\n');
}

void ui_notes(const struct args *args, const char *path, const struct notes *notes)
{
	struct buf text = { 0 };

	if (args->quiet || !notes->n)
		return;
	for (size_t i = 0; i < notes->n; i++)
		ui_note(path, &notes->at[i], &text);
	ui_err("%s", text.at);
	buf_fini(&text);
}

static int print(const struct buf *text, struct err *err)
{
	if (text->n && fwrite(text->at, 1, text->n, stdout) != text->n)
		return err_set(err, ERR_IO, "cannot write to standard output: %s", strerror(errno));
	if (text->n && text->at[text->n - 1] != '\n')
		fputc('\n', stdout);
	if (fflush(stdout) || ferror(stdout))
		return err_set(err, ERR_IO, "cannot write to standard output: %s", strerror(errno));
	return 0;
}

static int print_as(const struct buf *raw, bool coloured, struct err *err)
{
	struct buf text = { 0 };
	int rc;

	(coloured ? text_escape_coloured : text_escape_lines)(&text, raw->at, raw->n);
	rc = print(&text, err);
	buf_fini(&text);
	return rc;
}

int ui_print(const struct buf *text, struct err *err)
{
	return print_as(text, term_of_stdout().colour, err);
}

int ui_print_coloured(const struct buf *text, struct err *err)
{
	return print_as(text, true, err);
}

static volatile sig_atomic_t caught, guarded;

static void on_signal(int number)
{
	if (!guarded || caught)
		_exit(EXIT_SIGNAL + number);
	caught = number;
}

/* A signal that whoever started us ignores (nohup, a script's background) stays ignored. */
static void catch (int number)
{
	struct sigaction action = { .sa_handler = on_signal }, before;

	sigemptyset(&action.sa_mask);
	if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

void ui_signals(void)
{
	catch (SIGINT);
	catch (SIGTERM);
}

void ui_guard(void)
{
	guarded = 1;
}

int ui_interrupted(void)
{
	return caught;
}

enum { BAR_WIDTH = 30 };

void bar_begin(struct bar *bar, const struct args *args, const char *what)
{
	*bar = (struct bar){
		.shown = !args->quiet && isatty(STDERR_FILENO),
		.what = what,
		.began_s = clock_wall_s(),
		.last_s = clock_wall_s(),
	};
}

void bar_move(struct bar *bar, double part)
{
	double now_s = clock_wall_s();
	double spent_s = now_s - bar->began_s;
	char line[BAR_WIDTH + 1], left[32] = "";
	int filled = (int)(part * BAR_WIDTH);

	if (!bar->shown || now_s - bar->last_s < 0.1)
		return;
	bar->last_s = now_s;
	memset(line, '.', BAR_WIDTH);
	memset(line, '#', (size_t)(filled < 0 ? 0 : filled > BAR_WIDTH ? BAR_WIDTH : filled));
	line[BAR_WIDTH] = '\0';
	if (part > 0.01)
		text_duration(ceil(spent_s * (1 - part) / part), left);
	fprintf(stderr, "\r%s [%s] %3.0f %%%s%s\033[K", bar->what, line, part * 100,
		*left ? ", left " : "", left);
}

void bar_end(struct bar *bar)
{
	if (bar->shown)
		fputs("\r\033[K", stderr);
	bar->shown = false;
}
