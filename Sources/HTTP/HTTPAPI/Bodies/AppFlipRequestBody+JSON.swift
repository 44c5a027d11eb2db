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
            guard try !read(name, &body) else { continue }
            switch name {
            case "decision": decision = try Self.text("decision", &body)
            case "granted_scopes": grantedScopes = try Self.text("granted_scopes", &body)
            case "identity_token": identityToken = try body.string("identity_token")
            case "nonce": nonce = try body.string("nonce")
            case "attestation": attestation = try body.value()
            case "app_version": appVersion = try body.string("app_version")
            default: throw Problem.unknownMember(name)
            }
        }
    }

    /// Reads the body of `POST /v1/oauth/app-flip/prompt`. The decision of a user who was not asked, and an
    /// identity token, which a prompt must not use up, are unknown members there.
    init(parsingPrompt bytes: [UInt8]) throws(Problem) {
        var body = try RequestBody(bytes)
        self.init()
        while let name = try body.next() {
            guard try read(name, &body) else { throw Problem.unknownMember(name) }
        }
    }

    /// Reads a member of both bodies. Returns `false`, and reads nothing, for every other name.
    private mutating func read(_ name: JSONName, _ body: inout RequestBody) throws(Problem) -> Bool {
        switch name {
        case "client_id": clientID = try Self.text("client_id", &body)
        case "redirect_uri": redirectURI = try Self.text("redirect_uri", &body)
        case "state": state = try Self.text("state", &body)
        case "scope": scope = try Self.text("scope", &body)
        case "code_challenge": codeChallenge = try Self.text("code_challenge", &body)
        case "code_challenge_method":
            codeChallengeMethod = try Self.text("code_challenge_method", &body)
        case "user_locale": userLocale = try Self.text("user_locale", &body)
        case "accept_language": acceptLanguage = try Self.text("accept_language", &body)
        case "account_id": accountID = try body.string("account_id")
        case "authenticated_at":
            guard let text = try body.string("authenticated_at") else { return true }
            guard let moment = Moment(rfc3339: text) else {
                throw Problem(.memberMalformed, subject: .member("authenticated_at"))
            }
            authenticatedAt = moment
        default: return false
        }
        return true
    }

    private static func text(_ name: String, _ body: inout RequestBody) throws(Problem) -> String? {
        switch try body.value() {
        case nil: return nil
        case .string(let text): return text
        case .null, .bool, .integer, .number, .array, .object:
            throw Problem(.memberMalformed, subject: .member(name))
        }
    }
}
