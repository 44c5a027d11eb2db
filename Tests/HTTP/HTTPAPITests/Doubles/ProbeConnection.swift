import NIOCore
import NIOPosix
import StrictJSON
import Testing

/// A client that sends exactly the given bytes over a real socket, and reads the responses.
final class ProbeConnection {
    struct Closed: Error {}

    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>
    private var iterator: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    /// Writer for tests that send and read at the same time.
    let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var received: [UInt8] = []

    private init(
        _ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>,
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        self.channel = channel
        iterator = inbound.makeAsyncIterator()
        self.outbound = outbound
    }

    static func with<Result: Sendable>(
        port: Int, group: MultiThreadedEventLoopGroup = .singleton, from address: String = "127.0.0.1",
        _ body: (ProbeConnection) async throws -> Result
    ) async throws -> Result {
        let channel = try await ClientBootstrap(group: group)
            .bind(to: SocketAddress(ipAddress: address, port: 0))
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await body(ProbeConnection(channel, inbound, outbound))
        }
    }

    /// Opens this many connections at the same time.
    static func with<Result: Sendable>(
        _ count: Int, port: Int, group: MultiThreadedEventLoopGroup = .singleton,
        from address: String = "127.0.0.1", besides opened: [ProbeConnection] = [],
        _ body: ([ProbeConnection]) async throws -> Result
    ) async throws -> Result {
        guard count > 0 else { return try await body(opened) }
        return try await with(port: port, group: group, from: address) { connection in
            try await with(
                count - 1, port: port, group: group, from: address, besides: opened + [connection], body)
        }
    }

    func send(_ text: String) async throws {
        try await send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) async throws {
        try await outbound.write(ByteBuffer(bytes: bytes))
    }

    /// Closes the sending direction of the connection.
    func finishSending() {
        outbound.finish()
    }

    /// Reads one response. Throws `Closed` when the server closes instead.
    func response(toHead isHead: Bool = false) async throws -> ProbeResponse {
        while true {
            if let response = take(isHead: isHead) { return response }
            guard try await receive() else { throw Closed() }
        }
    }

    /// Reads everything until the server closes.
    func rest() async throws -> [UInt8] {
        while try await receive() {}
        defer { received = [] }
        return received
    }

    /// True if the server closes without another byte.
    func closes() async throws -> Bool {
        try await rest().isEmpty
    }

    private func receive() async throws -> Bool {
        do {
            guard let bytes = try await iterator.next() else { return false }
            received.append(contentsOf: bytes.readableBytesView)
            return true
        } catch is IOError {
            // A reset ends a connection too.
            return false
        }
    }

    private func take(isHead: Bool) -> ProbeResponse? {
        guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
        var lines = head.split(separator: "\r\n")
        let status = Int(lines.removeFirst().split(separator: " ")[1]) ?? 0
        var fields: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields[parts[0].lowercased()] = parts[1].trimmingPrefix(while: { $0 == " " }).description
        }
        let length = isHead || status == 304 || status == 100 ? 0 : Int(fields["content-length"] ?? "") ?? 0
        guard received.count - end.upperBound >= length else { return nil }
        let body = Array(received[end.upperBound..<(end.upperBound + length)])
        received.removeFirst(end.upperBound + length)
        return ProbeResponse(status: status, fields: fields, body: body)
    }
}

/// A response as received.
struct ProbeResponse {
    let status: Int
    /// Header fields by name in lower case.
    let fields: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var code: String? { json?["code"]?.string }
    /// Status and code of a problem, such as "404 account_not_found".
    var outcome: String { "\(status) \(code ?? "")" }
    var json: JSONValue? { try? JSONValue(parsing: body, limits: JSONLimits(depth: 16, members: 4096)) }

    subscript(field: String) -> String? { fields[field] }

    /// Checks the status, and reports the body of a response with another one.
    func expecting(_ status: Int, sourceLocation: SourceLocation = #_sourceLocation) -> ProbeResponse {
        #expect(self.status == status, "\(text)", sourceLocation: sourceLocation)
        return self
    }
}

/// Checks members of an object, and reports each that differs; `nil` for members that are not there.
func expect(
    _ json: JSONValue?, has members: KeyValuePairs<String, JSONValue?>,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    for (name, value) in members { #expect(json?[name] == value, "\(name)", sourceLocation: sourceLocation) }
}

/// Checks header fields, or parameters of a URL.
func expect(
    _ values: [String: String], has expected: KeyValuePairs<String, String?>,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    for (name, value) in expected {
        #expect(values[name] == value, "\(name)", sourceLocation: sourceLocation)
    }
}
