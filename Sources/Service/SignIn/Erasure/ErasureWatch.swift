import AppleAccounts

/// Waits for the end of an erasure, even when another process carries it out.
struct ErasureWatch: Sendable {
    let tokens: any AppleTokenStore
    let clock: any Clock<Duration>
    /// The longest pause between two reads.
    private static let longestPause = Duration.milliseconds(200)

    /// Returns the record at the end of the erasure, or after `time`.
    func wait(for record: ErasureRecord, atMost time: Duration) async throws -> ErasureRecord {
        var record = record
        var waited = Duration.zero
        var pause = Duration.milliseconds(5)
        while record.finishedAt == nil, waited < time {
            let step = min(pause, time - waited)
            do {
                try await clock.sleep(for: step)
            } catch {
                // The caller has disconnected. The record that was read last is the result.
                return record
            }
            waited += step
            pause = min(pause * 2, Self.longestPause)
            if let present = try await tokens.erasure(record.id) { record = present }
        }
        return record
    }
}
