import AppleAccounts
import AppleIDClient

/// What Apple's answer to a daily check means. Pure.
///
/// Apple allows one question a day and token, so whatever may have counted as one is not asked again before
/// the token's next day, which the claim has set already. Only `rejected` says anything about the person.
enum CheckVerdict: Equatable {
    case valid
    /// `invalid_grant`: consent withdrawn, or a changed password, or something else that ended the token.
    case rejected
    /// Apple was surely not asked, and asking for another token would end the same way.
    case notAsked
    /// Turned away for coming too often. It may have counted.
    case throttled
    /// Ours to put right, for all tokens of this client ID: nothing was said about the token.
    case refusedUs
    /// Asked, and no answer that says anything.
    case unknown

    init(_ error: AppleCallError) {
        self =
            switch error.code {
            case .unreachable, .circuitOpen: .notAsked
            case .throttled: .throttled
            case .noSigningKey, .signingFailed: .refusedUs
            case .timedOut, .connectionLost, .answerUnusable, .serverFailed: .unknown
            case .rejected:
                switch error.appleError {
                case .invalidGrant: .rejected
                case .invalidClient, .unauthorizedClient: .refusedUs
                case .invalidRequest, .unsupportedGrantType, .invalidScope, .other, nil: .unknown
                }
            }
    }
}
