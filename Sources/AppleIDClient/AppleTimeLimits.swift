/// How long Apple may take.
public struct AppleTimeLimits: Sendable, Equatable {
    /// To connect, TLS included: 5 seconds.
    public let connect: Duration
    /// Without a byte arriving: 5 seconds.
    public let read: Duration
    /// For the whole exchange: 10 seconds. Without it, a byte now and then would keep a request open for
    /// ever.
    public let total: Duration

    public init(
        connect: Duration = .seconds(5), read: Duration = .seconds(5), total: Duration = .seconds(10)
    ) {
        self.connect = connect
        self.read = read
        self.total = total
    }
}
