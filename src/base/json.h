/*
 * Writing JSON without building a tree.  Commas and nesting are kept track of;
 * doubles are written so that they read back equal; NaN and infinities become null.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct json {
	struct buf *out;
	int depth;
	bool comma[64];
	bool pretty; /* newlines and two spaces per level */
};

void json_init(struct json *j, struct buf *out, bool pretty);
void json_begin_object(struct json *j, const char *key); /* key NULL inside arrays and at the top */
void json_begin_array(struct json *j, const char *key);
void json_end(struct json *j, char closing);                       /* '}' or ']' */
void json_str(struct json *j, const char *key, const char *value); /* NULL value writes null */
void json_double(struct json *j, const char *key, double value);
void json_int(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
/* A value that is JSON already. */
void json_raw(struct json *j, const char *key, const char *text, size_t n);
/* Text escaped for JSON, with the quotes. */
void json_quote(struct buf *out, const char *text);

#endif
