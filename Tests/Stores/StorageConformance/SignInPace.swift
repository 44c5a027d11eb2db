package import AppleAccounts

/// Measures what the history costs sign-ins of known users.
package enum SignInPace {
    /// Returns the times of one sign-in of known users in batches of 64: again on the same day, which the history does
    /// not note, and on a new day, which it notes.
    package static func measure(
        _ store: some AccountStore, users: Int, rounds: Int
    ) async throws -> (sameDay: Duration, newDay: Duration) {
        let day: Int64 = 86_400_000
        func round(_ moment: Int64) async throws -> Duration {
            let begin = ContinuousClock.now
            for start in stride(from: 0, to: users, by: 64) {
                let commands = (start..<min(start + 64, users)).map { number -> AccountCommand in
                    .signIn(
                        .sample(
                            key: .sample(AppleSubject(stringLiteral: "known-\(number)")),
                            authorizedAt: Moment(milliseconds: moment),
                            receivedAt: Moment(milliseconds: moment)))
                }
                _ = try await store.commit(commands)
            }
            return (ContinuousClock.now - begin) / users
        }
        _ = try await round(day)
        var (same, new) = (Duration.zero, Duration.zero)
        for number in 1...Int64(rounds) {
            new += try await round((number + 1) * day)
            same += try await round((number + 1) * day + 1000)
        }
        return (same / rounds, new / rounds)
    }
}
