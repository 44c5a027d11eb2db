/// The registered receiver of Google's events, and the service accounts that may register it. Pure, and
/// bounded.
struct EventStreamBook: Sendable, Codable {
    /// Number of service accounts, at most; the oldest is dropped.
    static let mostAccounts = 8

    /// A registered receiver.
    struct Stream: Sendable, Codable, Equatable {
        var url: String
        /// URIs of the requested events.
        var events: [String]
        var isEnabled = true
    }

    private(set) var stream: Stream?
    private(set) var accounts: [ServiceAccount] = []

    mutating func add(_ account: ServiceAccount) {
        if accounts.count >= Self.mostAccounts { accounts.removeFirst() }
        accounts.append(account)
    }

    /// Registers the receiver, or replaces it. A new stream is enabled, a known one keeps its status.
    mutating func register(url: String, events: [String]) {
        stream = Stream(url: url, events: events, isEnabled: stream?.isEnabled ?? true)
    }

    /// Returns `false` when nothing is registered.
    mutating func setStatus(isEnabled: Bool) -> Bool {
        guard stream != nil else { return false }
        stream?.isEnabled = isEnabled
        return true
    }

    mutating func removeStream() { stream = nil }
}
