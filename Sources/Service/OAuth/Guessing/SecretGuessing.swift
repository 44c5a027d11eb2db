import AppleAccounts
import AuthorizationServer

/// Slows the guessing of client secrets down, per client and network (`AttemptPauses`). Right secrets are not
/// counted here.
typealias SecretGuessing = AttemptPauses<OAuthClientID>

extension SecretGuessing {
    /// Returns the networks whose guesses of a client's secret count at this moment.
    func guesses(of client: OAuthClientID, now: Moment) -> [SecretGuesses] {
        kept(for: client, now: now).map {
            SecretGuesses(network: $0.network, wrong: $0.failures, isSlowed: $0.isSlowed, pause: $0.seconds)
        }
    }
}
