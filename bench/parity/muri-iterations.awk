# Muri's simulator runs iterations x iteration_time x 1.015 and never looks at
# the column `duration`.  This writes the trace that it really runs: the same
# columns, with duration (milliseconds) set to that product.
BEGIN {
	FS = OFS = ","
}
NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	print
	next
}
{
	$at["iteration_time"] *= 1.015
	$at["duration"] = sprintf("%.3f", $at["iterations"] * $at["iteration_time"])
	print
}
