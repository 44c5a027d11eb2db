import AppleAccounts
import SQLTables

/// Listens for the account events that any replica commits, on its own connection.
struct EventAnnouncements: Sendable {
    private static let listen = PostgresCall(
        PostgresStatement("listen", "LISTEN \(EventAppending.channel)"))

    /// Interval at which the counter is read even without an announcement, because a pooler may not forward
    /// announcements.
    private static let pollInterval = Duration.seconds(3)
    /// Longest wait of one poll. A cancelled task ends within this time.
    private static let slice = Duration.milliseconds(500)

    private let connection: PostgresConnection

    init(_ url: PostgresURL) {
        connection = PostgresConnection(url, number: -1)
    }

    /// Runs until it is cancelled. The reported numbers rise, and no number is reported twice.
    func run(_ onSequence: @escaping @Sendable (Int64) -> Void) async {
        var told: Int64 = 0
        var nextPoll = ContinuousClock.now
        while !Task.isCancelled {
            let isPolling = ContinuousClock.now >= nextPoll
            do {
                let heard = try await connection.run { session in
                    try Self.hear(session, polls: isPolling, until: .now + Self.slice)
                }
                if isPolling { nextPoll = .now + Self.pollInterval }
                if let heard, heard > told {
                    told = heard
                    onSequence(heard)
                }
            } catch {
                // The pool reports a lost connection; this loop only retries.
                try? await Task.sleep(for: .milliseconds(250))
            }
        }
        await connection.close()
    }

    /// Returns the latest number after listening for a short while.
    private static func hear(
        _ session: PostgresSession, polls: Bool, until deadline: ContinuousClock.Instant
    ) throws -> Int64? {
        guard session.isListening else {
            // The session listens before it reads, so that it misses no event: reading finds earlier
            // events, and later events are announced.
            _ = try session.run(listen)
            session.isListening = true
            return try session.lastEvent()
        }
        if polls { return try session.lastEvent() }
        return try session.notifications(before: deadline).compactMap { Int64($0) }.max()
    }
}
