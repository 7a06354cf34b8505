/*
 * Reading JSON objects member by member, leniently: what is absent or of another
 * kind is what the caller says.
 */
#ifndef BASE_MEMBERS_H
#define BASE_MEMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

double member_number(const json_t *object, const char *key, double otherwise);
int64_t member_int(const json_t *object, const char *key, int64_t otherwise);
const char *member_text(const json_t *object, const char *key); /* NULL */
bool member_bool(const json_t *object, const char *key, bool otherwise);
/* Whether a list of texts has this one. */
bool texts_have(const json_t *texts, const char *text);

#endif
