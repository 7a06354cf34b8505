/*
 * The routes as an OpenAPI 3.0 document, from the tables alone.
 */
#ifndef API_OPENAPI_H
#define API_OPENAPI_H

#include "api/route.h"

void openapi_write(const struct routes *routes, struct buf *out);

#endif
