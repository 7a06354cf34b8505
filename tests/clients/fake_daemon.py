#!/usr/bin/env python3
"""Stands in for the daemon: takes what jobs report on a unix socket and notes it.

As a program: fake_daemon.py SOCKET LOG [DELAY_S]; each report becomes a line of LOG,
"progress {...}", and a file LOG.ready appears when it listens.
"""

import json
import os
import socket
import sys
import threading
import time


class FakeDaemon:
    """Listens from start() to stop(); `reports` holds (kind, body) in order of arrival."""

    def __init__(self, path, log=None):
        self.path = path
        self.log = log
        self.reports = []
        self.problems = []     # what a real daemon would refuse
        self.status = 200
        self.delay_s = 0.0     # before each answer
        self.deaf = False      # takes everything, answers nothing
        self.closes = False    # ends the connection after each answer
        self.cut = 0           # so many requests are dropped without an answer
        self.connections = 0
        self.changed = threading.Condition()
        self.listener = None
        self.open = set()

    def start(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(16)
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()
        return self

    def stop(self):
        listener, self.listener = self.listener, None
        os.unlink(self.path)
        # Wakes accept(), which close() alone does not.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        with self.changed:
            for connection in self.open:
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with self.changed:
                self.connections += 1
                self.open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        file = connection.makefile("rb")
        try:
            while self._answer(connection, file):
                pass
        except OSError:
            pass
        with self.changed:
            self.open.discard(connection)
        file.close()
        connection.close()

    def _answer(self, connection, file):
        line = file.readline().decode()
        if not line:
            return False
        method, path, version = line.split()
        fields = {}
        for raw in iter(file.readline, b"\r\n"):
            name, _, value = raw.decode().partition(":")
            fields[name.lower()] = value.strip()
        body = json.loads(file.read(int(fields["content-length"])).decode())
        if self.cut > 0:
            self.cut -= 1
            return False
        self._note(method, path, version, fields, body)
        while self.deaf:
            time.sleep(0.01)
        time.sleep(self.delay_s)
        text = b'{"schema":"changed/1"}'
        ending = "Connection: close\r\n" if self.closes else ""
        connection.sendall(("HTTP/1.1 %d Whatever\r\nContent-Type: application/json\r\n%s"
                            "Content-Length: %d\r\n\r\n" % (self.status, ending, len(text))).encode()
                           + text)
        return not self.closes

    def _note(self, method, path, version, fields, body):
        parts = path.split("/")
        kind = parts[-1]
        with self.changed:
            if method != "POST" or version != "HTTP/1.1" or parts[:3] != ["", "v1", "jobs"]:
                self.problems.append("%s %s %s" % (method, path, version))
            if "host" not in fields or fields.get("content-type") != "application/json":
                self.problems.append("fields of %s: %r" % (path, fields))
            allowed = {"progress": {"attempt", "step", "total", "metrics", "resizable"},
                       "checkpointed": {"attempt", "step"}, "resized": {"attempt", "gpus"}}
            if not set(body) <= allowed.get(kind, set()) or "attempt" not in body:
                self.problems.append("body of %s: %r" % (path, body))
            self.reports.append((kind, body))
            if self.log:
                with open(self.log, "a") as log:
                    log.write("%s %s\n" % (kind, json.dumps(body, sort_keys=True)))
            self.changed.notify_all()

    def of(self, kind):
        with self.changed:
            return [body for k, body in self.reports if k == kind]

    def wait_for(self, kind, good=lambda body: True, patience_s=60.0):
        """The first report of that kind that is `good`, or None."""
        end = time.monotonic() + patience_s
        with self.changed:
            while True:
                for k, body in self.reports:
                    if k == kind and good(body):
                        return body
                if not self.changed.wait(max(0.0, end - time.monotonic())):
                    return None


def main():
    daemon = FakeDaemon(sys.argv[1], sys.argv[2])
    daemon.delay_s = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
    daemon.start()
    with open(sys.argv[2] + ".ready", "w"):
        pass
    threading.Event().wait()


if __name__ == "__main__":
    main()
