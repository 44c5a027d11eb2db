/// A fault of an endpoint, until it is removed or has been applied often enough.
public struct EndpointFault: Sendable, Equatable {
    /// The longest delay: a minute is longer than usual timeouts.
    public static let maximumDelay: Int64 = 60_000

    /// The delay of the response, after the work.
    public var delayMilliseconds: Int64 = 0
    /// 200 to 599. Without `body`, the response is an error page.
    public var status: Int?
    public var body: FaultBody?
    public var cut: ConnectionCut?
    /// Replaces the configured `Cache-Control`, for example with `no-store`.
    public var cacheControl: String?
    /// Sends no `ETag`, and ignores `If-None-Match`.
    public var hidesEntityTag = false
    /// The number of requests to which it still applies; `nil` for all.
    public var remainingRequests: Int?

    /// Whether the endpoint does its work before the fault. When `nil`: not with `.beforeWork`, and not with
    /// an error status and a body other than `.genuine`.
    public var doesWork: Bool?

    public init() {}

    var answerKind: FaultBody { body ?? (status == nil ? .genuine : .html) }

    var works: Bool {
        if let doesWork { return doesWork }
        return cut != .beforeWork && (answerKind == .genuine || (status ?? 200) < 400)
    }
}
