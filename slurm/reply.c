/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers, and which kind of failure an error of Slurm's is.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"

/* What is not here is Slurm's refusal. */
static const struct {
	int from, to;
	const char *kind;
} kinds[] = {
	{ EPERM, EPERM, "denied" },
	{ EACCES, EACCES, "denied" },
	{ ECONNREFUSED, ECONNREFUSED, "unreachable" },
	{ EHOSTUNREACH, EHOSTUNREACH, "unreachable" },
	{ ENETUNREACH, ENETUNREACH, "unreachable" },
	{ ETIMEDOUT, ETIMEDOUT, "timeout" },
	{ ECONNRESET, ECONNRESET, "timeout" },
	{ EPIPE, EPIPE, "timeout" },
	{ SLURM_UNEXPECTED_MSG_ERROR, SLURM_UNEXPECTED_MSG_ERROR, "version" },
	{ SLURM_COMMUNICATIONS_CONNECTION_ERROR, SLURM_COMMUNICATIONS_SEND_ERROR, "unreachable" },
	/* From here on the request has left: what became of it nobody knows. */
	{ SLURM_COMMUNICATIONS_RECEIVE_ERROR, SLURM_COMMUNICATIONS_SHUTDOWN_ERROR, "timeout" },
	{ SLURM_PROTOCOL_VERSION_ERROR, SLURM_PROTOCOL_IO_STREAM_VERSION_ERROR, "version" },
	{ SLURM_PROTOCOL_AUTHENTICATION_ERROR, SLURM_PROTOCOL_AUTHENTICATION_ERROR, "auth" },
	{ SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR, SLURMCTLD_COMMUNICATIONS_SEND_ERROR, "unreachable" },
	{ SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR, SLURMCTLD_COMMUNICATIONS_SHUTDOWN_ERROR, "timeout" },
	{ ESLURM_IN_STANDBY_MODE, ESLURM_IN_STANDBY_MODE, "unreachable" },
	{ ESLURM_IN_STANDBY_USE_BACKUP, ESLURM_IN_STANDBY_USE_BACKUP, "unreachable" },
	{ SLURM_PROTOCOL_SOCKET_IMPL_ZERO_RECV_LENGTH, SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT, "timeout" },
	{ ESLURM_AUTH_CRED_INVALID, ESLURM_AUTH_SKIP, "auth" },
	{ ESLURM_ACCESS_DENIED, ESLURM_JOB_MISSING_REQUIRED_PARTITION_GROUP, "denied" },
	{ ESLURM_USER_ID_MISSING, ESLURM_USER_ID_MISSING, "denied" },
	{ ESLURM_GROUP_ID_MISSING, ESLURM_GROUP_ID_MISSING, "denied" },
	{ ESLURM_RESERVATION_ACCESS, ESLURM_RESERVATION_ACCESS, "denied" },
	{ ESLURM_INVALID_PARTITION_NAME, ESLURM_INVALID_PARTITION_NAME, "missing" },
	{ ESLURM_INVALID_JOB_ID, ESLURM_INVALID_NODE_NAME, "missing" },
	{ ESLURM_TRANSITION_STATE_NO_UPDATE, ESLURM_TRANSITION_STATE_NO_UPDATE, "busy" },
	{ ESLURM_JOB_PENDING, ESLURM_JOB_PENDING, "busy" },
	{ ESLURM_NODES_BUSY, ESLURM_NODES_BUSY, "busy" },
	{ ESLURM_PROLOG_RUNNING, ESLURM_PROLOG_RUNNING, "busy" },
	{ ESLURM_JOB_NOT_PENDING, ESLURM_JOB_NOT_PENDING, "busy" },
	{ ESLURM_JOB_SUSPENDED, ESLURM_JOB_SUSPENDED, "busy" },
	{ ESLURM_JOB_STARTED, ESLURM_JOB_STARTED, "busy" },
	{ ESLURM_JOB_NOT_RUNNING, ESLURM_JOB_NOT_FINISHED, "busy" },
	{ ESLURM_JOB_SETTING_DB_INX, ESLURM_JOB_SETTING_DB_INX, "busy" },
};

bool fail(struct failure *f, const char *kind, int code, const char *format, ...)
{
	va_list words;

	f->kind = kind;
	f->code = code;
	va_start(words, format);
	vsnprintf(f->text, sizeof(f->text), format, words);
	va_end(words);
	return false;
}

bool fail_slurm(struct failure *f, int code)
{
	const char *kind = "refused";

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (code >= kinds[i].from && code <= kinds[i].to)
			kind = kinds[i].kind;
	}
	return fail(f, kind, code, "%s", slurm_strerror(code));
}

void put(json_t *object, const char *name, json_t *value)
{
	json_object_set_new_nocheck(object, name, value);
}

json_t *reply_text(const char *text)
{
	json_t *value = json_string(text ? text : "");

	if (value)
		return value;
	/* Some name a job in another encoding: what is not ASCII is lost, the job is not. */
	char *plain = strdup(text);
	if (!plain)
		return json_string("");
	for (char *s = plain; *s; s++) {
		if ((unsigned char)*s >= 0x80)
			*s = '?';
	}
	value = json_string(plain);
	free(plain);
	return value;
}

json_t *reply_of(const struct failure *f)
{
	json_t *answer = json_object();

	put(answer, "ok", json_boolean(!f->kind));
	if (f->kind) {
		put(answer, "kind", json_string(f->kind));
		put(answer, "code", json_integer(f->code));
		put(answer, "error", reply_text(f->text));
	}
	return answer;
}

const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

long long number_of(const json_t *object, const char *name, long long otherwise)
{
	const json_t *value = json_object_get(object, name);

	return json_is_number(value) ? (long long)json_number_value(value) : otherwise;
}

bool reply_each(const json_t *request, const char *name, json_t *answer, struct failure *f,
	each_fn *each)
{
	const json_t *list = json_object_get(request, name), *element;
	json_t *results;
	size_t i;

	if (!json_is_array(list))
		return fail(f, "protocol", 0, "the request has no list \"%s\"", name);
	results = json_array();
	json_array_foreach(list, i, element)
	{
		struct failure one = { 0 };
		json_t *extra = json_object(), *result;

		each(element, request, extra, &one);
		result = reply_of(&one);
		json_object_update(result, extra);
		json_decref(extra);
		json_array_append_new(results, result);
	}
	put(answer, "results", results);
	return true;
}
