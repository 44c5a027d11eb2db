import StrictJSON

/// The responses of Google's streamlined linking that have no tokens.
public enum LinkingResponse: Sendable, Hashable {
    /// `check`: there is an account.
    case accountFound
    /// `check`: there is none.
    case accountNotFound
    /// `get` and `create`: the person has to sign in in the browser.
    ///
    /// - Parameter loginHint: The address in Google's assertion, which Google knows already. `nil` when there
    ///   is none.
    case linkingError(loginHint: String?)

    public var status: Int {
        switch self {
        case .accountFound: 200
        case .accountNotFound: 404
        case .linkingError: 401
        }
    }

    /// The body of the response. Google wants words in place of booleans.
    public var json: [UInt8] {
        var json = JSONWriter(reservingCapacity: 128)
        json.beginObject()
        switch self {
        case .accountFound: json.member("account_found", "true")
        case .accountNotFound: json.member("account_found", "false")
        case .linkingError(let loginHint):
            json.member("error", OAuthError.Code.linkingError.rawValue)
            json.member("login_hint", ifPresent: loginHint)
        }
        json.endObject()
        return json.bytes
    }
}
