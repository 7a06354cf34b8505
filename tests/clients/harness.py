"""What the tests of the clients share: a directory, a daemon that is not one, and a
process of its own for each test.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import traceback

from fake_daemon import FakeDaemon

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CLIENT = os.path.join(ROOT, "clients/python/stint.py")
EXAMPLES = os.path.join(ROOT, "examples/live")
TESTS = []
PATIENCE_S = 300.0  # no test needs it; a hang becomes a failure
HURRY = {"WAIT_S": "0.2", "ANSWER_S": "5.0"}  # how long the client waits for the daemon


def patient(text):
    """The client's text with more patience: on a busy machine the daemon's stand-in answers late."""
    for name, seconds in HURRY.items():
        hasty = "\n%s = %s " % (name, seconds)
        assert hasty in text, "the client has no line %r" % hasty
        text = text.replace(hasty, "\n%s = 120.0 " % name)
    return text


def test(what):
    def add(function):
        TESTS.append((what, function))
        return function
    return add


class Case:
    """One test's directory, daemon and environment; everything is undone at the end."""

    def __init__(self, folder):
        self.folder = folder
        self.socket = os.path.join(folder, "socket")
        self.daemon = FakeDaemon(self.socket)
        self.running = []
        self.clock_s = 1000.0
        self.client = PATIENT[0]

    def in_a_hurry(self):
        """From here on the client is as jobs have it."""
        self.client = CLIENT

    def path(self, name):
        return os.path.join(self.folder, name)

    def env(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith("STINT")}
        env.update(STINT="1", STINT_JOB_ID="7", STINT_ATTEMPT="2", STINT_RESTARTS="1",
                   STINT_GPUS="2", STINT_DEVICES="GPU-a,GPU-b", CUDA_VISIBLE_DEVICES="0,1",
                   STINT_SOCKET=self.socket, STINT_SIGNAL="TERM", STINT_GRACE_S="30",
                   STINT_DIR=self.folder, RANK="0",
                   PYTHONPATH=os.path.dirname(self.client), PYTHONDONTWRITEBYTECODE="1")
        env.update(more)
        return env

    def module(self, **more):
        """The client as a module of its own, as if freshly started with that environment."""
        for name in [n for n in os.environ if n.startswith("STINT")]:
            del os.environ[name]
        os.environ.update(self.env(**more))
        return self.plain_module()

    def plain_module(self):
        spec = importlib.util.spec_from_file_location("stint_under_test", self.client)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def with_clock(self, module):
        module._now = lambda: self.clock_s
        return module

    def start(self, *argv, **more):
        process = subprocess.Popen([sys.executable] + list(argv), env=self.env(**more),
                                   cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, universal_newlines=True)
        self.running.append(process)
        return process

    def run(self, code, **more):
        """Exit code and output of a Python program."""
        return self.end(self.start("-c", code, **more))

    @staticmethod
    def end(process):
        output = process.communicate(timeout=PATIENCE_S)[0]
        return process.returncode, output

    def grant(self, gpus, serial):
        with open(self.path("grant.new"), "w") as file:
            json.dump({"gpus": gpus, "devices": [str(i) for i in range(gpus)],
                       "serial": serial}, file)
        os.rename(self.path("grant.new"), self.path("grant"))


def same(got, wanted):
    assert got == wanted, "got %r, wanted %r" % (got, wanted)


def digest(output):
    lines = [line for line in output.splitlines() if line.startswith("done after")]
    return lines[0] if lines else output


def run_one(function):
    """In a process of its own: signals, environment and modules are the test's to change."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    code = 1
    with tempfile.TemporaryDirectory(prefix="stint-client.") as folder:
        case = Case(folder)
        try:
            function(case)
            code = 0
        except BaseException:
            traceback.print_exc(file=sys.stdout)
        for process in case.running:
            if process.poll() is None:
                process.kill()
                process.wait()
    sys.stdout.flush()
    os._exit(code)


PATIENT = [None]


def main(wanted):
    """Runs the tests whose sentence has that text."""
    with tempfile.TemporaryDirectory(prefix="stint-patient.") as folder:
        PATIENT[0] = os.path.join(folder, os.path.basename(CLIENT))
        with open(CLIENT) as hasty, open(PATIENT[0], "w") as copy:
            copy.write(patient(hasty.read()))
        return run_all(wanted)


def run_all(wanted):
    failed = 0
    for what, function in TESTS:
        if wanted in what:
            code = run_one(function)
            print(("ok - " if code == 0 else "not ok - ") + what, flush=True)
            failed += code != 0
    return 1 if failed else 0
