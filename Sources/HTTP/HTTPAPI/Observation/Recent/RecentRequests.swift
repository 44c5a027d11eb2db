import HTTPEngine
import NIOCore
import NIOHTTP1
import Synchronization

/// The most recent requests to the process, for the console. Exists only in a service with a console.
///
/// Three rings keep refused requests from authenticated callers, accepted requests from authenticated callers,
/// and unauthenticated requests, so that neither a busy caller nor a flood of anonymous requests displaces the
/// requests that an operator needs.
public final class RecentRequests: Sendable {
    /// Capacity of each ring, in requests.
    package static let refusedBound = 500
    package static let acceptedBound = 500
    package static let unknownBound = 250
    /// Maximum total size of the bodies kept in development, in bytes. Above this limit, the rings drop the
    /// oldest bodies.
    package static let exchangeBound = 8 * 1024 * 1024

    private struct State {
        var refused = Ring<RecentRequest>(bound: refusedBound)
        var accepted = Ring<RecentRequest>(bound: acceptedBound)
        var unknown = Ring<RecentRequest>(bound: unknownBound)
        var count = 0
        var exchangeBytes = 0

        mutating func append(_ entry: RecentRequest) {
            exchangeBytes += entry.exchange?.size ?? 0
            let gone =
                if !entry.isProven {
                    unknown.append(entry)
                } else if entry.isRefused {
                    refused.append(entry)
                } else {
                    accepted.append(entry)
                }
            exchangeBytes -= gone?.exchange?.size ?? 0
            while exchangeBytes > exchangeBound {
                // Drops the bodies of accepted requests first, because they are the most frequent and the
                // least useful.
                var freed = accepted.dropOldestExchange()
                if freed == 0 { freed = unknown.dropOldestExchange() }
                if freed == 0 { freed = refused.dropOldestExchange() }
                guard freed > 0 else { return }
                exchangeBytes -= freed
            }
        }
    }

    /// True in development, where the console also keeps the bodies.
    package let keepsExchanges: Bool
    private let state = Mutex(State())

    private let appended: (@Sendable () -> Void)?

    /// - Parameter appended: Called after each request is added, on the request's event loop.
    public init(keepsExchanges: Bool, whenAppended appended: (@Sendable () -> Void)? = nil) {
        (self.keepsExchanges, self.appended) = (keepsExchanges, appended)
    }

    /// - Parameter make: Creates the entry with the given number.
    func append(_ make: (_ number: Int) -> RecentRequest) {
        state.withLock { state in
            state.count += 1
            state.append(make(state.count))
        }
        appended?()
    }

    /// All requests, the newest first.
    package var all: [RecentRequest] {
        let entries = state.withLock { $0.refused.entries + $0.accepted.entries + $0.unknown.entries }
        return entries.sorted { $0.number > $1.number }
    }

    /// Returns the requests with this ID, the newest first. A client may use the same ID for several
    /// requests.
    package func requests(withID id: String) -> [RecentRequest] {
        let entries = state.withLock { state in
            [state.refused, state.accepted, state.unknown].flatMap { ring in
                ring.entries.filter { $0.requestID == id }
            }
        }
        return entries.sorted { $0.number > $1.number }
    }

    /// Number of requests since the process started.
    package var count: Int { state.withLock { $0.count } }
}

extension Ring<RecentRequest> {
    /// Removes the bodies from the oldest entry that still has bodies, and returns their size.
    fileprivate mutating func dropOldestExchange() -> Int {
        var size = 0
        changeOldest { request in
            guard let exchange = request.exchange else { return false }
            size = exchange.size
            request.exchange = nil
            return true
        }
        return size
    }
}

/// A request as the console shows it.
package struct RecentRequest: Sendable {
    /// Sequence number of the request in this process. Later requests have larger numbers.
    package let number: Int
    /// Time of the request, in milliseconds since 1970.
    package let time: Int64
    package let method: String
    /// The path template of the route; `none` if no call matches.
    package let route: String
    package let status: Int
    package let code: String?
    /// The name of the caller's API key.
    package let caller: String?
    /// The ID of the configured OAuth client that the request names.
    package let client: String?
    /// True if a key, a secret or a signature proves the caller's identity. Without proof, any program can
    /// name a client.
    package let isProven: Bool
    package let microseconds: Int64
    /// Start of the request, in nanoseconds on the machine's monotonic clock.
    package let begin: UInt64
    package let requestID: String
    package let traceID: String?
    /// Reason and grant type of a refused token request.
    package let reason: String?
    package let grantType: String?
    package let refusal: RecentRefusal?
    /// The complete request and response. `nil` outside of development, and if the exchange was dropped
    /// because of the size limit.
    package var exchange: KeptExchange?

    package var isRefused: Bool { status >= 400 || code != nil || reason != nil }
}

/// A request's error: the check that refused it, the expected value, and the value found.
package struct RecentRefusal: Sendable, Equatable {
    /// The failed verification step, or the kind of error.
    package let check: String
    /// The expected value, as a fixed sentence.
    package let expected: String
    /// The wrong value in the unverified request, truncated and without secrets or user names. Shown only in the
    /// console. `nil` if the error concerns no value.
    package let found: String?
}

/// A complete request and its response, for development. Contains every secret that the client sent.
package struct KeptExchange: Sendable {
    /// Maximum number of bytes kept per body.
    package static let longestBody = 16 * 1024

    package let target: String
    package let contentType: String?
    package let authorization: String?
    package let body: [UInt8]
    /// True if the body was truncated. A request with a truncated body cannot be sent again.
    package let isBodyCut: Bool
    package let response: [UInt8]
    package let responseType: String?
    /// The target of a redirect response.
    package let location: String?

    /// Approximate memory size, in bytes.
    var size: Int {
        target.utf8.count + body.count + response.count + (authorization?.utf8.count ?? 0)
            + (location?.utf8.count ?? 0)
    }
}

/// Properties that a command needs to send the request again.
extension RecentRequest {
    /// The credential that the request needs.
    package enum Credential: Sendable, Equatable {
        case none
        case apiKey
        /// The ID and secret of an OAuth client, sent by HTTP Basic.
        case clientSecret
        case accessToken
    }

    /// The endpoint that the request matched; `nil` if it matched no endpoint.
    private var endpoint: Endpoint? {
        let method = HTTPMethod(rawValue: method)
        return Endpoint.all.first { $0.path.description == route && $0.method.isMeant(by: method) }
    }

    package var credential: Credential {
        guard let endpoint else { return .none }
        return switch endpoint.caller {
        case .apiKey, .metricsReader: .apiKey
        case .anyone: .none
        case .oauthClient: clientCredential(at: endpoint)
        }
    }

    private func clientCredential(at endpoint: Endpoint) -> Credential {
        // Introspection also accepts an API key.
        if caller != nil { return .apiKey }
        if endpoint === Endpoint.getUserInfo || endpoint === Endpoint.postUserInfo { return .accessToken }
        // An event needs no credential, because the signature in its body proves the sender.
        if endpoint.body == .securityEventToken { return .none }
        if let exchange {
            guard let authorization = exchange.authorization else { return .none }
            return authorization.lowercased().hasPrefix("bearer ") ? .accessToken : .clientSecret
        }
        // Only a secret authenticates a client, so a proven client has sent one. A public client has no
        // secret, and the service refuses its request if it sends one.
        let isRefusedAsUnknown = ["client_not_authenticated", "invalid_client"].contains(reason ?? code ?? "")
        return isProven || isRefusedAsUnknown ? .clientSecret : .none
    }

    /// The media type of the request body; `nil` for a call without a body.
    package var bodyType: String? {
        switch endpoint?.body {
        case BodyFormat.none?, nil: nil
        case .json?: "application/json"
        case .form?, .pageForm?, .oauthForm?: "application/x-www-form-urlencoded"
        case .securityEventToken?: "application/secevent+jwt"
        }
    }
}

/// Collects facts about a request for the console until its response is written. Exists only in a service
/// with a console.
final class RequestNotes: Sendable {
    private let noted = Mutex<RecentRefusal?>(nil)
    private let sent: SentAuthorization
    private let target: String?
    private let contentType: String?
    private let authorization: String?
    private let body: [UInt8]
    private let isBodyCut: Bool

    /// - Parameter keepsExchange: True in development, where the bodies are kept.
    init(_ incoming: IncomingRequest, keepsExchange: Bool) {
        sent = SentAuthorization(incoming.fields.authorization)
        guard keepsExchange else {
            (target, contentType, authorization, body, isBodyCut) = (nil, nil, nil, [], false)
            return
        }
        let bytes = incoming.bodyBytes
        target = incoming.head.uri
        (contentType, authorization) = (incoming.fields.contentType, incoming.fields.authorization)
        body = Array(bytes.prefix(KeptExchange.longestBody))
        isBodyCut = bytes.count > KeptExchange.longestBody
    }

    var refusal: RecentRefusal? { noted.withLock { $0 } }

    func refused(_ error: any Error) {
        let refusal = RecentRefusal(error, sent: sent)
        noted.withLock { $0 = refusal }
    }

    func exchange(_ response: HTTPResponse) -> KeptExchange? {
        guard let target else { return nil }
        var bytes = response.body
        if let shared = response.sharedBody { bytes += shared.readableBytesView }
        return KeptExchange(
            target: target, contentType: contentType, authorization: authorization, body: body,
            isBodyCut: isBodyCut, response: Array(bytes.prefix(KeptExchange.longestBody)),
            responseType: response.contentType?.description,
            location: response.fields.first { $0.name.description == "location" }?.value)
    }
}
