/*
 * Whether two submissions under one key ask for the same.
 *
 * What the daemon fills in (estimates, memory by earlier jobs) and what changes with the
 * moment of submission (dates that were said relative to now, variables that a
 * shell, a login, a terminal or a running job has of its own) does not count.
 */
#include <stdio.h>
#include <string.h>

#include "live/submission.h"

/* Variables by name; a trailing '*' means all that begin so. */
static const char *const volatile_variables[] = { "_", "SHLVL", "PWD", "OLDPWD", "TERM*",
	"COLORTERM", "COLUMNS", "LINES", "DISPLAY", "WAYLAND_DISPLAY", "WINDOWID", "TMUX*", "STY",
	"WINDOW", "SSH_*", "XDG_SESSION_*", "XDG_RUNTIME_DIR", "DBUS_*", "XAUTHORITY", "GPG_TTY",
	"KRB5CCNAME", "INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "NOTIFY_SOCKET",
	"SUDO_*", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "STINT", "STINT_*", "SLURM_*", "SLURMD_*",
	"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
	"HIP_VISIBLE_DEVICES", "TMPDIR", "RANDOM", "SECONDS" };

static bool is_volatile(const char *name)
{
	for (size_t i = 0; i < sizeof(volatile_variables) / sizeof(*volatile_variables); i++) {
		const char *one = volatile_variables[i];
		size_t n = strlen(one);

		if (one[n - 1] == '*' ? !strncmp(name, one, n - 1) : !strcmp(name, one))
			return true;
	}
	return false;
}

static void settle_env(json_t *json)
{
	json_t *env = json_object_get(json, "env"), *value;
	const char *name;
	void *next;

	json_object_foreach_safe(env, next, name, value)
	{
		if (is_volatile(name))
			json_object_del(env, name);
	}
	if (env && !json_object_size(env))
		json_object_del(json, "env");
}

/* What counts of it.  A new reference. */
static json_t *settled(const struct submission *s)
{
	json_t *json = submission_to_json(s);

	settle_env(json);
	json_object_del(json, "submitted");
	if (s->deadline_s > 0)
		json_object_set_new(json, "deadline", json_true());
	if (s->begin_s > 0)
		json_object_set_new(json, "begin", json_true());
	if (s->mem_auto) {
		json_object_del(json, "mem_bytes");
		json_object_del(json, "mem_most");
	}
	return json;
}

/* A member of `a` that `b` has not, or has otherwise; NULL: none. */
static const char *differs(json_t *a, json_t *b)
{
	const char *name;
	json_t *value;

	/* Before the name, which is made of it. */
	if (!json_equal(json_object_get(a, "command"), json_object_get(b, "command")))
		return "command";
	json_object_foreach(a, name, value)
	{
		if (!json_equal(value, json_object_get(b, name)))
			return name;
	}
	return NULL;
}

/* A variable of `a` that `b` has not, or has otherwise; NULL: none. */
static const char *variable_of(json_t *a, json_t *b)
{
	const char *name;
	json_t *value;

	json_object_foreach(a, name, value)
	{
		if (!json_equal(value, json_object_get(b, name)))
			return name;
	}
	return NULL;
}

static void put_member(json_t *a, json_t *b, const char *name, char *member, size_t size)
{
	json_t *env = json_object_get(a, "env"), *other = json_object_get(b, "env");
	const char *variable = name && !strcmp(name, "env") ? variable_of(env, other) : NULL;

	if (name && !strcmp(name, "env") && !variable)
		variable = variable_of(other, env);
	if (variable)
		snprintf(member, size, "%s (variable %s)", name, variable);
	else
		snprintf(member, size, "%s", name ? name : "");
}

bool submission_same(const struct submission *first, const struct submission *again, char *member,
	size_t size)
{
	json_t *a = settled(first), *b = settled(again);
	const char *name;

	if (!(again->estimate_s > 0))
		json_object_del(a, "estimate_s");
	name = differs(b, a);
	if (!name)
		name = differs(a, b);
	put_member(a, b, name, member, size);
	json_decref(a);
	json_decref(b);
	return !*member;
}
