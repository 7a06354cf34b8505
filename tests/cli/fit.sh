#!/bin/bash
# stint fit: models from measurements.
# shellcheck source=tests/cli/lib/check
. "$(dirname "$0")/lib/check"

# alpha_c .1, beta_c .01, alpha_r .05, beta_r .01, alpha_n .2, beta_n .02, gamma 1
cat >samples.csv <<'END'
model,type,nodes,replicas,local_bsz,step_time,sync_time
bert,t4,1,1,8,0.18,0
bert,t4,1,1,32,0.42,0
bert,t4,1,2,8,0.23,0.05
bert,t4,1,2,32,0.47,0.05
bert,t4,1,4,8,0.25,0.07
bert,t4,1,4,32,0.49,0.07
bert,t4,2,8,8,0.50,0.32
bert,t4,2,8,32,0.74,0.32
bert,t4,2,4,8,0.42,0.24
bert,t4,2,2,32,0.62,0.2
END
run stint fit --goodput samples.csv
want 0 "fit --goodput"
out '^10 samples, 1 fit; steps are met within 0\.[0-9] %' "it says how good the fit is"
out '^model +type +alpha_c +beta_c +alpha_r +beta_r +alpha_n +beta_n +gamma +compute error +step error +worst' \
	"there is a table"
out '^bert +t4 +0\.1 +0\.01 +0\.0(5|49|50)[0-9]* ' "noise-free parameters come back"
out '^bert +t4 +32 +76\.[0-9]+ +13[67]' "throughput follows from it"
out ' ~[0-9.]+$' "what lies beyond the measurements is marked"
out '^bert on t4: 10 samples, the worst of ' "the worst sample is named"
is "all was seen, so nothing is assumed" eval '! grep -q Assumed stdout'
is "nothing on standard error" empty stderr

run stint fit --goodput samples.csv --json
is "--json is JSON" valid_json stdout fit-goodput/1
for key in alpha_c gamma objective step_error worst seen predictions samples_per_s; do
	out "\"$key\":" "it has $key"
done

# little to see
sed 2q samples.csv >one.csv
run stint fit --goodput one.csv
want 0 "one sample is enough"
out 'Assumed: one batch size only.*one device only' "and what it does not show is said"
sed -n '1,7p' samples.csv >node.csv
run stint fit --goodput node.csv
out 'Assumed: no several nodes, so they are taken to cost a tenth more' "likewise of nodes"

# gradient statistics
sed '1s/$/,grad_sqr,grad_var,batch/; 2,$s/$/,1,8,16/' samples.csv >gradient.csv
run stint fit --goodput gradient.csv
out '^goodput at the best batch' "gradients give goodput"
out '^bert +t4 +128 ' "and the noise scale"
out '^efficiency by total batch' "and efficiency by batch"
out '^bert +t4 +16 +100\.0 +90\.0 +75\.0 +56\.2 +37\.5 +22\.5$' "as the model says"
run stint fit --goodput gradient.csv --json
out '"efficiency": 0\.9,?$' "in JSON, too"
run stint fit --goodput gradient.csv --svg gradient.svg --html gradient.html
is "the picture has it" grep -q '>Efficiency of bert on t4<' gradient.svg
is "and a tick for one device" grep -Eq '<text x="[0-9.]+" y="[0-9.]+" text-anchor="middle">1</text>' gradient.svg
is "the page has it" grep -q 'id="efficiency0' gradient.html
is "and the noise scale" grep -q 'noise scale' gradient.html
is "and goodput" grep -q 'goodput, samples/s' gradient.html
if command -v python3 >/dev/null; then
	is "the SVG is well-formed" python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' gradient.svg
fi
sed '1s/$/,grad_sqr,grad_var,batch/; 2,$s/$/,1,8,33/' samples.csv | sed '/,8,0/d' | sed -n '1,2p' >tight.csv
run stint fit --goodput tight.csv
want 0 "limits that leave no batch"
out 'no batch fits' "are said, not hidden"

# the published formats, and pictures
mkdir -p resnet
printf 'placement,local_bsz,step_time,sync_time\n1,8,.18,.01\n1,16,.27,.01\n4,8,.25,.07\n44,8,.5,.3\n' >resnet/placements-v100.csv
printf 'num_nodes,num_replicas,local_bsz,step_time,sync_time\n4,16,8,.7,.5\n' >resnet/scalability-v100.csv
run stint fit --goodput resnet/placements-v100.csv resnet/scalability-v100.csv --svg curve.svg --html curve.html
want 0 "files of published profiles"
out '^resnet on v100: 5 samples' "are named by their paths"
err '^wrote curve.svg$' "it says what it wrote"
is "the curve is SVG" grep -q '^<svg xmlns=' curve.svg
is "with dots and lines" eval 'grep -q "class=.dots" curve.svg && grep -q "class=.line" curve.svg'
is "the page is a page" grep -q '</html>' curve.html
if command -v python3 >/dev/null; then
	is "the SVG is well-formed" python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' curve.svg
fi

# accumulation: two passes before the one that synchronises
printf 'replicas,local_bsz,step_time,sync_time,accum\n2,8,0.41,0.05,1\n2,16,0.31,0.05,0\n' >accum.csv
printf 'replicas,local_bsz,step_time,sync_time\n2,8,0.23,0.05\n2,16,0.31,0.05\n' >flat.csv
stint fit --goodput accum.csv | sed 's/accum/flat /' >a
stint fit --goodput flat.csv | sed 's/flat/flat /' >b
is "accumulated passes count as what they are" eval 'diff <(tr -s " " <a) <(tr -s " " <b)'

# a profile comes out of it
run stint fit --goodput gradient.csv --out profiles
want 0 "fit --out"
is "its files are there" eval 'ls profiles/bert/placements-*.csv profiles/bert/scalability-*.csv profiles/bert/validation-16.csv >/dev/null'
err 'validation-BATCH.csv has one epoch' "and what it cannot know is said"
run stint fit --goodput profiles/bert/placements-*.csv profiles/bert/scalability-*.csv
out 'steps are met within 0\.[0-9] %' "fitting the profile again gives the same model"
printf 'name,time,application,num_replicas,batch_size\nbert-0,0,bert,2,32\nbert-1,10,bert,1,16\n' >jobs.csv
run stint sim jobs.csv --cluster 2x4:t4 --policy fifo --profiles profiles
want 0 "stint sim reads the profile"
out '2 submitted, 2 finished' "and jobs train by it"
is "files are named by their type" [ -e profiles/bert/placements-t4.csv ]

# One sample, with and without a type: what the fit makes of it can be simulated.
sed -n 1,2p gradient.csv >single.csv
sed 's/,type//; s/,t4//' single.csv >typeless.csv
printf 'id,model,gpus,min_gpus,max_gpus,arrival_s,duration_s\na,bert,1,1,16,0,60\nb,bert,4,4,4,0,60\n' >own.csv
for table in single typeless; do
	run stint fit --goodput $table.csv --out from-$table
	want 0 "a profile of one sample"
	for policy in sia pollux fifo afs; do
		run stint sim own.csv --cluster 2x4:t4 --policy $policy --profiles from-$table
		want 0 "$policy runs by it"
		out '2 submitted, 2 finished' "to the end"
		is "within what was written" eval '! grep -q "no step time" stderr'
	done
done
run stint sim own.csv --cluster 2x4:v100,2x4:t4 --policy sia --profiles from-typeless
want 0 "a profile of no type serves any"
run stint fit --goodput samples.csv --out other
err 'no gradient statistics' "a profile without gradients is said to lack them"

# what is wrong is said, with its place
bad() { # REGEX WHAT
	fails 1 "$1" "$2" stint fit --goodput bad.csv
}
head='nodes,replicas,local_bsz,step_time,sync_time'
printf '' >bad.csv
bad 'bad.csv:1: the file is empty' "an empty file"
printf '%s\n' "$head" >bad.csv
bad 'bad.csv:1: there are no rows' "a header alone"
printf '%s\n1,1,8,-0.1,0\n' "$head" >bad.csv
bad "bad.csv:2: step_time '-0.1' is negative" "a negative time"
printf '%s\n1,1,8,0.1,0\n1,1,8,nan,0\n' "$head" >bad.csv
bad "bad.csv:3: step_time 'nan' is not a finite number" "a time that is no number"
printf '%s\n1,1,8,,0\n' "$head" >bad.csv
bad 'bad.csv:2: step_time is empty' "a hole"
printf '%s\n1,1,8,0.1\n' "$head" >bad.csv
bad 'bad.csv:2: 4 fields, the header has 5' "a short row"
printf '%s\n1,1,8,0.1,0.1\n' "$head" >bad.csv
bad 'no time is left to compute' "a step that only synchronises"
printf '%s\n3,2,8,0.2,0.1\n' "$head" >bad.csv
bad '2 devices cannot be on 3 nodes' "more nodes than devices"
printf '%s\n1,1.5,8,0.2,0.1\n' "$head" >bad.csv
bad "replicas '1.5' is not a whole number" "half a device"
printf '%s,bogus\n1,1,8,0.2,0.1,1\n' "$head" >bad.csv
bad "bad.csv:1: unknown column 'bogus'" "an unknown column"
printf 'nodes,replicas,local_bsz,steptime,sync_time\n1,1,8,0.2,0.1\n' >bad.csv
bad 'did you mean step_time' "a misspelt one"
printf 'local_bsz,step_time,sync_time\n8,0.2,0.1\n' >bad.csv
bad 'neither a column replicas' "no devices"
printf 'placement,local_bsz,step_time,sync_time\n40,8,0.2,0.1\n' >bad.csv
bad "placement '40' is not a list" "a node without devices"
printf '%s,grad_sqr,grad_var\n1,1,8,0.2,0.1,1,2\n' "$head" >bad.csv
bad 'need the column batch' "gradients of no batch"
fails 3 'nowhere.csv' "a file that is not there" stint fit --goodput nowhere.csv
fails 2 'needs to know what to fit' "nothing to fit" stint fit
fails 1 'nowhere/x.svg' "a picture that cannot be written" stint fit --goodput samples.csv --svg nowhere/x.svg

# Optimus: loss curves and speeds
printf 'step,loss\n1,1.409091\n2,1.333333\n4,1.214286\n8,1.055556\n16,0.884615\n' >loss.csv
run stint fit --optimus-loss loss.csv
want 0 "fit --optimus-loss"
out '^loss after k steps: 1 / \((0\.099|0\.1)[0-9]* k \+ (0\.99|1)[0-9.]*\) \+ 0\.(499|5)' "the curve comes back"
run stint fit --optimus-loss loss.csv --json
is "--json is JSON" valid_json stdout fit-optimus-loss/1
printf 'workers,servers,speed,batch\n4,2,0.294118,32\n8,2,0.227273,32\n4,4,0.322581,32\n' >speeds.csv
fails 1 'needs 5 points or more, there are 3' "too few speeds" stint fit --optimus-speed speeds.csv
printf '1,1,0.181818,32\n2,1,0.25,32\n1,2,0.183486,32\n8,8,0.25,32\n' >>speeds.csv
run stint fit --optimus-speed speeds.csv
want 0 "fit --optimus-speed"
out '^7 points, speeds are met within ' "it says how good the fit is"

# ---- labels
{
	echo category,time_s,cpus,mem,exhausted
	for _ in 1 2 3 4 5 6 7 8 9; do echo "small,1,1,2G,"; done
	echo small,1,1,10G,
	echo small,1,1,1G,yes
} >usage.csv
run stint fit --labels usage.csv --learn 1
want 0 "--labels makes labels"
out '^small +mem +10 +2(.0)? GiB +10(.0)? GiB +10\.0' "nine of two and one of ten: two first, then ten"
out '^1 runs that were stopped at a limit do not count' "what was stopped says nothing"
run stint fit --labels usage.csv --worker cpus=8,mem=16G
out 'By these labels a worker holds small 8 at a time' "8 cores and 16 GB hold eight of one core and 2 GB"
run stint fit --labels usage.csv --worker cpus=8,mem=16G --guess mem=4G --json
is "--json is JSON" valid_json stdout labels/1
fails 2 "--worker: 'ram=3' is not understood" "an unknown resource" stint fit --labels usage.csv --worker ram=3
fails 2 "--label-rule 'best' is none" "an unknown rule" stint fit --labels usage.csv --label-rule best
fails 3 'none.csv: no such file' "a file that is not there" stint fit --labels none.csv

finish
