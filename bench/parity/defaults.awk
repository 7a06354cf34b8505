# The table of `tools/parity defaults`.  A line of input, divided by tabs: world,
# objective, and mean JCT, makespan, preemptions and CPU seconds of the
# published mechanism and of Stint's own.  "worse": the default loses by more
# than a thousandth in mean JCT or makespan.
function change(mine, theirs)
{
	return sprintf("%+.2f %%", 100 * (mine - theirs) / theirs)
}
BEGIN {
	FS = "\t"
	form = "%-3s %-24s %9s %9s %9s  %9s %9s %9s  %6s %6s  %s\n"
	printf form, "run", "objective", "JCT", "default", "", "makespan", "default", "", "preempt.", "default", ""
}
{
	split($3, a, " ")
	split($4, b, " ")
	worse = (b[1] > 1.001 * a[1] ? " JCT" : "") (b[2] > 1.001 * a[2] ? " makespan" : "")
	printf form, $1, $2, sprintf("%.0f", a[1]), sprintf("%.0f", b[1]), change(b[1], a[1]), sprintf("%.0f", a[2]),
		sprintf("%.0f", b[2]), change(b[2], a[2]), a[3], b[3], worse ? "worse:" worse : ""
}
