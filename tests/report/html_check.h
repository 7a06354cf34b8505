/*
 * Is a page well-formed?  Tags balance, attributes are quoted, text is
 * escaped, ids are distinct, and nothing is fetched from elsewhere.
 */
#ifndef TESTS_REPORT_HTML_CHECK_H
#define TESTS_REPORT_HTML_CHECK_H

#include "base/names.h"
#include "base/text.h"
#include "report/fixture.h"

enum { HTML_DEPTH = 64 };

struct html_check {
	const char *at;
	struct slice open[HTML_DEPTH];
	size_t depth;
	struct names ids;
	size_t nids;
};

static inline bool is_void(struct slice name)
{
	return slice_is(name, "meta") || slice_is(name, "input") || slice_is(name, "wbr") ||
		slice_is(name, "br");
}

/* One attribute: name, or name="value". */
static inline void check_attribute(struct html_check *h)
{
	size_t n = strspn(h->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
	struct slice name = { h->at, n };
	const char *value, *end;

	if (!n)
		fail_msg("an attribute is expected at: %.60s", h->at);
	h->at += n;
	if (*h->at != '=')
		return;
	assert_int_equal(h->at[1], '"');
	value = h->at + 2;
	end = strchr(value, '"');
	assert_non_null(end);
	assert_null(memchr(value, '<', (size_t)(end - value)));
	if (slice_is(name, "href"))
		assert_true(*value == '#' || !strncmp(value, "data:text/csv", 13));
	assert_false(slice_is(name, "src") || slice_is(name, "style"));
	assert_false(n > 2 && !strncmp(name.at, "on", 2)); /* no handlers in attributes */
	if (slice_is(name, "id")) {
		names_add(&h->ids, value, (size_t)(end - value));
		if (h->ids.n != ++h->nids)
			fail_msg("two elements have the id %.*s", (int)(end - value), value);
	}
	h->at = end + 1;
}

static inline void close_tag(struct html_check *h, struct slice name)
{
	struct slice open;

	assert_true(h->depth > 0);
	open = h->open[--h->depth];
	if (open.n != name.n || memcmp(open.at, name.at, name.n))
		fail_msg("</%.*s> closes <%.*s>", (int)name.n, name.at, (int)open.n, open.at);
}

/* Script and style hold anything but their own end. */
static inline void skip_raw(struct html_check *h, const char *end)
{
	const char *found = strstr(h->at, end);

	assert_non_null(found);
	h->at = found;
}

static inline void check_tag(struct html_check *h)
{
	bool closing = h->at[1] == '/';
	const char *begin = h->at + 1 + closing;
	struct slice name = { begin, strspn(begin, "abcdefghijklmnopqrstuvwxyz0123456789") };

	if (!strncmp(h->at, "<!DOCTYPE html>", 15)) {
		h->at += 15;
		return;
	}
	if (!name.n)
		fail_msg("no tag at: %.60s", h->at);
	h->at = begin + name.n;
	for (; *h->at == ' '; h->at++) {
		h->at++;
		check_attribute(h);
		h->at--;
	}
	if (h->at[0] == '/' && h->at[1] == '>') {
		h->at += 2;
		return;
	}
	if (*h->at != '>')
		fail_msg("a tag does not end at: %.60s", h->at);
	h->at++;
	if (closing) {
		close_tag(h, name);
	} else if (!is_void(name)) {
		assert_true(h->depth < HTML_DEPTH);
		h->open[h->depth++] = name;
		if (slice_is(name, "script"))
			skip_raw(h, "</script>");
		else if (slice_is(name, "style"))
			skip_raw(h, "</style>");
	}
}

static inline void check_html(const char *page)
{
	struct html_check h = { .at = page };

	assert_memory_equal(page, "<!DOCTYPE html>", 15);
	while (*h.at) {
		if (*h.at == '<') {
			check_tag(&h);
		} else if (*h.at == '&') {
			const char *end = strchr(h.at, ';');

			assert_true(end && end - h.at < 8);
			h.at++;
		} else {
			assert_true((unsigned char)*h.at >= ' ' || *h.at == '\n' || *h.at == '\t');
			h.at++;
		}
	}
	assert_int_equal(h.depth, 0);
	assert_null(strstr(page, "http:"));
	assert_null(strstr(page, "https:"));
	names_fini(&h.ids);
}

#endif
