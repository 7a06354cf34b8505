#!/usr/bin/env python3
"""What the simulator of Muri calls Themis, from its rules told in our words, to
see what its figures come from:

    python3 bench/parity/muri-themis.py ../shared/data/muri/cluster_trace.csv

At every arrival and end, and only then, shares x that make the worst ratio
smallest; then whoever has most of x for the time it ran goes first, whole gangs
on single nodes of eight.  Where the program leaves x open (somebody is worst off
whatever others get), the published figures are those of an interior point;
--slack says how much of what is free is handed out then.
"""
import argparse
import csv
import math

GPUS, NODE = 64, 8
# seconds that every event takes from the progress of a running job, by model: on 1 device and on 8
CHARGE = {"vgg16": (7, 9), "vgg19": (7, 9), "resnet18": (4, 7), "shufflenet_v2_x1_0": (4, 5),
          "bert": (10, 10), "gpt2": (10, 10), "a2c": (38, 46), "dqn": (5, 6)}


class Job:
    def __init__(self, row, charges):
        one, eight = CHARGE.get(row["model_name"], (10, 10))
        self.gpus = int(row["num_gpu"])
        self.arrival = int(row["submit_time"]) / 1000
        self.left = float(row["iterations"])
        self.each = int(row["iteration_time"]) * 1.015 / 1000
        self.charge = (eight if self.gpus >= NODE else one) if charges else 0
        self.ran = self.alone = self.due = self.owed = self.end = 0.0
        self.runs, self.before, self.part, self.seen = False, None, 1.0, self.arrival


def shares(jobs, now, slack):
    """Least worst ratio; x is what each needs for it."""
    def needed(ratio):
        return [min(1, j.left * j.each / max(ratio * j.isolated - (now - j.arrival), 1e-12))
                for j in jobs]

    def used(x):
        return sum(a * j.gpus for a, j in zip(x, jobs))

    low = max((now - j.arrival + j.left * j.each) / j.isolated for j in jobs)
    x = needed(low)
    if used(x) <= GPUS:
        rest = sum((1 - a) * j.gpus for a, j in zip(x, jobs))
        part = slack * min(1, (GPUS - used(x)) / max(rest, 1e-9))
        return [a + (1 - a) * part for a in x], True
    high = 2 * low
    while used(needed(high)) > GPUS:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if used(needed(middle)) > GPUS:
            low = middle
        else:
            high = middle
    return needed(high), False


def place(jobs):
    free = [NODE] * (GPUS // NODE)
    for j in jobs:
        whole = max(1, j.gpus // NODE)
        nodes = [k for k in range(len(free)) if free[k] >= min(j.gpus, NODE)][:whole]
        j.runs = len(nodes) == whole
        for k in nodes if j.runs else []:
            free[k] -= min(j.gpus, NODE)


def progress(jobs, now):
    for j in jobs:
        if j.runs:
            j.ran += now - j.seen
            j.left -= max(now - j.seen - j.charge, 0) / j.each
        j.seen = now


def decide(jobs, now, last, args):
    for j in jobs:
        part = min(1, math.ceil(GPUS / len(jobs)) / j.gpus)
        if j.before is not None:
            j.alone += (j.before - j.left) / j.part
        # as published, iterations are compared with seconds
        j.isolated = (j.alone + j.left / part) * (j.each if args.seconds else 1)
        j.before, j.part = j.left, part
    x, is_open = shares(jobs, now, args.slack)
    for j, a in zip(jobs, x):
        j.owed = j.due - j.ran
        j.due += a * (now - last)
        j.x = a
    jobs.sort(key=lambda j: (j.x * 1e9 if j.ran == 0 else j.x / j.ran, j.owed, j.x), reverse=True)
    place(jobs)
    return is_open


def play(rows, args):
    coming = sorted((Job(r, not args.free) for r in rows), key=lambda j: j.arrival)
    jobs, done, last, events, is_open = [], [], 0.0, 0, 0
    while coming or jobs:
        ends = min((j.seen + j.left * j.each for j in jobs if j.runs), default=math.inf)
        now = min(ends, coming[0].arrival if coming else math.inf)
        for j in [j for j in jobs if j.runs and j.seen + j.left * j.each <= now]:
            j.end = now
            done.append(j)
            jobs.remove(j)
        progress(jobs, now)
        while coming and coming[0].arrival <= now:
            jobs.append(coming.pop(0))
        if jobs:
            is_open += decide(jobs, now, last, args)
            events += 1
        last = now
    return done, events, is_open


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("trace")
    p.add_argument("--slack", type=float, default=0.5, help="0..1, default 0.5")
    p.add_argument("--free", action="store_true", help="without the charges at every event")
    p.add_argument("--seconds", action="store_true", help="compare seconds with seconds")
    args = p.parse_args()
    with open(args.trace, newline="") as f:
        done, events, is_open = play(list(csv.DictReader(f)), args)
    jct = [j.end - j.arrival for j in done]
    print("%d jobs, mean JCT %.0f s, makespan %.0f s, %d decisions, in %d of them x is open"
          % (len(done), sum(jct) / len(jct), max(j.end for j in done), events, is_open))


main()
