/// How an endpoint misbehaves until the fault is cleared or used up.
public struct EndpointFault: Sendable, Equatable {
    /// The longest delay: a minute is past every sane time-out.
    public static let maximumDelay: Int64 = 60_000

    /// How long the answer is held back, after the work.
    public var delayMilliseconds: Int64 = 0
    /// 200 to 599. Alone, it comes with an error page.
    public var status: Int?
    public var body: FaultBody?
    public var cut: ConnectionCut?
    /// Replaces the configured `Cache-Control`, for example by `no-store`.
    public var cacheControl: String?
    /// No `ETag`, and `If-None-Match` is not looked at.
    public var hidesEntityTag = false
    /// How many requests it still applies to; `nil` for all.
    public var remainingRequests: Int?

    /// Whether the endpoint does what it was asked for before it misbehaves. When `nil`: not with `.beforeWork`, and not
    /// under a status of an error with another body than the genuine one.
    public var doesWork: Bool?

    public init() {}

    var answerKind: FaultBody { body ?? (status == nil ? .genuine : .html) }

    var works: Bool {
        if let doesWork { return doesWork }
        return cut != .beforeWork && (answerKind == .genuine || (status ?? 200) < 400)
    }
}
