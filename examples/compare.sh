#!/bin/sh
# What `make compare` shows: policies side by side on the bundled workload, and a
# report to look at.  STINT names the program, build/stint unless said.
set -eu
cd "$(dirname "$0")/.."
STINT=${STINT:-build/stint}
shown=${STINT#"$PWD"/}
report=build/report.html
mkdir -p build

cat <<END
400 jobs of six tenants within a day, on 32 V100 and 16 A100 in three racks.
Which jobs run first?  Nine policies, each on five workloads:

END
"$STINT" compare examples/workload.csv --cluster examples/cluster.yaml \
	--policy fifo,easy,sjf,srtf,las,tiresias,gittins,gavel,allox --placer consolidate \
	--seeds 5 --html "$report"
cat <<END

The report, with plots, is file://$PWD/$report
Now try:
  $shown policies tiresias                    a policy, its paper and its options
  $shown sim examples/workload.csv --cluster 8x8:v100 --policy tiresias:queues=3 --out build/run1
  $shown replay build/run1                    the same run again, event by event
  $shown shares examples/workload.csv --cluster examples/cluster.yaml    who gets which part of which type
  $shown trace stats examples/workload.csv    what the workload looks like
  $shown help
END
