import StrictJSON

/// The responses of Google's streamlined linking without tokens.
public enum LinkingResponse: Sendable, Hashable {
    /// `check`: the account exists.
    case accountFound
    /// `check`: no account exists.
    case accountNotFound
    /// `get` and `create`: the user has to sign in in the browser.
    ///
    /// - Parameter loginHint: The address in Google's assertion, which Google knows already. `nil` without an
    ///   address.
    case linkingError(loginHint: String?)

    public var status: Int {
        switch self {
        case .accountFound: 200
        case .accountNotFound: 404
        case .linkingError: 401
        }
    }

    /// The body of the response. Google requires words in place of booleans.
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
