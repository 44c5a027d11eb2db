import AppleIDClient

/// What Apple said to one client ID's secret from one key.
struct ClientSecretTrial: Equatable, Sendable {
    enum Outcome: Equatable, Sendable {
        /// Apple looked at the code, which it does only when the secret is good.
        case accepted
        /// `invalid_client`: something about the secret is wrong, Apple does not say what.
        case refused
        /// `unauthorized_client`: the secret is good, the client ID may not do this.
        case unauthorized
        /// Nothing was learned.
        case unanswered(AppleCallError.Code)
    }

    let team: String
    let keyID: String
    let clientID: String
    let outcome: Outcome

    /// No code of Apple's looks like this, so that none can be used up.
    static let bogusCode = "siwa-doctor-asks-with-a-code-that-cannot-be"

    /// - Parameter error: Of an exchange of the bogus code; `nil` when it was exchanged, as Apple never does.
    static func outcome(of error: AppleCallError?) -> Outcome {
        guard let error else { return .accepted }
        guard error.code == .rejected else { return .unanswered(error.code) }
        switch error.appleError {
        case .invalidClient: return .refused
        case .unauthorizedClient: return .unauthorized
        case .invalidRequest, .invalidGrant, .unsupportedGrantType, .invalidScope, .other, nil:
            return .accepted
        }
    }
}
