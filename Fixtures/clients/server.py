#!/usr/bin/env python3
"""Plays siwa in vectors, until standard input ends.

Reads lines, and prints one line for each. After the path of a vector it prints a port on 127.0.0.1. The client under
test makes its requests there; each is compared with the next exchange of the vector, and gets that exchange's response.
After the port it closes the port, and prints the verdict as JSON. Several vectors can have a port at once.
README.md describes the vectors. Needs Python 3.9 or later, and nothing else.
"""

import asyncio
import json
import pathlib
import socket
import sys

LONGEST_HEAD, LONGEST_BODY = 65_536, 1 << 20
REASONS = {200: "OK", 201: "Created", 202: "Accepted", 204: "No Content"}


class Script:
    """The exchanges of a vector, and the mistakes of the client so far."""

    def __init__(self, exchanges):
        self.exchanges, self.next, self.mistakes, self.connections = exchanges, 0, [], []
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def take(self, method, target, headers, body):
        """Compares the request with the next exchange. Returns the response, or None when no exchange is left."""
        number, self.next = self.next, self.next + 1
        if number >= len(self.exchanges):
            self.mistakes.append(f"request {number + 1} is one too many: {method} {target}")
            return None
        wanted = self.exchanges[number]["request"]
        for mistake in differences(wanted, method, target, headers, body, f"127.0.0.1:{self.port}"):
            self.mistakes.append(f"request {number + 1}: {mistake}")
        return self.exchanges[number]["response"]

    async def converse(self, reader, writer):
        self.connections.append(writer)
        try:
            await serve(reader, writer, self)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the client closed the connection, as it must after some of the responses, or the tests ended
        except ValueError as error:
            self.mistakes.append(f"a request is not one that this server reads: {error}")
        finally:
            writer.close()

    def verdict(self):
        missing = len(self.exchanges) - self.next
        if missing > 0:
            self.mistakes.append(f"{missing} of {len(self.exchanges)} requests were not made")
        return {"verdict": "failed", "mistakes": self.mistakes} if self.mistakes else {"verdict": "passed"}


def differences(wanted, method, target, headers, body, host):
    if (method, target) != (wanted["method"], wanted["target"]):
        yield f"expected {wanted['method']} {wanted['target']}, found {method} {target}"
    # A header that comes twice is a mistake, so each value is a list.
    for name, value in {"host": host, "cookie": None, **wanted.get("headers", {})}.items():
        if headers.get(name, []) != ([] if value is None else [value]):
            yield f"expected {name}: {value}, found {headers.get(name, [])}"
    if "json" in wanted:
        try:
            found = json.loads(body.decode("utf-8"), object_pairs_hook=members)
        except ValueError as error:
            yield f"the body is not JSON in UTF-8 ({error}): {body[:200]!r}"
            return
        if json.dumps(found, sort_keys=True) != json.dumps(wanted["json"], sort_keys=True):
            yield f"expected the body {json.dumps(wanted['json'])}, found {json.dumps(found)}"
    elif body != wanted.get("body", "").encode():
        yield f"expected the body {wanted.get('body', '')!r}, found {body[:200]!r}"


def members(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("two members have one name")
    return dict(pairs)


def payload(response):
    if "json" in response:
        return json.dumps(response["json"], ensure_ascii=False, separators=(",", ":")).encode()
    if "body_parts" in response:
        return "".join(part["text"] * part.get("times", 1) for part in response["body_parts"]).encode()
    return response.get("body", "").encode()


async def respond(reader, writer, response):
    """Returns False when the connection must close."""
    if response.get("fault") == "silent":
        await reader.read(1)  # the client waits in vain, and closes the connection
        return False
    if response.get("fault") == "close":
        return False
    await asyncio.sleep(response.get("delay_ms", 0) / 1000)
    body = payload(response)
    headers = {"content-type": "application/json", "content-length": str(len(body)), **response.get("headers", {})}
    lines = [f"HTTP/1.1 {response['status']} {REASONS.get(response['status'], 'Refused')}"]
    lines += [f"{name}: {value}" for name, value in headers.items() if value is not None]
    if response.get("chunked"):
        lines = [line for line in lines if not line.startswith("content-length:")] + ["transfer-encoding: chunked"]
        body = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 16]), body[i:i + 16]) for i in range(0, len(body), 16)) + b"0\r\n\r\n"
    head = "\r\n".join([*lines, "", ""]).encode()
    if response.get("fault") == "cut":
        writer.write(head + body[:response["bytes"]])
        return False
    if response.get("fault") == "drip":
        # One byte each 100 ms: each read of the client succeeds, and the response never ends in time.
        for byte in head + body:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.1)
        return False
    writer.write(head + body)
    await writer.drain()
    return True


async def serve(reader, writer, script):
    while True:
        head = (await reader.readuntil(b"\r\n\r\n"))[:-4]
        line, *fields = head.decode("iso-8859-1").split("\r\n")
        headers = {}
        for field in fields:
            name, _, value = field.partition(":")
            headers.setdefault(name.lower(), []).append(value.strip(" \t"))
        length = int(headers.get("content-length", ["0"])[0])
        if "transfer-encoding" in headers or length > LONGEST_BODY or line.count(" ") != 2:
            raise ValueError(line)
        body = await reader.readexactly(length)
        method, target, _ = line.split(" ")
        response = script.take(method, target, headers, body)
        if response is None or not await respond(reader, writer, response):
            return


async def main():
    playing = {}
    while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
        if line in playing:
            script, server = playing.pop(line)
            (server or script.listener).close()
            for connection in script.connections:
                connection.close()
            print(json.dumps(script.verdict()), flush=True)
            continue
        vector = json.loads(pathlib.Path(line).read_text(encoding="utf-8"))
        script, server = Script(vector.get("exchanges", [])), None
        # A port at which nothing listens refuses connections, and no other vector gets it.
        if not vector.get("down"):
            server = await asyncio.start_server(script.converse, sock=script.listener, limit=LONGEST_HEAD)
        playing[str(script.port)] = script, server
        print(script.port, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
