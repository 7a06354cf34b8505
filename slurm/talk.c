/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is said: written as lines, recorded, and played again.
 *
 * A recording has the lines of both sides, requests after '>' and answers after '<'.  When it is
 * played, each request is answered as the next equal one was; else as the next of the same `op`, since
 * times and keys differ from day to day.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

static FILE *record;

int talk_record(const char *path)
{
	record = fopen(path, "a");
	if (!record) {
		fprintf(stderr, "stint-slurm: cannot write %s: %s\n", path, strerror(errno));
		return -1;
	}
	return 0;
}

void talk_note(char direction, const char *line)
{
	if (!record)
		return;
	fprintf(record, "%c %s\n", direction, line);
	fflush(record);
}

void talk_say(json_t *answer)
{
	char *line = json_dumps(answer, JSON_COMPACT);

	json_decref(answer);
	if (!line) {
		fprintf(stderr, "stint-slurm: no memory for an answer\n");
		exit(1);
	}
	talk_note('<', line);
	if (puts(line) == EOF || fflush(stdout) == EOF)
		exit(0); /* nobody listens any more */
	free(line);
}

/* ---- playing */

struct pair {
	json_t *request, *answer;
};

struct recording {
	struct pair *pair;
	size_t count, next;
};

static void add_line(struct recording *r, const char *line)
{
	json_t *said = json_loads(line + 1, 0, NULL);

	if (!said)
		return;
	if (line[0] == '<' && r->count > 0 && !r->pair[r->count - 1].answer) {
		r->pair[r->count - 1].answer = said;
	} else if (line[0] == '>') {
		struct pair *more = realloc(r->pair, (r->count + 1) * sizeof(*more));
		if (!more)
			abort();
		r->pair = more;
		json_object_del(said, "id");
		r->pair[r->count++] = (struct pair){ .request = said };
	} else {
		json_decref(said);
	}
}

static int read_recording(const char *path, struct recording *r)
{
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	if (!in) {
		fprintf(stderr, "stint-slurm: cannot read %s: %s\n", path, strerror(errno));
		return -1;
	}
	while (getline(&line, &size, in) > 0)
		add_line(r, line);
	free(line);
	fclose(in);
	return 0;
}

static bool same_op(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "op"), json_object_get(b, "op"));
}

/* The next pair for a request without its id, or NULL. */
static const struct pair *find(struct recording *r, const json_t *request)
{
	for (int exact = 1; exact >= 0; exact--) {
		for (size_t i = r->next; i < r->count; i++) {
			const struct pair *p = &r->pair[i];
			if (!p->answer ||
				!(exact ? json_equal(p->request, request)
					: same_op(p->request, request)))
				continue;
			r->next = i + 1;
			return p;
		}
	}
	return NULL;
}

static void answer_line(struct recording *r, const char *line)
{
	json_t *request = json_loads(line, 0, NULL), *answer;
	json_t *id = json_incref(json_object_get(request, "id"));
	const struct pair *p;

	json_object_del(request, "id");
	p = find(r, request);
	if (p) {
		answer = json_copy(p->answer);
	} else {
		struct failure f;
		fail(&f, "protocol", 0, "the recording has no such request after its first %zu",
			r->next);
		answer = reply_of(&f);
	}
	if (id)
		put(answer, "id", id);
	json_decref(request);
	talk_say(answer);
}

int talk_play(const char *path)
{
	struct recording r = { 0 };
	char *line = NULL;
	size_t size = 0;

	if (read_recording(path, &r) < 0)
		return 1;
	while (getline(&line, &size, stdin) > 0)
		answer_line(&r, line);
	for (size_t i = 0; i < r.count; i++) {
		json_decref(r.pair[i].request);
		json_decref(r.pair[i].answer);
	}
	free(r.pair);
	free(line);
	return 0;
}
