/*
 * Sockets to listen on, made so that nobody else can slip in, and the files
 * that tell clients of the same user how to get there.
 */
#ifndef API_LISTEN_H
#define API_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "api/gate.h"
#include "base/err.h"

/*
 * The address of a path of any length: one that is too long for the kernel is named by its directory,
 * which is open until `*dir` (>= 0) is closed.
 */
int unix_address(const char *path, struct sockaddr_un *out, int *dir, struct err *err);

/* A listening unix socket and the file it made. */
struct unix_socket {
	int fd;
	char *path;
	struct stat made;
};

/*
 * Listens at `path`, which only its owner may connect to unless `everyone`.  The directory is made if
 * there is none and must not be writable by others.  A socket that is there already is removed if
 * nobody listens any more, else ERR_REFUSED, as for anything that is no socket.
 */
int unix_listen(const char *path, bool everyone, struct unix_socket *out, struct err *err);
/* Closes; and removes the file if it still is the one we made. */
void unix_close(struct unix_socket *socket);

enum { TCP_ADDRESS_MAX = 64 };

/*
 * Listens on an address written as a number, port 0: any.  ERR_REFUSED for an address that is not this
 * machine's loopback, unless `exposed`.
 */
int tcp_listen(const char *address, uint16_t port, bool exposed, int *fd, uint16_t *got,
	struct err *err);

/*
 * The TCP socket that systemd's stint-http.socket gave us ($LISTEN_FDS): it is bound while no daemon runs,
 * so no other program can take the port.  Takes the variables out of the environment, so call it before there
 * are threads.  -1: none; ERR_USAGE: more than one, or no TCP socket that listens.
 */
int tcp_given(int *fd, struct err *err);
/* Its address and port, as for tcp_listen(); `text` is where the address goes. */
int tcp_adopt(int fd, bool exposed, char text[TCP_ADDRESS_MAX], uint16_t *port, struct err *err);
/* Whether every user of this machine may bind that port. */
bool tcp_is_unprivileged(uint16_t port);

/* 256 random bits in hex. */
int token_make(char token[TOKEN_DIGITS + 1], struct err *err);

/*
 * The token in DIR/token: 256 random bits in hex, readable by the owner alone.  Made anew if there is
 * none, if `renew`, or if the one there is no secret (malformed, somebody else's, readable by others).
 */
int token_load(const char *dir, bool renew, char token[TOKEN_DIGITS + 1], struct err *err);
/*
 * The same of DIR/token.read, which its group may be allowed to read (mode 0640).  Group and mode are kept
 * when it is made anew.
 */
int token_load_read(const char *dir, bool renew, char token[TOKEN_DIGITS + 1], struct err *err);
/* Deletes DIR/token: there is none that callers could show. */
void token_remove(const char *dir);
/* Only reads it: what clients do.  ERR_MISSING. */
int token_read(const char *dir, char token[TOKEN_DIGITS + 1], struct err *err);

#endif
