/// What the emulator did since it was started or reset, for tests that count.
public struct EmulatorCounters: Sendable, Equatable {
    /// Requests for `/auth/keys`, however they were answered.
    public internal(set) var keySetRequests = 0
    /// Those of them that got 304.
    public internal(set) var keySetNotModified = 0
    /// Those of them that met a fault.
    public internal(set) var keySetFaults = 0
    public internal(set) var identityTokens = 0
    /// Notifications built, delivered or not.
    public internal(set) var notifications = 0
    /// Notifications posted, however they were answered.
    public internal(set) var deliveries = 0
    /// Those of them that got no 200.
    public internal(set) var deliveriesRefused = 0

    public init() {}
}
