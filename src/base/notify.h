/*
 * Telling the service manager how we are, by its datagram protocol
 * (sd_notify(3)): "READY=1" and the like to the socket that $NOTIFY_SOCKET names.
 *
 * Where nobody listens everything here does nothing, so callers need not ask.
 */
#ifndef BASE_NOTIFY_H
#define BASE_NOTIFY_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/err.h"

/* One that was zeroed and given fd -1 is valid: nobody listens. */
struct notify {
	int fd; /* -1: nobody listens */
	struct sockaddr_un to;
	socklen_t to_size;
	double watchdog_s; /* we are killed if silent for so long; 0: nobody watches */
};

/*
 * Reads $NOTIFY_SOCKET (a path, or "@name" of an abstract socket), $WATCHDOG_USEC and $WATCHDOG_PID, and
 * takes them out of the environment: what we start must not speak for us.  So call it before there are
 * threads.  0 also if nobody listens; ERR_FORMAT or ERR_IO if we were told to speak and cannot, and then
 * `out` is one where nobody listens.
 */
int notify_open(struct notify *out, struct err *err);
void notify_close(struct notify *n);

/* How often to call notify_alive(): half the watchdog's time; 0: never. */
double notify_period_s(const struct notify *n);

/*
 * Each returns whether the manager took it.  The first three wait up to a second for it, as the manager acts
 * on them; the others never wait.  Thread-safe.
 */
bool notify_ready(const struct notify *n);
bool notify_reloading(const struct notify *n); /* notify_ready() ends it */
bool notify_stopping(const struct notify *n);
bool notify_alive(const struct notify *n); /* feeds the watchdog */
/* One line for people: `systemctl status` shows it. */
bool notify_status(const struct notify *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
