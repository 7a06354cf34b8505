/*
 * Members of JSON objects.
 */
#include "base/members.h"

#include <string.h>

double member_number(const json_t *object, const char *key, double otherwise)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : otherwise;
}

int64_t member_int(const json_t *object, const char *key, int64_t otherwise)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value)
		: json_is_real(value) ? (int64_t)json_real_value(value)
				      : otherwise;
}

const char *member_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

bool member_bool(const json_t *object, const char *key, bool otherwise)
{
	const json_t *value = json_object_get(object, key);

	return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

bool texts_have(const json_t *texts, const char *text)
{
	const json_t *one;
	size_t i;

	json_array_foreach(texts, i, one)
	{
		if (json_is_string(one) && !strcmp(json_string_value(one), text))
			return true;
	}
	return false;
}
