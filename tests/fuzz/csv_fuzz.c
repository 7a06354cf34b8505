/*
 * Rows of any text in every style: fields lie inside the text, and what a
 * comma-separated row holds can be written and read back.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "ERROR: %s\n", what);
	abort();
}

static void write_again(const struct csv *row)
{
	struct buf text = { 0 };
	struct csv csv;

	buf_str(&text, "first");
	for (size_t i = 0; i < row->n; i++) {
		char *field = mem_strndup(row->fields[i].at, row->fields[i].n);

		buf_char(&text, ',');
		csv_write(&text, field);
		free(field);
	}
	csv_init(&csv, slice_of(text.at), (struct csv_style){ .separator = ',', .quotes = true });
	if (row->n + 1 <= CSV_FIELDS_MAX) {
		check(csv_next(&csv, NULL) == 1 && csv.n == row->n + 1, "reads back as one row");
		for (size_t i = 0; i < row->n; i++)
			check(csv.fields[i + 1].n == row->fields[i].n &&
					!memcmp(csv.fields[i + 1].at, row->fields[i].at,
						row->fields[i].n),
				"reads back equal");
	}
	csv_fini(&csv);
	buf_fini(&text);
}

static void walk(struct slice text, struct csv_style style)
{
	struct csv csv;
	size_t line = 0;
	int rc;

	csv_init(&csv, text, style);
	while ((rc = csv_next(&csv, NULL)) == 1) {
		size_t sum = 0;

		check(csv.line > line, "lines grow");
		check(csv.n > 0, "a row has a field");
		line = csv.line;
		for (size_t i = 0; i < csv.n; i++)
			for (size_t k = 0; k < csv.fields[i].n; k++)
				sum += (unsigned char)csv.fields[i].at[k] + 1u;
		check(sum <= 256 * text.n, "fields are parts of the text");
		if (style.separator == ',' && style.quotes && !memchr(text.at, 0, text.n))
			write_again(&csv);
	}
	check(rc == 0 || rc == ERR_FORMAT, "ends or fails");
	csv_fini(&csv);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct slice text = { (const char *)bytes, n };

	walk(text, (struct csv_style){ .separator = ',', .quotes = true });
	walk(text, (struct csv_style){ .separator = ' ', .comment = ';' });
	walk(text, (struct csv_style){ .separator = '\t' });
	return 0;
}
