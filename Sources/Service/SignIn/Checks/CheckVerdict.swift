import AppleAccounts
import AppleIDClient

/// The meaning of Apple's response to a daily check. Does no I/O.
///
/// Apple allows one call a day for each token. So a call that may have counted is not repeated before the
/// token's next day, which the claim has set already. Only `rejected` concerns the user.
enum CheckVerdict: Equatable {
    case valid
    /// `invalid_grant`: consent withdrawn, password changed, or another reason that ended the token.
    case rejected
    /// Apple was certainly not called, and a call for another token would end the same way.
    case notAsked
    /// Apple throttled the call. The call may have counted.
    case throttled
    /// An error of the configuration, for all tokens of this client ID. Says nothing about the token.
    case refusedUs
    /// The call was made, and there is no usable response.
    case unknown

    init(_ error: AppleCallError) {
        self =
            switch error.code {
            case .unreachable, .circuitOpen: .notAsked
            case .throttled: .throttled
            case .noSigningKey, .signingFailed: .refusedUs
            case .timedOut, .connectionLost, .responseUnusable, .serverFailed: .unknown
            case .rejected:
                switch error.appleError {
                case .invalidGrant: .rejected
                case .invalidClient, .unauthorizedClient: .refusedUs
                case .invalidRequest, .unsupportedGrantType, .invalidScope, .other, nil: .unknown
                }
            }
    }
}
