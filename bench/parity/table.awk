# The table of tools/parity.  A line of input, divided by tabs, is the first
# seven columns of rows.tsv, what figures.awk printed, and the seconds of CPU
# of the whole process.  Fails if a row that must be equal is not.
function digits(figure)
{
	return figure ~ /\./ ? 1 : 0
}
function rounded(mine, published)
{
	return sprintf("%.*f", digits(published), mine)
}
function percent(mine, published)
{
	return sprintf("%+.2f %%", 100 * (mine - published) / published)
}
# The same without sign, as a number.
function off(mine, published)
{
	return 100 * (mine > published ? mine - published : published - mine) / published
}
function must(yes, otherwise)
{
	if (!yes)
		failed = 1
	return yes ? "none" : otherwise
}
function draws_off(mine, published, spread)
{
	return sprintf("%.1f", (mine > published ? mine - published : published - mine) / spread)
}
function difference(kind, jct, makespan)
{
	if (kind == "exact" || kind == "jct" || kind == "log")
		return must(f[5] == 0, f[5] " of " f[6] " JOBS DIFFER") " of " f[6] " jobs"
	if (kind ~ /^jcts/) {
		split(kind, limit, ":")
		return f[5] <= limit[2] + 0 && f[5] > 0 ? f[5] " of " f[6] " jobs" : must(f[5] == 0, f[5] " of " f[6] " JOBS DIFFER") " of " f[6] " jobs"
	}
	if (kind == "rounded")
		return must(rounded(f[1], jct) == jct && rounded(f[3], makespan) == makespan, "DIFFERS")
	if (kind == "draw")
		return "JCT " percent(f[1], jct) ", " draws_off(f[1], jct, f[2]) " deviations"
	if (kind ~ /^within/ && !is_within(kind, jct, makespan)) {
		failed = 1
		return "TOO FAR: " percents(jct, makespan)
	}
	return percents(jct, makespan)
}
# Where no makespan was published, "-", there is none to compare.
function percents(jct, makespan)
{
	return "JCT " percent(f[1], jct) (makespan == "-" ? "" : ", makespan " percent(f[3], makespan))
}
function is_within(kind, jct, makespan,   limit)
{
	split(kind, limit, ":")
	return off(f[1], jct) <= limit[2] && (makespan == "-" || off(f[3], makespan) <= limit[3])
}
function ratio(published, mine)
{
	return published == "-" ? "-" : mine > 0 ? sprintf("%.0fx", published / mine) : "too short"
}
function cell(text)
{
	table[NR, ++column] = text
	if (length(text) > width[column])
		width[column] = length(text)
}
function line(row,   c, text)
{
	for (c = 1; c <= ncolumns; c++)
		text = text sprintf("%*s  ", c <= 3 || c == 8 ? -width[c] : width[c], row ? table[row, c] : title[c])
	sub(/ +$/, "", text)
	print text
}
BEGIN {
	FS = "\t"
	ncolumns = split("system|run|policy|JCT|Stint|makespan|Stint|difference|CPU|run|process", title, "|")
	for (c = 1; c <= ncolumns; c++)
		width[c] = length(title[c])
}
{
	split($8, f, " ")
	column = 0
	cell($1)
	cell($2)
	cell($3)
	cell($5)
	cell($4 == "draw" ? sprintf("%.0f +- %.0f", f[1], f[2]) : rounded(f[1], $5))
	cell($6)
	cell($6 == "-" ? "-" : rounded(f[3], $6))
	cell(difference($4, $5 "", $6 ""))
	cell($7)
	sub(/w/, "", $7)
	cell(ratio($7, f[4]))
	cell(ratio($7, $9))
}
END {
	line(0)
	for (row = 1; row <= NR; row++)
		line(row)
	exit failed
}
