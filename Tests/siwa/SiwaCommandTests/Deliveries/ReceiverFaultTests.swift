import AppleAccounts
import Certificates
import Encodings
import EventDelivery
import KeySets
import NIOCore
import NIOSSL
import ScriptedHTTP
import TestSupport
import Testing

@testable import Composition

/// Receivers that break the rules of HTTP and TLS, on real sockets: an attempt ends in time, and takes a bounded
/// part of the memory.
@Suite(.timeLimit(.hung)) struct ReceiverFaultTests {
    private static let limit = TimeAmount.milliseconds(500)
    /// Longer than the limit, because tests beside this one use the machine too.
    private static let patience = Duration.seconds(8)

    private func destination(
        _ url: String, tls: TLSConfiguration = .makeClientConfiguration(), limit: TimeAmount = Self.limit
    ) throws -> HTTPEventDestination {
        HTTPEventDestination(
            try #require(WebAddress(url)), rule: HTTPEventDestinationTests.loopback,
            resolver: ScriptedResolver(["127.0.0.1"]), tls: tls, limit: limit)
    }

    /// Posts a message, and returns why it was not taken; `nil` when it was.
    private func fault(
        of destination: HTTPEventDestination, _ message: EventMessage = HTTPEventDestinationTests.message
    ) async throws -> DeliveryError? {
        let began = ContinuousClock.now
        defer { #expect(ContinuousClock.now - began < Self.patience) }
        do {
            try await destination.post(message, while: { true })
            return nil
        } catch {
            return try #require(error as? DeliveryError)
        }
    }

    @Test(
        arguments: [
            // The fields drip in, one every 20 milliseconds, for ever.
            (.sendForever("HTTP/1.1 200 OK\r\n", chunk: "X-A: b\r\n", pause: .milliseconds(20)), .timedOut),
            // The status line itself.
            (.sendForever("HTTP/1.1 200 O", chunk: "K", pause: .milliseconds(20)), .timedOut),
            // Provisional responses for ever: the connection ends at their bound.
            (.sendForever("", chunk: "HTTP/1.1 102 X\r\n\r\n", pause: .milliseconds(20)), .unreachable),
            // More fields than the reader of responses keeps.
            (
                .sendForever(
                    "HTTP/1.1 200 OK\r\n", chunk: "X: \(String(repeating: "x", count: 8192))\r\n",
                    pause: .milliseconds(1)), .unreachable
            ),
            (.send("This is no HTTP.\r\n\r\n"), .unreachable), (.sendAndClose(""), .unreachable),
            (.sendAndClose("HTTP/1.1 200 OK\r\nContent-Le"), .unreachable), (.reset, .unreachable),
            (.nothing, .timedOut),
        ] as [(ScriptedServer.Response, DeliveryError.Code)])
    func `a response that is not one ends the attempt in time`(
        response: ScriptedServer.Response, code: DeliveryError.Code
    ) async throws {
        let server = try await ScriptedServer(always: response)
        // What ends by itself must end before the limit.
        let time = code == .timedOut ? Self.limit : .seconds(30)
        let destination = try destination("http://receiver.invalid:\(server.port)/", limit: time)
        #expect(try await fault(of: destination)?.code == code)
        // The receiver has the whole message: it may have taken it, and gets it again.
        #expect(server.requests.count == 1)
        try await eventually { server.openConnections == 0 }
        await destination.close()
        try await server.close()
    }

    @Test(arguments: [
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 X\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    ])
    func `a provisional response is not the answer`(text: String) async throws {
        let server = try await ScriptedServer(always: .send(text))
        let destination = try destination("http://receiver.invalid:\(server.port)/")
        for _ in 0..<3 { #expect(try await fault(of: destination) == nil) }
        #expect(server.requests.count == 3)
        await destination.close()
        try await server.close()
    }

    @Test(arguments: ["HTTP/1.0 200 OK\r\n\r\n{}", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}"])
    func `a receiver that closes each connection gets a new one for each message`(text: String) async throws {
        let server = try await ScriptedServer(always: .sendAndClose(text))
        let destination = try destination("http://receiver.invalid:\(server.port)/")
        for _ in 0..<5 { #expect(try await fault(of: destination) == nil) }
        #expect(server.requests.count == 5)
        await destination.close()
        try await server.close()
    }

    @Test func `a message that is cut off in the middle is not taken, and the next one is`() async throws {
        let server = try await ImpatientServer()
        let destination = try destination("http://receiver.invalid:\(server.port)/", limit: .seconds(30))
        let large = EventMessage(fields: ["webhook-id": "evt_2"], body: Array(repeating: 1, count: 8_000_000))
        #expect(try await fault(of: destination, large)?.code == .unreachable)
        #expect(try await fault(of: destination) == nil)
        await destination.close()
        try await server.close()
    }

    @Test func `a body that never ends holds neither the attempt nor its connection`() async throws {
        let server = try await ScriptedServer(
            always: .sendForever(
                "HTTP/1.1 200 OK\r\nContent-Length: 4000000000\r\n\r\n", chunk: "x", pause: .milliseconds(10))
        )
        let destination = try destination("http://receiver.invalid:\(server.port)/")
        #expect(try await fault(of: destination) == nil)
        try await eventually { server.openConnections == 0 }
        await destination.close()
        try await server.close()
    }

    @Test func `a certificate that has expired is refused`() async throws {
        let seconds = SystemKeySetClock().millisecondsSince1970 / 1000
        let expired = seconds - Int64(ServerCertificate.lifetime + 2) * 86_400
        let certificate = try ServerCertificate.make(names: ["receiver.invalid"], at: expired)
        let server = try await TLSServer(certificate)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificate.authority.utf8)))
        let destination = try destination("https://receiver.invalid:\(server.port)/", tls: tls)
        #expect(try await fault(of: destination)?.code == .certificateInvalid)
        await destination.close()
        try await server.close()
    }

    @Test func `a receiver that never ends the handshake of TLS is given up at the time limit`() async throws
    {
        let server = try await ScriptedServer(always: .nothing)
        let destination = try destination("https://receiver.invalid:\(server.port)/")
        #expect(try await fault(of: destination)?.code == .timedOut)
        await destination.close()
        try await server.close()
    }

    @Test func `a receiver that speaks no TLS at a URL of https gets nothing of the message`() async throws {
        let plain = try await ImpatientServer(answer: "HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n")
        let destination = try destination("https://receiver.invalid:\(plain.port)/", limit: .seconds(30))
        let code = try await fault(of: destination)?.code
        #expect(code == .certificateInvalid || code == .unreachable)
        #expect(!plain.received.contains("webhook-id"))
        await destination.close()
        try await plain.close()
    }
}

@Suite struct ReceiverStatesTests {
    private static func states(
        cursor: Int64 = 9, retries: [DeliveryRetry] = [], pausedAt: Moment? = nil,
        configured: [String] = ["backend"]
    ) throws -> ReceiverStates {
        let name = try #require(ReceiverName("backend"))
        let record = ReceiverRecord(
            name: name, cursor: cursor, notBefore: Moment(milliseconds: 0), pausedAt: pausedAt)
        return ReceiverStates(
            configured: configured.compactMap { ReceiverName($0) },
            stored: [ClaimedReceiver(record: record, retries: retries)], lastSequence: 9)
    }

    private static func retry(attempts: Int64) -> DeliveryRetry {
        let since = Moment(milliseconds: 1_800_000_000_000)
        return DeliveryRetry(sequence: 3, attempts: attempts, dueAt: since, waitingSince: since)
    }

    @Test func `a receiver without anything that waits is good`() throws {
        let states = try Self.states()
        #expect(states.lines == ["backend: up to date"])
        #expect(states.findings.map(\.verdict) == [.good])
    }

    @Test func `a receiver that has not taken an event is a note`() throws {
        let states = try Self.states(cursor: 4, retries: [Self.retry(attempts: 2), Self.retry(attempts: 0)])
        #expect(
            states.lines
                == ["backend: up to 7 events wait; 2 attempts failed since 2027-01-15T08:00:00.000Z"])
        #expect(states.findings.map(\.verdict) == [.note])
    }

    @Test func `a paused receiver is wrong, and the advice resumes it`() throws {
        let states = try Self.states(cursor: 4, pausedAt: Moment(milliseconds: 1_800_000_000_000))
        #expect(states.lines == ["backend: paused since 2027-01-15T08:00:00.000Z; up to 5 events wait"])
        #expect(states.findings.map(\.verdict) == [.wrong])
        #expect(states.findings.first?.advice?.contains("siwa deliveries resume backend") == true)
    }

    @Test func `new receivers and receivers that are no longer configured are shown`() throws {
        let states = try Self.states(configured: ["mail"])
        #expect(states.lines.count == 2)
        #expect(states.lines[0].hasPrefix("backend: not configured"))
        #expect(states.lines[1].hasPrefix("mail: new"))
        #expect(states.findings.map(\.verdict) == [.note])
    }
}
