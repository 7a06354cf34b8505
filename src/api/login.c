/*
 * Files of the page, and coming in and going out.
 */
#include "api/login.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "api/page.h"
#include "base/clock.h"
#include "base/mem.h"
#include "daemon/verbs.h"

/* ---- whom tokens stand for */

struct caller login_full_caller(void)
{
	return (struct caller){ .uid = geteuid(), .gid = getegid(), .admin = true };
}

struct caller login_read_caller(void)
{
	return (struct caller){ .uid = (uid_t)-2, .gid = (gid_t)-2, .role = ROLE_READ };
}

/* ---- files */

static enum MHD_Result serve_file(struct request *r, const char *name)
{
	const char *known = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND,
		"If-None-Match");
	struct MHD_Response *response;

	r->page = page_find(name);
	if (!r->page) {
		request_refuse(r, 404, "the page has no file of that name");
		return request_reply(r, NULL);
	}
	r->status = known && !strcmp(known, r->page->tag) ? 304 : 200;
	response = MHD_create_response_from_buffer(r->status == 200 ? r->page->n : 0,
		(void *)r->page->bytes, MHD_RESPMEM_PERSISTENT);
	return request_send(r, response, page_type(r->page));
}

enum MHD_Result login_serve_page(struct request *r, const json_t *args)
{
	(void)args;
	return serve_file(r, "index.html");
}

enum MHD_Result login_serve_asset(struct request *r, const json_t *args)
{
	return serve_file(r, json_string_value(json_object_get(args, "name")));
}

/* ---- sessions */

/* Takes the body. */
static enum MHD_Result reply_json(struct request *r, json_t *body)
{
	char *text = json_dumps(body, JSON_COMPACT);

	buf_str(&r->answer, text ? text : "{}");
	free(text);
	json_decref(body);
	r->status = 200;
	return request_reply(r, NULL);
}

/* The kernel says who calls at a unix socket: there is nothing to log in to. */
static bool needs_tcp(struct request *r)
{
	if (!r->peer->face->tcp)
		request_refuse(r, 409, "the unix socket knows who you are: sessions are for the page");
	return r->peer->face->tcp;
}

/* One secret that begins a session, and as whom. */
struct login_secret {
	char text[TOKEN_DIGITS + 1]; /* "": none */
	struct caller caller;
};

/* With the lock held: the tokens, or what the code or the session that is named stands for. */
static bool find_secrets(const struct server *s, const char *code, const char *session,
	struct login_secret out[2])
{
	const struct session_code *c = code ? sessions_find_code(&s->sessions, code, clock_wall_s())
					    : NULL;
	const struct session *known = session ? sessions_find(&s->sessions, session, clock_wall_s())
					      : NULL;

	out[0] = out[1] = (struct login_secret){ 0 };
	if (c) {
		out[0].caller = c->caller;
		strcpy(out[0].text, c->text + CODE_ID_DIGITS);
	} else if (known) {
		out[0].caller = known->caller;
		strcpy(out[0].text, known->key);
	} else if (code || session) {
		return false;
	} else {
		if (s->whole)
			strcpy(out[0].text, s->token);
		out[0].caller = login_full_caller();
		strcpy(out[1].text, s->read_token);
		out[1].caller = login_read_caller();
	}
	return true;
}

/* With the lock held: shows that we know what the page knows. */
static json_t *prove(const struct server *s, struct login_talk *talk,
	const struct login_secret secrets[2])
{
	static const char *const names[] = { "proof", "read_proof" };
	char challenge[CHALLENGE_DIGITS + 1], proof[SHA256_DIGITS + 1];
	json_t *body = json_pack("{s:s}", "schema", "login/1");

	sessions_challenge(&s->sessions, talk, clock_wall_s(), challenge);
	json_object_set_new(body, "challenge", json_string(challenge));
	talk->challenge = challenge;
	for (int i = 0; i < 2; i++) {
		if (!secrets[i].text[0])
			continue;
		login_sign(secrets[i].text, "stint server", talk, proof);
		json_object_set_new(body, names[i], json_string(proof));
	}
	return body;
}

/* With the lock held.  NULL: the answer is wrong, or too late. */
static json_t *begin_session(struct request *r, const struct login_talk *talk, const char *answer,
	const struct login_secret secrets[2], struct err *err)
{
	struct server *s = r->server;
	const struct session *session;
	char want[SHA256_DIGITS + 1];

	for (int i = 0; i < 2 && sessions_challenged(&s->sessions, talk, clock_wall_s()); i++) {
		login_sign(secrets[i].text, "stint page", talk, want);
		if (!secrets[i].text[0] || !sign_same(answer, want))
			continue;
		login_sign(secrets[i].text, "stint session", talk, want);
		if (sessions_begin(&s->sessions, want, &secrets[i].caller, clock_wall_s(), &session,
			    err) < 0)
			return NULL;
		sessions_drop_code(&s->sessions, talk->about);
		r->logged_in = true;
		r->caller = session->caller;
		r->by = talk->about[0] ? "code" : i ? "token.read" : "token";
		return json_pack("{s:s, s:s, s:s, s:i}", "schema", "login/1", "session", session->id,
			"role", caller_role(&session->caller), "lasts_s", (int)SESSION_S);
	}
	err_set(err, ERR_REFUSED, "the answer is wrong or too late: log in again");
	return NULL;
}

static bool is_hex(const char *text)
{
	return text && strlen(text) == SHA256_DIGITS &&
		strspn(text, "0123456789abcdef") == SHA256_DIGITS;
}

static bool check_login(struct request *r, const struct login_talk *talk, const char *code,
	const char *session, const char *answer)
{
	if (!talk->host || !strncasecmp(talk->host, "localhost", strlen("localhost")))
		request_refuse(r, 403,
			"the name localhost may lead to another program: open http://127.0.0.1:%u instead",
			r->server->port);
	else if (!is_hex(talk->nonce) || !answer != !talk->challenge || (code && session) ||
		(session && answer))
		request_refuse(r, 400,
			"`nonce` (64 hex digits) asks for a challenge, with `code` or `session`; `challenge` and `answer` log in");
	return !r->status;
}

enum MHD_Result login_serve_login(struct request *r, const json_t *args)
{
	const char *code = json_string_value(json_object_get(args, "code"));
	const char *session = json_string_value(json_object_get(args, "session"));
	const char *answer = json_string_value(json_object_get(args, "answer"));
	struct login_talk talk = {
		.host = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Host"),
		.nonce = json_string_value(json_object_get(args, "nonce")),
		.challenge = json_string_value(json_object_get(args, "challenge")),
		.about = code     ? code
			: session ? session
				  : "",
	};
	struct server *s = r->server;
	struct login_secret secrets[2];
	struct err err = { 0 };
	json_t *body = NULL;

	if (!needs_tcp(r) || !check_login(r, &talk, code, session, answer))
		return request_reply(r, NULL);
	pthread_mutex_lock(&s->lock);
	if (!find_secrets(s, code, session, secrets))
		err_set(&err, ERR_REFUSED, "%s",
			code ? "the code is wrong, was used, or is too old: `stint open` makes another"
			     : "the session is over: log in again");
	else
		body = answer ? begin_session(r, &talk, answer, secrets, &err)
			      : prove(s, &talk, secrets);
	pthread_mutex_unlock(&s->lock);
	if (body)
		return reply_json(r, body);
	request_refuse(r, err.code == ERR_REFUSED ? 401 : 500, "%s", err.text);
	return request_reply(r, NULL);
}

enum MHD_Result login_serve_logout(struct request *r, const json_t *args)
{
	(void)args;
	if (!needs_tcp(r))
		return request_reply(r, NULL);
	pthread_mutex_lock(&r->server->lock);
	sessions_end(&r->server->sessions,
		MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "X-Stint-Session"));
	pthread_mutex_unlock(&r->server->lock);
	return reply_json(r, json_pack("{s:s}", "schema", "login/1"));
}

/* The code stands behind '#', which browsers keep to themselves. */
enum MHD_Result login_serve_open(struct request *r, const json_t *args)
{
	struct server *s = r->server;
	struct err err = { 0 };
	const char *code;
	char *url = NULL;

	(void)args;
	if (!s->url) {
		request_refuse(r, 409, "%s",
			s->system ? "this daemon has no HTTP port: start it with --listen 127.0.0.1 --port 8780 "
				    "(STINT_DAEMON_FLAGS in /etc/default/stint), or enable stint-http.socket; from another "
				    "machine, forward the port first: ssh -L 8780:127.0.0.1:8780 HOST"
				  : "this daemon has no HTTP port: start it without --no-http");
		return request_reply(r, NULL);
	}
	pthread_mutex_lock(&s->lock);
	if (sessions_code(&s->sessions, &r->caller, clock_wall_s(), &code, &err) == 0)
		url = mem_printf("%s/#code=%s", s->url, code);
	pthread_mutex_unlock(&s->lock);
	if (url) {
		json_t *body = json_pack("{s:s, s:s, s:s, s:i}", "schema", "open/1", "url", url,
			"page", s->url, "lasts_s", (int)SESSION_CODE_S);

		free(url);
		return reply_json(r, body);
	}
	request_refuse(r, 500, "%s", err.text);
	return request_reply(r, NULL);
}
