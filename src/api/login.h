/*
 * The routes of the page: its files, and the sessions that it asks with
 * (api/session.h).
 */
#ifndef API_LOGIN_H
#define API_LOGIN_H

#include "api/request.h"

/* The session's half that browsers send by themselves, or NULL. */
const char *login_cookie(const struct request *r);

enum MHD_Result login_serve_page(struct request *r, const json_t *args);
enum MHD_Result login_serve_asset(struct request *r, const json_t *args);
enum MHD_Result login_serve_login(struct request *r, const json_t *args);
enum MHD_Result login_serve_logout(struct request *r, const json_t *args);
enum MHD_Result login_serve_open(struct request *r, const json_t *args);

#endif
