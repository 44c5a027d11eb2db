import AppleAccounts
import AuthorizationServer
import StrictJSON

extension AppFlipRequestBody {
    /// Reads the body of `POST /v1/oauth/app-flip`. An empty text is accepted here, because Google may send
    /// one: it counts as a missing parameter, and Google gets the error.
    init(parsing bytes: [UInt8]) throws(Problem) {
        var body = try RequestBody(bytes)
        self.init()
        while let name = try body.next() {
            switch name {
            case "client_id": clientID = try Self.text("client_id", &body)
            case "redirect_uri": redirectURI = try Self.text("redirect_uri", &body)
            case "state": state = try Self.text("state", &body)
            case "scope": scope = try Self.text("scope", &body)
            case "code_challenge": codeChallenge = try Self.text("code_challenge", &body)
            case "code_challenge_method":
                codeChallengeMethod = try Self.text("code_challenge_method", &body)
            case "user_locale": userLocale = try Self.text("user_locale", &body)
            case "decision": decision = try Self.text("decision", &body)
            case "granted_scopes": grantedScopes = try Self.text("granted_scopes", &body)
            case "identity_token": identityToken = try body.string("identity_token")
            case "nonce": nonce = try body.string("nonce")
            case "account_id": accountID = try body.string("account_id")
            case "attestation": attestation = try body.value()
            case "app_version": appVersion = try body.string("app_version")
            case "authenticated_at":
                guard let text = try body.string("authenticated_at") else { continue }
                guard let moment = Moment(rfc3339: text) else {
                    throw Problem(.memberMalformed, subject: .member("authenticated_at"))
                }
                authenticatedAt = moment
            default: throw Problem.unknownMember(name)
            }
        }
    }

    private static func text(_ name: String, _ body: inout RequestBody) throws(Problem) -> String? {
        switch try body.value() {
        case nil: return nil
        case .string(let text): return text
        default: throw Problem(.memberMalformed, subject: .member(name))
        }
    }
}
