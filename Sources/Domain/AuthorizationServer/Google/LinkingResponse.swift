/// The responses of Google's streamlined linking that contain no tokens.
public enum LinkingResponse: Sendable, Hashable {
    /// `check`: the account exists.
    case accountFound
    /// `check`: no account exists.
    case accountNotFound
    /// `get` and `create`: the user must sign in with the browser.
    ///
    /// - Parameters:
    ///   - loginHint: The address in Google's assertion, which Google already knows. `nil` if there is none.
    ///   - reason: The reason for the refusal, for the log.
    case linkingError(loginHint: String?, reason: TokenRefusalReason)

    public var status: Int {
        switch self {
        case .accountFound: 200
        case .accountNotFound: 404
        case .linkingError: 401
        }
    }

    /// The reason for a refusal. `nil` for a response to `check`.
    public var reason: TokenRefusalReason? {
        switch self {
        case .accountFound, .accountNotFound: nil
        case .linkingError(_, let reason): reason
        }
    }

    /// Returns the response body. Google requires words instead of booleans.
    ///
    /// - Parameter explains: True in development, where the response includes the reason for a refusal.
    public func json(explains: Bool = false) -> [UInt8] {
        switch self {
        case .accountFound: return Array(#"{"account_found":"true"}"#.utf8)
        case .accountNotFound: return Array(#"{"account_found":"false"}"#.utf8)
        case .linkingError(let loginHint, let reason):
            var error = OAuthError(
                .linkingError, explains ? "\(reason.rawValue): \(reason.explanation)" : "", reason: reason)
            error.loginHint = loginHint
            return error.json
        }
    }
}
