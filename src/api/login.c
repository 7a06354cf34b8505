/*
 * Files of the page, and coming in and going out.
 */
#include "api/login.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/page.h"
#include "base/clock.h"
#include "base/mem.h"

/* ---- cookies */

/* Cookies know no ports: each daemon of a machine has a name of its own. */
static void cookie_name(const struct server *s, char out[32])
{
	snprintf(out, 32, "stint-%u", s->port);
}

const char *login_cookie(const struct request *r)
{
	char name[32];

	cookie_name(r->server, name);
	return MHD_lookup_connection_value(r->connection, MHD_COOKIE_KIND, name);
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

static void set_cookie(struct request *r, const char *value, long max_age_s)
{
	char name[32];

	cookie_name(r->server, name);
	r->cookie = mem_printf("%s=%s; Path=/; Max-Age=%ld; HttpOnly; SameSite=Strict", name, value,
		max_age_s);
}

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

/* With the lock held. */
static int begin_session(struct request *r, const char *token, const char *code, json_t **out,
	struct err *err)
{
	struct server *s = r->server;
	const struct session *session;
	bool good = token ? gate_same(token, s->token)
			  : sessions_use_code(&s->sessions, code, clock_real_s());

	if (!good)
		return err_set(err, ERR_REFUSED,
			token ? "the token is wrong: it is in the file `token` of the daemon's state directory"
			      : "the code is wrong, was used, or is too old: `stint open` makes another");
	if (sessions_begin(&s->sessions, clock_real_s(), &session, err) < 0)
		return err->code;
	set_cookie(r, session->id, SESSION_S);
	*out = json_pack("{s:s, s:s, s:i}", "schema", "login/1", "key", session->key, "lasts_s",
		(int)SESSION_S);
	return 0;
}

enum MHD_Result login_serve_login(struct request *r, const json_t *args)
{
	const char *token = json_string_value(json_object_get(args, "token"));
	const char *code = json_string_value(json_object_get(args, "code"));
	struct err err = { 0 };
	json_t *body = NULL;
	int rc;

	if (!needs_tcp(r))
		return request_reply(r, NULL);
	if (!token == !code) {
		request_refuse(r, 400, "either `token` or `code` is needed");
		return request_reply(r, NULL);
	}
	pthread_mutex_lock(&r->server->lock);
	rc = begin_session(r, token, code, &body, &err);
	pthread_mutex_unlock(&r->server->lock);
	if (rc == 0)
		return reply_json(r, body);
	request_refuse(r, rc == ERR_REFUSED ? 401 : 500, "%s", err.text);
	return request_reply(r, NULL);
}

enum MHD_Result login_serve_logout(struct request *r, const json_t *args)
{
	(void)args;
	if (!needs_tcp(r))
		return request_reply(r, NULL);
	pthread_mutex_lock(&r->server->lock);
	sessions_end(&r->server->sessions, login_cookie(r));
	pthread_mutex_unlock(&r->server->lock);
	set_cookie(r, "", 0);
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
	if (sessions_code(&s->sessions, clock_real_s(), &code, &err) == 0)
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
