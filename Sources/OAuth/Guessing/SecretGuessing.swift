import AppleAccounts
import AuthorizationServer

/// Slows the guessing of client secrets down, per client and address (`AttemptPauses`). Right secrets are not
/// counted here.
struct SecretGuessing: Sendable {
    private struct Pair: Hashable {
        let client: OAuthClientID
        /// `nil` stands for all requests from unknown addresses.
        let address: RequesterAddress?
    }

    static let freeAttempts = AttemptPauses<Pair>.freeAttempts
    static let memory = AttemptPauses<Pair>.memory
    static let mostPairs = AttemptPauses<Pair>.mostKeys

    private var pauses = AttemptPauses<Pair>()

    var count: Int { pauses.count }

    /// Returns the seconds for which wrong secrets must wait; `nil` when the next wrong secret is counted.
    func pause(for client: OAuthClientID, at address: RequesterAddress?, now: Moment) -> Int64? {
        pauses.pause(for: Pair(client: client, address: address), now: now)
    }

    /// Returns the addresses whose guesses of a client's secret count at this moment.
    func guesses(of client: OAuthClientID, now: Moment) -> [SecretGuesses] {
        pauses.kept(where: { $0.client == client }, now: now).map { key, failures, seconds in
            SecretGuesses(
                address: key.address, wrong: failures, isSlowed: failures >= Self.freeAttempts,
                pause: seconds)
        }
    }

    mutating func failed(for client: OAuthClientID, at address: RequesterAddress?, now: Moment) {
        pauses.failed(for: Pair(client: client, address: address), now: now)
    }
}
