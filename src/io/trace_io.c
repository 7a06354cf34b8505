/*
 * Reading traces: from where, in which format, and what holds for all formats.
 */
#include "io/trace_io.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "io/rows.h"
#include "io/synth.h"

enum { HEAD_MAX = 8192 }; /* bytes that recognising a format may look at */

static const char synth_prefix[] = "synth:";

/* Eight bytes at a time in four lanes: byte by byte would take a tenth of the whole reading. */
static uint64_t hash_text(struct slice text)
{
	uint64_t lanes[4] = { 1, 2, 3, 4 }, words[4], hash = HASH_START;
	size_t i;

	for (i = 0; text.n - i >= sizeof(words); i += sizeof(words)) {
		memcpy(words, text.at + i, sizeof(words));
		for (int k = 0; k < 4; k++) {
			lanes[k] = (lanes[k] ^ words[k]) * UINT64_C(0x9e3779b97f4a7c15);
			lanes[k] ^= lanes[k] >> 29;
		}
	}
	for (int k = 0; k < 4; k++)
		hash = hash_u64(hash, lanes[k]);
	return hash_bytes(hash, text.at + i, text.n - i);
}

/* ---- what no text format allows ---- */

static size_t line_at(struct slice text, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset; i++)
		line += text.at[i] == '\n';
	return line;
}

static bool begins(struct slice text, const char *bytes, size_t n)
{
	return text.n >= n && memcmp(text.at, bytes, n) == 0;
}

/* Passes a byte order mark and refuses what is not text. */
static int check_text(const char *path, struct slice *text, struct err *err)
{
	const char *nul;

	if (begins(*text, "\xff\xfe", 2) || begins(*text, "\xfe\xff", 2))
		return err_set(err, ERR_FORMAT, "%s: this is UTF-16; save it as UTF-8", path);
	if (begins(*text, "\xef\xbb\xbf", 3))
		*text = (struct slice){ text->at + 3, text->n - 3 };
	if (!slice_trim(*text).n)
		return err_set(err, ERR_FORMAT, "%s: empty; a trace has at least one job", path);
	nul = memchr(text->at, '\0', text->n);
	if (nul)
		return err_set(err, ERR_FORMAT,
			"%s:%zu: a NUL byte; a trace is text (is the file damaged, or of another kind?)",
			path, line_at(*text, (size_t)(nul - text->at)));
	return 0;
}

/* ---- which format ---- */

static struct slice head_of(struct slice text)
{
	return (struct slice){ text.at, text.n < HEAD_MAX ? text.n : HEAD_MAX };
}

/* The first line as far as it can be shown. */
static void show_first(struct slice head, char out[64])
{
	size_t i;

	for (i = 0; i < head.n && i < 63 && head.at[i] != '\n'; i++)
		out[i] = (unsigned char)head.at[i] < ' ' ? ' ' : head.at[i];
	out[i] = '\0';
}

/* A header of misspelt columns was most likely meant for our own format. */
static int no_format(const char *path, struct slice head, struct err *err)
{
	struct buf list = { 0 }, meant = { 0 };
	char first[64];

	show_first(head, first);
	for (size_t i = 0; importers[i]; i++)
		buf_printf(&list, "%s%s", i ? ", " : "", importers[i]->name);
	header_meant(head, importer_find("stint", NULL)->table->columns, &meant);
	if (meant.n)
		err_set(err, ERR_FORMAT,
			"%s:1: not a known trace format (it begins '%s'); did you mean the columns %s of "
			"Stint's own? Else name a format with --format: %s",
			path, first, meant.at, list.at);
	else
		err_set(err, ERR_FORMAT,
			"%s:1: not a known trace format (it begins '%s'); name one with --format: %s",
			path, first, list.at);
	buf_fini(&list);
	buf_fini(&meant);
	return ERR_FORMAT;
}

static const struct importer *recognise(const char *path, struct slice text, struct err *err)
{
	const struct importer *best = NULL;
	struct slice head = head_of(text);
	int most = 0;

	for (size_t i = 0; importers[i]; i++) {
		int sure = importer_sure(importers[i], head, path);

		if (sure > most) {
			most = sure;
			best = importers[i];
		}
	}
	if (!best)
		no_format(path, head, err);
	return best;
}

/* ---- reading ---- */

int trace_read_text(const char *path, struct slice text, const struct import_options *options,
	struct trace *out, struct notes *notes, struct err *err)
{
	const struct import_options usual = { 0 };
	const struct importer *importer;
	struct trace trace = { 0 };
	struct slice whole = text;
	int rc;

	options = options ? options : &usual;
	importer = options->format ? importer_find(options->format, err) : NULL;
	if (options->format && !importer)
		return ERR_MISSING;
	rc = check_text(path, &text, err);
	if (rc)
		return rc;
	if (!importer)
		importer = recognise(path, text, err);
	if (!importer)
		return ERR_FORMAT;

	trace.source = mem_strdup(path);
	trace.format = importer->name;
	rc = importer->read ? importer->read(text, options, &trace, notes, err)
			    : rows_read(importer, text, options, &trace, notes, err);
	if (rc) {
		trace_fini(&trace);
		return rc;
	}
	trace.hash = hash_text(whole);
	if (importer->dated)
		notes_add(notes, NOTE_ASSUMED, 0, NULL, NULL,
			"times are shifted so that the first arrival is 0");
	trace_finish(&trace, importer->dated ? 0 : NAN);
	*out = trace;
	return 0;
}

int trace_read(const char *path, const struct import_options *options,
	const struct cluster *cluster, struct trace *out, struct notes *notes, struct err *err)
{
	struct file file;
	int rc;

	if (strncmp(path, synth_prefix, strlen(synth_prefix)) == 0)
		return synth_trace(path + strlen(synth_prefix), cluster, out, err);
	rc = file_read(path, &file, err);
	if (rc)
		return rc;
	rc = trace_read_text(strcmp(path, "-") == 0 ? "standard input" : path,
		(struct slice){ file.at, file.n }, options, out, notes, err);
	file_fini(&file);
	return rc;
}
