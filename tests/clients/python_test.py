#!/usr/bin/env python3
"""Tests of clients/python/stint.py against a daemon that is not one.

python_test.py [TEXT]: all tests, or those whose sentence has TEXT.
"""

import ast
import json
import os
import signal
import sys
import threading
import time

import harness
from harness import CLIENT, EXAMPLES, PATIENCE_S, digest, same, test


def settle(module):
    """Until what was sent is answered; the module's own clock may stand still."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if module._link.flying is None:
            return
        module._link.pump()
        time.sleep(0.001)
    raise AssertionError("no answer")


# ---- outside

@test("outside Stint everything is a no-op")
def _(case):
    code = """
import signal, stint, os
assert not stint.running_under_stint() and stint.job_id() is None
assert (stint.attempt(), stint.restarts(), stint.array_index()) == (1, 0, None)
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
assert signal.getsignal(signal.SIGURG) == signal.SIG_DFL
stint.progress(1, 10, loss=0.5); stint.checkpointed(1); stint.flush()
stint.on_resize(lambda grant: 1 / 0)
assert stint.resized() is None and not stint.should_stop() and stint.grace_left() is None
run = stint.steps(5, start=2)
assert list(run) == [2, 3, 4] and not run.stopped and run.done == 5
stint.exit_for_requeue()
"""
    same(case.run(code, STINT=""), (85, ""))
    case.daemon.start()
    same(case.run(code, STINT="/usr/bin/stint"), (85, ""))
    same(case.daemon.connections, 0)


@test("outside Stint devices are what CUDA_VISIBLE_DEVICES says")
def _(case):
    module = case.module(STINT="", CUDA_VISIBLE_DEVICES="3,5")
    same((module.gpus(), module.devices()), (2, ["3", "5"]))
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    same((module.gpus(), module.gpus(default=4), module.devices()), (1, 4, []))


@test("it is Python 3.6 and needs the standard library alone")
def _(case):
    with open(CLIENT) as file:
        version = {"feature_version": (3, 6)} if sys.version_info >= (3, 8) else {}
        tree = ast.parse(file.read(), **version)
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    same(names - set(sys.stdlib_module_names) if hasattr(sys, "stdlib_module_names") else set(),
         set())
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]


# ---- the signal

@test("the environment is told")
def _(case):
    module = case.module(STINT_ARRAY_INDEX="3")
    same((module.job_id(), module.attempt(), module.restarts(), module.array_index()),
         (7, 2, 1, 3))
    same((module.gpus(), module.devices()), (2, ["0", "1"]))


@test("the signal sets the flag and nothing else happens")
def _(case):
    for name in ("TERM", "USR2", "SIGUSR1", "10", "INT"):
        module = case.module(STINT_SIGNAL=name)
        same((module.should_stop(), module.grace_left()), (False, None))
        os.kill(os.getpid(), module._Stop.signal_number())
        same(module.should_stop(), True)
        assert 0 < module.grace_left() <= 30


@test("the handler that was there before is called too")
def _(case):
    called = []
    signal.signal(signal.SIGTERM, lambda number, frame: called.append(number))
    module = case.module()
    os.kill(os.getpid(), signal.SIGTERM)
    same((module.should_stop(), called), (True, [signal.SIGTERM]))


@test("imported in a thread, the main thread's first question installs the handler")
def _(case):
    box = []
    thread = threading.Thread(target=lambda: box.append(case.module()))
    thread.start()
    thread.join()
    same(box[0].should_stop(), False)
    os.kill(os.getpid(), signal.SIGTERM)
    same(box[0].should_stop(), True)


@test("asked in a thread alone, it says why it cannot know")
def _(case):
    code = """
import threading
def work():
    import stint
    assert not stint.should_stop() and not stint.should_stop()
thread = threading.Thread(target=work); thread.start(); thread.join()
"""
    status, output = case.run(code)
    same((status, output.count("main thread")), (0, output.count("stint:") * 2))
    same(output.count("stint: cannot watch"), 1)


WORKERS = """
import multiprocessing, os, signal, sys, time, stint
def idle(ready):
    ready.send(1)
    while True: time.sleep(0.01)
def asks(ready):
    stint.should_stop()
    ready.send(1)
    while not stint.should_stop(): time.sleep(0.01)
    sys.exit(3)
def shielded(ready):
    stint.shield("as a data loader calls it")
    idle(ready)
def silent(ready):
    stint.progress(99); stint.checkpointed(99); stint.flush()
    ready.send(1)
def speaks(ready):
    stint.report_here(); stint.progress(55); stint.flush(120.0)
    ready.send(1)
def child(target):
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=target, args=(theirs,))
    process.start(); ours.recv()
    return process
def ends(target, number=signal.SIGTERM):
    process = child(target)
    os.kill(process.pid, number); process.join()
    return process.exitcode
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    stint.progress(1)
    stint.flush(120.0)
    print([ends(idle), ends(asks), ends(shielded)] if sys.argv[2] == "term" else
          [ends(asks, signal.SIGUSR2)] if sys.argv[2] == "usr2" else
          [child(silent).join(), child(speaks).join()])
    with multiprocessing.Pool(2) as pool:
        pool.map(abs, range(4))
    assert not stint.should_stop()
"""


@test("SIGTERM ends worker processes unless they ask should_stop(), and by their parent shielded ones")
def _(case):
    with open(case.path("workers.py"), "w") as file:
        file.write(WORKERS)
    for method in ("fork", "spawn"):
        same(case.end(case.start("workers.py", method, "term")), (0, "[-15, 3, 0]\n"))


@test("any other signal sets the flag in worker processes")
def _(case):
    with open(case.path("workers.py"), "w") as file:
        file.write(WORKERS)
    for method in ("fork", "spawn"):
        same(case.end(case.start("workers.py", method, "usr2", STINT_SIGNAL="USR2")),
             (0, "[3]\n"))


# A data loader as PyTorch makes it: a worker installs a handler of its own below Python's, which
# ends it unless the signal is its parent's, and calls worker_init_fn after that; the parent
# raises as soon as a worker has failed, wherever it is then.
LOADER = """
import ctypes, multiprocessing, os, signal, sys, time, stint
class Loader:
    def __init__(self, worker_init_fn=None): self.worker_init_fn = worker_init_fn
    def __iter__(self):
        signal.signal(signal.SIGCHLD, self.look)
        self.pipes = [multiprocessing.Pipe() for _ in range(2)]
        self.workers = [multiprocessing.Process(target=work, args=(self.worker_init_fn, theirs), daemon=True)
                        for _, theirs in self.pipes]
        for worker in self.workers: worker.start()
        return self.items()
    def items(self):
        for batch in range(int(step), 1000000):
            yield self.pipes[batch % 2][0].recv()
    def look(self, *_):
        for worker in self.workers:
            if worker.exitcode: raise RuntimeError("a worker has failed: %d" % worker.exitcode)
def work(init, pipe):
    libc = ctypes.CDLL(None)
    libc.signal.restype, libc.signal.argtypes = ctypes.c_void_p, (ctypes.c_int, ctypes.c_void_p)
    libc.signal(signal.SIGTERM, None)
    if how == "early":
        os.write(1, b"early\\n")
        while os.getppid() == parent and not os.path.exists("go"): time.sleep(0.01)
    if init: init(0)
    while os.getppid() == parent:
        pipe.send(stint.should_stop() if how == "ask" else False)
        time.sleep(0.001)
os.setpgid(0, 0)
how, parent = sys.argv[1], os.getpid()
checkpoint = stint.Checkpoint("state")
step = checkpoint.load(default=0)
loader = Loader(None if how in ("early", "wrapped") else stint.shield)
for item in iter(loader) if how == "plain" else stint.shielded(loader):
    step += 1
    if step % 10 == 5: print("step", flush=True)
    if stint.should_stop():
        time.sleep(0.2)
        checkpoint.save(step)
        print("saved", step, flush=True)
        stint.exit_for_requeue()
    if stint.attempt() == 2 and step > 20: break
print("done", step >= 20, flush=True)
"""


def stop_loader(case, how, said):
    """Exit codes of an attempt that its group is asked to stop, and of the next."""
    with open(case.path("loader.py"), "w") as file:
        file.write(LOADER)
    process = case.start("loader.py", how, STINT_ATTEMPT="1")
    while process.stdout.readline() != said:
        assert process.poll() is None, "it ended early"
    os.killpg(process.pid, signal.SIGTERM)
    open(case.path("go"), "w").close()
    code, output = case.end(process)
    assert output.count("saved") == 1 and "failed" not in output, output
    return [code, case.end(case.start("loader.py", how))]


@test("a loader's workers that install a handler as PyTorch does outlive SIGTERM behind shield()")
def _(case):
    for how in ("plain", "ask"):
        same(stop_loader(case, how, "step\n")[0], 85)


@test("and behind shielded(), also if it comes before worker_init_fn")
def _(case):
    for how, said in (("wrapped", "step\n"), ("early", "early\n")):
        code, again = stop_loader(case, how, said)
        same(code, 85)
        same(again[0], 0)
        assert "done True" in again[1], again


@test("worker processes report nothing, unless told to")
def _(case):
    case.daemon.start()
    with open(case.path("workers.py"), "w") as file:
        file.write(WORKERS)
    for method in ("fork", "spawn"):
        case.daemon.reports.clear()
        same(case.end(case.start("workers.py", method, "talk")), (0, "[None, None]\n"))
        same([body["step"] for body in case.daemon.of("progress")], [1, 55])
        same(case.daemon.of("checkpointed"), [])


@test("only rank 0 reports")
def _(case):
    case.daemon.start()
    module = case.module(RANK="1")
    module.progress(5)
    module.checkpointed(5)
    same(case.daemon.connections, 0)


@test("exit_for_requeue() ends with 85 and delivers the last progress")
def _(case):
    case.daemon.start()
    same(case.run("import stint\nstint._now = lambda: 1000.0\n"  # all within the same second
                  "for i in range(40): stint.progress(i + 1, 40)\n"
                  "stint.exit_for_requeue()"), (85, ""))
    same([body["step"] for body in case.daemon.of("progress")], [1, 40])
    same(case.daemon.problems, [])


# ---- progress

@test("progress carries step, total and finite numbers")
def _(case):
    class Tensor:
        def __init__(self, value):
            self.value, self.detached = value, False

        def detach(self):
            self.detached = True
            return self

        def __float__(self):
            return self.value

    class Broken:
        def __float__(self):
            raise RuntimeError("no device")

    case.daemon.start()
    module = case.module()
    tensor = Tensor(0.25)
    module.progress(3, 10, {"nan": float("nan"), "inf": float("inf"), "text": "x",
                            "big": 1 << 80, "yes": True, "none": None, "list": [1, 2],
                            "broken": Broken(), 4: 5}, loss=tensor, lr=1e-3)
    settle(module)
    same(case.daemon.of("progress"), [{
        "attempt": 2, "step": 3, "total": 10,
        "metrics": {"big": float(1 << 80), "yes": 1, "4": 5, "loss": 0.25, "lr": 0.001}}])
    assert tensor.detached
    module.progress("x")
    module.progress(None, metrics=5)
    module.checkpointed("x")
    same(case.daemon.problems, [])


@test("one message a second, and the last one at the checkpoint")
def _(case):
    case.daemon.start()
    module = case.with_clock(case.module())
    for i in range(100):
        module.progress(i)
        settle(module)
        case.clock_s += 0.125
    same([body["step"] for body in case.daemon.of("progress")], list(range(0, 100, 8)))
    module.checkpointed()
    same([body["step"] for body in case.daemon.of("progress")][-1], 99)
    same(case.daemon.of("checkpointed"), [{"attempt": 2, "step": 99}])
    same((case.daemon.connections, case.daemon.problems), (1, []))


@test("what is held back goes out with a later should_stop()")
def _(case):
    case.daemon.start()
    module = case.with_clock(case.module())
    module.progress(1)
    settle(module)
    module.progress(2)
    same(len(case.daemon.of("progress")), 1)
    case.clock_s += 1
    module.should_stop()
    settle(module)
    same([body["step"] for body in case.daemon.of("progress")], [1, 2])


@test("the last progress is delivered at exit")
def _(case):
    case.daemon.start()
    same(case.run("import stint\nfor i in range(50): stint.progress(i)"), (0, ""))
    same([body["step"] for body in case.daemon.of("progress")], [0, 49])


@test("and after an exception")
def _(case):
    case.daemon.start()
    status, _ = case.run("import stint\nstint._now = lambda: 1000.0\nfor i in range(5): stint.progress(i)\n1 / 0")
    same((status, [body["step"] for body in case.daemon.of("progress")]), (1, [0, 4]))


@test("many threads may report")
def _(case):
    case.daemon.start()
    module = case.module()
    threads = [threading.Thread(target=lambda n=n: [module.progress(n) for _ in range(200)])
               for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    module.progress(9)
    module.flush(PATIENCE_S)
    same((case.daemon.of("progress")[-1]["step"], case.daemon.problems), (9, []))


# ---- daemons that are away, slow or odd

@test("a daemon that is away costs nothing, and gets the newest when it is back")
def _(case):
    module = case.with_clock(case.module())
    for i in range(1000):
        module.progress(i)
        case.clock_s += 0.5
    module.checkpointed(900)
    case.daemon.start()
    case.clock_s += 31
    module.progress(1000)
    module.flush(PATIENCE_S)
    settle(module)
    same(case.daemon.reports, [("checkpointed", {"attempt": 2, "step": 900}),
                               ("progress", {"attempt": 2, "step": 1000})])


@test("while it is away it is looked for ever more seldom")
def _(case):
    module = case.with_clock(case.module())
    tried = []
    connect = module._link._connect
    module._link._connect = lambda: (tried.append(case.clock_s - 1000), connect())
    for i in range(400):
        module.progress(i)
        case.clock_s += 0.5
    same(tried, [0, 1, 3, 7, 15, 31, 61, 91, 121, 151, 181])


@test("a daemon that begins anew is found again")
def _(case):
    case.daemon.start()
    module = case.with_clock(case.module())
    module.progress(1)
    settle(module)
    case.daemon.stop()
    for i in range(2, 20):
        module.progress(i)
        case.clock_s += 1
    case.daemon.start()
    case.clock_s += 31
    module.progress(20)
    settle(module)
    same([body["step"] for body in case.daemon.of("progress")], [1, 20])


@test("a connection that the daemon closed while idle loses nothing")
def _(case):
    case.daemon.start()
    module = case.with_clock(case.module())
    for closes, cut in ((True, 0), (False, 1), (False, 0)):
        case.daemon.closes = closes
        case.daemon.cut = cut
        module.checkpointed(1)
        module.flush(PATIENCE_S)
        settle(module)
    module.flush(PATIENCE_S)
    case.clock_s += 2
    module.progress(5)
    settle(module)
    same(len(case.daemon.of("checkpointed")), 3)
    same(len(case.daemon.of("progress")), 1)


@test("a daemon that never answers does not hold up the loop")
def _(case):
    case.daemon.deaf = True
    case.in_a_hurry()
    case.daemon.start()
    module = case.module()
    module.ANSWER_S = PATIENCE_S  # else a slow machine sends the first one again
    slowest = 0.0
    for i in range(2000):
        began = time.monotonic()
        module.progress(i)
        slowest = max(slowest, time.monotonic() - began)
    module.checkpointed(1999)
    assert slowest < 60.0, "a call took %.3f s" % slowest
    case.daemon.wait_for("progress")
    same([body["step"] for body in case.daemon.of("progress")], [0])
    case.daemon.deaf = False


@test("nor the end of the program")
def _(case):
    case.daemon.deaf = True
    case.in_a_hurry()
    case.daemon.start()
    same(case.run("import stint\nfor i in range(50): stint.progress(i)\nstint.checkpointed(1)\n"
                  "stint.exit_for_requeue()"), (85, ""))
    case.daemon.deaf = False


@test("a slow daemon gets the newest when it has answered")
def _(case):
    case.daemon.deaf = True
    case.daemon.start()
    module = case.with_clock(case.module())
    module.progress(1)
    for i in range(2, 50):
        case.clock_s += 0.05
        module.progress(i)
    case.daemon.deaf = False
    settle(module)
    case.clock_s += 1
    module.should_stop()
    settle(module)
    same([body["step"] for body in case.daemon.of("progress")], [1, 49])


@test("an answer that never comes is given up, and the message sent again")
def _(case):
    case.daemon.deaf = True
    case.in_a_hurry()
    case.daemon.start()
    module = case.with_clock(case.module())
    module.progress(1)
    case.daemon.wait_for("progress")
    case.clock_s += 6
    module.should_stop()
    same(module._link.sock, None)
    case.daemon.deaf = False
    case.clock_s += 1
    module.should_stop()
    settle(module)
    same([body["step"] for body in case.daemon.of("progress")], [1, 1])


@test("refusals are dropped; a daemon in trouble is asked again")
def _(case):
    case.daemon.start()
    module = case.with_clock(case.module())
    case.daemon.status = 404
    module.progress(1)
    settle(module)
    module.checkpointed(1)
    settle(module)
    same(module._link.waiting, {})
    case.daemon.status = 503
    module.checkpointed(2)
    module.flush(PATIENCE_S)
    same(sorted(module._link.waiting), ["checkpointed"])
    case.daemon.status = 200
    case.clock_s += 31
    module.should_stop()
    settle(module)
    same((case.daemon.of("checkpointed")[-1]["step"], module._link.waiting), (2, {}))


@test("no socket, no reports, no trouble")
def _(case):
    for path in ("", "/nowhere/socket", "x" * 300, case.folder):
        same(case.run("import stint\nfor i in range(9): stint.progress(i)\n"
                      "stint.checkpointed(9)\nassert not stint.should_stop()",
                      STINT_SOCKET=path), (0, ""))


@test("answers in any form of HTTP are understood")
def _(case):
    module = case.module()
    for text in (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
                 b"HTTP/1.1 204 No Content\r\n\r\n",
                 b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n",
                 b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"):
        for size in (1, len(text)):
            answer = module._Answer()
            for i in range(0, len(text), size):
                same(answer.status, None)
                answer.feed(text[i:i + size])
            assert answer.status in (200, 204)
    answer = module._Answer()
    answer.feed(b"HTTP/1.0 200 OK\r\n\r\n{}")
    same((answer.status, answer.end(), answer.status), (None, True, 200))


# ---- loops

@test("steps() reports, stops when asked, and says so")
def _(case):
    case.daemon.start()
    module = case.with_clock(case.module())
    run = module.steps(10, start=4)
    seen = []
    for step in run:
        seen.append(step)
        run.metrics["loss"] = step / 2
        case.clock_s += 1
        settle(module)
        if step == 6:
            os.kill(os.getpid(), signal.SIGTERM)
    same((seen, run.stopped, run.done), ([4, 5, 6], True, 7))
    same(list(run), [])
    module.flush(PATIENCE_S)
    same([(b["step"], b["total"], b.get("metrics")) for b in case.daemon.of("progress")],
         [(4, 10, None), (5, 10, {"loss": 2.0}), (6, 10, {"loss": 2.5}), (7, 10, {"loss": 3.0})])


@test("steps() over a list, over an endless source, and asked after the last step")
def _(case):
    module = case.module()
    run = module.steps(["a", "b"], start=5)
    same((list(run), run.total, run.done, run.stopped), (["a", "b"], 7, 7, False))
    run = module.steps(iter("abc"))
    same((list(run), run.total, run.done), (["a", "b", "c"], None, 3))
    run = module.steps(2)
    for step in run:
        if step == 1:
            os.kill(os.getpid(), signal.SIGTERM)
    same((run.stopped, run.done), (False, 2))


# ---- resizing

@test("a resize goes there and back")
def _(case):
    case.daemon.start()
    case.grant(2, 1)
    module = case.with_clock(case.module(STINT_GRANT=case.path("grant")))
    told = []
    module.on_resize(told.append)
    module.progress(1)
    settle(module)
    same(case.daemon.of("progress"), [{"attempt": 2, "step": 1, "resizable": True}])
    same((module.resized(), module.gpus()), (None, 2))
    case.grant(3, 2)
    os.kill(os.getpid(), signal.SIGURG)
    grant = module.resized()
    same(told, [grant])
    same((grant.gpus, grant.devices, grant.serial), (3, ["0", "1", "2"], 2))
    same((module.gpus(), module.devices()), (3, ["0", "1", "2"]))
    same(case.daemon.wait_for("resized"), {"attempt": 2, "gpus": 3})
    same((module.resized(), case.daemon.problems), (None, []))


@test("a resize is seen without the signal, within a second")
def _(case):
    case.daemon.start()
    case.grant(2, 1)
    module = case.with_clock(case.module(STINT_GRANT=case.path("grant")))
    same(module.resized(), None)
    case.grant(1, 2)
    same(module.resized(), None)
    case.clock_s += 1
    grant = module.resized()
    same((grant.gpus, module.gpus(), case.daemon.of("resized")), (1, 2, []))
    grant.accept()
    same((module.gpus(), case.daemon.wait_for("resized")), (1, {"attempt": 2, "gpus": 1}))


@test("a resize before anyone looked is not lost, and a refusal is not answered")
def _(case):
    case.daemon.start()
    case.grant(1, 2)
    module = case.with_clock(case.module(STINT_GRANT=case.path("grant")))
    module.on_resize(lambda grant: False)
    same(module.resized().gpus, 1)
    same(case.daemon.of("resized"), [])


@test("CPU slots have names too")
def _(case):
    case.grant(2, 1)
    with open(case.path("grant"), "w") as file:
        file.write('{"gpus":3,"serial":1,"devices":["","",""]}')
    module = case.module(STINT_GRANT=case.path("grant"), CUDA_VISIBLE_DEVICES="")
    same((module.gpus(), module.devices()), (3, ["cpu-0", "cpu-1", "cpu-2"]))


@test("grants that are no grants are ignored")
def _(case):
    module = case.with_clock(case.module(STINT_GRANT=case.path("grant")))
    for text in ("", "{", "[]", '{"gpus":"x"}', '{"devices":5}', "\xff"):
        with open(case.path("grant"), "wb") as file:
            file.write(text.encode("latin-1"))
        case.clock_s += 2
        same((module.resized(), module.gpus()), (None, 2))


# ---- checkpoints

@test("a checkpoint is whole or the old one, whatever happens while it is written")
def _(case):
    module = case.module(STINT="")
    checkpoint = module.Checkpoint(case.path("deep/state"))
    same((checkpoint.exists(), checkpoint.load(default=5)), (False, 5))
    checkpoint.save({"x": 0.1})
    try:
        with checkpoint as file:
            file.write(b"half")
            raise RuntimeError
    except RuntimeError:
        pass
    try:
        checkpoint.save(lambda: None)
    except Exception:
        pass
    same((checkpoint.load(), os.listdir(case.path("deep"))), ({"x": 0.1}, ["state"]))
    os.symlink("state", case.path("deep/link"))
    module.Checkpoint(case.path("deep/link")).save(6)
    same((checkpoint.load(), os.path.islink(case.path("deep/link"))), (6, True))
    plain = module.Checkpoint(case.path("state.json"))
    plain.save({"x": 0.1})
    with open(case.path("state.json")) as file:
        same((json.load(file), plain.load()), ({"x": 0.1}, {"x": 0.1}))


@test("killed while saving, the old checkpoint stands and the next attempt cleans up")
def _(case):
    code = """
import os, signal, stint
checkpoint = stint.Checkpoint("state")
if not checkpoint.exists():
    checkpoint.save(1)
    with checkpoint as file:
        file.write(b"half"); file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
assert checkpoint.load() == 1
checkpoint.save(2)
"""
    same(case.run(code), (-9, ""))
    same(len(os.listdir(case.folder)), 2)
    same(case.run(code), (0, ""))
    same(os.listdir(case.folder), ["state"])


@test("a checkpoint with a step is reported after it is in place")
def _(case):
    case.daemon.start()
    module = case.module()
    with module.Checkpoint(case.path("state"), step=8) as file:
        file.write(b"x")
        same(case.daemon.of("checkpointed"), [])
    module.Checkpoint(case.path("other")).save(1, step=9)
    same([body["step"] for body in case.daemon.of("checkpointed")], [8, 9])


# ---- the examples

TRAIN = os.path.join(EXAMPLES, "train.py")


def train_alone(case, steps):
    return case.end(case.start(TRAIN, "--steps", steps, "--step-s", "0",
                               "--checkpoint", "alone", STINT=""))


def train_disturbed(case, steps, stop):
    """Three attempts are stopped after their first checkpoint, somewhere; the fourth ends."""
    codes = []
    for number in range(1, 5):
        case.daemon.reports.clear()
        process = case.start(TRAIN, "--steps", steps, "--step-s", "0.002" if number < 4 else "0",
                             "--save-every", "37", STINT_ATTEMPT=str(number))
        case.daemon.wait_for("checkpointed")
        if number < 4:
            process.send_signal(stop)
        code, output = case.end(process)
        codes.append(code)
    return codes, output


@test("train.py, stopped three times, ends with the same weights to the bit")
def _(case):
    alone = train_alone(case, "1000")
    case.daemon.start()
    codes, output = train_disturbed(case, "1000", signal.SIGTERM)
    same(codes, [85, 85, 85, 0])
    same((0, digest(output)), (alone[0], digest(alone[1])))
    same((case.daemon.of("checkpointed")[-1]["step"], case.daemon.problems), (1000, []))


@test("killed three times, it ends with the same weights too")
def _(case):
    alone = train_alone(case, "1000")
    case.daemon.start()
    codes, output = train_disturbed(case, "1000", signal.SIGKILL)
    same(codes, [-9, -9, -9, 0])
    same(digest(output), digest(alone[1]))


@test("elastic.py grows, shrinks and stops, and ends with the same weights to the bit")
def _(case):
    elastic = (os.path.join(EXAMPLES, "elastic.py"), "--steps", "200")
    alone = case.end(case.start(*elastic, "--shard-s", "0", "--checkpoint", "alone", STINT=""))
    same(alone[0], 0)
    case.daemon.start()
    case.grant(2, 1)
    process = case.start(*elastic, STINT_GRANT=case.path("grant"))
    assert case.daemon.wait_for("progress")["resizable"]
    for serial, gpus in ((2, 4), (3, 1)):
        case.grant(gpus, serial)
        process.send_signal(signal.SIGURG)
        same(case.daemon.wait_for("resized", lambda b: b["gpus"] == gpus),
             {"attempt": 2, "gpus": gpus})
    process.send_signal(signal.SIGTERM)
    same(case.end(process)[0], 85)
    code, output = case.end(case.start(*elastic, "--shard-s", "0", STINT_GPUS="1",
                                       STINT_GRANT=case.path("grant")))
    same((code, digest(output)), (0, digest(alone[1])))


# ---- as a command

@test("scripts report with stint.py as a command")
def _(case):
    case.daemon.start()
    same(case.end(case.start(case.client, "progress", "10", "100", "loss=0.5")), (0, ""))
    same(case.end(case.start(case.client, "checkpointed", "10")), (0, ""))
    same(case.daemon.reports, [
        ("progress", {"attempt": 2, "step": 10, "total": 100, "metrics": {"loss": 0.5}}),
        ("checkpointed", {"attempt": 2, "step": 10})])
    same(case.end(case.start(case.client, "progress"))[0], 2)
    same(case.end(case.start(case.client, "nonsense"))[0], 2)


@test("the self test passes inside and outside a job")
def _(case):
    case.daemon.start()
    for inside in ("", "1"):
        code, output = case.end(case.start(case.client, "--selftest", STINT=inside))
        same((code, output.count("not ok")), (0, 0))
    case.daemon.stop()
    same(case.end(case.start(case.client, "--selftest"))[0], 1)


if __name__ == "__main__":
    sys.exit(harness.main(sys.argv[1] if len(sys.argv) > 1 else ""))
