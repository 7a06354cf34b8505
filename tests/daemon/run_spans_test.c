#include "daemon/run_spans.h"

#include <string.h>

#include "support/property.h"

static char *spans_of(const char *events)
{
	struct buf out = { 0 };
	struct json j;

	json_init(&j, &out, false);
	json_begin_object(&j, NULL);
	run_spans_write(slice_of(events), &j);
	json_end(&j, '}');
	return out.at;
}

static const struct {
	const char *what, *events, *want;
} rows[] = {
	{ "a start and a finish are a span",
		"{\"t\":0,\"ev\":\"submit\",\"job\":\"a\"}\n"
		"{\"t\":1,\"ev\":\"start\",\"job\":\"a\",\"attempt\":1,\"on\":[[\"n0\",\"0-2,5\"]]}\n"
		"{\"t\":4,\"ev\":\"finish\",\"job\":\"a\",\"attempt\":1}\n",
		"{\"spans\":[{\"job\":\"a\",\"attempt\":1,\"node\":\"n0\",\"devices\":[0,1,2,5],\"from\":1,\"to\":4,"
		"\"end\":\"COMPLETED\"}],\"spans_more\":false}" },
	{ "a change of size ends one and begins another; a turn renewed goes on",
		"{\"t\":1,\"ev\":\"start\",\"job\":\"a\",\"attempt\":1,\"on\":[[\"n0\",\"0\"]]}\n"
		"{\"t\":2,\"ev\":\"renew\",\"job\":\"a\",\"attempt\":1,\"on\":[[\"n0\",\"0\"]]}\n"
		"{\"t\":3,\"ev\":\"resize\",\"job\":\"a\",\"attempt\":1,\"on\":[[\"n1\",\"1\"]]}\n"
		"{\"t\":5,\"ev\":\"preempt\",\"job\":\"a\",\"attempt\":1}\n",
		"{\"spans\":[{\"job\":\"a\",\"attempt\":1,\"node\":\"n0\",\"devices\":[0],\"from\":1,\"to\":3,\"end\":null},"
		"{\"job\":\"a\",\"attempt\":1,\"node\":\"n1\",\"devices\":[1],\"from\":3,\"to\":5,\"end\":\"PREEMPTED\"}],"
		"\"spans_more\":false}" },
	{ "what holds devices at the end is cut there",
		"{\"t\":1,\"ev\":\"start\",\"job\":\"a\",\"attempt\":1,\"on\":[[\"n0\",\"0\"]]}\n"
		"{\"t\":9,\"ev\":\"start\",\"job\":\"b\",\"attempt\":1,\"on\":[[\"n0\",\"1\"]]}\n",
		"{\"spans\":[{\"job\":\"a\",\"attempt\":1,\"node\":\"n0\",\"devices\":[0],\"from\":1,\"to\":9,\"end\":null}],"
		"\"spans_more\":false}" },
	{ "what is no event is passed over", "{\"t\":1,\"ev\":\"start\"\nrubbish\n,\"ev\":\"start\"}\n\n",
		"{\"spans\":[],\"spans_more\":false}" },
	{ "nothing is nothing", "", "{\"spans\":[],\"spans_more\":false}" },
};

static void events_become_spans(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *got = spans_of(rows[i].events);

		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].what, got);
		free(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_become_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
