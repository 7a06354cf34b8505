#!/usr/bin/env python3
"""Tests of clients/c/stint.h against a daemon that is not one.

c_test.py PROBE TRAIN [TEXT]: with probe.c and train.c as built; all tests, or those whose
sentence has TEXT.
"""

import json
import os
import signal
import subprocess
import sys

import harness
from harness import digest, same, test

PROBE, TRAIN = (os.path.realpath(path) for path in sys.argv[1:3])


class Probe:
    """probe.c as it runs: say() gives it a command and returns its answer."""

    def __init__(self, case, *argv, **more):
        self.process = subprocess.Popen(
            [PROBE] + list(argv), env=case.env(**more), cwd=case.folder, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            universal_newlines=True)
        case.running.append(self.process)
        self.say("env")  # its handlers are in place now

    def say(self, *words):
        self.process.stdin.write(" ".join(str(w) for w in words) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        output = self.process.communicate(timeout=harness.PATIENCE_S)[0]
        return self.process.returncode, output


def steps(case):
    return [body["step"] for body in case.daemon.of("progress")]


@test("outside Stint everything is a no-op")
def _(case):
    case.daemon.start()
    for outside in ("", "/usr/bin/stint"):
        probe = Probe(case, STINT=outside, CUDA_VISIBLE_DEVICES="3,5,6")
        same(probe.say("env"), "0 -1 1 0 -7 3")
        for words in ("progress 1 10 loss=1", "checkpointed 1", "flush"):
            same(probe.say(words), "ok")
        same((probe.say("stop"), probe.say("resized")), ("0 0 0", "none"))
        same(probe.say("grant"), "3 0 3 5 6")
        probe.process.send_signal(signal.SIGTERM)
        same(probe.end()[0], -signal.SIGTERM)
    same(case.daemon.connections, 0)


@test("the environment is told")
def _(case):
    probe = Probe(case, STINT_ARRAY_INDEX="3")
    same((probe.say("env"), probe.say("grant")), ("1 7 2 1 3 2", "2 0 0 1"))


@test("the signal sets the flag, and the earlier handler is called too")
def _(case):
    for name, number in (("TERM", 15), ("USR2", 12), ("SIGUSR1", 10), ("10", 10)):
        probe = Probe(case, STINT_SIGNAL=name)
        same(probe.say("stop"), "0 0 0")
        probe.process.send_signal(number)
        same(probe.say("stop"), "1 1 0")
    probe = Probe(case, "earlier")
    probe.process.send_signal(signal.SIGTERM)
    same(probe.say("stop"), "1 1 1")


@test("requeue ends with 85 and delivers the last progress")
def _(case):
    case.daemon.start()
    probe = Probe(case)
    probe.say("clock 1000")
    for i in range(40):
        probe.say("progress", i + 1, 40)
    probe.say("clock -1")
    probe.process.stdin.write("requeue\n")
    same(probe.end()[0], 85)
    same((steps(case), case.daemon.problems), ([1, 40], []))


@test("progress carries step, total and finite numbers")
def _(case):
    case.daemon.start()
    probe = Probe(case)
    probe.say('progress 3 10 loss=0.25 a"b\\c=1e300 nan=nan inf=inf')
    probe.say("settle")
    same(case.daemon.of("progress"), [{"attempt": 2, "step": 3, "total": 10,
                                       "metrics": {"loss": 0.25, "abc": 1e300}}])
    probe.say("clock 1e9")
    probe.say("progress 4 0", *["%s%d=%.17g" % ("n" * 20, i, i / 7) for i in range(40)])
    probe.say("settle")
    same((len(case.daemon.of("progress")[1]["metrics"]), case.daemon.problems), (32, []))


@test("one message a second, and the last one at the checkpoint")
def _(case):
    case.daemon.start()
    probe = Probe(case)
    for i in range(100):
        probe.say("clock", 1000 + 0.125 * i)
        probe.say("progress", i, 0)
        probe.say("settle")
    same(steps(case), list(range(0, 100, 8)))
    probe.say("clock -1")
    probe.say("checkpointed 99")
    same((steps(case)[-1], case.daemon.of("checkpointed")), (99, [{"attempt": 2, "step": 99}]))
    same((case.daemon.connections, case.daemon.problems), (1, []))


@test("the last progress is delivered at exit, and a child says nothing")
def _(case):
    case.daemon.start()
    probe = Probe(case)
    probe.say("clock 1000")
    probe.say("progress 1 0")
    probe.say("settle")
    probe.say("progress 2 0")
    probe.say("fork")
    probe.say("clock -1")
    same(probe.end()[0], 0)
    same((steps(case), case.daemon.of("checkpointed")), ([1, 2], []))


@test("a daemon that is away or begins anew gets the newest when it is back")
def _(case):
    probe = Probe(case)
    clock = 1000
    for i in range(100):
        clock += 1
        probe.say("clock", clock)
        probe.say("progress", i, 0)
    for last in (100, 200):
        case.daemon.start()
        clock += 31
        probe.say("clock", clock)
        probe.say("progress", last, 0)
        probe.say("settle")
        case.daemon.stop()
        for i in range(10):
            clock += 1
            probe.say("clock", clock)
            probe.say("progress", i, 0)
    same(steps(case), [100, 200])


@test("a connection that the daemon closed while idle loses nothing")
def _(case):
    case.daemon.start()
    probe = Probe(case)
    for closes, cut in ((True, 0), (False, 0), (False, 1), (False, 0)):
        case.daemon.closes = closes
        case.daemon.cut = cut
        probe.say("checkpointed 1")
        probe.say("settle")
    probe.say("flush")
    same(len(case.daemon.of("checkpointed")), 4)


@test("a daemon that never answers holds up neither the loop nor the end")
def _(case):
    case.daemon.deaf = True
    case.daemon.start()
    probe = Probe(case, PROBE_HURRY="1")
    for i in range(500):
        same(probe.say("progress", i, 0), "ok")
    same(probe.say("checkpointed 5"), "ok")
    same(probe.end()[0], 0)
    case.daemon.wait_for("progress")
    same(steps(case), [0])
    case.daemon.deaf = False


@test("refusals are dropped; a daemon in trouble is asked again")
def _(case):
    case.daemon.start()
    case.daemon.status = 404
    probe = Probe(case)
    probe.say("checkpointed 1")
    probe.say("settle")
    case.daemon.status = 503
    probe.say("checkpointed 2")
    probe.say("settle")
    case.daemon.status = 200
    probe.say("flush")
    probe.say("settle")
    same([b["step"] for b in case.daemon.of("checkpointed")], [1, 2, 2])


@test("no socket, no reports, no trouble")
def _(case):
    for path in ("", "/nowhere/socket", "x" * 300, case.folder):
        probe = Probe(case, STINT_SOCKET=path)
        same((probe.say("progress 1 2"), probe.say("checkpointed 1")), ("ok", "ok"))
        same(probe.end()[0], 0)


@test("a resize goes there and back, with the signal and without")
def _(case):
    case.daemon.start()
    case.grant(2, 1)
    probe = Probe(case, STINT_GRANT=case.path("grant"))
    probe.say("clock 1000")
    same(probe.say("resized"), "none")
    probe.say("progress 1 0")
    probe.say("settle")
    same(case.daemon.of("progress"), [{"attempt": 2, "step": 1, "resizable": True}])
    case.grant(3, 2)
    same(probe.say("resized"), "none")
    probe.process.send_signal(signal.SIGURG)
    same((probe.say("resized"), probe.say("resized")), ("3 2 0 1 2", "none"))
    same(probe.say("grant"), "2 1 0 1")
    probe.say("clock -1")
    probe.say("accept")
    same(case.daemon.wait_for("resized"), {"attempt": 2, "gpus": 3})
    same(probe.say("grant"), "3 2 0 1 2")
    probe.say("clock 1e9")
    same(probe.say("resized"), "none")
    case.grant(1, 3)
    probe.say("clock 1.1e9")
    same((probe.say("resized"), case.daemon.problems), ("1 3 0", []))


@test("grants that are no grants are ignored, and large ones are cut")
def _(case):
    probe = Probe(case, STINT_GRANT=case.path("grant"))

    def put(text):
        # As the daemon does: a new file each time.  Two writes of one may have the same time.
        with open(case.path("grant.new"), "w") as file:
            file.write(text)
        os.rename(case.path("grant.new"), case.path("grant"))

    for i, text in enumerate(("", "{", "[]", '{"gpus":"x"}', '{"devices":5}', '{"gpus":3', "\xff")):
        put(text)
        probe.say("clock", 2000 + 10 * i)
        same(probe.say("resized"), "none")
    put(json.dumps({"serial": 9, "devices": ["x" * 90] * 70 + ["y" * 200], "gpus": 71}))
    probe.say("clock 3000")
    same(probe.say("resized").split()[:2], ["71", "9"])


@test("a checkpoint is whole or the old one, and the next attempt cleans up")
def _(case):
    same(Probe(case).say("save first"), "ok")
    same(Probe(case).say("save abort"), "ok")
    same(os.listdir(case.folder), ["state"])
    probe = Probe(case)
    same((probe.say("save kill"), probe.end()[0]), ("", -9))
    same(len(os.listdir(case.folder)), 2)
    with open(case.path("state")) as file:
        same(file.read(), "first")
    same(Probe(case).say("save second"), "ok")
    same(os.listdir(case.folder), ["state"])
    os.unlink(case.path("state"))
    os.mkdir(case.path("state"))
    assert Probe(case).say("save third").startswith("cannot")
    same(os.listdir(case.folder), ["state"])


def train(case, number, step_s, checkpoint="shared", **more):
    process = subprocess.Popen([TRAIN, "3000", step_s, "37", checkpoint], cwd=case.folder,
                               env=case.env(STINT_ATTEMPT=str(number), **more),
                               stdout=subprocess.PIPE, universal_newlines=True)
    case.running.append(process)
    return process


@test("train.c, stopped and killed, ends with the same weights to the bit")
def _(case):
    alone = case.end(train(case, 1, "0", "alone", STINT=""))
    for stop, wanted in ((signal.SIGTERM, 85), (signal.SIGKILL, -9)):
        codes = []
        case.daemon.start()
        for number in range(1, 5):
            case.daemon.reports.clear()
            process = train(case, number, "0.002" if number < 4 else "0")
            case.daemon.wait_for("checkpointed", lambda body: body["attempt"] == number)
            if number < 4:
                process.send_signal(stop)
            code, output = case.end(process)
            codes.append(code)
        same(codes, [wanted] * 3 + [0])
        same((digest(output), case.daemon.problems), (digest(alone[1]), []))
        case.daemon.stop()
        os.unlink(case.path("shared"))


if __name__ == "__main__":
    sys.exit(harness.main(sys.argv[3] if len(sys.argv) > 3 else ""))
