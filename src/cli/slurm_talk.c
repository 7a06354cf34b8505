/*
 * All requests go to a bridge at once, and its lines come back.
 */
#include "cli/slurm_talk.h"

#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/mem.h"
#include "base/members.h"
#include "live/slurm/advice.h"

#define PATIENCE_S 60.0
enum { ANSWER_MAX = 256 << 20 };

int slurm_talk_failed(const json_t *answer, struct err *err)
{
	const char *kind = member_text(answer, "kind"), *error = member_text(answer, "error");

	if (json_is_true(json_object_get(answer, "ok")))
		return 0;
	return slurm_failed(kind ? kind : "protocol", error, err);
}

/* Takes both. */
static void put_line(struct buf *out, json_t *request, size_t id)
{
	char *text;

	json_object_set_new(request, "id", json_integer((json_int_t)id));
	text = json_dumps(request, JSON_COMPACT);
	buf_str(out, text);
	buf_char(out, '\n');
	free(text);
	json_decref(request);
}

static json_t *read_lines(const struct buf *text)
{
	struct slice left = { text->at, text->n };
	json_t *answers = json_array();

	while (left.n) {
		struct slice line = slice_cut(&left, '\n');
		json_t *one = json_loadb(line.at, line.n, 0, NULL);

		if (one)
			json_array_append_new(answers, one);
	}
	return answers;
}

static int ask(const struct slurm_words *words, const struct buf *lines, json_t **answers,
	struct err *err)
{
	struct child_ask ask = {
		.argv = words->bridge,
		.input = lines->at,
		.ninput = lines->n,
		.out_max = ANSWER_MAX,
		.timeout_s = PATIENCE_S,
	};
	struct child_end end;

	if (child_run(&ask, &end, err) < 0)
		return err->code;
	*answers = read_lines(&end.out);
	if (json_array_size(*answers) == 0) {
		struct buf how = { 0 };

		child_end_text(&end, PATIENCE_S, &how);
		err_set(err, ERR_MISSING, "%s said nothing (%s)%s%.*s", words->program, how.at,
			end.err.n ? ": " : "", (int)end.err.n, end.err.n ? end.err.at : "");
		buf_fini(&how);
		json_decref(*answers);
		*answers = NULL;
	}
	child_end_fini(&end);
	return *answers ? 0 : err->code;
}

int slurm_talk(const struct slurm_words *words, json_t *requests, json_t **answers, struct err *err)
{
	struct buf lines = { 0 };
	int rc;

	put_line(&lines, json_pack("{s:s,s:i}", "op", "hello", "protocol", 1), 1);
	for (size_t i = 0; i < json_array_size(requests); i++)
		put_line(&lines, json_incref(json_array_get(requests, i)), i + 2);
	rc = ask(words, &lines, answers, err);
	if (rc == 0)
		rc = slurm_talk_failed(json_array_get(*answers, 0), err);
	if (rc == 0 && json_array_size(*answers) != json_array_size(requests) + 1)
		rc = err_set(err, ERR_BROKEN, "%s did not answer everything", words->program);
	if (rc < 0) {
		json_decref(*answers);
		*answers = NULL;
	}
	json_decref(requests);
	buf_fini(&lines);
	return rc;
}
