/// The time limits of a request to Apple.
public struct AppleTimeLimits: Sendable, Equatable {
    /// For the connection, including TLS: 5 seconds.
    public let connect: Duration
    /// Without a byte arriving: 5 seconds.
    public let read: Duration
    /// For the request and the whole response: 10 seconds. Without this limit, a response that arrives byte
    /// by byte would keep a request open forever.
    public let total: Duration

    public init(
        connect: Duration = .seconds(5), read: Duration = .seconds(5), total: Duration = .seconds(10)
    ) {
        self.connect = connect
        self.read = read
        self.total = total
    }
}
