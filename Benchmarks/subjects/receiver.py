"""A receiver of events that answers 204 at once, and counts what arrives: GET /count. The argument is its port."""

import asyncio
import sys

_TAKEN = b"HTTP/1.1 204 No Content\r\n\r\n"


class Receiver(asyncio.Protocol):
    """Reads no more of a request than its end, so that the receiver is not what is measured."""

    count = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].lower()
            field = head.find(b"\r\ncontent-length:")
            length = int(head[field + 17:].split(b"\r\n", 1)[0]) if field >= 0 else 0
            if len(self._received) < end + 4 + length:
                return
            self._received = self._received[end + 4 + length:]
            if head.startswith(b"get "):
                body = str(Receiver.count).encode()
                self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            else:
                Receiver.count += 1
                self._transport.write(_TAKEN)


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Receiver, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
