#include "cli/db_pruned.h"

#include <time.h>

#include "cli/ui.h"
#include "store/record_clock.h"

void pruned_clock(struct record *record, struct wallclock *out)
{
	struct record_clock clock;

	record_clock_read(record, &clock);
	*out = clock.wall;
}

double pruned_wall_s(struct record *record, double at_s)
{
	struct wallclock wall;
	double wall_s;

	pruned_clock(record, &wall);
	wall_s = wallclock_s(&wall, at_s);
	wallclock_fini(&wall);
	return wall_s;
}

const char *pruned_moment(double at, char *text)
{
	time_t when = (time_t)at;
	struct tm local;

	strftime(text, 32, "%Y-%m-%d %H:%M", localtime_r(&when, &local));
	return text;
}

void pruned_sentence(struct record *record, const struct record_pruned *pruned, struct buf *out)
{
	char when[32];

	buf_printf(out, "pruned before %s: %llu job%s kept as %s, %llu events deleted\n",
		pruned_moment(pruned_wall_s(record, pruned->at_s), when),
		(unsigned long long)pruned->jobs, pruned->jobs == 1 ? " is" : "s are",
		pruned->jobs == 1 ? "a summary" : "summaries", (unsigned long long)pruned->events);
}

void pruned_to_json(struct record *record, const struct record_pruned *pruned, struct json *j)
{
	json_begin_object(j, "pruned");
	json_int(j, "seq", (int64_t)pruned->seq);
	json_double(j, "before", pruned_wall_s(record, pruned->at_s));
	json_int(j, "jobs", (int64_t)pruned->jobs);
	json_int(j, "events", (int64_t)pruned->events);
	json_end(j, '}');
}

void pruned_say(const struct args *args, struct record *record)
{
	struct record_pruned pruned;
	struct buf text = { 0 };

	if (!record_pruned(record, &pruned))
		return;
	pruned_sentence(record, &pruned, &text);
	text.at[text.n - 1] = 0; /* ui_say() ends the line */
	ui_say(args, "%s", text.at);
	buf_fini(&text);
}
