#!/usr/bin/env python3
"""Trains on as many devices as it is given, and takes more or fewer while it runs.

    stint submit --gpus 2 --min-gpus 1 --max-gpus 4 -- examples/live/elastic.py

One worker process per device.  A batch is always the same eight shards; workers
share them out and the sums are formed in the order of the shards, so the result is
the same to the bit whatever the number of workers was at which step.

A process sees the CUDA devices it began with and no others, which is why growing
in place means a new worker with its own CUDA_VISIBLE_DEVICES, while the parent
holds the weights and touches no device.
"""

import argparse
import hashlib
import multiprocessing
import os
import random
import signal
import struct
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../clients/python"))
import stint  # noqa: E402
from train import MOMENTUM, RATE, fresh_state, gradient, spirals  # noqa: E402

SHARDS, SHARD = 8, 8


def work(pipe, device, shard_s):
    """A worker: gradients of the shards it is sent, until it is sent None."""
    # The parent alone deals with Stint; it ends us when it has saved.
    for name in ("SIGTERM", "SIGINT", "SIGUSR1", "SIGUSR2", "SIGURG"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    os.environ["CUDA_VISIBLE_DEVICES"] = device
    parent = os.getppid()
    while True:
        while not pipe.poll(1.0):
            if os.getppid() != parent:
                return  # killed; other workers may hold its end of the pipe open
        task = pipe.recv()
        if task is None:
            return
        weights, shards = task
        answers = []
        for shard in shards:
            time.sleep(shard_s)
            answers.append(gradient(weights, shard))
        pipe.send(answers)


class Team:
    """The workers, one per device."""

    def __init__(self, shard_s):
        self.shard_s = shard_s
        self.members = {}  # device -> (process, pipe)

    def use(self, devices):
        for device in [d for d in self.members if d not in devices]:
            process, pipe = self.members.pop(device)
            pipe.send(None)
            process.join()
            pipe.close()
        for device in devices:
            if device not in self.members:
                ours, theirs = multiprocessing.Pipe()
                process = multiprocessing.Process(
                    target=work, args=(theirs, device, self.shard_s))
                process.start()
                theirs.close()
                self.members[device] = (process, ours)

    def gradients(self, weights, shards):
        """(loss, slope) of each shard, in their order."""
        pipes = [pipe for _, pipe in self.members.values()]
        for i, pipe in enumerate(pipes):
            pipe.send((weights, shards[i::len(pipes)]))
        answers = [None] * len(shards)
        for i, pipe in enumerate(pipes):
            answers[i::len(pipes)] = pipe.recv()
        return answers


def train_step(state, team, points, generator):
    shards = [generator.sample(points, SHARD) for _ in range(SHARDS)]
    answers = team.gradients(state["weights"], shards)
    for i in range(len(state["weights"])):
        slope = sum(answer[1][i] for answer in answers) / SHARDS
        state["speed"][i] = MOMENTUM * state["speed"][i] - RATE * slope
        state["weights"][i] += state["speed"][i]
    state["loss"] = sum(answer[0] for answer in answers) / SHARDS
    state["step"] += 1


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--shard-s", type=float, default=0.01, metavar="S",
                        help="a shard takes at least so long")
    parser.add_argument("--save-every", type=int, default=100, metavar="STEPS")
    parser.add_argument("--checkpoint", metavar="FILE",
                        default="elastic-%s.ckpt" % (stint.job_id() or "local"))
    parser.add_argument("--workers", type=int, metavar="N", default=1,
                        help="outside Stint: how many")
    return parser.parse_args()


def main():
    opt = options()
    points, generator = spirals(), random.Random()
    checkpoint = stint.Checkpoint(opt.checkpoint)
    state = checkpoint.load(default=None) or fresh_state(seed=0)
    generator.setstate(state["random"])
    team = Team(opt.shard_s)

    def save():
        state["random"] = generator.getstate()
        checkpoint.save(state, step=state["step"])

    @stint.on_resize
    def resize(grant):
        print("step %d: %d devices now" % (state["step"], grant.gpus), flush=True)
        team.use(grant.devices)

    try:
        team.use(stint.devices() or ["cpu-%d" % i for i in range(opt.workers)])
        run = stint.steps(opt.steps, start=state["step"])
        for step in run:
            train_step(state, team, points, generator)
            run.metrics.update(loss=state["loss"], workers=len(team.members))
            if (step + 1) % opt.save_every == 0 or step + 1 == opt.steps:
                save()
                print("step %d of %d, loss %.4f, %d workers"
                      % (step + 1, opt.steps, state["loss"], len(team.members)), flush=True)
        if run.stopped:
            save()
            stint.exit_for_requeue()
    finally:
        team.use([])
    digest = hashlib.sha256(struct.pack("<%dd" % len(state["weights"]), *state["weights"]))
    print("done after %d steps, loss %.6f, weights %s"
          % (state["step"], state["loss"], digest.hexdigest()[:16]))


if __name__ == "__main__":
    main()
