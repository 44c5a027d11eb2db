import AsyncHTTPClient
import Certificates
import Encodings
import EventDelivery
import HTTPEngine
import KeySets
import NIOCore
import NIOSSL
import ScriptedHTTP
import Synchronization
import TestSupport
import Testing

@testable import Composition

/// Posts to receivers on real sockets.
@Suite(.timeLimit(.hung)) struct HTTPEventDestinationTests {
    static let message = EventMessage(
        fields: ["content-type": "application/json", "webhook-id": "evt_1"], body: Array("{}".utf8))
    static let loopback = DestinationAddresses(
        allowed: ["127.0.0.0/8", "::1"].compactMap { AddressBlock($0) })

    /// Posts one message to a receiver. Closes its connections before it returns.
    private func post(
        to url: String, rule: DestinationAddresses = Self.loopback,
        resolver: any AddressResolver = ScriptedResolver(["127.0.0.1"]), limit: TimeAmount = .seconds(10)
    ) async throws {
        let destination = HTTPEventDestination(
            try #require(WebAddress(url)), rule: rule, resolver: resolver, limit: limit)
        let result: Result<Void, any Error>
        do {
            result = .success(try await destination.post(Self.message, while: { true }))
        } catch {
            result = .failure(error)
        }
        await destination.close()
        try result.get()
    }

    private func refusal(_ body: () async throws -> Void) async -> DeliveryError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? DeliveryError
        }
    }

    @Test(arguments: [200, 201, 202, 204])
    func `a status of 2xx is a delivery, and the request is a POST of the message`(status: Int) async throws {
        let server = try await ScriptedServer(
            always: .send("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n"))
        // The name exists only in the resolver, so the connection goes to the address that was checked.
        try await post(to: "http://receiver.invalid:\(server.port)/siwa?a=b")
        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("POST /siwa?a=b HTTP/1.1\r\n"))
        #expect(request.lowercased().contains("\r\nhost: receiver.invalid:\(server.port)\r\n"))
        #expect(request.contains("webhook-id: evt_1\r\n"))
        #expect(request.hasSuffix("\r\n\r\n{}"))
        try await server.close()
    }

    @Test(arguments: [true, false])
    func `a request whose condition has ended meanwhile is not sent`(isConnected: Bool) async throws {
        let server = try await ScriptedServer(
            always: .send("HTTP/1.1 204 X\r\nContent-Length: 0\r\n\r\n"))
        let destination = HTTPEventDestination(
            try #require(WebAddress("http://127.0.0.1:\(server.port)/")), rule: Self.loopback,
            resolver: ScriptedResolver(["127.0.0.1"]))
        if isConnected { try await destination.post(Self.message, while: { true }) }
        let count = server.requests.count
        await #expect(throws: CancellationError.self) {
            try await destination.post(Self.message, while: { false })
        }
        // The condition ends between the field lines and the body.
        let asked = Mutex(0)
        await #expect(throws: CancellationError.self) {
            try await destination.post(
                Self.message,
                while: {
                    asked.withLock {
                        $0 += 1; return $0 == 1
                    }
                })
        }
        #expect(server.requests.count == count)
        try await destination.post(Self.message, while: { true })
        #expect(server.requests.count == count + 1)
        await destination.close()
        try await server.close()
    }

    /// Otherwise the client would resolve the name by itself, and connect to an address that was not checked.
    @Test(arguments: ["Receiver.Invalid", "RECEIVER.INVALID", "receiver.invaliD"])
    func `a name in capital letters is pinned too`(host: String) async throws {
        let server = try await ScriptedServer(always: .json("{}"))
        try await post(to: "http://\(host):\(server.port)/Path?A=b")
        #expect(server.requests.first?.hasPrefix("POST /Path?A=b HTTP/1.1\r\n") == true)
        try await server.close()
    }

    @Test func `the log shows neither path nor query of the URL`() async throws {
        let destination = HTTPEventDestination(
            try #require(WebAddress("https://receiver.invalid/secret?token=secret")), rule: Self.loopback,
            resolver: ScriptedResolver(["127.0.0.1"]))
        #expect("\(destination)" == "HTTPEventDestination(receiver.invalid)")
        #expect(!"\(DestinationsService(destinations: [destination]))".contains("secret"))
        await destination.close()
    }

    @Test(arguments: [400, 404, 410, 429, 500, 503])
    func `another status is a refusal`(status: Int) async throws {
        let server = try await ScriptedServer(always: .json("{}", status: status))
        let error = await refusal { try await post(to: "http://receiver.invalid:\(server.port)/") }
        #expect(error == DeliveryError(.refused))
        #expect(error?.status == status)
        try await server.close()
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is not followed`(status: Int) async throws {
        let other = try await ScriptedServer(always: .json("{}"))
        let server = try await ScriptedServer(
            always: .json("{}", status: status, headers: "Location: \(other.baseURL)/\r\n"))
        let error = await refusal { try await post(to: "http://receiver.invalid:\(server.port)/") }
        #expect(error == DeliveryError(.redirected))
        #expect(other.requests.isEmpty)
        try await server.close()
        try await other.close()
    }

    @Test func `of a huge response not more than the bound is read`() async throws {
        let chunk = "10000\r\n\(String(repeating: "x", count: 0x10000))\r\n"
        let server = try await ScriptedServer(
            always: .sendForever(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk: chunk,
                pause: .milliseconds(1)))
        let began = ContinuousClock.now
        try await post(to: "http://receiver.invalid:\(server.port)/")
        #expect(ContinuousClock.now - began < .milliseconds(HTTPEventDestination.timeLimit))
        try await eventually { server.openConnections == 0 }
        try await server.close()
    }

    @Test func `a receiver that hangs is given up at the time limit, which is ten seconds`() async throws {
        #expect(HTTPEventDestination.timeLimit == 10_000)
        let server = try await ScriptedServer(always: .nothing)
        let error = await refusal {
            try await post(to: "http://receiver.invalid:\(server.port)/", limit: .milliseconds(300))
        }
        #expect(error == DeliveryError(.timedOut))
        try await server.close()
    }

    @Test func `a slow response is a delivery as soon as its status is there`() async throws {
        let server = try await ScriptedServer(
            always: .sendForever(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk: "1\r\nx\r\n",
                pause: .milliseconds(100)))
        try await post(to: "http://receiver.invalid:\(server.port)/", limit: .milliseconds(500))
        try await server.close()
    }

    @Test func `a receiver that is down is told at once`() async throws {
        let closed = try ClosedPort()
        let began = ContinuousClock.now
        let error = await refusal { try await post(to: "http://receiver.invalid:\(closed.port)/") }
        #expect(error == DeliveryError(.unreachable))
        #expect(ContinuousClock.now - began < .milliseconds(HTTPEventDestination.timeLimit))
    }

    @Test(arguments: [
        ["10.0.0.1"], ["169.254.169.254"], ["::1"], ["93.184.215.14", "127.0.0.1"], ["::ffff:192.168.0.1"],
    ])
    func `a name that leads to a private address is refused before a connection`(
        addresses: [String]
    ) async throws {
        let server = try await ScriptedServer(always: .json("{}"))
        let resolver = ScriptedResolver(addresses)
        let error = await refusal {
            try await post(
                to: "http://receiver.invalid:\(server.port)/", rule: DestinationAddresses(allowed: []),
                resolver: resolver)
        }
        #expect(error == DeliveryError(.addressRefused))
        #expect(server.openConnections == 0)
        try await server.close()
    }

    @Test(arguments: ["127.0.0.1", "[::1]", "2130706433", "0x7f.1", "localhost"])
    func `a URL with a private address, in any form, is refused`(host: String) async throws {
        let server = try await ScriptedServer(always: .json("{}"))
        let error = await refusal {
            try await post(
                to: "http://\(host):\(server.port)/", rule: DestinationAddresses(allowed: []),
                resolver: SystemAddressResolver())
        }
        #expect([.addressRefused, .nameUnresolved].contains(error?.code))
        #expect(server.requests.isEmpty)
        try await server.close()
    }

    @Test func `a name without an address is told`() async throws {
        let error = await refusal {
            try await post(to: "http://receiver.invalid/", resolver: ScriptedResolver([]))
        }
        #expect(error == DeliveryError(.nameUnresolved))
    }

    @Test func `a name that leads to another address the second time is checked again`() async throws {
        let server = try await ScriptedServer { number in
            // Closes, so that the second attempt needs a new connection.
            .sendAndClose("HTTP/1.1 \(number == 1 ? 200 : 500) X\r\nContent-Length: 0\r\n\r\n")
        }
        let resolver = ScriptedResolver(["127.0.0.1"], ["10.0.0.1"])
        let url = "http://receiver.invalid:\(server.port)/"
        let connections = PinnedConnections(
            host: "receiver.invalid", rule: Self.loopback, resolver: resolver,
            tls: .makeClientConfiguration())
        let first = try await connections.client()
        // Within the time of the check the name is not asked for again, so it cannot change.
        #expect(try await connections.client() === first)
        #expect(resolver.questions == 1)
        await connections.expire()
        await #expect(throws: DeliveryError(.addressRefused)) { _ = try await connections.client() }
        #expect(resolver.questions == 2)
        await connections.close()
        // The same through a destination: the second attempt never arrives.
        let destination = HTTPEventDestination(
            try #require(WebAddress(url)), rule: Self.loopback,
            resolver: ScriptedResolver(["127.0.0.1"], ["10.0.0.1"]))
        try await destination.post(Self.message, while: { true })
        await destination.connections.expire()
        let error = await refusal { try await destination.post(Self.message, while: { true }) }
        #expect(error == DeliveryError(.addressRefused))
        #expect(server.requests.count == 1)
        await destination.close()
        try await server.close()
    }

    @Test func `after a failed connection another address of the name is tried`() async throws {
        let server = try await ScriptedServer(always: .json("{}"))
        let url = "http://receiver.invalid:\(server.port)/"
        // Nothing listens at ::1 on this port.
        let destination = HTTPEventDestination(
            try #require(WebAddress(url)), rule: Self.loopback,
            resolver: ScriptedResolver(["::1", "127.0.0.1"]))
        #expect(
            await refusal { try await destination.post(Self.message, while: { true }) }
                == DeliveryError(.unreachable))
        #expect(await refusal { try await destination.post(Self.message, while: { true }) } == nil)
        #expect(server.requests.count == 1)
        await destination.close()
        try await server.close()
    }

    @Test func `a receiver that moved gets a new connection`() async throws {
        let connections = PinnedConnections(
            host: "receiver.invalid", rule: Self.loopback,
            resolver: ScriptedResolver(["127.0.0.1"], ["127.0.0.2", "127.0.0.1"], ["127.0.0.3"]),
            tls: .makeClientConfiguration())
        let first = try await connections.client()
        await connections.expire()
        // Its address is still one of the name's.
        #expect(try await connections.client() === first)
        await connections.expire()
        let moved = try await connections.client()
        #expect(moved !== first)
        try await first.shutdown()
        await connections.close()
    }

    @Test(
        arguments: [
            ("receiver.invalid", true, nil), ("receiver.invalid", false, .certificateInvalid),
            ("other.invalid", true, .certificateInvalid),
        ] as [(String, Bool, DeliveryError.Code?)])
    func `the certificate must be valid for the name, not for the address`(
        name: String, isTrusted: Bool, code: DeliveryError.Code?
    ) async throws {
        let now = SystemKeySetClock().millisecondsSince1970 / 1000
        let certificate = try ServerCertificate.make(names: [name], at: now)
        let server = try await TLSServer(certificate)
        var tls = TLSConfiguration.makeClientConfiguration()
        if isTrusted {
            tls.trustRoots = .certificates(
                try NIOSSLCertificate.fromPEMBytes(Array(certificate.authority.utf8)))
        }
        let url = "https://receiver.invalid:\(server.port)/"
        let destination = HTTPEventDestination(
            try #require(WebAddress(url)), rule: Self.loopback,
            resolver: ScriptedResolver(["127.0.0.1"]), tls: tls)
        let error = await refusal { try await destination.post(Self.message, while: { true }) }
        #expect(error?.code == code)
        await destination.close()
        try await server.close()
    }
}
