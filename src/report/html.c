/*
 * The frame of the pages, and text made safe for them.
 */
#include "report/html.h"

#include <ctype.h>
#include <string.h>

#include "report/html_parts.h"
#include "report/page.h"
#include "report/svg.h"

/* Bytes of the UTF-8 character at `at`, 0 if it is none or no character for a page. */
static size_t character(const unsigned char *at)
{
	size_t n = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;

	if (at[0] < 0x80)
		return (at[0] >= 0x20 && at[0] != 0x7f) || at[0] == '\n' || at[0] == '\t';
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	}
	/* overlong, surrogates, beyond Unicode, and the C1 controls */
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
		(at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f) ||
		(at[0] == 0xc2 && at[1] < 0xa0))
		return 0;
	return n;
}

static const char *escape_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	}
	return NULL;
}

void html_text(struct buf *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	while (*at) {
		const char *escape = escape_of((char)*at);
		size_t n = character(at);

		if (escape)
			buf_str(out, escape);
		else if (n)
			buf_add(out, (const char *)at, n);
		else
			buf_str(out, "\xef\xbf\xbd");
		at += n ? n : 1;
	}
}

void html_script_data(struct buf *out, const char *json)
{
	for (; *json; json++) {
		if (*json == '<')
			buf_str(out, "\\u003c");
		else
			buf_char(out, *json);
	}
}

/* ---- the frame */

static void put_style(struct buf *out)
{
	static const char *const dashes[SVG_COLOURS] = {
		"none",
		"7 3",
		"2 3",
		"9 3 2 3",
		"12 4",
		"5 2 1 2 1 2",
		"1 2",
		"4 5",
	};

	buf_str(out, "<style>\n");
	buf_str(out, page_style);
	for (int i = 0; i < SVG_COLOURS; i++)
		buf_printf(out,
			".s%d{stroke:var(--c%d)}.f%d{fill:var(--c%d)}svg.chart text.t%d{fill:var(--c%d)}"
			".d%d{stroke-dasharray:%s}\n",
			i, i, i, i, i, i, i, dashes[i]);
	for (int i = 0; i < 2 * SVG_COLOURS; i++)
		buf_printf(out, ".h%d{fill:url(#h%d)}", i, i);
	buf_str(out, "\n</style>\n");
}

static void put_fact(const char *name, const char *value, struct buf *out)
{
	if (!value || !*value)
		return;
	buf_printf(out, "<dt>%s</dt><dd>", name);
	html_text(out, value);
	buf_str(out, "</dd>\n");
}

void html_begin(const struct html_info *info, const char *lead, struct buf *out)
{
	const char *title = info->title ? info->title : "Stint report";

	buf_str(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
		"form-action 'none'\">\n<title>");
	html_text(out, title);
	buf_str(out, "</title>\n");
	put_style(out);
	buf_str(out,
		"</head>\n<body>\n<a class=\"skip\" href=\"#content\">To the content</a>\n<header>\n<h1>");
	html_text(out, title);
	buf_str(out, "</h1>\n");
	if (lead && *lead) {
		buf_str(out, "<p class=\"lead\">");
		html_text(out, lead);
		buf_str(out, "</p>\n");
	}
	buf_str(out, "<dl class=\"facts\">\n");
	put_fact("Workload", info->trace, out);
	put_fact("Cluster", info->cluster, out);
	put_fact("Settings", info->settings, out);
	if (info->command) {
		buf_str(out, "<dt>To run it again</dt><dd><pre class=\"command\">");
		html_text(out, info->command);
		buf_str(out, "</pre></dd>\n");
	}
	buf_str(out, "</dl>\n</header>\n<main id=\"content\">\n");
}

void html_end(const struct html_info *info, const char *script, struct buf *out)
{
	if (info->nnotes) {
		html_section("notes", "Notes on the input", NULL, out);
		buf_str(out, "<ul class=\"note\">\n");
		for (size_t i = 0; i < info->nnotes; i++) {
			buf_str(out, "<li>");
			html_text(out, info->notes[i]);
			buf_str(out, "</li>\n");
		}
		buf_str(out, "</ul>\n");
		html_section_end(out);
	}
	buf_str(out, "</main>\n<footer><p class=\"note\">Written by Stint");
	if (info->version) {
		buf_char(out, ' ');
		html_text(out, info->version);
	}
	buf_str(out, ". This file needs nothing from the network.</p></footer>\n");
	if (script) {
		buf_str(out, "<script>\n");
		buf_str(out, script);
		buf_str(out, "</script>\n");
	}
	buf_str(out, "</body>\n</html>\n");
}

/* ---- pieces */

void html_section(const char *id, const char *title, const char *note, struct buf *out)
{
	buf_printf(out, "<section aria-labelledby=\"%s\"><h2 id=\"%s\">", id, id);
	html_text(out, title);
	buf_str(out, "</h2>\n");
	if (note) {
		buf_str(out, "<p class=\"note\">");
		html_text(out, note);
		buf_str(out, "</p>\n");
	}
}

void html_section_end(struct buf *out)
{
	buf_str(out, "</section>\n");
}

void html_figure(const char *title, const char *note, bool wide, struct buf *out)
{
	buf_str(out, wide ? "<figure class=\"wide\">" : "<figure>");
	buf_str(out, "<figcaption><h3>");
	html_text(out, title);
	buf_str(out, "</h3>");
	if (note) {
		buf_str(out, "<p>");
		html_text(out, note);
		buf_str(out, "</p>");
	}
	buf_str(out, "</figcaption>\n");
	if (wide) {
		buf_str(out, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"");
		html_text(out, title);
		buf_str(out, "\">\n");
	}
}

void html_figure_end(bool wide, struct buf *out)
{
	buf_str(out, wide ? "</div></figure>\n" : "</figure>\n");
}

void html_download(const char *name, const struct buf *csv, struct buf *out)
{
	buf_str(out, "<a download=\"");
	html_text(out, name);
	buf_str(out, "\" href=\"data:text/csv;charset=utf-8,");
	for (size_t i = 0; i < csv->n; i++) {
		unsigned char c = (unsigned char)csv->at[i];

		if (isalnum(c) || strchr(",.-_:;", c))
			buf_char(out, (char)c);
		else
			buf_printf(out, "%%%02X", c);
	}
	buf_str(out, "\">");
	html_text(out, name);
	buf_str(out, "</a>");
}

void html_label(const char *label, struct buf *out)
{
	while (*label) {
		size_t n = strcspn(label, ",:");
		struct buf piece = { 0 };

		n += label[n] != '\0';
		buf_add(&piece, label, n);
		html_text(out, piece.at);
		if (label[n])
			buf_str(out, "<wbr>");
		buf_fini(&piece);
		label += n;
	}
}

void html_row(const char *label, struct buf *out)
{
	buf_str(out, "<tr><th scope=\"row\">");
	html_label(label, out);
	buf_str(out, "</th>");
}

void html_cell(enum unit unit, double x, struct buf *out)
{
	struct buf text = { 0 };

	unit_text(unit, x, &text);
	buf_str(out, "<td>");
	html_text(out, text.at);
	buf_str(out, "</td>");
	buf_fini(&text);
}
