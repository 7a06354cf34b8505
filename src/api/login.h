/*
 * The routes of the page: its files, and the sessions that it asks with
 * (api/session.h).
 */
#ifndef API_LOGIN_H
#define API_LOGIN_H

#include "api/request.h"

/* Whom STATE/token stands for, and STATE/token.read: no user can be the latter, so it owns no job. */
struct caller login_full_caller(void);
struct caller login_read_caller(void);

enum MHD_Result login_serve_page(struct request *r, const json_t *args);
enum MHD_Result login_serve_asset(struct request *r, const json_t *args);
enum MHD_Result login_serve_login(struct request *r, const json_t *args);
enum MHD_Result login_serve_logout(struct request *r, const json_t *args);
enum MHD_Result login_serve_open(struct request *r, const json_t *args);

#endif
