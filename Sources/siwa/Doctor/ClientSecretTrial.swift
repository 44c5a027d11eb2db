import AppleIDClient

/// Apple's response to the secret of one client ID and one key.
struct ClientSecretTrial: Equatable, Sendable {
    enum Outcome: Equatable, Sendable {
        /// Apple checked the code, which it does only when the secret is valid.
        case accepted
        /// `invalid_client`: the secret is wrong; Apple does not say why.
        case refused
        /// `unauthorized_client`: the secret is valid, but the client ID may not use this endpoint.
        case unauthorized
        /// No usable response arrived.
        case unanswered(AppleCallError.Code)
    }

    let team: String
    let keyID: String
    let clientID: String
    let outcome: Outcome

    /// A code that does not have the format of Apple's codes, so that no real code is used up.
    static let bogusCode = "siwa-doctor-asks-with-a-code-that-cannot-be"

    /// - Parameter error: The error of exchanging the bogus code; `nil` when it was exchanged, which Apple
    ///   never does.
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
