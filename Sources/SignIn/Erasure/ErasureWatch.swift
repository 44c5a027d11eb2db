import AppleAccounts

/// Waits for an erasure to come to its end, by whichever process.
struct ErasureWatch: Sendable {
    let grants: any GrantStore
    let clock: any Clock<Duration>
    /// The longest pause between two looks.
    private static let longestPause = Duration.milliseconds(200)

    /// The record as it is when the erasure ends, or when the time is over.
    func wait(for record: ErasureRecord, atMost time: Duration) async throws -> ErasureRecord {
        var record = record
        var waited = Duration.zero
        var pause = Duration.milliseconds(5)
        while record.finishedAt == nil, waited < time {
            let step = min(pause, time - waited)
            do {
                try await clock.sleep(for: step)
            } catch {
                // The caller has gone. What is known is an answer.
                return record
            }
            waited += step
            pause = min(pause * 2, Self.longestPause)
            if let present = try await grants.erasure(record.id) { record = present }
        }
        return record
    }
}
