/*
 * Does with clients/c/stint.h what standard input says, one command a line, and
 * answers each with a line.  c_test.py speaks to it.
 */
static double probe_now(void);
#define STINT_NOW probe_now
/* A daemon on a busy machine answers late; PROBE_HURRY=1 in the environment waits as jobs do. */
#define STINT_WAIT_S (getenv("PROBE_HURRY") ? 0.2 : 120.0)
#define STINT_ANSWER_S 120.0
#include <stdlib.h>
#define STINT_IMPLEMENTATION
#include "stint.h"

static double frozen_s = -1;

static double probe_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return frozen_s >= 0 ? frozen_s : (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int earlier_calls;

static void earlier_handler(int number)
{
	(void)number;
	earlier_calls++;
}

/* "progress STEP TOTAL [NAME=NUMBER...]" */
static void do_progress(char *words)
{
	struct stint_metric metrics[64];
	long long step = strtoll(words, &words, 10), total = strtoll(words, &words, 10);
	int count = 0;
	char *word, *equals;

	for (word = strtok(words, " "); word && count < 64; word = strtok(NULL, " ")) {
		if (!(equals = strchr(word, '=')))
			continue;
		*equals = '\0';
		metrics[count].name = word;
		metrics[count++].value = atof(equals + 1);
	}
	stint_progress_with(step, total, metrics, count);
	puts("ok");
}

/* Until what was sent is answered; our clock may stand still. */
static void wait_for_answer(void)
{
	struct stint_link *link = &stint_state_.link;
	struct pollfd poller;

	while (link->flying >= 0) {
		poller.fd = link->fd;
		poller.events = POLLIN;
		poll(&poller, 1, 10);
		stint_link_advance_(link, 0);
	}
}

static void do_settle(void)
{
	wait_for_answer();
	puts("ok");
}

/* The answer first: if the clock leapt while a message is under way, its answer would count as late. */
static void do_clock(double now_s)
{
	wait_for_answer();
	frozen_s = now_s;
	puts("ok");
}

static void show_grant(const struct stint_grant *grant)
{
	int i;

	printf("%d %ld", grant->gpus, grant->serial);
	for (i = 0; i < grant->count; i++)
		printf(" %s", grant->devices[i]);
	puts("");
}

static void do_resized(void)
{
	struct stint_grant grant;

	if (stint_resized(&grant))
		show_grant(&grant);
	else
		puts("none");
}

static void do_save(const char *path, const char *how)
{
	struct stint_save save;
	FILE *out = stint_save_open(&save, path);

	if (!out) {
		printf("cannot: %s\n", strerror(errno));
		return;
	}
	fprintf(out, "%s", how);
	if (strcmp(how, "abort") == 0)
		stint_save_abort(&save);
	else if (strcmp(how, "kill") == 0 && fflush(out) == 0)
		raise(SIGKILL);
	else if (stint_save_commit(&save) < 0)
		printf("cannot: %s\n", strerror(errno));
	puts("ok");
}

/* A child's reports must not go out on its parent's connection. */
static void do_fork(void)
{
	fflush(stdout);
	if (fork() == 0) {
		stint_progress(999, 0);
		stint_checkpointed(999);
		exit(0);
	}
	puts("ok");
}

static void obey(char *line)
{
	char *rest = line + strcspn(line, " ");
	struct stint_grant grant;

	if (*rest)
		*rest++ = '\0';
	if (strcmp(line, "progress") == 0)
		do_progress(rest);
	else if (strcmp(line, "checkpointed") == 0)
		stint_checkpointed(atoll(rest)), puts("ok");
	else if (strcmp(line, "flush") == 0)
		stint_flush(), puts("ok");
	else if (strcmp(line, "clock") == 0)
		do_clock(atof(rest));
	else if (strcmp(line, "settle") == 0)
		do_settle();
	else if (strcmp(line, "stop") == 0)
		printf("%d %d %d\n", stint_should_stop(), stint_grace_left() >= 0, earlier_calls);
	else if (strcmp(line, "env") == 0)
		printf("%d %ld %d %d %d %d\n", stint_running(), stint_job_id(), stint_attempt(),
			stint_restarts(), stint_array_index(-7), stint_gpus());
	else if (strcmp(line, "grant") == 0)
		stint_grant_now(&grant), show_grant(&grant);
	else if (strcmp(line, "resized") == 0)
		do_resized();
	else if (strcmp(line, "accept") == 0)
		stint_read_grant_(&grant), stint_resize_done(&grant), puts("ok");
	else if (strcmp(line, "save") == 0)
		do_save("state", rest);
	else if (strcmp(line, "fork") == 0)
		do_fork();
	else if (strcmp(line, "requeue") == 0)
		stint_exit_for_requeue();
	else
		puts("what?");
}

int main(int argc, char **argv)
{
	char line[8192];

	if (argc > 1 && strcmp(argv[1], "earlier") == 0)
		signal(SIGTERM, earlier_handler);
	stint_init();
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		obey(line);
		fflush(stdout);
	}
	return 0;
}
