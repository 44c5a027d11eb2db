import EmulatorServer
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// A fault that an endpoint simulates. It ends when it is removed, or after it has been applied a given
/// number of times.
public struct EndpointFault: Sendable, Equatable {
    /// Maximum delay: one minute, which is longer than usual timeouts.
    public static let maximumDelay: Int64 = 60_000

    /// Delay of the response, after the endpoint has done its work.
    public var delayMilliseconds: Int64 = 0
    /// Response status, 200 to 599. Without `body`, the response is an HTML error page.
    public var status: Int?
    public var body: FaultBody?
    public var cut: ConnectionCut?
    /// Replaces the configured `Cache-Control`, for example with `no-store`.
    public var cacheControl: String?
    /// Sends no `ETag`, and ignores `If-None-Match`.
    public var hidesEntityTag = false
    /// Number of requests that the fault still applies to; `nil` for all requests.
    public var remainingRequests: Int?

    /// True if the endpoint does its work before the fault applies. Default: false with `.beforeWork`, and
    /// with an error status whose body is not `.genuine`; otherwise true.
    public var doesWork: Bool?

    public init() {}

    var bodyKind: FaultBody { body ?? (status == nil ? .genuine : .html) }

    var works: Bool {
        if let doesWork { return doesWork }
        return cut != .beforeWork && (bodyKind == .genuine || (status ?? 200) < 400)
    }
}

/// An Apple endpoint that can have faults. The raw value is its name in the control API.
public enum EmulatedEndpoint: String, Sendable, CaseIterable {
    /// `GET /auth/keys`
    case keys
    /// `GET /.well-known/openid-configuration`
    case discovery
    /// `GET /auth/authorize`, and the forms on its page.
    case authorize
    /// `POST /auth/token`
    case token
    /// `POST /auth/revoke`
    case revoke
    /// `POST /auth/usermigrationinfo`
    case migration
    /// `POST /v1/attestationData`, for production and development.
    case attestationData = "attestation_data"
    /// Notifications, which the emulator sends to the receiver.
    case notifications
}

/// The body of a faulty response.
public enum FaultBody: String, Sendable, CaseIterable {
    /// The genuine body, with the fault's status or headers.
    case genuine
    /// An HTML error page like Apple's.
    case html
    case empty
    /// The genuine body, padded to more than 256 KiB, so that only a size limit can refuse it.
    case oversized
    /// The first half of the genuine body.
    case malformed
    /// JSON with different members.
    case unrelated
    /// A key set without keys. Only for `.keys`.
    case noKeys = "no_keys"
    /// A key set whose key types Apple does not use for signing. Only for `.keys`.
    case unusableKeys = "unusable_keys"
}

/// The moment at which an endpoint closes the connection.
public enum ConnectionCut: String, Sendable, CaseIterable {
    /// Closes before the endpoint does its work, so the client may retry.
    case beforeWork = "before_work"
    /// Closes after the work, before the first response byte, so the client does not know whether the work
    /// was done.
    case beforeResponse = "before_answer"
    /// Closes after the work, in the middle of the body.
    case midBody = "mid_body"
}

/// Runs an endpoint with its fault: skips or does the work, then delays, changes or cuts the response.
struct FaultInjection: Sendable {
    let state: EmulatorState
    let endpoint: EmulatedEndpoint

    /// - Parameter work: Changes the state and returns the response. Receives the request with its whole
    ///   body, and the fault, because some details can be applied only by the endpoint.
    func respond(
        to request: Request, on channel: any Channel,
        _ work: (Request, EndpointFault?) async throws -> EndpointResponse
    ) async throws -> Response {
        let start = state.exchangeStart
        let fault = state.beginRequest(on: endpoint)
        let (request, body) = await Self.collected(request)
        let response = fault?.works == false ? EndpointResponse() : try await work(request, fault)
        let faulty = FaultyResponse(response, fault: fault)
        defer { state.record(endpoint, request, body, faulty, since: start) }
        return try await carryOut(faulty, on: channel)
    }

    /// Reads the body once, for both the record and the endpoint.
    private static func collected(_ request: Request) async -> (request: Request, body: [UInt8]) {
        var request = request
        let limit = FormFields.bodyLimit
        guard let buffer = try? await request.body.collect(upTo: limit) else {
            // This body exceeds the limit too, so that the endpoint refuses the request because of its size.
            request.body = RequestBody(buffer: ByteBuffer(repeating: 0, count: limit + 1))
            return (request, [])
        }
        request.body = RequestBody(buffer: buffer)
        return (request, Array(buffer.readableBytesView))
    }

    private func carryOut(_ faulty: FaultyResponse, on channel: any Channel) async throws -> Response {
        if faulty.delayMilliseconds > 0 {
            // A shutdown ends the delay, because it must not wait for the delay to pass.
            try await cancelWhenGracefulShutdown { try await state.clock.sleep(faulty.delayMilliseconds) }
        }
        if faulty.cut == .beforeResponse || faulty.cut == .beforeWork { try await hangUp(channel) }
        guard faulty.cut == .midBody else { return faulty.response.hummingbird }
        let body = faulty.response.body
        return Response(
            status: .init(code: faulty.response.status), headers: faulty.response.headerFields,
            // An empty body is declared with a length of one byte, so that the connection can still be closed
            // before the body ends.
            body: ResponseBody(contentLength: max(1, body.count)) { writer in
                try await writer.write(ByteBuffer(bytes: body.prefix(body.count / 2)))
                try await hangUp(channel)
            })
    }

    /// Closes the connection during the response. Always throws.
    private func hangUp(_ channel: any Channel) async throws -> Never {
        try await channel.close()
        throw CancellationError()
    }
}

/// An Apple endpoint's response after a fault has changed it.
struct FaultyResponse: Equatable {
    var delayMilliseconds: Int64 = 0
    var cut: ConnectionCut?
    var response: EndpointResponse

    /// Creates the genuine response as changed by `fault`.
    init(_ genuine: EndpointResponse, fault: EndpointFault?) {
        response = genuine
        guard let fault else { return }
        delayMilliseconds = fault.delayMilliseconds
        cut = fault.cut
        if let status = fault.status { response.status = status }
        switch fault.bodyKind {
        case .genuine: break
        case .html:
            response.contentType = "text/html;charset=UTF-8"
            response.body = Array(Self.errorPage.utf8)
        case .empty: replaceBody("")
        case .oversized: pad()
        case .malformed:
            if genuine.body.isEmpty {
                replaceBody(#"{"error":"#)
            } else {
                response.body = Array(genuine.body.prefix(genuine.body.count / 2))
            }
        case .unrelated: replaceBody(#"{"error":"server_error"}"#)
        case .noKeys: replaceBody(#"{"keys":[]}"#)
        case .unusableKeys: replaceBody(Self.unusableKeys)
        }
    }

    private mutating func replaceBody(_ text: String) {
        response.contentType = EndpointResponse.jsonType
        response.body = Array(text.utf8)
    }

    /// Pads the body without changing its meaning, so that its size is the only reason to refuse it.
    private mutating func pad() {
        let padding = String(repeating: "x", count: 256 * 1024)
        if response.body.last == UInt8(ascii: "}"), response.body != Array("{}".utf8) {
            response.body.removeLast()
            response.body += Array(#","padding":"\#(padding)"}"#.utf8)
        } else {
            response.body += Array("<!--\(padding)-->".utf8)
        }
    }

    private static let errorPage = """
        <!DOCTYPE html>
        <html><head><title>Apple</title></head><body><h1>Service temporarily unavailable</h1></body></html>

        """

    /// The EC key of RFC 7517, appendix A.1, and an RSA key that is too short.
    private static let unusableKeys = """
        {"keys":[{"kty":"EC","crv":"P-256","kid":"ec","use":"sig","alg":"ES256",\
        "x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",\
        "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"},\
        {"kty":"RSA","kid":"short","use":"sig","alg":"RS256","n":"zZ_2cyb7m3Jk8Zqg6Bw5kw","e":"AQAB"}]}
        """
}
