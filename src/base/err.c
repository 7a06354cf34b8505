/*
 * Setting and prefixing error text.
 */
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
	char text[2 * sizeof(err->text) + 2];
	va_list ap;
	size_t n;

	if (!err)
		return ERR_IO; /* nobody kept the code; it is a failure all the same */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(err->text), fmt, ap);
	va_end(ap);
	n = strlen(text);
	n += (size_t)snprintf(text + n, sizeof(text) - n, ": %s", err->text);
	if (n > sizeof(err->text) - 1)
		n = sizeof(err->text) - 1;
	memcpy(err->text, text, n);
	err->text[n] = '\0';
	return err->code;
}
