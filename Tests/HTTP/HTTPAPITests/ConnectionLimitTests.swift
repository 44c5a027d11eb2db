import HTTPAPI
import HTTPEngine
import NIOCore
import StrictJSON
import Testing

/// Clients that are slow, greedy, broken or clever, over real sockets.
@Suite struct ConnectionLimitTests {
    private var service: RunningService { .current }

    static let health = RunningService.request("GET", "/livez", secret: nil)

    /// Bounds that a test can wait for.
    static var impatient: RunningService.Options {
        var options = RunningService.Options()
        options.limits.requestTime = .seconds(2)
        options.limits.idleTime = .seconds(2)
        options.limits.unreadResponseTime = .seconds(2)
        options.limits.lingerTime = .seconds(2)
        return options
    }

    static func probe<Result: Sendable>(
        _ options: RunningService.Options = .init(),
        _ body: @Sendable (ProbeConnection, RunningService) async throws -> Result
    ) async throws -> Result {
        try await RunningService.with(options) { service in
            try await ProbeConnection.with(port: service.port) { try await body($0, service) }
        }
    }

    @Test(.service())
    func `a body of 64 KiB is read, one byte more is too much`() async throws {
        for (size, status) in [(65536, 401), (65537, 413)] {
            let frame = Bodies.json([("identity_token", "a")]).utf8.count - 1
            let body = Bodies.json([("identity_token", .string(String(repeating: "a", count: size - frame)))])
            #expect(body.utf8.count == size)
            let answer = try await service.post("/v1/identity-tokens/verify", body: body)
            #expect(answer.status == status)
            #expect(answer.code == (status == 413 ? "body_too_large" : "token_too_large"))
        }
    }

    @Test func `a body that is announced as too large is refused before it is sent`() async throws {
        try await Self.probe { connection, _ in
            try await connection.send(
                RunningService.request(
                    "POST", "/v1/sign-ins",
                    fields: ["Content-Length": "10000000", "Content-Type": "application/json"]))
            let answer = try await connection.response().expecting(413)
            #expect(answer["connection"] == "close")
        }
    }

    @Test func `a chunked body is counted as it comes`() async throws {
        try await Self.probe { connection, _ in
            try await connection.send(
                RunningService.request("POST", "/v1/sign-ins", fields: ["Transfer-Encoding": "chunked"]))
            let chunk = "4000\r\n" + String(repeating: "a", count: 0x4000) + "\r\n"
            for _ in 0..<5 { try await connection.send(chunk) }
            #expect(try await connection.response().outcome == "413 body_too_large")
        }
    }

    @Test func `a chunked body of good size is a body`() async throws {
        try await Self.probe { connection, _ in
            let body = try Bodies.identityToken()
            let fields = ["Transfer-Encoding": "chunked", "Content-Type": "application/json"]
            try await connection.send(
                RunningService.request("POST", "/v1/identity-tokens/verify", fields: fields))
            for piece in [body.prefix(10), body.dropFirst(10)] {
                try await connection.send(String(piece.utf8.count, radix: 16) + "\r\n\(piece)\r\n")
            }
            try await connection.send("0\r\n\r\n")
            #expect(try await connection.response().status == 200)
        }
    }

    @Test(arguments: [
        ["X-Padding": String(repeating: "a", count: 17_000)],
        Dictionary(uniqueKeysWithValues: (0..<40).map { ("X-\($0)", String(repeating: "a", count: 500)) }),
        Dictionary(uniqueKeysWithValues: (0..<100).map { ("X-\($0)", "a") }),
    ])
    func `a header beyond its bounds is refused`(fields: [String: String]) async throws {
        try await Self.probe { connection, _ in
            try await connection.send(RunningService.request("GET", "/livez", fields: fields))
            let answer = try await connection.response()
            #expect(answer.outcome == "431 header_too_large")
            #expect(answer["connection"] == "close")
        }
    }

    @Test(arguments: [
        "nonsense\r\n\r\n", "GET\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}", "GET /livez HTTP/9.9\r\n\r\n",
        "GET /livez HTTP/1.1\r\nBad Field: x\r\n\r\n", "GET /livez HTTP/1.1\r\n\r\n",
        "POST /v1/sign-ins HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "POST /v1/sign-ins HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /v1/sign-ins HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "POST /v1/sign-ins HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
        "POST /v1/sign-ins HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n",
        "POST /v1/sign-ins HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000000000000000\r\n\r\n",
        "POST /v1/sign-ins HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "POST /v1/sign-ins HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        "POST /v1/sign-ins HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n",
        "POST /v1/sign-ins HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /v1/sign-ins HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET /livez HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: a/livez\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: user@a\r\n\r\n", "GET /livez HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", "GET /livez HTTP/1.1\r\nHost: a\u{0}\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", "GET /li\u{0}vez HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /livez HTTP/1.1 \r\nHost: a\r\n\r\n",
    ])
    func `what is not HTTP is refused once and closed`(bytes: String) async throws {
        try await Self.probe { connection, _ in
            try await connection.send(bytes)
            #expect(try await connection.response().outcome == "400 request_malformed")
            connection.finishSending()
            #expect(try await connection.closes())
        }
    }

    @Test func `a header that trickles in is cut off`() async throws {
        try await Self.probe(Self.impatient) { connection, _ in
            for character in "GET /livez HTTP/1.1\r\nHo" { try await connection.send(String(character)) }
            #expect(try await connection.response().outcome == "408 request_timeout")
            #expect(try await connection.closes())
        }
    }

    @Test func `a body that never ends is cut off, whatever keeps coming`() async throws {
        try await Self.probe(Self.impatient) { connection, _ in
            let head = RunningService.request(
                "POST", "/v1/sign-ins",
                fields: ["Content-Length": "60000", "Content-Type": "application/json"])
            try await connection.send(head)
            // Each part would renew a time-out that only looks at silence.
            let outbound = connection.outbound
            let trickle = Task {
                while !Task.isCancelled {
                    try await outbound.write(ByteBuffer(string: " "))
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            let answer = try await connection.response()
            trickle.cancel()
            #expect(answer.status == 408)
        }
    }

    @Test func `a silent connection is closed without a word`() async throws {
        try await Self.probe(Self.impatient) { connection, _ in
            let isClosed = try await connection.closes()
            #expect(isClosed)
        }
        try await Self.probe(Self.impatient) { connection, _ in
            try await connection.send(Self.health)
            #expect(try await connection.response().status == 200)
            #expect(try await connection.closes())
        }
    }

    @Test func `a header that trickles in on a used connection is cut off too`() async throws {
        var options = Self.impatient
        options.limits.idleTime = .seconds(60)
        try await Self.probe(options) { connection, _ in
            try await connection.send(Self.health)
            #expect(try await connection.response().status == 200)
            try await connection.send("GET /l")
            #expect(try await connection.response().status == 408)
        }
    }

    @Test func `one connection serves many requests, one after the other or all at once`() async throws {
        try await Self.probe { connection, _ in
            for _ in 0..<10 {
                try await connection.send(Self.health)
                #expect(try await connection.response().status == 200)
            }
            let verify = RunningService.request(
                "POST", "/v1/sign-ins", body: try Bodies.identityToken(), fields: ["X-Request-ID": "second"])
            let first = RunningService.request("GET", "/livez", fields: ["X-Request-ID": "first"])
            let third = RunningService.request("GET", "/version", fields: ["X-Request-ID": "third"])
            try await connection.send(first + verify + third)
            for (id, status) in [("first", 200), ("second", 201), ("third", 200)] {
                let answer = try await connection.response()
                #expect(answer["x-request-id"] == id)
                #expect(answer.status == status)
            }
        }
    }

    @Test func `a client that closes its side still gets its answers`() async throws {
        try await Self.probe { connection, _ in
            let signIn = RunningService.request("POST", "/v1/sign-ins", body: try Bodies.identityToken())
            try await connection.send(signIn + Self.health)
            connection.finishSending()
            #expect(try await connection.response().status == 201)
            #expect(try await connection.response().status == 200)
            #expect(try await connection.closes())
        }
    }

    @Test(arguments: ["Connection: close\r\n", "Upgrade: h2c\r\nConnection: Upgrade\r\n"])
    func `the last request of a connection is answered, then it is closed`(field: String) async throws {
        try await Self.probe { connection, _ in
            let body = try Bodies.identityToken()
            try await connection.send(
                "POST /v1/identity-tokens/verify HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                    + "Authorization: Bearer \(RunningService.secret)\r\n\(field)"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            let answer = try await connection.response().expecting(200)
            #expect(answer["connection"] == "close")
            #expect(try await connection.closes())
        }
    }

    @Test func `HTTP 1.0 is answered and closed`() async throws {
        try await Self.probe { connection, _ in
            try await connection.send("GET /livez HTTP/1.0\r\n\r\n")
            #expect(try await connection.response().status == 200)
            #expect(try await connection.closes())
        }
    }

    @Test func `a proxy's absolute target is understood`() async throws {
        try await Self.probe { connection, _ in
            try await connection.send("GET http://siwa.test/livez HTTP/1.1\r\nHost: siwa.test\r\n\r\n")
            #expect(try await connection.response().status == 200)
        }
    }

    @Test func `a client that waits to be told goes on when told`() async throws {
        try await Self.probe { connection, _ in
            let body = try Bodies.identityToken()
            let head = RunningService.request(
                "POST", "/v1/identity-tokens/verify",
                fields: [
                    "Expect": "100-continue", "Content-Type": "application/json",
                    "Content-Length": String(body.utf8.count),
                ])
            try await connection.send(head)
            #expect(try await connection.response().status == 100)
            try await connection.send(body)
            #expect(try await connection.response().status == 200)
        }
    }

    @Test func `a long poll of a reader who has left already does not begin to wait`() async throws {
        try await Self.probe { connection, _ in
            let began = ContinuousClock.now
            try await connection.send(RunningService.request("GET", "/v1/events?wait=30"))
            // Read along with the request, before it is answered.
            connection.finishSending()
            #expect(try await connection.response().status == 200)
            #expect(try await connection.closes())
            #expect(began.duration(to: .now) < .seconds(20))
        }
    }

    @Test func `a client that does not read its answers is closed`() async throws {
        try await Self.probe(Self.impatient) { connection, service in
            // Metrics are the largest answer. More of them than the kernel's buffers hold are asked for.
            let request = RunningService.request("GET", "/metrics")
            for _ in 0..<2000 { try await connection.send(request) }
            // The connection that asks for this number is one of those counted.
            var isClosed = false
            while !isClosed {
                let metrics = try await service.get("/metrics")
                isClosed = metrics.text.contains("siwa_http_connections 1\n")
            }
            #expect(try await service.get("/livez").status == 200)
        }
    }

    @Test func `answers are made no faster than the client reads them`() async throws {
        try await Self.probe(Self.impatient) { connection, service in
            // Large reads let the server read more at a time.
            for _ in 0..<10 {
                let body = String(repeating: " ", count: 60_000)
                try await connection.send(RunningService.request("POST", "/v1/sign-ins", body: body))
                #expect(try await connection.response().status == 400)
            }
            let request = "GET /openapi.yaml HTTP/1.1\r\nHost: a\r\n\r\n"
            try await connection.send(String(repeating: request, count: 6000))
            var metrics = ""
            while !metrics.contains("siwa_http_connections 1\n") {
                metrics = try await service.get("/metrics").text
            }
            let line = try #require(
                metrics.split(separator: "\n").first {
                    $0.hasPrefix("siwa_http_requests_total{route=\"/openapi.yaml\",status=\"200\"}")
                })
            // What the kernel's buffers take, and hardly more.
            let answers = try #require(line.split(separator: " ").last.flatMap { Int($0) })
            #expect((1..<1500).contains(answers))
        }
    }

    @Test func `a client that asks for more than it has read gets all its answers, in order`() async throws {
        try await Self.probe { connection, _ in
            for round in 0..<40 {
                let requests = (0..<30).map {
                    "GET /openapi.yaml HTTP/1.1\r\nHost: a\r\nX-Request-ID: \(round).\($0)\r\n\r\n"
                }
                try await connection.send(requests.joined() + Self.health)
                for number in requests.indices {
                    let answer = try await connection.response().expecting(200)
                    #expect(answer["x-request-id"] == "\(round).\(number)")
                }
                #expect(try await connection.response().text.contains("alive"))
            }
            connection.finishSending()
            #expect(try await connection.closes())
        }
    }

    @Test func `past 32 requests that wait the next is refused, and those before are answered`() async throws
    {
        try await Self.probe { connection, _ in
            let slow = RunningService.request("GET", "/v1/events?wait=1")
            let waiting = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
            try await connection.send(slow + String(repeating: waiting, count: 100))
            for _ in 0..<33 { #expect(try await connection.response().status == 200) }
            let refusal = try await connection.response()
            #expect(refusal.outcome == "503 overloaded")
            #expect(refusal["connection"] == "close")
            #expect(try await connection.closes())
        }
    }

    @Test(.service { $0.limits.connections = 1 })
    func `past the cap a connection waits until another one ends`() async throws {
        let waiting = try await ProbeConnection.with(port: service.port) { first in
            try await first.send(Self.health)
            #expect(try await first.response().status == 200)
            let second = Task { try await service.get("/version", secret: nil) }
            for _ in 0..<20 {
                try await first.send(Self.health)
                #expect(try await first.response().status == 200)
            }
            #expect(!service.loggedText().contains("route=/version"))
            return second
        }
        #expect(try await waiting.value.status == 200)
    }
}
