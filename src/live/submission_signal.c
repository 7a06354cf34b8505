/*
 * Signals by name.
 */
#include "live/submission.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SIGNALS = 65 };

static const char *const names[SIGNALS] = {
	[SIGHUP] = "HUP",
	[SIGINT] = "INT",
	[SIGQUIT] = "QUIT",
	[SIGILL] = "ILL",
	[SIGTRAP] = "TRAP",
	[SIGABRT] = "ABRT",
	[SIGBUS] = "BUS",
	[SIGFPE] = "FPE",
	[SIGKILL] = "KILL",
	[SIGUSR1] = "USR1",
	[SIGSEGV] = "SEGV",
	[SIGUSR2] = "USR2",
	[SIGPIPE] = "PIPE",
	[SIGALRM] = "ALRM",
	[SIGTERM] = "TERM",
	[SIGCHLD] = "CHLD",
	[SIGCONT] = "CONT",
	[SIGSTOP] = "STOP",
	[SIGTSTP] = "TSTP",
	[SIGTTIN] = "TTIN",
	[SIGTTOU] = "TTOU",
	[SIGURG] = "URG",
	[SIGXCPU] = "XCPU",
	[SIGXFSZ] = "XFSZ",
	[SIGVTALRM] = "VTALRM",
	[SIGPROF] = "PROF",
	[SIGWINCH] = "WINCH",
	[SIGIO] = "IO",
	[SIGPWR] = "PWR",
	[SIGSYS] = "SYS",
	/* What a C library keeps for itself is left out: 32 to 34. */
	[35] = "RTMIN+1",
	[36] = "RTMIN+2",
	[37] = "RTMIN+3",
	[38] = "RTMIN+4",
	[39] = "RTMIN+5",
	[40] = "RTMIN+6",
	[41] = "RTMIN+7",
	[42] = "RTMIN+8",
	[64] = "RTMAX",
};

const char *signal_name(int number)
{
	return number > 0 && number < SIGNALS && names[number] ? names[number] : "?";
}

int signal_of_name(const char *text)
{
	int64_t number;

	if (slice_int(slice_of(text), &number))
		return number > 0 && number < SIGNALS && names[number] ? (int)number : 0;
	if (!strncasecmp(text, "SIG", 3))
		text += 3;
	for (int i = 1; i < SIGNALS; i++)
		if (names[i] && !strcasecmp(text, names[i]))
			return i;
	return 0;
}

/* Slurm's prefixes say who gets the signal; here it is always the command. */
static const char *after_receiver(const char *text)
{
	const char *colon = strchr(text, ':');

	if (colon && strspn(text, "BRbr") == (size_t)(colon - text))
		return colon + 1;
	return text;
}

int submission_set_signal(struct submission *s, const char *text, struct err *err)
{
	const char *name = after_receiver(text), *at = strchr(name, '@');
	char *word = mem_strndup(name, at ? (size_t)(at - name) : strlen(name));
	int number = signal_of_name(word);
	double grace_s = s->grace_s;

	free(word);
	if (!number)
		return err_set(err, ERR_USAGE,
			"there is no signal '%.40s'; write USR1, TERM@60 or 10@60", text);
	if (at && !(slice_seconds(slice_of(at + 1), &grace_s) && grace_s >= 0))
		return err_set(err, ERR_USAGE,
			"'%.40s' is no time; after @ come seconds, as in USR1@60", at + 1);
	s->stop_signal = number;
	s->grace_s = grace_s;
	return 0;
}
