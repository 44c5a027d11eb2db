import StrictJSON

/// The responses of Google's streamlined linking without tokens.
public enum LinkingResponse: Sendable, Hashable {
    /// `check`: the account exists.
    case accountFound
    /// `check`: no account exists.
    case accountNotFound
    /// `get` and `create`: the user has to sign in in the browser.
    ///
    /// - Parameters:
    ///   - loginHint: The address in Google's assertion, which Google knows already. `nil` without an
    ///     address.
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

    /// Returns the body of the response. Google requires words in place of booleans.
    ///
    /// - Parameter explains: `true` in development: the response names the reason of a refusal.
    public func json(explains: Bool = false) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 128)
        json.beginObject()
        switch self {
        case .accountFound: json.member("account_found", "true")
        case .accountNotFound: json.member("account_found", "false")
        case .linkingError(let loginHint, let reason):
            json.member("error", OAuthError.Code.linkingError.rawValue)
            if explains { json.member("error_description", "\(reason.rawValue): \(reason.explanation)") }
            json.member("login_hint", ifPresent: loginHint)
        }
        json.endObject()
        return json.bytes
    }
}
