import Certificates
import Dispatch
import EventDelivery
import HTTPEngine
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
import TestSupport
import Testing

@testable import Composition

@Suite struct DestinationAddressesTests {
    private let rule = DestinationAddresses(allowed: [])

    @Test func `every network of the list is a network`() {
        #expect(DestinationAddresses.special.count == 23)
    }

    @Test(arguments: [
        "93.184.215.14", "8.8.8.8", "172.32.0.1", "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
        "2a00:1450:4001:82b::200e",
        "::ffff:93.184.215.14", "2001:4860:4860::8888",
    ])
    func `a public address is allowed`(address: String) {
        #expect(rule.allow(address))
    }

    @Test(arguments: [
        "127.0.0.1", "127.255.0.9", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1", "::1", "::",
        "fe80::1", "fd00::1", "ff02::1", "2002:7f00:1::", "64:ff9b::7f00:1", "2001:db8::1",
        // Addresses of IPv4 in forms of IPv6.
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::7f00:1", "::ffff:0:127.0.0.1", "::ffff:0:808:808",
        "64:ff9b:1::7f00:1",
        // Networks with a purpose of their own: discard-only, dummy, AS112, AMT, segment routing, documentation.
        "100::1", "100:0:0:1::1", "192.31.196.1", "192.52.193.1", "192.175.48.1", "192.0.0.170",
        "2620:4f:8000::1", "2001::1", "2001:2::1", "2001:20::1", "5f00::1", "3fff::1", "fec0::1",
        // Not assigned to anybody.
        "1fff::1", "4000::1", "8000::1", "e000::1",
        // No addresses.
        "", "localhost", "127.1", "0x7f000001", "2130706433", "fe80::1%eth0",
    ])
    func `an address that is not public is refused`(address: String) {
        #expect(!rule.allow(address))
    }

    @Test func `an allowed network is allowed, and no other private one`() {
        let rule = DestinationAddresses(
            allowed: ["10.0.5.0/24", "fd00:5::/32"].compactMap { AddressBlock($0) })
        #expect(rule.allow("10.0.5.7"))
        #expect(rule.allow("fd00:5::1"))
        #expect(!rule.allow("10.0.6.7"))
        #expect(!rule.allow("127.0.0.1"))
    }
}

@Suite(.timeLimit(.hung)) struct AddressResolverTests {
    @Test func `the system knows this machine, and addresses`() async throws {
        let resolver = SystemAddressResolver()
        #expect(try await resolver.addresses(of: "127.0.0.1") == ["127.0.0.1"])
        #expect(try await resolver.addresses(of: "::1") == ["::1"])
        #expect(try await resolver.addresses(of: "no-such-name.invalid").isEmpty)
    }

    @Test func `receivers of one name share one question, and all get its answer`() async throws {
        let questions = Mutex(0)
        let mayAnswer = DispatchSemaphore(value: 0)
        let resolver = SystemAddressResolver { _ in
            questions.withLock { $0 += 1 }
            mayAnswer.wait()
            return ["192.0.2.1"]
        }
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 { group.addTask { try await resolver.addresses(of: "receiver.invalid") } }
            try await eventually { resolver.waiterCount == 8 }
            mayAnswer.signal()
            for try await addresses in group { #expect(addresses == ["192.0.2.1"]) }
        }
        #expect(questions.withLock { $0 } == 1)
    }

    @Test func `a name server that hangs delays its own names only, for four seconds`() async throws {
        let mayAnswer = DispatchSemaphore(value: 0)
        let resolver = SystemAddressResolver { host in
            if host == "hangs.invalid" { mayAnswer.wait() }
            return ["192.0.2.1"]
        }
        let hanging = Task { try await resolver.addresses(of: "hangs.invalid") }
        try await eventually { resolver.waiterCount == 1 }
        #expect(try await resolver.addresses(of: "other.invalid") == ["192.0.2.1"])
        await #expect(throws: DeliveryError(.timedOut)) { _ = try await hanging.value }
        mayAnswer.signal()
    }
}

/// Gives the addresses of its list one after the other, and the last again and again.
final class ScriptedResolver: AddressResolver {
    private let answers: Mutex<[[String]]>
    private let count = Mutex(0)

    init(_ answers: [String]...) { self.answers = Mutex(answers) }

    var questions: Int { count.withLock { $0 } }

    func addresses(of host: String) async throws(DeliveryError) -> [String] {
        count.withLock { $0 += 1 }
        return answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? [] }
    }
}

/// A server with TLS that answers every request with 200.
final class TLSServer: Sendable {
    private let channel: any Channel

    init(_ certificate: ServerCertificate) async throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificate.utf8))
                .map { .certificate($0) },
            privateKey: .privateKey(
                try NIOSSLPrivateKey(bytes: Array(certificate.privateKey.utf8), format: .pem)))
        configuration.applicationProtocols = ["http/1.1"]
        let tls = try NIOSSLContext(configuration: configuration)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(Responder())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    func close() async throws { try await channel.close() }

    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "0"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

/// A server that does not wait for a whole request: it answers the first bytes, or closes the first connection
/// at them and takes what comes on later ones.
final class ImpatientServer: Sendable {
    private final class Record: Sendable { let state = Mutex((connections: 0, received: "")) }

    private let channel: any Channel
    private let record: Record

    /// - Parameter answer: `nil` to close the first connection.
    init(answer: String? = nil) async throws {
        let log = Record()
        record = log
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            // The rest of a large request does not fit into the buffers of the system.
            .childChannelOption(.socketOption(.so_rcvbuf), value: 4096)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(log, answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    var received: String { record.state.withLock(\.received) }

    func close() async throws { try await channel.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let record: Record
        private let answer: String?
        private var number = 0

        init(_ record: Record, _ answer: String?) { (self.record, self.answer) = (record, answer) }

        func channelActive(context: ChannelHandlerContext) {
            number = record.state.withLock { state in
                state.connections += 1
                return state.connections
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let text = String(buffer: unwrapInboundIn(data))
            record.state.withLock { $0.received += text }
            if answer == nil, number == 1 { return context.close(promise: nil) }
            let response = ByteBuffer(string: answer ?? "HTTP/1.1 204 X\r\n\r\n")
            context.writeAndFlush(wrapOutboundOut(response), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
