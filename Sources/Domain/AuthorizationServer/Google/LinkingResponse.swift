/// The responses of Google's streamlined linking without tokens.
public enum LinkingResponse: Sendable, Hashable {
    /// `check`: the account exists.
    case accountFound
    /// `check`: no account exists.
    case accountNotFound
    /// `get` and `create`: the user must sign in in the browser.
    ///
    /// - Parameters:
    ///   - loginHint: The address in Google's assertion, which Google
    ///     already knows. `nil` without an address.
    ///   - reason: The reason of the refusal, for the log.
    case linkingError(loginHint: String?, reason: TokenRefusalReason)

    public var status: Int {
        switch self {
        case .accountFound: 200
        case .accountNotFound: 404
        case .linkingError: 401
        }
    }

    /// The reason of a refusal; `nil` for a response to `check`.
    public var reason: TokenRefusalReason? {
        switch self {
        case .accountFound, .accountNotFound: nil
        case .linkingError(_, let reason): reason
        }
    }

    /// Returns the body of the response. Google requires words instead of booleans.
    ///
    /// - Parameter explains: True in development: the response names the reason of a refusal.
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
