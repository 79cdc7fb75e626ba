# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that a real API server can't produce on demand.

A test posts them to /_fake/faults as {"method": "GET", "path": REGEX, "times": N, "action": ACTION, ...}; the regular
expression is searched in path and query; a fault is used up after `times` requests (0: never). With "client" only the
client with this User-Agent meets it. A client whose User-Agent is "fate" meets none. Actions:

  status   answer "code" with "body" (a string) and, if given, "retry_after" and "location" headers
  hang     read the request, then never answer
  close    close the connection without an answer
  garbage  answer with bytes that are no HTTP
  cut      close the connection after "bytes" bytes of the body
  slow     send the body in pieces of "piece" bytes, "delay_ms" apart (each piece a chunk of its own in a watch)
  headers  send the head of the answer byte by byte, "delay_ms" apart
  drop     answer, then close the connection without having said so
"""
import re
import threading
import time


class CutOff(Exception):
    """The connection is to be closed without another byte."""


class Faults:
    def __init__(self):
        self.lock = threading.Lock()
        self.faults = []
        self.stopped = threading.Event()  # ends what hangs

    def add(self, fault):
        if fault["action"] not in ("status", "hang", "close", "garbage", "cut", "slow", "headers", "drop"):
            raise ValueError(f'unknown action {fault["action"]!r}')
        re.compile(fault["path"])
        with self.lock:
            self.faults.append({"method": "GET", "times": 1, **fault})

    def clear(self):
        with self.lock:
            self.faults.clear()

    def take(self, method, target, client):
        """The fault that this request meets, or None."""
        if client == "fate":
            return None
        with self.lock:
            for fault in self.faults:
                if fault["method"] == method and re.search(fault["path"], target) and fault.get("client") in (None, client):
                    if fault["times"] == 1:
                        self.faults.remove(fault)
                    elif fault["times"] > 1:
                        fault["times"] -= 1
                    return fault
        return None


class Wire:
    """Writes one HTTP/1.1 answer, with a fault where there is one."""

    def __init__(self, out, fault, faults):
        self.out, self.fault, self.faults = out, fault or {"action": "none"}, faults
        self.left = self.fault["bytes"] if self.action == "cut" else None
        self.chunked = False

    @property
    def action(self):
        return self.fault["action"]

    def before_answer(self):
        """What replaces the whole answer. True when there is nothing left to send."""
        if self.action == "hang":
            self.faults.stopped.wait(120)
            raise CutOff
        if self.action == "close":
            raise CutOff
        if self.action == "garbage":
            self.out.write(b"\x00\x01 what is HTTP?\r\n\r\n")
            raise CutOff
        if self.action == "status":
            headers = {"Content-Type": self.fault.get("content_type", "application/json")}
            for field, header in (("retry_after", "Retry-After"), ("location", "Location")):
                if field in self.fault:
                    headers[header] = str(self.fault[field])
            self.answer(self.fault["code"], self.fault.get("body", "").encode(), headers)
            return True
        return False

    def answer(self, code, body, headers=None):
        self._head(code, {"Content-Type": "application/json", "Content-Length": len(body), **(headers or {})})
        self._body(body)
        if self.action == "drop":
            raise CutOff

    def begin_stream(self):
        self.chunked = True
        self._head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})

    def line(self, text):
        self._body(text.encode() + b"\n")

    def end_stream(self):
        self.out.write(b"0\r\n\r\n")

    def _head(self, code, headers):
        head = f"HTTP/1.1 {code} {code}\r\n" + "".join(f"{key}: {value}\r\n" for key, value in headers.items()) + "\r\n"
        if self.action != "headers":
            self.out.write(head.encode())
            return
        for byte in head.encode():
            self.out.write(bytes([byte]))
            time.sleep(self.fault["delay_ms"] / 1000)

    def _body(self, data):
        if self.left is not None and len(data) > self.left:
            self._piece(data[:self.left])
            raise CutOff
        if self.left is not None:
            self.left -= len(data)
        size = self.fault["piece"] if self.action == "slow" else max(len(data), 1)
        for start in range(0, len(data), size):
            self._piece(data[start:start + size])
            if self.action == "slow":
                time.sleep(self.fault["delay_ms"] / 1000)

    def _piece(self, data):
        if self.chunked and data:
            data = f"{len(data):x}\r\n".encode() + data + b"\r\n"
        self.out.write(data)
