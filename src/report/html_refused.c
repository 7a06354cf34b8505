/*
 * Who was refused, and why.
 */
#include "report/html_sections.h"

bool refused_show(const struct comparison *c)
{
	for (uint32_t i = 0; i < c->npolicies; i++) {
		if (c->policies[i].refused.n)
			return true;
	}
	return false;
}

static void put_table(const struct compare_policy *p, bool named, struct buf *out)
{
	const struct refused *refused = &p->refused;

	if (!refused->n)
		return;
	buf_str(out, "<div class=\"scroll\"><table>");
	if (named) {
		buf_str(out, "<caption>");
		html_label(p->label, out);
		buf_str(out, "</caption>");
	}
	buf_str(out,
		"<thead><tr><th scope=\"col\">job</th><th scope=\"col\">GPUs</th>"
		"<th scope=\"col\" class=\"who\">why</th></tr></thead><tbody>\n");
	for (uint32_t i = 0; i < refused->n; i++) {
		html_row(refused->at[i].label, out);
		buf_printf(out, "<td>%d</td><td class=\"say\">", refused->at[i].gpus);
		html_text(out, refused->at[i].why);
		buf_str(out, "</td></tr>\n");
	}
	buf_str(out, "</tbody></table></div>\n");
	if (refused->all > refused->n)
		buf_printf(out, "<p class=\"note\">And %u more.</p>\n", refused->all - refused->n);
}

void html_refused(const struct comparison *c, struct buf *out)
{
	if (!refused_show(c))
		return;
	html_section("refused", "Refused",
		c->nseeds > 1 ? "Jobs that were not let in, in the run with the first seed."
			      : "Jobs that were not let in.",
		out);
	for (uint32_t i = 0; i < c->npolicies; i++)
		put_table(&c->policies[i], c->npolicies > 1, out);
	html_section_end(out);
}
