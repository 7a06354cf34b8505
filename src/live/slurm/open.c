/*
 * The beginning: who the cluster is, which partition, which nodes; and what to do
 * where one of these fails.
 */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/members.h"
#include "live/slurm/driver.h"

#define OPEN_S 10.0

/* ---- what to do */

static const struct {
	const char *kind;
	int code;
	bool at_once; /* waiting does not help */
	const char *advice;
} failures[] = {
	{ "program", ERR_MISSING, true, "" },
	{ "bridge", ERR_IO, false, ": what it said is above; 'stint-slurm --version' tries it by hand" },
	{ "unreachable", ERR_UNREACHABLE, false,
		": is slurmctld running, and does SLURM_CONF (or /etc/slurm/slurm.conf) name it?  'scontrol "
		"ping' tells" },
	{ "timeout", ERR_UNREACHABLE, false,
		": the controller takes no less than ten seconds to answer; 'sdiag' tells what it does" },
	{ "auth", ERR_REFUSED, true,
		": munged must run here, with the cluster's key in /etc/munge/munge.key" },
	{ "version", ERR_REFUSED, true,
		": stint-slurm was built for another release of Slurm; build it again with the libslurm-dev of "
		"this cluster's" },
	{ "denied", ERR_REFUSED, true, ": run the daemon as root or as SlurmUser" },
	{ "protocol", ERR_REFUSED, true,
		": stint-slurm is of another release of Stint; install both from one package" },
};

static const char *advice_for(const char *kind)
{
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		if (!strcmp(kind, failures[i].kind))
			return failures[i].advice;
	}
	return "";
}

/* ---- hello */

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

static void say_back(struct slurm *s)
{
	if (s->away_kind[0] && s->greeted)
		slurm_say(s, LEVEL_NOTICE, "Slurm answers again");
	s->away_kind[0] = '\0';
}

void slurm_hello(void *ctx, const json_t *hello)
{
	struct slurm *s = ctx;

	say_back(s);
	s->greeted = true;
	copy_text(s->cluster, sizeof(s->cluster), member_text(hello, "cluster"));
	copy_text(s->version, sizeof(s->version), member_text(hello, "slurm"));
	s->operator= member_bool(hello, "operator", false);
	s->kill_wait_s = member_number(hello, "kill_wait_s", 30);
	s->min_job_age_s = member_number(hello, "min_job_age_s", 300);
	slurm_ask_partitions(s);
	slurm_ask_nodes(s);
}

void slurm_away(void *ctx, const char *kind, const char *error)
{
	struct slurm *s = ctx;

	copy_text(s->away_kind, sizeof(s->away_kind), kind);
	copy_text(s->away_text, sizeof(s->away_text), error);
	if (s->greeted)
		slurm_say(s, LEVEL_WARNING, "Slurm cannot be asked (%s: %s), trying again%s", kind,
			error, advice_for(kind));
}

static bool is_silence(const char *kind)
{
	return !strcmp(kind, "unreachable") || !strcmp(kind, "timeout") || !strcmp(kind, "auth") ||
		!strcmp(kind, "version");
}

void slurm_answered(struct slurm *s, const struct wire_answer *answer)
{
	if (answer->ok && s->away_kind[0])
		s->back_s = slurm_now(s);
	if (answer->ok)
		say_back(s);
	/* The bridge calls it unreachable, too, while it waits after another failure. */
	else if (!answer->lost && is_silence(answer->kind) && !s->away_kind[0])
		slurm_away(s, answer->kind, answer->error);
}

static int fail(const struct slurm *s, struct err *err)
{
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		if (!strcmp(s->away_kind, failures[i].kind))
			return err_set(err, failures[i].code, "no Slurm: %s%s", s->away_text,
				failures[i].advice);
	}
	return err_set(err, ERR_UNREACHABLE, "no Slurm: %s",
		s->away_kind[0] ? s->away_text : "it did not answer in time");
}

static bool is_in_vain(const struct slurm *s)
{
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		if (failures[i].at_once && !strcmp(s->away_kind, failures[i].kind))
			return true;
	}
	return false;
}

static int no_partition(const struct slurm *s, struct err *err)
{
	struct buf names = { 0 };
	const json_t *one;
	size_t i;
	int rc;

	json_array_foreach(s->partitions, i, one)
	{
		const char *name = member_text(one, "name");

		buf_printf(&names, "%s%s", i ? ", " : "", name ? name : "?");
	}
	rc = err_set(err, ERR_MISSING, "Slurm has no partition '%s'; there %s %s", s->partition,
		json_array_size(s->partitions) == 1 ? "is" : "are", names.n ? names.at : "none");
	buf_fini(&names);
	return rc;
}

/* ---- waiting for it */

static bool is_there(const struct slurm *s)
{
	return s->greeted && s->nodes_known && s->partitions;
}

static int wait_for_it(struct slurm *s, struct err *err)
{
	double until_s = slurm_now(s) + OPEN_S;
	struct pollfd on = { wire_fd(s->wire), POLLIN, 0 };

	while (!is_there(s) && !is_in_vain(s) && slurm_now(s) < until_s) {
		if (wire_poll(s->wire, err) < 0)
			return err->code;
		if (!is_there(s) && !s->fake)
			poll(&on, 1, 100);
	}
	return is_there(s) ? 0 : fail(s, err);
}

static int check(struct slurm *s, struct err *err)
{
	struct machine machine;
	int rc;

	if (!s->has_partition)
		return no_partition(s, err);
	rc = nodes_machine(&s->nodes, s->cluster, s->version, &machine, err);
	if (rc < 0)
		return s->partition ? err_prefix(err, "partition %s", s->partition) : rc;
	machine_fini(&machine);
	if (s->partition && !s->operator)
		return err_set(err, ERR_REFUSED,
			"this user may not change the jobs of others in Slurm: run the daemon as root or as "
			"SlurmUser");
	return 0;
}

static void say_notices(struct slurm *s)
{
	struct buf text = { 0 };
	struct slice rest;

	nodes_notices(&s->nodes, &text);
	rest = (struct slice){ text.at, text.n };
	while (rest.n) {
		struct slice line = slice_cut(&rest, '\n');

		slurm_say(s, LEVEL_NOTICE, "%.*s", (int)line.n, line.at);
	}
	buf_fini(&text);
}

int slurm_begin(struct slurm *s, struct err *err)
{
	int rc = wait_for_it(s, err);

	if (rc == 0)
		rc = check(s, err);
	if (rc == 0)
		say_notices(s);
	return rc;
}
