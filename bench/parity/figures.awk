# What the runs of one row gave.  Files: summary.json of each run, then with
# kind=exact, jct, log or jcts the published per-job record and jobs.csv of a run
# (jct: of the record the lines that begin with ids and a comma; jcts: a JSON
# object "jcts", of which the member ids counts), or with
# kind=draw jobs.csv of each run, of which the jobs FIRST-LAST (ids) count.
#
# Prints: mean JCT, its deviation from draw to draw, makespan, CPU seconds of a
# run, jobs that differ from the record, jobs compared.
function equal(a, b)
{
	return a - b < 1e-6 && b - a < 1e-6
}
function near(a, b, within)
{
	return a - b <= within && b - a <= within
}
# The number after "KEY": in a line of JSON.
function json_number(key,   from)
{
	from = index($0, "\"" key "\":")
	return substr($0, from + length(key) + 3) + 0
}
function add(jct)
{
	sum += jct
	squares += jct * jct
	n++
}
function close_draw()
{
	if (chosen)
		add(chosen_jct / chosen)
	chosen = chosen_jct = 0
}
function read_header(   i)
{
	split("", at)
	for (i = 1; i <= NF; i++)
		at[$i] = i
}
BEGIN {
	FS = ","
	split(ids, id_range, "-")
}
{
	sub(/\r$/, "")
}
FNR == 1 {
	part = FILENAME ~ /\/runs\/[0-9]+\/summary.json$/ ? "summary" : FILENAME ~ /\/jobs.csv$/ ? "jobs" : "record"
	if (part != "summary" && !(part == "record" && (kind == "log" || kind ~ /^jcts/))) {
		close_draw()
		read_header()
		next
	}
}
part == "summary" {
	split($0, field, /[":, ]+/)
	if (field[2] == "jct_mean_s" && kind != "draw")
		add(field[3])
	if (field[2] == "makespan_s") {
		makespan += field[3]
		runs++
	}
	if (field[2] == "cpu_s")
		cpu += field[3]
	next
}
part == "record" && kind == "log" {
	if (/^\{"ev": "done"/) {
		jct[json_number("job")] = json_number("jct")
		jobs++
	}
	next
}
part == "record" && kind ~ /^jcts/ {
	split($0, field, /[":, ]+/)
	if (field[3] == "{")
		inside = field[2] == ids
	else if (inside && field[3] != "") {
		jct[field[2]] = field[3]
		jobs++
	}
	next
}
part == "record" && kind == "jct" {
	if (index($0, ids ",") == 1) {
		jct[$at["job_id"]] = $at["jct_seconds"]
		jobs++
	}
	next
}
part == "record" {
	start[$at["job_id"]] = $at["start_time"]
	end[$at["job_id"]] = $at["end_time"]
	jobs++
	next
}
kind == "exact" {
	id = $at["id"]
	matched += id in end && equal(start[id], $at["start_s"]) && equal(end[id], $at["finish_s"])
	simulated++
}
kind == "jct" || kind == "log" || kind ~ /^jcts/ {
	id = $at["id"]
	matched += id in jct && near(jct[id], $at["jct_s"], kind == "jct" ? 6e-4 : 1e-6)
	simulated++
}
kind == "draw" && $at["id"] >= id_range[1] + 0 && $at["id"] <= id_range[2] + 0 {
	chosen_jct += $at["jct_s"]
	chosen++
}
END {
	close_draw()
	spread = n > 1 ? (squares - sum * sum / n) / (n - 1) : 0
	compared = jobs > simulated ? jobs : simulated
	printf "%.9g %.9g %.9g %.9g %d %d\n", sum / n, (spread > 0 ? sqrt(spread) : 0), makespan / runs, cpu / runs,
		compared - matched, compared
}
