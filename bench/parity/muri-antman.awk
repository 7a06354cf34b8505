# What Muri's simulator gives its AntMan: priority 0 is guaranteed and keeps a tenth of a device busy, priority 1
# is opportunistic and keeps nine tenths busy.  Writes that as a trace of Stint, or with -v what=speeds the speeds
# of guests beside guaranteed jobs as its arithmetic has them, for --throughputs: a guest's stages fit into the
# gaps of its host, and hosts are not slowed.  Where two jobs have different sizes the stages of the smaller count.
BEGIN {
	FS = ","
	if (what == "speeds")
		print "model,type,gpus,nodes,steps_per_s,beside,beside_steps_per_s"
	else
		print "id,model,gpus,arrival_s,duration_s,class,util"
}
{
	sub(/\r$/, "")
}
NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	next
}
function least(a, b) { return a < b ? a : b }
function rest(a, b) { return a - int(a / b) * b }
# Iterations of host `h` that one of guest `g` takes.
function fits(g, h, n,    d, u, w, c, x) {
	d = stage[g, n, 0]; u = stage[g, n, 1]; w = stage[g, n, 2]
	c = stage[h, n, 1] + stage[h, n, 2]
	k = int(d / c); x = rest(d, c)
	if (x > 0) {
		k++
		u -= least(u, least(stage[h, n, 2], c - x))
	}
	c = stage[h, n, 0] + stage[h, n, 2]
	k += int(u / c); x = rest(u, c)
	if (x > 0) {
		k++
		if (x < stage[h, n, 0])
			w -= least(w, stage[h, n, 0] + stage[h, n, 1] - x)
	}
	c = stage[h, n, 0] + stage[h, n, 1]
	k += int(w / c); x = rest(w, c)
	return x > stage[h, n, 0] ? k + 1 : k
}
{
	model = $at["model_name"]; gpus = $at["num_gpu"]; guest = $at["priority"] == 1
	if (what != "speeds")
		printf "%s,%s-%s,%d,%.3f,%.6f,%s,%s\n", $at["job_id"], model, guest ? "o" : "g", gpus, \
			$at["submit_time"] / 1000, $at["iterations"] * $at["iteration_time"] * 1.015 / 1000, \
			guest ? "opportunistic" : "guaranteed", guest ? 0.9 : 0.1
	models[model] = sizes[gpus] = 1
	known[model, gpus] = 1
	time[model, gpus] = $at["iteration_time"] * 1.015
	for (i = 0; i < 3; i++)
		stage[model, gpus, i] = $at["resource_time_" i]
}
END {
	if (what != "speeds")
		exit
	for (n in sizes) for (g in models) {
		if (!((g, n) in known))
			continue
		printf "%s-o,v100,%d,,%.9g,,\n%s-g,v100,%d,,%.9g,,\n", g, n, 1000 * n / time[g, n], g, n, 1000 * n / time[g, n]
		for (h in models) {
			if (!((h, n) in known))
				continue
			t = fits(g, h, n) * time[h, n]
			if (t < time[g, n])
				t = time[g, n]
			printf "%s-o,v100,%d,,%.9g,%s-g,%.9g\n", g, n, 1000 * n / t, h, 1000 * n / time[h, n]
		}
	}
}
