/*
 * The page: files of web/ that the build put into the program.
 *
 * They hold no secrets, so anyone who may connect gets them; what they show
 * they ask for with a session (api/session.h).  A tag changes with the bytes.
 */
#ifndef API_PAGE_H
#define API_PAGE_H

#include <stddef.h>

struct page_file {
	const char *name; /* NULL after the last */
	const char *tag;  /* ETag, with its quotes */
	const char *bytes;
	size_t n;
};

/* "index.html", "app.js", …; NULL: there is none. */
const struct page_file *page_find(const char *name);
/* All of them. */
const struct page_file *page_all(void);
/* By the end of its name. */
const char *page_type(const struct page_file *file);

/* What the page may load: its own files, and nothing inline. */
#define PAGE_POLICY \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " \
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

#endif
