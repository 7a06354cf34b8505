#!/usr/bin/env python3
"""live.py [--minutes 60] [--seed N] [--old STINT] [--old-guard GUARD]: a daemon in everyday trouble.

Jobs are submitted all the time, each under a key and with a token of its own.  Meanwhile
the daemon is killed, stopped, started with a wrong clock, its clock is stepped, its record
is backed up, pruned and restored, and with --old the first daemon is that of an
older version, which is upgraded while jobs run.

What must hold, whatever happened:

  lost      every acknowledged job ends with its own exit code.  After a restore the keys that were
            acknowledged after the backup are submitted again, as doc/operations.md asks.
  doubled   an attempt (job number, attempt number) begins at most once, unless a restore lies between: a job that
            the copy knows as waiting runs again.
  confused  a job number belongs to one token for ever, and a job's output has its own token alone.
  unsound   `stint db check` and `stint replay` agree with the record after every stop of the daemon.
  unwell    the daemon answers, its times are not off by more than the limit below, and it ends green.

STINT names the program, STINT_CLOCK the library that shifts its clock (build/tests/fake).
The last line is "N passed, N failed"; figures come before it, as JSON with --json FILE.
"""
import argparse
import collections
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SLOTS = 8
JOBS_PER_S = 2.5
WAITING_MAX = 200
ANSWER_LIMIT_S = 120
END_LIMIT_S = 900
OUTPUT_LOOKS = 20
YEAR_S = 365 * 86400

Job = collections.namedtuple("Job", "key token code seconds")


class Unix(http.client.HTTPConnection):
    """HTTP over the daemon's socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Failures:
    def __init__(self):
        self.seen = collections.Counter()

    def add(self, kind, text):
        self.seen[kind] += 1
        if self.seen[kind] <= 20:
            print(f"{kind}: {text}", flush=True)


class Daemon:
    """The program under test, and its clock."""

    def __init__(self, stint, guard, work):
        self.stint, self.guard, self.work = stint, guard, work
        self.state = os.path.join(work, "state")
        self.shift = os.path.join(work, "shift")
        self.log = open(os.path.join(work, "daemon.log"), "ab")
        self.process = None
        self.set_clock(0)

    def environment(self):
        env = dict(os.environ, STINT_STATE=self.state, NO_COLOR="1")
        for name in ("STINT_SOCKET", "XDG_RUNTIME_DIR", "LD_PRELOAD", "STINT_GUARD"):
            env.pop(name, None)
        if self.guard:
            env["STINT_GUARD"] = self.guard
        return env

    def set_clock(self, shift_s):
        self.shift_s = shift_s
        with open(self.shift + ".new", "w") as out:
            out.write(f"{shift_s}\n")
        os.rename(self.shift + ".new", self.shift)

    def start(self):
        env = self.environment()
        if os.environ.get("STINT_CLOCK"):
            env.update(LD_PRELOAD=os.environ["STINT_CLOCK"], FAKE_CLOCK=self.shift)
        self.process = subprocess.Popen(
            [self.stint, "daemon", "--slots", str(SLOTS), "--no-gpus", "--no-http", "--no-cgroups"],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, env=env, start_new_session=True)

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait()

    def run(self, *words):
        """A command of `stint`: its code and what it printed."""
        done = subprocess.run([self.stint, *words], env=self.environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def ask(self, method, path, body=None):
        """Status and JSON; status 0 where the daemon does not answer."""
        call = Unix(os.path.join(self.state, "socket"))
        try:
            call.request(method, path, json.dumps(body) if body is not None else None,
                         {"Content-Type": "application/json"})
            answer = call.getresponse()
            text = answer.read()
            try:
                return answer.status, json.loads(text)
            except ValueError:
                return answer.status, {"text": text.decode(errors="replace")}
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            call.close()

    def wait_ready(self):
        limit = time.monotonic() + ANSWER_LIMIT_S
        while time.monotonic() < limit:
            if self.ask("GET", "/healthz")[0] == 200:
                return True
            if self.process.poll() is not None:
                return False
            time.sleep(0.05)
        return False

    def memory_bytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        return 0


class Soak:
    def __init__(self, args, work):
        self.args, self.work = args, work
        self.draw = random.Random(args.seed)
        self.failures = Failures()
        self.done = collections.Counter()
        self.ledger = os.path.join(work, "ledger")
        open(self.ledger, "w").close()
        self.daemon = Daemon(args.old or args.stint, args.old_guard, work)
        self.jobs = {}         # key -> Job
        self.number = {}       # key -> job number in the record of now
        self.token_of = {}     # job number -> token
        self.ended = set()     # keys whose end was seen and was right
        self.backup = None     # (file, keys acknowledged before it began)
        self.memory = []
        self.slowest_start_s = 0.0
        self.confirmed = False

    # ---- jobs

    def make_job(self):
        n = len(self.jobs) + 1
        seconds = self.draw.choice((0, 0.1, 0.5, 1, 2, 3, 5)) if self.draw.random() < 0.97 else 45
        return Job(f"soak-{n}", f"token-{n}-{self.draw.getrandbits(32):08x}",
                   self.draw.choice((0, 0, 0, 3)), seconds)

    def submit(self, job):
        """Sends one; it counts as acknowledged only when the daemon has answered so."""
        say = 'printf "%s %s %s %s\\n" "$1" "$STINT_JOB_ID" "$STINT_ATTEMPT"'
        script = (f'echo "$1"; {say} begin >>"$2"; sleep "$3"; {say} end >>"$2"; exit "$4"')
        body = {"schema": "submission/1", "key": job.key, "name": "soak", "gpus": 1,
                "cwd": self.work, "env": {"PATH": os.environ["PATH"]},
                "command": ["sh", "-c", script, "sh", job.token, self.ledger, str(job.seconds), str(job.code)]}
        status, answer = self.daemon.ask("POST", "/v1/jobs", body)
        if status == 0 or status in (429, 503, 507):
            return False
        if status not in (200, 201):
            self.failures.add("unwell", f"submission answered {status}: {answer}")
            return False
        number = answer["jobs"][0]["id"] if "jobs" in answer else answer["id"]
        self.jobs[job.key] = job
        self.number[job.key] = number
        if self.token_of.setdefault(number, job.token) != job.token:
            self.failures.add("confused", f"number {number} was given to {self.token_of[number]} and to {job.token}")
        return True

    def look(self):
        """Compares every job that has ended since with what it must be.  Returns how many are alive."""
        alive = 0
        for key in [k for k in self.jobs if k not in self.ended]:
            status, shown = self.daemon.ask("GET", f"/v1/jobs/{self.number[key]}")
            if status == 0:
                return -1
            if status != 200:
                self.failures.add("lost", f"{key} (job {self.number[key]}): {status} {shown}")
                self.ended.add(key)
                continue
            alive += self.look_at(self.jobs[key], shown)
        return alive

    def look_at(self, job, shown):
        state = shown["state"]
        if shown.get("key") != job.key:
            self.failures.add("confused", f"job {shown['id']} has the key {shown.get('key')}, not {job.key}")
        if state not in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"):
            return 1
        want = "FAILED" if job.code else "COMPLETED"
        if state != want or shown.get("exit_code") != job.code:
            self.failures.add("lost", f"{job.key} (job {shown['id']}) is {state} with code "
                              f"{shown.get('exit_code')}, not {want} with {job.code}")
        self.check_output(job, shown)
        self.check_times(job, shown)
        self.ended.add(job.key)
        self.done["jobs ended"] += 1
        return 0

    def check_output(self, job, shown):
        for attempt in shown.get("attempts", []):
            path = attempt.get("stdout")
            if not path or not os.path.exists(path):
                continue
            with open(path) as text:
                lines = text.read().split()
            if any(line != job.token for line in lines):
                self.failures.add("confused", f"{path} of {job.token} has {lines[:3]}")

    def check_times(self, job, shown):
        """Times are right once the clock is: a job that lay wholly in a time without steps is not off."""
        if self.daemon.shift_s == 0 and shown.get("end") is not None and shown["end"] < shown["submit"]:
            self.failures.add("unwell", f"{job.key} ended at {shown['end']}, before {shown['submit']}")

    # ---- trouble

    def begin(self):
        began = time.monotonic()
        self.daemon.start()
        if not self.daemon.wait_ready():
            self.failures.add("unwell", f"the daemon did not come back (exit code {self.daemon.process.poll()})")
            raise SystemExit(self.close())
        self.slowest_start_s = max(self.slowest_start_s, time.monotonic() - began)

    def check_record(self):
        for words in (("db", "check"), ("replay", self.daemon.state)):
            code, text = self.daemon.run(*words)
            if code:
                self.failures.add("unsound", f"stint {' '.join(words)}: {code}: {text.strip()[-400:]}")
        self.done["checks of the record"] += 1

    def kill(self):
        self.daemon.end(signal.SIGKILL)
        self.begin()
        self.done["kills"] += 1

    def restart(self):
        self.daemon.end(signal.SIGTERM)
        self.check_record()
        self.begin()
        self.done["restarts"] += 1

    def step_clock(self):
        self.daemon.set_clock(self.draw.choice((0, 0, 0, 3600, -3600, 86400, -86400, 10 * YEAR_S)))
        self.done["clock steps while running"] += 1

    def restart_elsewhen(self):
        self.daemon.end(self.draw.choice((signal.SIGKILL, signal.SIGTERM)))
        self.daemon.set_clock(self.draw.choice((0, 3600, -86400, 10 * YEAR_S)))
        self.begin()
        self.done["starts with another clock"] += 1

    def right_clock(self):
        self.daemon.set_clock(0)

    def prune(self):
        while self.look() < 0:
            time.sleep(0.1)
        words = ["db", "prune", "--older", "30s"]
        if not self.confirmed:
            words.append("--yes")  # a copy from before the first prune asks again
        code, text = self.daemon.run(*words)
        if code:
            self.failures.add("unwell", f"stint {' '.join(words)}: {code}: {text.strip()}")
        self.confirmed = True
        self.done["prunes"] += 1

    def make_backup(self):
        keys = set(self.jobs)
        path = os.path.join(self.work, f"backup-{self.done['backups']}.db")
        code, text = self.daemon.run("db", "backup", path)
        if code:
            self.failures.add("unwell", f"stint db backup: {code}: {text.strip()}")
            return
        if self.backup:
            os.unlink(self.backup[0])
        self.backup = (path, keys)
        self.done["backups"] += 1

    def restore(self):
        if not self.backup:
            return self.make_backup()
        self.daemon.end(self.draw.choice((signal.SIGKILL, signal.SIGTERM)))
        path, known = self.backup
        with open(self.ledger, "a") as out:
            out.write("- 0 0 restore\n")
        code, text = self.daemon.run("db", "restore", path)
        if code:
            self.failures.add("unwell", f"stint db restore: {code}: {text.strip()}")
        self.confirmed = False
        self.begin()
        self.done["restores"] += 1
        # What the copy does not know is submitted again, under the same keys.
        for key in [k for k in self.jobs if k not in known]:
            self.ended.discard(key)
            limit = time.monotonic() + ANSWER_LIMIT_S
            while not self.submit(self.jobs[key]) and time.monotonic() < limit:
                time.sleep(0.1)
            self.done["submitted again"] += 1

    def upgrade(self):
        self.daemon.end(signal.SIGTERM)
        self.daemon.stint, self.daemon.guard = self.args.stint, None
        self.begin()
        self.done["upgrades"] += 1

    # ---- the whole

    def submit_some(self, until):
        waiting = 0
        while time.monotonic() < until:
            if waiting < WAITING_MAX:
                self.submit(self.make_job())
            else:
                waiting = max(self.look(), 0)
            if len(self.jobs) % 50 == 0:
                waiting = max(self.look(), 0)
            time.sleep(self.draw.expovariate(JOBS_PER_S))

    def run(self):
        began = time.monotonic()
        end = began + self.args.minutes * 60
        troubles = [self.kill] * 5 + [self.restart] * 3 + [self.step_clock] * 3 + [self.right_clock] * 2 + \
            [self.restart_elsewhen] * 2 + [self.prune] * 2 + [self.make_backup] * 2 + [self.restore]
        self.begin()
        if self.args.old:
            self.submit_some(min(end, began + 60))
            self.upgrade()
        told = began
        while time.monotonic() < end:
            self.submit_some(min(end, time.monotonic() + self.draw.uniform(2, 20)))
            self.draw.choice(troubles)()
            self.memory.append(self.daemon.memory_bytes())
            if time.monotonic() - told > 60:
                told = time.monotonic()
                print(f"{(told - began) / 60:.0f} min: {len(self.jobs)} jobs, {len(self.ended)} ended, "
                      f"{sum(self.failures.seen.values())} failures", flush=True)
        return self.finish()

    def finish(self):
        self.daemon.set_clock(0)
        limit = time.monotonic() + END_LIMIT_S
        while (alive := self.look()) and time.monotonic() < limit:
            time.sleep(0.5)
        if alive:
            self.failures.add("lost", f"{alive} jobs did not end within {END_LIMIT_S} s")
        self.check_ledger()
        status, health = self.daemon.ask("GET", "/healthz")
        if status != 200:
            self.failures.add("unwell", f"healthz: {status} {health}")
        self.daemon.end(signal.SIGTERM)
        self.check_record()
        return self.close()

    def check_ledger(self):
        begun, restores = {}, 0  # (token, number, attempt) -> restores before it began last
        with open(self.ledger) as lines:
            for line in lines:
                token, number, attempt, what = line.split()
                if what == "restore":
                    restores += 1
                    continue
                if self.token_of.get(int(number), token) != token:
                    self.failures.add("confused", f"number {number} ran {token}, but is {self.token_of[int(number)]}")
                if what != "begin":
                    continue
                if begun.get((token, number, attempt)) == restores:
                    self.failures.add("doubled", f"{token}: attempt {attempt} of job {number} began twice")
                begun[token, number, attempt] = restores
        self.done["attempts begun"] = len(begun)

    def close(self):
        size = os.path.getsize(os.path.join(self.daemon.state, "stint.db"))
        figures = {"minutes": self.args.minutes, "seed": self.args.seed, "jobs": len(self.jobs), **self.done,
                   "slowest start, s": round(self.slowest_start_s, 2),
                   "record, MB": round(size / 1e6, 1),
                   "memory of the daemon at most, MB": round(max(self.memory, default=0) / 1e6, 1),
                   **{kind: self.failures.seen[kind] for kind in ("lost", "doubled", "confused", "unsound", "unwell")}}
        for name, value in figures.items():
            print(f"{name:36} {value}")
        if self.args.json:
            with open(self.args.json, "w") as out:
                json.dump(figures, out, indent=2)
        failed = sum(self.failures.seen.values())
        print(f"{len(self.ended)} passed, {failed} failed")
        return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("SOAK_MINUTES", 60)))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", 1)))
    parser.add_argument("--old", help="an older stint, to upgrade from")
    parser.add_argument("--old-guard", help="its stint-guard")
    parser.add_argument("--json", help="figures as JSON")
    parser.add_argument("--keep", action="store_true", help="leave the directory")
    args = parser.parse_args()
    args.stint = os.path.abspath(os.environ.get("STINT", "build/stint"))
    work = tempfile.mkdtemp(prefix="stint-soak.")
    print(f"seed {args.seed}, {args.minutes:g} minutes, in {work}", flush=True)
    soak, code = Soak(args, work), 1
    try:
        code = soak.run()
    finally:
        if soak.daemon.process and soak.daemon.process.poll() is None:
            soak.daemon.end(signal.SIGTERM)
        if args.keep or code:
            print(f"left for you: {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
