/// A fault of an endpoint, until it is removed or has been applied often enough.
public struct EndpointFault: Sendable, Equatable {
    /// The longest delay: a minute is longer than usual timeouts.
    public static let maximumDelay: Int64 = 60_000

    /// The delay of the response, after the work.
    public var delayMilliseconds: Int64 = 0
    /// Status of the response, 200 to 599. Without `body`, the response is an error page.
    public var status: Int?
    public var body: FaultBody?
    public var cut: ConnectionCut?
    /// Replaces the configured `Cache-Control`, for example with `no-store`.
    public var cacheControl: String?
    /// Sends no `ETag`, and ignores `If-None-Match`.
    public var hidesEntityTag = false
    /// The number of requests to which the fault still applies; `nil` for all.
    public var remainingRequests: Int?

    /// True if the endpoint does its work before the fault. Default: false with `.beforeWork`, and with an
    /// error status whose body is not `.genuine`; otherwise true.
    public var doesWork: Bool?

    public init() {}

    var bodyKind: FaultBody { body ?? (status == nil ? .genuine : .html) }

    var works: Bool {
        if let doesWork { return doesWork }
        return cut != .beforeWork && (bodyKind == .genuine || (status ?? 200) < 400)
    }
}

/// An endpoint of Apple on which faults can be set. The raw value is its name in the control API.
public enum EmulatedEndpoint: String, Sendable, CaseIterable {
    /// `GET /auth/keys`
    case keys
    /// `GET /.well-known/openid-configuration`
    case discovery
    /// `GET /auth/authorize`, and the forms of its page.
    case authorize
    /// `POST /auth/token`
    case token
    /// `POST /auth/revoke`
    case revoke
    /// `POST /auth/usermigrationinfo`
    case migration
    /// `POST /v1/attestationData`, for production and development.
    case attestationData = "attestation_data"
    /// Notifications to the receiver, which the emulator sends.
    case notifications
}

/// The body of a faulty response.
public enum FaultBody: String, Sendable, CaseIterable {
    /// The genuine body, with the fault's status or headers.
    case genuine
    /// An HTML error page, as Apple has sent.
    case html
    case empty
    /// The genuine body, padded to more than 256 KiB, so that only a size limit refuses it.
    case oversized
    /// The first half of the genuine body.
    case malformed
    /// JSON of another kind.
    case unrelated
    /// A key set without keys. Only for `.keys`.
    case noKeys = "no_keys"
    /// A key set with keys that Apple does not sign with. Only for `.keys`.
    case unusableKeys = "unusable_keys"
}

/// Moment at which an endpoint closes the connection.
public enum ConnectionCut: String, Sendable, CaseIterable {
    /// Closes before the work of the endpoint: the client may retry.
    case beforeWork = "before_work"
    /// Closes after the work, before the first byte of the response: the client does not know that the work
    /// was done.
    case beforeResponse = "before_answer"
    /// Closes after the work, in the middle of the body.
    case midBody = "mid_body"
}
