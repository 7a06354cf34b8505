"""Stint's client for training loops.

One file, Python 3.6 or later, standard library only.  Copy it beside your
script.  Outside Stint everything here does nothing, so a loop needs no `if`:

    import stint

    checkpoint = stint.Checkpoint("model.ckpt")
    state = checkpoint.load(default={"step": 0, "weights": new_weights()})
    run = stint.steps(1000, start=state["step"])
    for step in run:
        loss = train(state, step)
        state["step"] = step + 1
        run.metrics["loss"] = loss
        if state["step"] % 100 == 0:
            checkpoint.save(state, step=state["step"])
    checkpoint.save(state, step=state["step"])
    if run.stopped:
        stint.exit_for_requeue()

What is promised:

  - Nothing here raises because of the daemon, and nothing waits for it longer
    than 0.2 s.  progress() does not wait at all: it sends, and reads the answer
    the next time.  While the daemon is away, messages are replaced by newer
    ones, and the newest is sent when it is back.
  - The signal handler sets a flag and calls the handler that was there before.
    It does no I/O, so it may come at any moment, also while a checkpoint is
    written.
  - In worker processes (multiprocessing) nothing is reported, and SIGTERM ends
    them as ever, because that is how Python itself ends them; a worker that calls
    should_stop() or shield() gets the flag instead.  Where RANK is set, rank 0 reports.

For scripts that are not Python's: `python3 stint.py progress 10 100 loss=0.3`,
`python3 stint.py checkpointed 10`, `python3 stint.py info`, and
`python3 stint.py --selftest`, which says whether all of this works here.
"""

import atexit
import errno
import json
import operator
import os
import pickle
import select
import signal
import socket
import sys
import threading
import time

__version__ = "1.0"
__all__ = [
    "Checkpoint", "Grant", "Steps", "array_index", "attempt", "checkpointed", "devices",
    "exit_for_requeue", "flush", "gpus", "grace_left", "job_id", "on_resize", "progress",
    "report_here", "resized", "restarts", "running_under_stint", "shield", "shielded",
    "should_stop", "steps",
]

REQUEUE = 85          # exit code: "checkpointed, run me again"
EVERY_S = 1.0         # at most one progress message in so long
WAIT_S = 0.2          # the longest anything here waits for the daemon
ANSWER_S = 5.0        # an answer that takes longer will not come
AWAY_S = (1.0, 30.0)  # between two attempts to reach a daemon that is away
ANSWER_BYTES = 1 << 16

_now = time.monotonic


# ---- what the environment says

def running_under_stint():
    """Whether Stint started this."""
    return os.environ.get("STINT") == "1"


def _number(name, default):
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return default


def job_id():
    """This job's number, or None outside Stint."""
    return _number("STINT_JOB_ID", None) if running_under_stint() else None


def attempt():
    """Which attempt of the job this is; 1 outside Stint."""
    return _number("STINT_ATTEMPT", 1) if running_under_stint() else 1


def restarts():
    """How many attempts came before this one; 0 outside Stint."""
    return _number("STINT_RESTARTS", 0) if running_under_stint() else 0


def array_index(default=None):
    """This job's index in its array, or `default`."""
    return _number("STINT_ARRAY_INDEX", default) if running_under_stint() else default


def _split(text):
    return [part for part in (text or "").split(",") if part]


def gpus(default=1):
    """How many devices this job holds now.

    Outside Stint: as many as CUDA_VISIBLE_DEVICES names, else `default`."""
    if not running_under_stint():
        return len(_split(os.environ.get("CUDA_VISIBLE_DEVICES"))) or default
    grant = _resize.current or _read_grant()
    return grant.gpus if grant else _number("STINT_GPUS", default)


def devices():
    """The devices this job holds now, as CUDA_VISIBLE_DEVICES wants them; CPU slots by name."""
    if not running_under_stint():
        return _split(os.environ.get("CUDA_VISIBLE_DEVICES"))
    grant = _resize.current or _read_grant()
    return list(grant.devices) if grant else _devices_at_start()


def _devices_at_start():
    return (_split(os.environ.get("CUDA_VISIBLE_DEVICES")) or
            _split(os.environ.get("STINT_DEVICES")))


# ---- which process this is

def _is_worker():
    """Whether multiprocessing started this process, by fork or anew."""
    if os.getpid() != _born_in:
        return True
    module = sys.modules.get("multiprocessing.process")
    return module is not None and module.current_process().name != "MainProcess"


def _speaks():
    if not running_under_stint():
        return False
    if _speaker is not None and _speaker[0] == os.getpid():
        return _speaker[1]
    return not _is_worker() and _number("RANK", 0) == 0


def report_here(yes=True):
    """Makes this process the one that reports, or silences it.

    For loops that run in a worker of multiprocessing (torch.multiprocessing.spawn):
    call it in the worker of rank 0."""
    global _speaker
    _speaker = (os.getpid(), bool(yes))


_born_in = os.getpid()
_speaker = None


# ---- being asked to stop

class _Stop:
    def __init__(self):
        self.number = None       # the signal, once the handler is in place
        self.home = None         # the process in which the flag is wanted
        self.earlier = None      # the handler that was there
        self.asked_s = None
        self.complained = False
        self.watched_in = None   # the worker whose thread waits for the signal
        self.masks = {}          # signal masks of threads that fork just now

    @staticmethod
    def signal_number():
        name = os.environ.get("STINT_SIGNAL", "TERM").strip().upper()
        if name.isdigit():
            return int(name)
        name = name if name.startswith("SIG") else "SIG" + name
        return int(getattr(signal, name, signal.SIGTERM))

    def handle(self, number, frame):
        ours = self.home == os.getpid() or number != signal.SIGTERM
        if not ours:
            # A forked worker that never asked: its parent ends it with this signal.
            signal.signal(number, self.earlier or signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        if self.asked_s is None:
            self.asked_s = _now()
        if callable(self.earlier) and self.earlier is not signal.default_int_handler:
            self.earlier(number, frame)

    def install(self, quietly=False):
        # Also where the handler came with a fork: a library may have put its own in its
        # place without Python's knowledge, as PyTorch does in its loaders' workers.
        if self.home != os.getpid():
            number = self.signal_number()
            try:
                earlier = signal.signal(number, self.handle)
            except (ValueError, OSError) as problem:  # not in the main thread
                if not quietly and not self.complained:
                    self.complained = True
                    _say("cannot watch for the signal to stop: %s; "
                         "import stint in the main thread" % problem)
                return
            if earlier != self.handle:
                self.earlier = earlier
            self.number = number
        self.home = os.getpid()

    def watch(self):
        """In a worker: the flag for a signal from anywhere, the end for one from its parent.

        A handler of Python's cannot know the sender, a thread that waits for the signal can."""
        self.install()
        if (self.number != signal.SIGTERM or not _is_worker() or self.watched_in == os.getpid() or
                not hasattr(signal, "sigwaitinfo")):
            return
        self.watched_in, parent = os.getpid(), os.getppid()
        signal.pthread_sigmask(signal.SIG_BLOCK, [self.number])
        threading.Thread(target=self.wait, args=(parent,), daemon=True).start()

    def wait(self, parent):
        while signal.sigwaitinfo([self.number]).si_pid != parent:
            if self.asked_s is None:
                self.asked_s = _now()
        os._exit(0)  # as PyTorch's own handler does; another code counts as a failure there

    # ---- forks

    def before_fork(self):
        """Python forgets, in a new process, a signal that came before it had set itself up there.
        So the signal is held back until in_child()."""
        if self.number is not None and hasattr(signal, "pthread_sigmask"):
            self.masks[threading.get_ident()] = signal.pthread_sigmask(signal.SIG_BLOCK, [self.number])

    def after_fork(self):
        mask = self.masks.pop(threading.get_ident(), None)
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def in_child(self):
        """A worker that never asks is ended by SIGTERM as if this module were not there.  A handler
        in Python would do that too late for one that is about to wait for a lock: never."""
        if self.number == signal.SIGTERM and signal.getsignal(self.number) == self.handle:
            signal.signal(self.number, self.earlier or signal.SIG_DFL)
        self.after_fork()
        self.masks = {}  # of other threads, which are not here


def should_stop():
    """Whether Stint has asked this job to stop: save, then exit_for_requeue()."""
    if not running_under_stint():
        return False
    if _stop.home != os.getpid():
        _stop.install()
    _link.pump()
    return _stop.asked_s is not None


def shield(*_):
    """For worker processes that must outlive the signal to stop: data loaders.

    SIGTERM goes to every process of a job and would end them; after this it sets their
    flag.  From their parent it ends them still, so that terminate() does what it says.
    Takes and ignores arguments, so that it fits DataLoader(worker_init_fn=...)."""
    if running_under_stint():
        _stop.watch()


class _Shielded:
    """A worker_init_fn that shields and then calls the loader's own."""

    def __init__(self, own):
        self.own = own

    def __call__(self, *arguments):
        shield()
        if self.own is not None:
            self.own(*arguments)


def shielded(loader):
    """An iterator over a PyTorch DataLoader whose workers outlive the signal to stop.

    As worker_init_fn=stint.shield, and from the worker's first moment: the signal is held
    back while workers start, until each can deal with it."""
    number = _Stop.signal_number()
    if (not running_under_stint() or number != signal.SIGTERM or
            not hasattr(loader, "worker_init_fn") or not hasattr(signal, "sigwaitinfo")):
        return iter(loader)
    if not isinstance(loader.worker_init_fn, _Shielded):
        loader.worker_init_fn = _Shielded(loader.worker_init_fn)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    try:
        return iter(loader)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def grace_left():
    """Seconds until the kill, or None as long as nobody has asked us to stop."""
    if _stop.asked_s is None:
        return None
    try:
        grace_s = float(os.environ.get("STINT_GRACE_S", "30"))
    except ValueError:
        grace_s = 30.0
    return max(0.0, grace_s - (_now() - _stop.asked_s))


def exit_for_requeue():
    """Ends the process with the code that means "checkpointed, run me again"."""
    flush()
    sys.exit(REQUEUE)


def _say(text):
    try:
        sys.stderr.write("stint: %s\n" % text)
    except (OSError, ValueError, AttributeError):
        pass


# ---- talking to the daemon

class _Answer:
    """Collects one HTTP answer; `status` is set when it is whole."""

    def __init__(self):
        self.bytes = b""
        self.status = None
        self.closes = False

    def feed(self, data):
        self.bytes += data
        head, found, body = self.bytes.partition(b"\r\n\r\n")
        if not found:
            return
        lines = head.decode("latin-1").split("\r\n")
        fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            fields[name.strip().lower()] = value.strip().lower()
        status = int(lines[0].split()[1])
        if 100 <= status < 200:
            self.bytes = body
            return self.feed(b"")
        self.closes = fields.get("connection") == "close"
        if self._whole(status, fields, body):
            self.status = status

    def _whole(self, status, fields, body):
        if status == 204:
            return True
        if "chunked" in fields.get("transfer-encoding", ""):
            return body.endswith(b"0\r\n\r\n")
        if "content-length" in fields:
            return len(body) >= int(fields["content-length"])
        return False  # until the daemon closes

    def end(self):
        """The daemon closed: whether that completes the answer."""
        if self.bytes.startswith(b"HTTP/1.") and b"\r\n\r\n" in self.bytes:
            self.status = int(self.bytes.split()[1])
        return self.status is not None


class _Link:
    """Newest message of each kind, sent one at a time on one connection.

    Never blocks except in flush(), and never raises: what cannot be sent is
    kept until a newer message of its kind takes its place."""

    KINDS = ("resized", "checkpointed", "progress")

    def __init__(self):
        self.lock = threading.Lock()
        self.home = os.getpid()
        self.sent_at = {}      # last sending, by kind
        self.waiting = {}      # kind -> body (a function that makes it)
        self.sock = None
        self.fresh = True      # nothing was answered on this connection yet
        self.unsent = b""
        self.flying = None     # (kind, body, since) whose answer is awaited
        self.answer = None
        self.retry_s = 0.0
        self.pause_s = AWAY_S[0]
        self.delivered = {}    # kind -> count, for the self test
        self.last_status = None

    # Only the owner of the lock calls what follows, up to post().

    def _drop_connection(self, failed):
        if self.sock is not None:
            try:
                self.sock.close()
            except OSError:
                pass
        self.sock, self.unsent, self.answer = None, b"", None
        if self.flying is not None:
            kind, body, _ = self.flying
            self.waiting.setdefault(kind, body)
            self.flying = None
        if failed:
            self.retry_s = _now() + self.pause_s
            self.pause_s = min(2 * self.pause_s, AWAY_S[1])

    def _due(self, now, force):
        for kind in self.KINDS:
            if kind not in self.waiting:
                continue
            last = self.sent_at.get(kind)
            if force or kind != "progress" or last is None or now - last >= EVERY_S:
                return kind
        return None

    def _connect(self):
        path = os.environ.get("STINT_SOCKET")
        if not path:
            self.waiting.clear()
            return
        try:
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.setblocking(False)
            self.sock.connect(path)
            self.fresh = True
        except OSError:
            self._drop_connection(failed=True)

    def _send(self, kind, now):
        body = self.waiting.pop(kind)
        try:
            text = json.dumps(body(), allow_nan=False).encode()
        except (TypeError, ValueError, OverflowError):
            return
        head = ("POST /v1/jobs/%d/%s HTTP/1.1\r\nHost: localhost\r\n"
                "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                % (job_id() or 0, kind, len(text)))
        self.unsent = head.encode() + text
        self.flying = (kind, body, now)
        self.sent_at[kind] = now
        self.answer = _Answer()

    def _move_bytes(self):
        """Writes and reads what can be without waiting; False when the connection is no more."""
        try:
            while self.unsent:
                self.unsent = self.unsent[self.sock.send(self.unsent):]
        except (BlockingIOError, InterruptedError):
            pass
        try:
            while True:
                data = self.sock.recv(ANSWER_BYTES)
                if not data:
                    if self.answer is None or not self.answer.end():
                        return False
                    self.answer.closes = True
                    return True
                if self.answer is None or len(self.answer.bytes) > ANSWER_BYTES:
                    return False
                self.answer.feed(data)
                if self.answer.status is not None:
                    return True
        except (BlockingIOError, InterruptedError):
            return True

    def _receive(self, now):
        """Looks for the answer to what was sent."""
        flying, answer = self.flying, self.answer
        try:
            alive = self._move_bytes()
        except (OSError, ValueError, IndexError):
            alive = False
        if not alive:
            # A connection that was idle may be closed by the daemon at any time;
            # then a new one is tried at once, else after a pause.
            idle = flying is None or not self.fresh
            self._drop_connection(failed=not idle)
        elif answer is not None and answer.status is not None:
            self._answered(flying, answer)
        elif flying is not None and now - flying[2] > ANSWER_S:
            self._drop_connection(failed=True)

    def _answered(self, flying, answer):
        kind, body, _ = flying
        self.last_status = answer.status
        self.flying = self.answer = None
        self.fresh = False
        if answer.status >= 500 or answer.status == 429:
            if kind != "progress":
                self.waiting.setdefault(kind, body)
            self._drop_connection(failed=True)
            return
        self.pause_s = AWAY_S[0]
        self.delivered[kind] = self.delivered.get(kind, 0) + 1
        if answer.closes:
            self._drop_connection(failed=False)

    def _advance(self, force):
        now = _now()
        if self.sock is not None and (self.flying is not None or self._due(now, force)):
            self._receive(now)
        for _ in range(2 * len(self.KINDS)):
            kind = self._due(now, force)
            if self.flying is not None or kind is None:
                break
            if self.sock is None:
                if now < self.retry_s:
                    break
                self._connect()
                if self.sock is None:
                    break
            self._send(kind, now)
            if self.flying is not None:
                self._receive(now)

    def _try(self, force):
        """All that can be done without waiting.  Whether there is something to wait for."""
        try:
            self._advance(force)
        except Exception:  # a report is never worth a training run
            self._drop_connection(failed=True)
        return self.flying is not None

    def _mine(self):
        if self.home != os.getpid():
            # Forked: the connection belongs to the parent.
            self.__init__()
        return _speaks()

    def post(self, kind, body):
        if not self._mine() or not self.lock.acquire(timeout=WAIT_S):
            return
        try:
            self.waiting[kind] = body
            self._try(force=False)
        finally:
            self.lock.release()

    def pump(self):
        if (self.waiting or self.flying) and self._mine() and self.lock.acquire(blocking=False):
            try:
                self._try(force=False)
            finally:
                self.lock.release()

    def flush(self, wait_s):
        """Sends everything now and waits for the answers, but not for long."""
        if not (self.waiting or self.flying) or not self._mine():
            return
        end = _now() + wait_s
        if not self.lock.acquire(timeout=wait_s):
            return
        try:
            self.retry_s = 0.0  # one attempt at once, wherever the daemon was
            while True:
                busy = self._try(force=True)
                left = end - _now()
                if not busy or left <= 0:
                    return
                poller = select.poll()  # select() fails where many files are open
                poller.register(self.sock, select.POLLIN | (select.POLLOUT if self.unsent else 0))
                poller.poll(left * 1000)
        except (OSError, ValueError):
            self._drop_connection(failed=True)
        finally:
            self.lock.release()


def flush(wait_s=WAIT_S):
    """Sends what progress() still holds back.  Happens by itself at exit and at checkpoints."""
    if running_under_stint():
        _link.flush(wait_s)


# ---- reports

def _plain(metrics):
    """Only finite numbers; a tensor of one element is asked for its value here, not before."""
    numbers = {}
    for name, value in metrics.items():
        try:
            small = isinstance(value, int) and abs(value) < 1 << 53
            value = int(value) if small else float(value)
            if value - value == 0:  # neither infinite nor NaN
                numbers[str(name)] = value
        except Exception:  # whatever a foreign type may throw
            continue
    return numbers


def _detached(value):
    # A tensor would keep what it was computed from until the message is sent.
    detach = getattr(value, "detach", None)
    return detach() if callable(detach) else value


def progress(step, total=None, metrics=None, **more):
    """Tells how many steps are done, of how many, and any numbers worth seeing.

    Call it as often as you like: one message a second is sent, and the last one
    always is, at the latest at exit or at a checkpoint."""
    if not running_under_stint():
        return
    try:
        values = {name: _detached(value) for name, value in dict(metrics or {}, **more).items()}
        step = int(step)
        total = None if total is None else int(total)
    except Exception:
        return
    _last_step[0] = step

    def body():
        message = {"attempt": attempt(), "step": step}
        if total is not None:
            message["total"] = total
        numbers = _plain(values)
        if numbers:
            message["metrics"] = numbers
        if _resize.declared:
            message["resizable"] = True
        return message

    _link.post("progress", body)


def checkpointed(step=None):
    """Tells that everything up to `step` (else the last one reported) is safely saved."""
    if not running_under_stint():
        return
    try:
        step = _last_step[0] if step is None else int(step)
    except (TypeError, ValueError):
        step = _last_step[0]
    message = {"attempt": attempt()}
    if step is not None:
        message["step"] = step
    _link.post("checkpointed", lambda: message)
    _link.flush(WAIT_S)


_last_step = [None]


class Steps:
    """Iterator over the steps of a loop: see steps()."""

    def __init__(self, what, start=0, total=None):
        try:
            what = range(start, operator.index(what))
        except TypeError:
            pass  # not a number
        if total is None and hasattr(what, "__len__"):
            total = start + len(what)
        self.done = start      # steps that are over
        self.total = total
        self.stopped = False   # Stint asked us to stop before the end
        self.metrics = {}      # sent with the progress
        self._items = iter(what)
        self._begun = False
        self._inside = False   # a step has been given out and is not over

    def __iter__(self):
        return self

    def __next__(self):
        if self._inside:
            self._inside = False
            self.done += 1
        elif self._begun:
            raise StopIteration
        self._begun = True
        progress(self.done, self.total, self.metrics)
        if _resize.callback is not None:
            resized()
        if should_stop():
            self.stopped = self.total is None or self.done < self.total
            raise StopIteration
        item = next(self._items)
        self._inside = True
        return item


def steps(what, start=0, total=None):
    """Goes through the steps of a training loop and deals with Stint.

    `what` is how many steps there are in all, and then range(start, what) is gone
    through; or anything iterable that begins at step `start`.  Reports progress
    after each step together with what is in `.metrics`, calls the function given
    to on_resize(), and ends early when Stint asks to stop: `.stopped` says so, and
    `.done` is the number of steps that are over."""
    return Steps(what, start, total)


# ---- growing and shrinking in place

class Grant:
    """What the job holds: `gpus`, `devices`, and `serial`, which grows with each change."""

    def __init__(self, gpus, devices, serial):
        self.gpus = gpus
        self.devices = devices
        self.serial = serial

    def accept(self):
        """Tells Stint that the job now uses exactly this.  Until then what was taken
        away is not given to others; a job that does not answer is stopped and begins
        anew with what it was granted."""
        _resize.current = self
        if running_under_stint():
            message = {"attempt": attempt(), "gpus": self.gpus}
            _link.post("resized", lambda: message)
            _link.flush(WAIT_S)

    def __repr__(self):
        return "Grant(gpus=%d, devices=%r, serial=%d)" % (self.gpus, self.devices, self.serial)


def _read_grant():
    try:
        with open(os.environ["STINT_GRANT"], "rb") as file:
            grant = json.loads(file.read().decode())
        count, names = int(grant["gpus"]), [str(d) for d in grant.get("devices", []) if d]
        if len(names) != count:  # CPU slots need no name that CUDA would understand
            names = ["cpu-%d" % i for i in range(count)]
        return Grant(count, names, int(grant.get("serial", 0)))
    except (KeyError, OSError, ValueError, TypeError, AttributeError):
        return None


class _Resize:
    """Watches the grant: SIGURG says at once that it changed, and as the signal may
    reach only a shell that started us, the file is looked at once a second too."""

    def __init__(self):
        self.declared = False
        self.callback = None
        self.current = None    # what the job uses
        self.seen = None       # serial of the last grant that was given out
        self.look = True
        self.looked_s = 0.0
        self.earlier = None
        self.stamp = None

    def declare(self):
        if self.declared:
            return
        self.declared = True
        grant = _read_grant()
        if grant is not None and grant.gpus == _number("STINT_GPUS", grant.gpus):
            self.seen, self.current = grant.serial, grant
        try:
            self.earlier = signal.signal(signal.SIGURG, self.handle)
        except (ValueError, OSError):
            pass  # not the main thread: the file will tell

    def handle(self, number, frame):
        self.look = True
        if callable(self.earlier):
            self.earlier(number, frame)

    def _changed(self):
        now = _now()
        if not self.look and now - self.looked_s < EVERY_S:
            return False
        self.look, self.looked_s = False, now
        try:
            info = os.stat(os.environ["STINT_GRANT"])
        except (KeyError, OSError):
            return False
        stamp = (info.st_ino, info.st_mtime, info.st_size)
        changed, self.stamp = stamp != self.stamp, stamp
        return changed

    def poll(self):
        if not self._changed():
            return None
        grant = _read_grant()
        if grant is None or grant.serial == self.seen:
            return None
        self.seen = grant.serial
        return grant


def resized():
    """The new Grant if the job's devices have changed since the last call, else None.

    With a function given to on_resize(), that is called first and the answer is
    sent.  Without one, adapt to the grant and call its accept()."""
    if not running_under_stint():
        return None
    _resize.declare()
    grant = _resize.poll()
    if grant is not None and _resize.callback is not None:
        if _resize.callback(grant) is not False:
            grant.accept()
    return grant


def on_resize(callback):
    """Declares that this job can grow and shrink while it runs.

    `callback(grant)` is called between two steps (by steps() or resized()), never
    from the signal handler.  When it returns, the job must use exactly
    grant.devices; returning False means that it cannot."""
    _resize.callback = callback
    if running_under_stint():
        _resize.declare()
    return callback


# ---- checkpoints

class Checkpoint:
    """A file that is always whole: written beside, synced, and renamed into place.

        checkpoint = stint.Checkpoint("model.ckpt")
        state = checkpoint.load(default=None)
        checkpoint.save(state, step=100)

    Names that end in .json are written as JSON, others with pickle.  To write with
    something else, use it as a context; whatever fails inside leaves the old file:

        with stint.Checkpoint("model.pt", step=100) as file:
            torch.save(model.state_dict(), file)

    A step that is given is reported with checkpointed()."""

    def __init__(self, path, step=None, format=None):
        self.path = os.fspath(path)
        self.step = step
        self.format = format or ("json" if self.path.endswith(".json") else "pickle")
        if self.format not in ("json", "pickle"):
            raise ValueError("format is json or pickle, not %r" % (format,))
        self._file = None

    def exists(self):
        return os.path.exists(self.path)

    def load(self, default=None):
        """What was saved last, or `default` if nothing was.  Pickle runs code: load
        only files you wrote."""
        try:
            file = open(self.path, "rb")
        except FileNotFoundError:
            return default
        with file:
            if self.format == "json":
                return json.loads(file.read().decode())
            return pickle.load(file)

    def save(self, state, step=None):
        """Replaces the file; when this returns, it survives a loss of power."""
        self.step = step
        with self as file:
            if self.format == "json":
                file.write(json.dumps(state).encode())
            else:
                pickle.dump(state, file, protocol=4)

    def _beside(self):
        # The same name in every attempt, so that a killed one leaves nothing behind
        # for long; another one for each rank, so that none writes into another's.
        owner = "%d.%d" % (job_id() or os.getpid(), _number("RANK", 0))
        return "%s.tmp.%s" % (os.path.realpath(self.path), owner)

    def __enter__(self):
        beside = self._beside()
        os.makedirs(os.path.dirname(beside), exist_ok=True)
        self._file = open(beside, "wb")
        return self._file

    def __exit__(self, kind, problem, trace):
        file, self._file = self._file, None
        beside, target = file.name, os.path.realpath(self.path)
        try:
            with file:
                if kind is not None:
                    return False
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, target)
        finally:
            if os.path.exists(beside):
                os.unlink(beside)
        _sync_directory(os.path.dirname(target))
        if self.step is not None:
            checkpointed(self.step)
        return False


def _sync_directory(path):
    try:
        fd = os.open(path or ".", os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError as problem:
        if problem.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(fd)


# ---- the module's own state

_stop = _Stop()
_link = _Link()
_resize = _Resize()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_stop.before_fork, after_in_parent=_stop.after_fork,
                        after_in_child=_stop.in_child)


def _at_exit():
    if os.getpid() == _link.home:
        flush()


atexit.register(_at_exit)
if running_under_stint():
    if not _is_worker() or _Stop.signal_number() != signal.SIGTERM:
        _stop.install(quietly=True)


# ---- as a command

def _info():
    for name, value in (
            ("under Stint", running_under_stint()), ("job", job_id()), ("attempt", attempt()),
            ("restarts", restarts()), ("devices", ",".join(devices()) or "none"),
            ("signal", signal.Signals(_Stop.signal_number()).name),
            ("socket", os.environ.get("STINT_SOCKET", "none"))):
        print("%-12s %s" % (name, value))


def _check(good, what):
    print(("ok - " if good else "not ok - ") + what)
    return good


def _selftest():
    """Whether the signal, the checkpoint and (inside a job) the daemon work here."""
    import tempfile
    good = True
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Checkpoint(os.path.join(folder, "state"))
        checkpoint.save({"step": 1, "x": 0.1})
        good &= _check(checkpoint.load() == {"step": 1, "x": 0.1}, "a checkpoint is read back")
        try:
            with checkpoint as file:
                file.write(b"half")
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        good &= _check(checkpoint.load() == {"step": 1, "x": 0.1} and
                       os.listdir(folder) == ["state"],
                       "one that fails half-way leaves the old one")
    if not running_under_stint():
        good &= _check(not should_stop(), "outside Stint nobody asks to stop")
        print("skip - the daemon: this is not one of its jobs")
        return good
    progress(0)
    flush(2.0)
    good &= _check(_link.delivered.get("progress", 0) == 1 and 200 <= _link.last_status < 300,
                   "the daemon takes progress (%s)" % (_link.last_status or "no answer"))
    if _stop.number is not None:
        os.kill(os.getpid(), _stop.number)
    good &= _check(should_stop(), "the signal to stop sets the flag")
    return good


def _command(arguments):
    if arguments == ["--selftest"]:
        return 0 if _selftest() else 1
    if arguments == ["info"]:
        _info()
        return 0
    try:
        if arguments[0] == "progress":
            numbers = [int(a) for a in arguments[1:] if "=" not in a]
            pairs = [a.partition("=") for a in arguments[2:] if "=" in a]
            progress(numbers[0], *numbers[1:2], metrics={n: float(v) for n, _, v in pairs})
            flush()
            return 0
        if arguments[0] == "checkpointed" and len(arguments) <= 2:
            checkpointed(*[int(a) for a in arguments[1:]])
            return 0
    except (IndexError, ValueError):
        pass
    sys.stderr.write("usage: stint.py progress STEP [TOTAL] [NAME=NUMBER...] | "
                     "checkpointed [STEP] | info | --selftest\n")
    return 2


if __name__ == "__main__":
    sys.exit(_command(sys.argv[1:]))
