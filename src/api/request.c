/*
 * Admission, arguments, the daemon's answer, headers.
 */
#include "api/request.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "api/login.h"
#include "api/openapi.h"
#include "api/page.h"
#include "api/problem.h"
#include "base/clock.h"
#include "base/mem.h"
#include "daemon/metrics.h"

static const struct param events_params[] = {
	{ "after", PARAM_INT, false, false, "events after this number; without it, from now on" },
	{ 0 },
};

static const struct param raw_params[] = {
	{ "id", PARAM_TEXT, true, true, "the job" },
	{ "stream", PARAM_TEXT, false, false, "stdout or stderr" },
	{ "attempt", PARAM_INT, false, false, "the last one if not given" },
	{ "offset", PARAM_INT, false, false, "bytes to skip; below zero: bytes before the end" },
	{ "follow", PARAM_BOOL, false, false, "go on until the attempt is over" },
	{ 0 },
};

static const struct param asset_params[] = {
	{ "name", PARAM_TEXT, true, true, "a file of the page" },
	{ 0 },
};

static const struct param login_params[] = {
	{ "nonce", PARAM_TEXT, false, true, "64 hex digits of chance" },
	{ "code", PARAM_TEXT, false, false,
		"the first 16 digits of a code of /v1/open; without it, by a token" },
	{ "session", PARAM_TEXT, false, false,
		"or a session that goes on: the server proves itself again" },
	{ "challenge", PARAM_TEXT, false, false, "what the first request was answered with" },
	{ "answer", PARAM_TEXT, false, false, "the signature that logs in (doc/web.md)" },
	{ 0 },
};

const struct verb server_routes[] = {
	{ "page", "GET", "/", "the page", NEEDS_READ, NULL, "text/html", false },
	{ "asset", "GET", "/assets/{name}", "a file of the page", NEEDS_READ, asset_params,
		"text/javascript", false },
	{ "login", "POST", "/login",
		"begin a session of the page: the server proves itself, then the page (doc/web.md)",
		NEEDS_READ, login_params, "login/1", false },
	{ "logout", "POST", "/logout", "end it", NEEDS_READ, NULL, "login/1", false },
	{ "open", "POST", "/v1/open", "an address of the page that logs in once", NEEDS_USER, NULL,
		"open/1", false },
	{ "healthz", "GET", "/healthz",
		"whether the daemon decides and accepts: ok or degraded, with detail; 503 if not",
		NEEDS_READ, NULL, "health/1", false },
	{ "metrics", "GET", "/metrics", "counters and times", NEEDS_READ, NULL,
		"application/openmetrics-text", false },
	{ "openapi", "GET", "/v1/openapi.json", "this document", NEEDS_READ, NULL, NULL, false },
	{ "events", "GET", "/v1/events", "what happens, as server-sent events", NEEDS_READ,
		events_params, "text/event-stream", true },
	{ "log_raw", "GET", "/v1/jobs/{id}/log/raw", "the bytes of a log", NEEDS_OWNER, raw_params,
		"text/plain", true },
	{ 0 },
};

struct request *request_create(struct server *server, struct peer *peer, const char *raw,
	struct MHD_Connection *connection)
{
	struct request *r = mem_alloc(sizeof(*r));

	r->server = server;
	r->peer = peer;
	r->connection = connection;
	r->raw = mem_strdup(raw);
	r->target = target_of(r->raw);
	r->by = "none";
	return r;
}

/* Also for one that went away as it was resumed. */
static void stop_waiting(struct request *r)
{
	struct server *s = r->server;

	pthread_mutex_lock(&s->lock);
	*(r->prev ? &r->prev->next : &s->waiting) = r->next;
	if (r->next)
		r->next->prev = r->prev;
	r->waits = false;
	pthread_mutex_unlock(&s->lock);
}

void request_destroy(struct request *r)
{
	if (r->waits)
		stop_waiting(r);
	inquiry_leave(r->inquiry);
	json_decref(r->log_args);
	buf_fini(&r->body);
	buf_fini(&r->allow);
	buf_fini(&r->answer);
	free(r->raw);
	free(r->detail);
	free(r);
}

void request_refuse(struct request *r, int status, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	problem_write(&r->answer, status, "%s", text);
	r->status = status;
	free(text);
}

/* ---- admission */

static const char *header(const struct request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result count_header(void *ctx, enum MHD_ValueKind kind, const char *key,
	const char *value)
{
	struct {
		const char *name;
		int n;
	} *count = ctx;

	(void)kind;
	(void)value;
	count->n += !strcasecmp(key, count->name);
	return MHD_YES;
}

/* The value of a header that must not be there twice: which one would count? */
static const char *single(struct request *r, const char *name)
{
	struct {
		const char *name;
		int n;
	} count = { name, 0 };

	MHD_get_connection_values(r->connection, MHD_HEADER_KIND, count_header, &count);
	if (count.n > 1 && !r->status)
		request_refuse(r, 400, "there is more than one %s", name);
	return count.n == 1 ? header(r, name) : NULL;
}

/* Health, the page itself, and coming in. */
static bool is_open_to_all(const struct request *r)
{
	static const char *const paths[] = { "/", "/healthz", "/login" };
	static const char assets[] = "/assets/";
	struct slice path = r->target.path;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (slice_is(path, paths[i]))
			return true;
	}
	return path.n >= sizeof(assets) && !memcmp(path.at, assets, sizeof(assets) - 1);
}

/* With the lock held.  What a session changes must say that it comes from our own page. */
static bool in_session(const struct request *r, const char *method, const char *origin,
	const char *signature, struct caller *out)
{
	const struct session *session;

	if (!signature || (strcmp(method, "GET") != 0 && !origin))
		return false;
	session = sessions_know(&r->server->sessions, signature, method, r->raw, clock_wall_s());
	if (session)
		*out = session->caller;
	return session;
}

/* Whom a right token stands for. */
static bool token_says(struct request *r, const char *authorization, struct caller *out)
{
	const struct server *s = r->server;

	if (s->whole && gate_token(authorization, s->token)) {
		*out = login_full_caller();
		r->by = "token";
		return true;
	}
	if (gate_token(authorization, s->read_token)) {
		*out = login_read_caller();
		r->by = "token.read";
		return true;
	}
	return false;
}

static void refuse_stranger(struct request *r)
{
	request_refuse(r, 401,
		r->server->whole
			? "the token is missing or wrong: send `Authorization: Bearer "
			  "TOKEN` with the token in the daemon's state directory, or log in at the page"
			: "the token is missing or wrong: send `Authorization: Bearer TOKEN` with the token in "
			  "STATE/token.read, which may read; for all else use the unix socket, or `stint open` for the page");
}

/*
 * Asked anew for every request: groups change while connections and sessions last.  A token for reading is no
 * user's.
 */
static void give_role(struct request *r)
{
	const struct api_back *back = &r->server->back;

	if (!back->role || r->caller.uid == (uid_t)-2)
		return;
	r->caller.role = back->role(back->self, r->caller.uid);
	r->caller.admin = r->caller.role == ROLE_ADMIN;
}

static void admit_tcp(struct request *r, const char *method)
{
	struct server *s = r->server;
	const char *host = single(r, "Host"), *origin = single(r, "Origin");
	const char *authorization = single(r, "Authorization");
	const char *signature = single(r, "X-Stint-Session");
	struct caller caller = { .uid = (uid_t)-2, .gid = (gid_t)-2, .role = ROLE_NONE };
	bool good = token_says(r, authorization, &caller), ok;

	pthread_mutex_lock(&s->lock);
	if (!authorization && in_session(r, method, origin, signature, &caller)) {
		good = true;
		r->by = "session";
	}
	ok = gate_rate_take(good ? &s->good : &s->bad, r->peer->hash, clock_wall_s());
	r->peer->trusted |= good;
	pthread_mutex_unlock(&s->lock);
	if (r->status)
		return;
	if (!gate_host(host, s->port, s->exposed))
		request_refuse(r, 403, "this is no name of ours: use http://127.0.0.1:%u", s->port);
	else if (!gate_origin(origin, host))
		request_refuse(r, 403, "requests of other sites are refused");
	else if (!ok)
		request_refuse(r, 429, "too many requests; try again in a second");
	else if (!good && !is_open_to_all(r))
		refuse_stranger(r);
	r->trusted = good;
	r->caller = caller;
	if (good)
		give_role(r);
}

static void admit_unix(struct request *r)
{
	const struct server *s = r->server;
	const struct peer *peer = r->peer;

	r->caller = peer->caller;
	r->by = peer->known ? "kernel" : "none";
	if (single(r, "Origin"))
		request_refuse(r, 403, "requests of web pages are refused");
	else if (!peer->known || (!s->system && !peer->caller.admin))
		request_refuse(r, 403, "this daemon serves only the user it runs as");
	else
		r->trusted = true;
	if (r->trusted && s->system)
		give_role(r);
}

static bool is_json(const char *type)
{
	static const char json[] = "application/json";
	const size_t n = sizeof(json) - 1;

	return type && !strncasecmp(type, json, n) && (!type[n] || strchr("; \t", type[n]));
}

static void admit_body(struct request *r)
{
	uint64_t length = request_length(r);
	bool get = !strcmp(r->verb->method, "GET");

	if (header(r, "Transfer-Encoding") && header(r, "Content-Length"))
		request_refuse(r, 400, "the body has two lengths");
	else if (get && length)
		request_refuse(r, 400, "a GET has no body");
	else if (!get && !is_json(single(r, "Content-Type")))
		request_refuse(r, 415, "the body must be JSON, with Content-Type: application/json");
	else if (length != UINT64_MAX && length > request_body_limit(r))
		request_refuse(r, 413, "the body is larger than %llu bytes",
			(unsigned long long)request_body_limit(r));
}

static bool is_health(const struct request *r)
{
	return slice_is(r->target.path, "/healthz");
}

static void refuse_spare(struct request *r)
{
	peer_refusal(r->peer, &r->answer);
	r->status = 503;
}

void request_admit(struct request *r, const char *method)
{
	int found;

	if (r->peer->face->tcp)
		admit_tcp(r, method);
	else
		admit_unix(r);
	if (!r->status && r->peer->spare && !is_health(r))
		refuse_spare(r);
	if (r->status)
		return;
	found = route_find(&r->server->routes, method, r->target.path, &r->verb, &r->allow);
	if (found == 404)
		request_refuse(r, 404,
			"there is no %.200s; GET /v1/openapi.json lists what there is", r->raw);
	else if (found == 405)
		request_refuse(r, 405, "%.20s is not possible here, but %s", method, r->allow.at);
	else if (!is_open_to_all(r) && !verb_allows(r->verb, &r->caller))
		request_refuse(r, 403, "%s", verb_denial(r->verb));
	else
		admit_body(r);
}

uint64_t request_length(const struct request *r)
{
	const char *length = header(r, "Content-Length");
	int64_t n;

	if (header(r, "Transfer-Encoding"))
		return UINT64_MAX;
	if (!length)
		return 0;
	return slice_int(slice_of(length), &n) && n >= 0 ? (uint64_t)n : UINT64_MAX;
}

uint64_t request_body_limit(const struct request *r)
{
	const struct server_limits *l = &r->server->limits;

	return r->trusted ? l->body_bytes : l->stranger_bytes;
}

/* ---- replies */

/* Files of the page may be kept, but are asked for again: a new program has new ones. */
static void add_page_headers(const struct page_file *page, struct MHD_Response *response)
{
	MHD_add_response_header(response, "Cache-Control", "no-cache");
	MHD_add_response_header(response, "ETag", page->tag);
	MHD_add_response_header(response, "Content-Security-Policy", PAGE_POLICY);
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
	MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
}

static void add_headers(struct request *r, struct MHD_Response *response, const char *content_type)
{
	MHD_add_response_header(response, "Content-Type", content_type);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (r->page) {
		add_page_headers(r->page, response);
	} else {
		MHD_add_response_header(response, "Cache-Control", "no-store");
		MHD_add_response_header(response, "Content-Security-Policy",
			"default-src 'none'; frame-ancestors 'none'");
	}
	if (r->peer->spare)
		MHD_add_response_header(response, "Connection", "close");
	if (r->status == 401)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer realm=\"stint\"");
	if (r->status == 405)
		MHD_add_response_header(response, "Allow", r->allow.at);
	if ((r->status == 429 || r->status == 503) && r->retry_s >= 0) {
		char seconds[32];

		snprintf(seconds, sizeof(seconds), "%.0f", fmax(1, ceil(r->retry_s)));
		MHD_add_response_header(response, "Retry-After", seconds);
	}
}

enum MHD_Result request_send(struct request *r, struct MHD_Response *response, const char *content_type)
{
	enum MHD_Result rc;

	if (!response)
		return MHD_NO;
	add_headers(r, response, content_type);
	rc = MHD_queue_response(r->connection, (unsigned)r->status, response);
	MHD_destroy_response(response);
	r->queued = true;
	return rc;
}

/* What the daemon says of when to ask again; null: that is of no use. */
static double retry_of(const struct buf *answer)
{
	json_t *problem = json_loadb(answer->at, answer->n, 0, NULL);
	const json_t *after = json_object_get(problem, "retry_after_s");
	double retry_s = json_is_null(after) ? -1 : json_number_value(after);

	json_decref(problem);
	return retry_s;
}

enum MHD_Result request_reply(struct request *r, const char *content_type)
{
	struct MHD_Response *response;

	if (r->status == 429 || r->status == 503)
		r->retry_s = retry_of(&r->answer);
	response = MHD_create_response_from_buffer(r->answer.n, r->answer.at, MHD_RESPMEM_MUST_FREE);

	if (response)
		r->answer = (struct buf){ 0 };
	if (!content_type)
		content_type = r->status >= 400 ? "application/problem+json" : "application/json";
	return request_send(r, response, content_type);
}

static enum MHD_Result stopping(struct request *r)
{
	request_refuse(r, 503, "the daemon is stopping");
	return request_reply(r, NULL);
}

/* ---- asking the daemon */

static void answered(void *to, int status, struct buf *body)
{
	struct request *r = to;

	r->status = status;
	r->answer = *body;
	*body = (struct buf){ 0 };
	MHD_resume_connection(r->connection);
}

/* False: the server stops. */
static bool suspend(struct request *r)
{
	struct server *s = r->server;
	bool go;

	pthread_mutex_lock(&s->lock);
	go = !s->stopping;
	if (go) {
		r->waits = true;
		r->next = s->waiting;
		if (r->next)
			r->next->prev = r;
		s->waiting = r;
		MHD_suspend_connection(r->connection);
	}
	pthread_mutex_unlock(&s->lock);
	return go;
}

/* Takes args. */
static enum MHD_Result ask(struct request *r, const struct verb *verb, json_t *args)
{
	r->inquiry = inquiry_create(answered, r);
	if (!suspend(r)) {
		json_decref(args);
		return stopping(r);
	}
	r->caller.by = r->by;
	snprintf(r->caller.from, sizeof(r->caller.from), "%s", r->peer->from);
	inquiry_ask(r->inquiry, &r->server->back, verb, &r->caller, args);
	return MHD_YES;
}

/* ---- routes of our own */

#define DEGRADED \
	"degraded: " /* jobs are accepted and decided on, and something else does not work */

static enum MHD_Result serve_healthz(struct request *r, const json_t *args)
{
	struct buf text = { 0 };
	json_t *body;
	char *dumped;

	(void)args;
	if (!r->server->back.healthy(r->server->back.self, &text)) {
		request_refuse(r, 503, "%s", text.at ? text.at : "not healthy");
	} else {
		bool degraded = text.n && !strncmp(text.at, DEGRADED, strlen(DEGRADED));

		body = json_pack("{s:s, s:s}", "schema", "health/1", "status",
			degraded         ? "degraded"
				: text.n ? text.at
					 : "ok");
		if (degraded)
			json_object_set_new(body, "detail", json_string(text.at + strlen(DEGRADED)));
		dumped = body ? json_dumps(body, JSON_COMPACT) : NULL;
		buf_str(&r->answer, dumped ? dumped : "{}");
		free(dumped);
		json_decref(body);
		r->status = 200;
	}
	buf_fini(&text);
	return request_reply(r, NULL);
}

static enum MHD_Result serve_metrics(struct request *r, const json_t *args)
{
	(void)args;
	r->server->back.metrics(r->server->back.self, &r->answer);
	r->status = 200;
	return request_reply(r, METRICS_CONTENT_TYPE);
}

static enum MHD_Result serve_openapi(struct request *r, const json_t *args)
{
	(void)args;
	buf_add(&r->answer, r->server->openapi.at, r->server->openapi.n);
	r->status = 200;
	return request_reply(r, NULL);
}

static enum MHD_Result serve_events(struct request *r, const json_t *args)
{
	const char *last = single(r, "Last-Event-ID");
	json_t *given = json_object_get(args, "after");
	int64_t after = given ? json_integer_value(given) : -1;
	struct MHD_Response *response;

	if (!r->status && last && !slice_int(slice_of(last), &after))
		request_refuse(r, 400, "Last-Event-ID must be a number");
	if (!r->status && after < 0 && (given || last))
		request_refuse(r, 400, "events are counted from 1");
	if (r->status)
		return request_reply(r, NULL);
	r->status = 200;
	response = follow_events(r->server, r->connection,
		after < 0 ? stream_last(r->server->back.stream) : (uint64_t)after);
	return response ? request_send(r, response, "text/event-stream") : stopping(r);
}

/* ---- log/raw: the verb `log` says where it is, and whether we may */

static const struct verb *verb_named(const struct verb *all, const char *name)
{
	while (all->name && strcmp(all->name, name) != 0)
		all++;
	return all->name ? all : NULL;
}

/* The same question to the route without "/raw": its table says what its parameters are. */
static int log_args(const struct request *r, const struct verb *log, const json_t *args,
	json_t **out, struct err *err)
{
	const char *stream = json_string_value(json_object_get(args, "stream"));
	const json_t *attempt = json_object_get(args, "attempt");
	struct buf query = { 0 };
	struct target target = r->target;
	int rc;

	if (stream) {
		buf_str(&query, "stream=");
		url_encode(stream, &query);
	}
	if (attempt)
		buf_printf(&query, "%sattempt=%lld", query.n ? "&" : "",
			(long long)json_integer_value(attempt));
	target.path.n -= strlen("/raw");
	target.query = (struct slice){ query.at, query.n };
	rc = route_args(log, &target, (struct slice){ 0 }, out, err);
	buf_fini(&query);
	return rc;
}

static enum MHD_Result serve_log(struct request *r, const json_t *args)
{
	const struct verb *log = verb_named(r->server->back.verbs, "log");
	struct err err = { 0 };

	if (!log) {
		request_refuse(r, 404, "this daemon keeps no logs");
		return request_reply(r, NULL);
	}
	if (log_args(r, log, args, &r->log_args, &err) < 0) {
		request_refuse(r, 400, "%s", err.text);
		return request_reply(r, NULL);
	}
	r->offset = json_integer_value(json_object_get(args, "offset"));
	r->follow = json_is_true(json_object_get(args, "follow"));
	return ask(r, log, json_deep_copy(r->log_args)); /* the daemon has its own */
}

static uint64_t offset_in(int64_t wanted, int fd)
{
	struct stat st;
	int64_t size = fd >= 0 && fstat(fd, &st) == 0 ? (int64_t)st.st_size : 0;

	if (wanted >= 0)
		return (uint64_t)wanted;
	return wanted < -size ? 0 : (uint64_t)(size + wanted);
}

/* Takes fd. */
static struct MHD_Response *whole_log(int fd, uint64_t offset)
{
	struct MHD_Response *response;
	struct stat st;

	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size <= offset) {
		close(fd);
		return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	}
	response = MHD_create_response_from_fd_at_offset64((uint64_t)st.st_size - offset, fd, offset);
	if (!response)
		close(fd);
	return response;
}

static enum MHD_Result send_log(struct request *r, const struct log_place *place, int64_t attempt,
	bool ended)
{
	int fd = log_open(&r->caller, place);
	struct MHD_Response *response;
	char number[32];
	uint64_t offset;

	/* One that follows waits for it, whatever keeps it away. */
	if (fd < 0 && !r->follow) {
		request_refuse(r, 404, "%s",
			attempt <= 0
				? "there is no output yet: the job has not started"
				: "there is no output yet, or it is not a regular file that the job's user may read, or its path has a symbolic link");
		return request_reply(r, NULL);
	}
	offset = offset_in(r->offset, fd);
	if (attempt > 0)
		json_object_set_new(r->log_args, "attempt", json_integer(attempt));
	response = r->follow ? follow_log(r->server, r->connection, &r->caller, place, fd, offset,
				       ended, json_incref(r->log_args))
			     : whole_log(fd, offset);
	if (!response)
		return stopping(r);
	snprintf(number, sizeof(number), "%lld", (long long)attempt);
	MHD_add_response_header(response, "X-Stint-Attempt", number);
	return request_send(r, response, "text/plain; charset=utf-8");
}

static enum MHD_Result finish_log(struct request *r)
{
	json_t *said = json_loadb(r->answer.at, r->answer.n, 0, NULL);
	struct log_place place;
	enum MHD_Result rc;

	log_place_read(&place, said);
	if (place.path) {
		rc = send_log(r, &place, json_integer_value(json_object_get(said, "attempt")),
			json_is_true(json_object_get(said, "ended")));
	} else {
		request_refuse(r, 404, "there is no log yet");
		rc = request_reply(r, NULL);
	}
	log_place_fini(&place);
	json_decref(said);
	return rc;
}

/*
 * How much there is, into the answer of the verb `log`: looked up here, since a path that a user
 * named may lead to where looking takes long, and the daemon has no time for that.
 */
static void add_size(struct request *r)
{
	json_t *said = json_loadb(r->answer.at, r->answer.n, 0, NULL);
	struct log_place place;
	struct stat st = { 0 };
	char *text;
	int fd;

	log_place_read(&place, said);
	fd = place.path ? log_open(&r->caller, &place) : -1;
	if (fd >= 0) {
		fstat(fd, &st);
		close(fd);
	}
	if (place.path) {
		json_object_set_new(said, "size", json_integer((json_int_t)st.st_size));
		text = json_dumps(said, JSON_COMPACT);
		buf_clear(&r->answer);
		buf_str(&r->answer, text);
		free(text);
	}
	log_place_fini(&place);
	json_decref(said);
}

/* ---- the whole */

static const struct {
	const char *name;
	enum MHD_Result (*serve)(struct request *r, const json_t *args);
} own[] = {
	{ "page", login_serve_page },
	{ "asset", login_serve_asset },
	{ "login", login_serve_login },
	{ "logout", login_serve_logout },
	{ "open", login_serve_open },
	{ "healthz", serve_healthz },
	{ "metrics", serve_metrics },
	{ "openapi", serve_openapi },
	{ "events", serve_events },
	{ "log_raw", serve_log },
};

static bool is_own(const struct verb *verb)
{
	for (const struct verb *v = server_routes; v->name; v++) {
		if (v == verb)
			return true;
	}
	return false;
}

static enum MHD_Result serve_own(struct request *r, json_t *args)
{
	enum MHD_Result rc = MHD_NO;

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		if (!strcmp(own[i].name, r->verb->name))
			rc = own[i].serve(r, args);
	}
	json_decref(args);
	return rc;
}

enum MHD_Result request_serve(struct request *r)
{
	struct slice body = { r->body.at, r->body.n };
	struct err err = { 0 };
	json_t *args;

	if (r->status)
		return request_reply(r, NULL);
	if (route_args(r->verb, &r->target, body, &args, &err) < 0) {
		request_refuse(r, 400, "%s", err.text);
		return request_reply(r, NULL);
	}
	if (strcmp(r->verb->method, "GET") != 0 && r->verb->needs >= NEEDS_OPERATOR)
		r->detail = mem_printf("%s %.*s", r->raw, (int)(body.n < 1000 ? body.n : 1000),
			body.n ? body.at : "");
	buf_fini(&r->body);
	return is_own(r->verb) ? serve_own(r, args) : ask(r, r->verb, args);
}

enum MHD_Result request_finish(struct request *r)
{
	stop_waiting(r);
	/* A status below 200 is no answer, and the library would wait for another. */
	if (r->status < 200 || r->status > 599)
		request_refuse(r, 500, "the daemon answered with status %d", r->status);
	if (r->log_args && r->status < 400)
		return finish_log(r);
	if (!strcmp(r->verb->name, "log") && r->status < 400)
		add_size(r);
	return request_reply(r, NULL);
}
