/*
 * The TCP port of the last run, in DIR/port.
 *
 * A daemon that was asked for no particular port takes the one it had before, so
 * that bookmarks, forwarded ports and open pages find it after a restart.
 */
#ifndef API_PORT_H
#define API_PORT_H

#include <stdint.h>

#include "base/err.h"

/* 0: none is known, or the file does not hold a port that every user may bind. */
uint16_t port_recall(const char *dir);
int port_remember(const char *dir, uint16_t port, struct err *err);

#endif
