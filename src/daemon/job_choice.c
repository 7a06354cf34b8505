#include "daemon/job_choice.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_SHOWN = 1000, JOBS_MOST = 200000 };

static const uint32_t NOBODY = UINT32_MAX;

static bool choose_states(struct call *call, const char *text, struct job_choice *out)
{
	struct slice left = slice_of(text);

	while (left.n) {
		struct slice word = slice_trim(slice_cut(&left, ','));
		int found = -1;

		for (int i = 0; i < LIVE_STATES; i++) {
			if (slice_is_nocase(word, live_state_name((enum live_state)i)))
				found = i;
		}
		if (found < 0) {
			call_problem(call, 400, 2,
				"state: '%.*s' is none; there are live, ended, all, pending, running, completed, failed, cancelled, …",
				(int)word.n, word.at);
			return false;
		}
		out->states |= UINT32_C(1) << found;
		out->live |= found < LIVE_COMPLETED;
		out->ended |= found >= LIVE_COMPLETED;
	}
	return true;
}

/* A number is a uid.  The last one who submitted is known; others may be asked for over a network. */
static uint32_t uid_of(const struct daemon *d, const char *user)
{
	struct passwd entry, *found = NULL;
	char words[4096], *end;
	unsigned long number;

	if (*user >= '0' && *user <= '9') {
		number = strtoul(user, &end, 10);
		if (!*end)
			return number < NOBODY ? (uint32_t)number : NOBODY;
	}
	if (d->user && !strcmp(d->user, user))
		return d->user_uid;
	if (getpwnam_r(user, &entry, words, sizeof(words), &found) == 0 && found)
		return found->pw_uid;
	return NOBODY;
}

bool job_choice_read(const struct daemon *d, struct call *call, struct job_choice *out)
{
	const char *state = member_text(call->args, "state");

	*out = (struct job_choice){
		.user = member_text(call->args, "user"),
		.tenant = member_text(call->args, "tenant"),
		.name = member_text(call->args, "name"),
		.limit = member_int(call->args, "limit", JOBS_SHOWN),
		.after = member_int(call->args, "after", 0),
	};
	out->uid = out->user ? uid_of(d, out->user) : NOBODY;
	if (out->limit < 1 || out->limit > JOBS_MOST) {
		call_problem(call, 400, 2, "limit: 1 to %d", JOBS_MOST);
		return false;
	}
	out->live = !state || !strcmp(state, "live") || !strcmp(state, "all");
	out->ended = state && (!strcmp(state, "ended") || !strcmp(state, "all"));
	out->states = out->live || out->ended ? UINT32_MAX : 0;
	return out->live || out->ended || choose_states(call, state, out);
}

static bool same(const char *wanted, const char *have)
{
	return !wanted || (have && !strcmp(wanted, have));
}

/* One without a name in the table of users has its name from its number, or from before. */
static bool of_user(const struct job_choice *c, const struct live_job *job)
{
	return c->uid == NOBODY ? same(c->user, job->user) : job->uid == c->uid;
}

bool job_choice_has(const struct job_choice *c, const struct live_job *job)
{
	return !live_ended(job) && c->states >> job->state & 1 && (int64_t)job->id > c->after &&
		of_user(c, job) && same(c->tenant, job->tenant) && same(c->name, job->name);
}
