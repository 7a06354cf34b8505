#!/usr/bin/env python3
"""Trains a tiny network, and can be stopped and continued at any step.

    examples/live/train.py                       # here and now, about 20 s
    stint submit --gpus 1 -- examples/live/train.py

The network learns to tell two spirals apart; everything is plain Python.  What
makes it a good citizen is in main(): it begins from its checkpoint if there is
one, saves now and then, and when asked to stop it saves and leaves.  All that the
next step depends on is in the checkpoint, the state of the random numbers too, so
an interrupted run ends with exactly the same weights as one that was left alone;
the last line tells a digest of them.
"""

import argparse
import hashlib
import math
import os
import random
import struct
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../clients/python"))
import stint  # noqa: E402  (or copy stint.py beside your script)

HIDDEN, BATCH, POINTS = 12, 16, 200
RATE, MOMENTUM = 0.05, 0.9


def spirals():
    points = []
    for i in range(POINTS):
        turn = 3.5 * i / POINTS
        for side in (1.0, -1.0):
            points.append((side * turn * math.cos(2 * turn) / 3.5,
                           side * turn * math.sin(2 * turn) / 3.5, side))
    return points


def fresh_state(seed):
    generator = random.Random(seed)
    count = 4 * HIDDEN + 1  # two weights and a bias in, one weight out; and one bias
    return {
        "step": 0,
        "weights": [generator.gauss(0.0, 0.7) for _ in range(count)],
        "speed": [0.0] * count,
        "random": generator.getstate(),
        "loss": 1.0,
    }


def gradient(weights, batch):
    """Mean loss of a batch and its gradient."""
    total, slope = 0.0, [0.0] * len(weights)
    for x, y, label in batch:
        hidden = [math.tanh(weights[4 * h] * x + weights[4 * h + 1] * y + weights[4 * h + 2])
                  for h in range(HIDDEN)]
        score = weights[-1] + sum(weights[4 * h + 3] * hidden[h] for h in range(HIDDEN))
        total += math.log1p(math.exp(-label * score))
        error = -label / (1.0 + math.exp(label * score)) / len(batch)
        slope[-1] += error
        for h in range(HIDDEN):
            back = error * weights[4 * h + 3] * (1.0 - hidden[h] * hidden[h])
            slope[4 * h] += back * x
            slope[4 * h + 1] += back * y
            slope[4 * h + 2] += back
            slope[4 * h + 3] += error * hidden[h]
    return total / len(batch), slope


def train_step(state, points, generator):
    loss, slope = gradient(state["weights"], generator.sample(points, BATCH))
    for i, s in enumerate(slope):
        state["speed"][i] = MOMENTUM * state["speed"][i] - RATE * s
        state["weights"][i] += state["speed"][i]
    state["loss"] = 0.98 * state["loss"] + 0.02 * loss
    state["step"] += 1


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--step-s", type=float, default=0.01, metavar="S",
                        help="a step takes at least so long, as if the model were larger")
    parser.add_argument("--save-every", type=int, default=200, metavar="STEPS")
    parser.add_argument("--seed", type=int, default=stint.array_index(0))
    parser.add_argument("--checkpoint", metavar="FILE",
                        default="train-%s.ckpt" % (stint.job_id() or "local"))
    parser.add_argument("--fresh", action="store_true", help="ignore an earlier checkpoint")
    return parser.parse_args()


def main():
    opt = options()
    points, generator = spirals(), random.Random()
    checkpoint = stint.Checkpoint(opt.checkpoint)
    state = None if opt.fresh else checkpoint.load()
    if state:
        print("attempt %d goes on at step %d" % (stint.attempt(), state["step"]), flush=True)
    else:
        state = fresh_state(opt.seed)
    generator.setstate(state["random"])

    def save():
        state["random"] = generator.getstate()
        checkpoint.save(state, step=state["step"])

    run = stint.steps(opt.steps, start=state["step"])
    for step in run:
        ends = time.monotonic() + opt.step_s
        train_step(state, points, generator)
        run.metrics["loss"] = state["loss"]
        if (step + 1) % opt.save_every == 0 or step + 1 == opt.steps:
            save()
            print("step %d of %d, loss %.4f" % (step + 1, opt.steps, state["loss"]), flush=True)
        time.sleep(max(0.0, ends - time.monotonic()))

    if run.stopped:
        save()
        print("asked to stop: saved at step %d" % state["step"], flush=True)
        stint.exit_for_requeue()
    digest = hashlib.sha256(struct.pack("<%dd" % len(state["weights"]), *state["weights"]))
    print("done after %d steps, loss %.6f, weights %s"
          % (state["step"], state["loss"], digest.hexdigest()[:16]))


if __name__ == "__main__":
    main()
