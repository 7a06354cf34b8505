#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Both format into a text of their own first: an argument may point into `err`. */

int err_set(struct err *err, int code, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	memcpy(err->text, text, sizeof(text));
	err->code = code;
	return code;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;
	size_t n;

	if (!err)
		return ERR_IO; /* nobody kept the code; it is a failure all the same */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n = strlen(text);
	snprintf(text + n, sizeof(text) - n, ": %s", err->text);
	memcpy(err->text, text, sizeof(text));
	return err->code;
}
