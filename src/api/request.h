/*
 * One request on its way through the server.
 */
#ifndef API_REQUEST_H
#define API_REQUEST_H

#include "api/server_parts.h"

struct request {
	struct server *server;
	struct peer *peer;
	struct MHD_Connection *connection;
	struct request *prev, *next; /* among those that wait */
	struct inquiry *inquiry;
	char *raw;
	struct target target;
	const struct verb *verb; /* NULL: no such route */
	struct caller caller;
	struct buf body, allow;
	uint64_t received;
	bool begun, waits, busy, queued;
	bool trusted;   /* the kernel, a token or a session says who calls */
	const char *by; /* which of them, for the audit */
	char *detail;   /* what an operator or an admin asked for, likewise */
	bool logged_in; /* it began a session, as r->caller */
	int status;     /* 0: not known yet */
	struct buf answer;
	double retry_s;               /* of 429 and 503: when to ask again; below 0: not at all */
	const struct page_file *page; /* NULL: no file of the page */
	/* log/raw */
	json_t *log_args;
	int64_t offset;
	bool follow;
};

/* The request line came in. */
struct request *request_create(struct server *server, struct peer *peer, const char *raw,
	struct MHD_Connection *connection);
void request_destroy(struct request *r);

/* The headers are there: whether it may come in.  Sets a status if not. */
void request_admit(struct request *r, const char *method);
/* All of it is there: done, or suspended until the daemon answers. */
enum MHD_Result request_serve(struct request *r);
/* The daemon has answered. */
enum MHD_Result request_finish(struct request *r);
/* Sends the status and the answer there are. */
enum MHD_Result request_reply(struct request *r, const char *content_type);
/* Sends a response, which it takes, with the status there is; NULL: the connection ends. */
enum MHD_Result request_send(struct request *r, struct MHD_Response *response,
	const char *content_type);
/* How many bytes of body it says it has; UINT64_MAX: it does not say and has some. */
uint64_t request_length(const struct request *r);

/* It is over: what of it goes into the audit (api/audit_calls.c). */
void request_audit(const struct request *r);
/* How many bytes of body it may have. */
uint64_t request_body_limit(const struct request *r);

void request_refuse(struct request *r, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
