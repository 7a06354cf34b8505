/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stint-slurm: a line in, a line out (doc/slurm-protocol.md).
 */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

static const struct {
	const char *name;
	op_fn *answer;
} ops[] = {
	{ "hello", look_hello },
	{ "ping", look_ping },
	{ "partitions", look_partitions },
	{ "nodes", look_nodes },
	{ "jobs", jobs_changed },
	{ "find", jobs_find },
	{ "submit", submit_jobs },
	{ "start", act_start },
	{ "requeue", act_requeue },
	{ "hold", act_hold },
	{ "release", act_release },
	{ "cancel", act_cancel },
	{ "signal", act_signal },
	{ "note", act_note },
	{ "drain", act_drain },
	{ "resume", act_resume },
};

static const char help[] =
	"usage: stint-slurm [--rate N] [--timeout S] [--record FILE]\n"
	"       stint-slurm --play FILE\n"
	"Answers requests about a Slurm cluster: a JSON object on a line of standard input,\n"
	"one on a line of standard output for each.  The Stint daemon starts it; by hand:\n"
	"  echo '{\"id\":1,\"op\":\"ping\"}' | stint-slurm\n"
	"\n"
	"  --rate N       at most N calls of the controller a second (500)\n"
	"  --timeout S    seconds that the controller has for an answer (10)\n"
	"  --record FILE  append every line to FILE, requests after '>' and answers after '<'\n"
	"  --play FILE    answer from such a file, without Slurm\n"
	"  --help, --version\n"
	"SLURM_CONF names the configuration where it is not where Slurm was built to look.\n";

static bool answer_op(const json_t *request, json_t *answer, struct failure *f)
{
	const char *op = text_of(request, "op");

	if (!op)
		return fail(f, "protocol", 0, "the request has no \"op\"");
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!strcmp(ops[i].name, op))
			return ops[i].answer(request, answer, f);
	}
	return fail(f, "protocol", 0, "there is no op \"%s\"", op);
}

static void answer_line(const char *line)
{
	json_error_t where;
	json_t *request = json_loads(line, 0, &where), *answer;
	struct failure f = { 0 };
	json_t *body = json_object(), *id = json_object_get(request, "id");

	if (!json_is_object(request))
		fail(&f, "protocol", 0, "not a JSON object: %s", request ? line : where.text);
	else
		answer_op(request, body, &f);
	answer = json_object();
	put(answer, "id", id ? json_incref(id) : json_null());
	json_t *outcome = reply_of(&f);
	json_object_update(answer, outcome);
	json_decref(outcome);
	if (!f.kind)
		json_object_update(answer, body);
	json_decref(body);
	json_decref(request);
	talk_say(answer);
}

static double number_option(const char *text, const char *option, double least, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end != text && !*end && value >= least && value <= most)
		return value;
	fprintf(stderr, "stint-slurm: %s %s: a number from %g to %g is wanted\n", option, text,
		least, most);
	exit(2);
}

int main(int argc, char **argv)
{
	enum { RATE = 1, TIMEOUT, RECORD, PLAY, HELP, VERSION };
	static const struct option options[] = {
		{ "rate", required_argument, NULL, RATE },
		{ "timeout", required_argument, NULL, TIMEOUT },
		{ "record", required_argument, NULL, RECORD },
		{ "play", required_argument, NULL, PLAY },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, VERSION },
		{ 0 },
	};
	double rate = 500;
	int timeout_s = 10, option;
	const char *play = NULL;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case RATE:
			rate = number_option(optarg, "--rate", 1, 1e6);
			break;
		case TIMEOUT:
			timeout_s = (int)number_option(optarg, "--timeout", 1, 3600);
			break;
		case RECORD:
			if (talk_record(optarg) < 0)
				return 1;
			break;
		case PLAY:
			play = optarg;
			break;
		case HELP:
			fputs(help, stdout);
			return 0;
		case VERSION:
			printf("stint-slurm %s (protocol %d, Slurm %lu.%02lu)\n", STINT_VERSION,
				BRIDGE_PROTOCOL,
				SLURM_VERSION_MAJOR((unsigned long)SLURM_VERSION_NUMBER),
				SLURM_VERSION_MINOR((unsigned long)SLURM_VERSION_NUMBER));
			return 0;
		default:
			fputs("stint-slurm --help says what there is\n", stderr);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "stint-slurm: %s: no words are wanted; --help says what there is\n",
			argv[optind]);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	if (play)
		return talk_play(play);
	controller_init(rate, timeout_s);
	while ((length = getline(&line, &size, stdin)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = 0;
		talk_note('>', line);
		answer_line(line);
	}
	free(line);
	return 0;
}
