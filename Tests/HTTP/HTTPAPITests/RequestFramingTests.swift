import HTTPAPI
import HTTPEngine
import NIOCore
import Testing

/// Requests with sizes and forms that a parser may silently accept, over real sockets.
@Suite struct RequestFramingTests {
    static func probe<Result: Sendable>(
        _ body: @Sendable (ProbeConnection) async throws -> Result
    ) async throws -> Result {
        try await RunningService.with { service in
            try await ProbeConnection.with(port: service.port) { try await body($0) }
        }
    }

    /// Sends as much as the server reads, and returns the response.
    static func answer(to beginning: String, then filler: String) async throws -> ProbeResponse {
        try await probe { connection in
            try await connection.send(beginning)
            let outbound = connection.outbound
            let sending = Task {
                for _ in 0..<(2 * 1024 * 1024 / filler.utf8.count) {
                    try await outbound.write(ByteBuffer(string: filler))
                }
            }
            defer { sending.cancel() }
            return try await connection.response()
        }
    }

    static let spaces = String(repeating: " ", count: 4096)
    static let letters = String(repeating: "x", count: 4096)

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\r\nX:", spaces), ("GET /livez", spaces), ("", "\r\n\r\n"),
        ("GET /livez HTTP/1.1\r\nHost: a\r\nX: ", letters), ("GET /", letters),
        ("GET / HTTP/1.1\r\nHost: a\r\n", "a:\r\n"),
    ])
    func `two megabytes of header are refused`(beginning: String, filler: String) async throws {
        let filler = filler.utf8.count < 100 ? String(repeating: filler, count: 1000) : filler
        let answer = try await Self.answer(to: beginning, then: filler)
        #expect(answer.status == 431 || answer.status == 400)
        #expect(answer["connection"] == "close")
    }

    @Test(arguments: ["1;", "1;x=\"", "a \t"])
    func `a chunk extension of two megabytes is refused`(beginning: String) async throws {
        let head = RunningService.request(
            "POST", "/v1/sign-ins",
            fields: ["Transfer-Encoding": "chunked", "Content-Type": "application/json"])
        let answer = try await Self.answer(to: head + beginning, then: Self.letters)
        #expect(answer.status == 413 || answer.status == 400)
        #expect(answer["connection"] == "close")
    }

    @Test func `many chunks with small extensions are refused when they are too much together`() async throws
    {
        let head = RunningService.request(
            "POST", "/v1/sign-ins",
            fields: ["Transfer-Encoding": "chunked", "Content-Type": "application/json"])
        let chunks = String(repeating: "1;\(String(repeating: "x", count: 250))\r\na\r\n", count: 16)
        let answer = try await Self.answer(to: head, then: chunks)
        #expect(answer.status == 413)
        #expect(answer.code == "body_too_large")
    }

    @Test func `trailers are bounded as header fields are`() async throws {
        let head = RunningService.request(
            "POST", "/v1/sign-ins",
            fields: ["Transfer-Encoding": "chunked", "Content-Type": "application/json"])
        let answer = try await Self.answer(to: head + "0\r\n", then: "X: \(Self.letters)\r\n")
        #expect(answer.status == 431)
    }

    @Test func `a small chunk extension and a trailer are let pass`() async throws {
        try await Self.probe { connection in
            let body = try Bodies.identityToken()
            let fields = ["Transfer-Encoding": "chunked", "Content-Type": "application/json"]
            try await connection.send(
                RunningService.request("POST", "/v1/identity-tokens/verify", fields: fields))
            var rest = Substring(body)
            while !rest.isEmpty {
                let piece = rest.prefix(20)
                try await connection.send("\(String(piece.utf8.count, radix: 16));x=y\r\n\(piece)\r\n")
                rest = rest.dropFirst(20)
            }
            try await connection.send("0\r\nX-Trailer: a\r\n\r\n")
            #expect(try await connection.response().status == 200)
        }
    }

    @Test(arguments: ["10000000000000000000", "18446744073709551615", "9223372036854775807", "65537"])
    func `a body that is announced as too large is refused at once`(length: String) async throws {
        try await Self.probe { connection in
            try await connection.send(
                RunningService.request("POST", "/v1/sign-ins", fields: ["Content-Length": length]))
            let answer = try await connection.response()
            #expect(answer.status == 413)
            #expect(answer.code == "body_too_large")
        }
    }

    @Test(arguments: [
        ("GET http://x?y=/livez", 404), ("GET http://x?/livez", 404), ("GET http://x/livez?y=/", 200),
        ("GET HTTP://x:80/livez", 200), ("GET https://[::1]:8080/livez", 200), ("GET http://x", 404),
        ("GET http:///livez", 400), ("GET http://user@x/livez", 400), ("GET ftp://x/livez", 400),
        ("GET http:/livez", 400), ("GET x://y/livez", 400), ("GET *", 400), ("GET x:80", 400),
        ("GET /livez#", 400), ("GET /livez?#x", 400), ("GET http://x#/livez", 400), ("GET /livez%00", 404),
        ("GET /%6Civez", 404), ("GET //livez", 404), ("GET /./livez", 404), ("GET /x/../livez", 404),
        ("GET /livez/", 404), ("OPTIONS *", 400), ("CONNECT x:80", 400), ("GET \u{E9}", 400),
    ])
    func `a target is read as RFC 9112 says`(line: String, status: Int) async throws {
        try await Self.probe { connection in
            try await connection.send("\(line) HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try await connection.response()
            #expect(answer.status == status)
            if status == 400 { #expect(answer.code == "request_malformed") }
        }
    }

    @Test func `bodies are bounded together, and what one held is free when it ends`() async throws {
        var options = RunningService.Options()
        options.limits.heldBodyBytes = 15_000
        try await RunningService.with(options) { service in
            for (size, status) in [(60_000, 503), (20_000, 400), (16_000, 400)] {
                for _ in 0..<5 {
                    let answer = try await service.call(
                        "POST", "/v1/identity-tokens/verify", body: String(repeating: "a", count: size))
                    #expect(answer.status == status)
                    #expect(answer.code == (status == 503 ? "overloaded" : "body_not_json"))
                    #expect((answer["retry-after"] != nil) == (status == 503))
                }
            }
        }
    }
}
