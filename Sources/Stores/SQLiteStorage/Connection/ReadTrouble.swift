import AppleAccounts

/// The last error of a read.
///
/// A page that is damaged, or that the disk cannot read, fails only the reads that need it. A later
/// successful read does not prove a repair, so a failure counts for a while.
struct ReadTrouble: Sendable {
    static let memory = Duration.seconds(10)

    private var last: (error: StorageError, at: ContinuousClock.Instant)?

    mutating func failed(_ error: StorageError, at now: ContinuousClock.Instant) {
        switch error.code {
        case .corrupted, .unavailable: last = (error, now)
        case .busy, .full, .readOnly, .schemaTooNew, .migrationFailed, .valueRefused: break
        }
    }

    func recent(at now: ContinuousClock.Instant) -> StorageError? {
        guard let last, now - last.at < Self.memory else { return nil }
        return last.error
    }
}
