import EmulatorServer
import StrictJSON

/// A Google account, with the values that its ID tokens contain.
struct GoogleAccount: Sendable {
    var subject = "110169484474386276334"
    var email = "ada@gmail.com"
    var isEmailVerified = true
    /// Google Workspace domain. Google is authoritative for its addresses.
    var hostedDomain: String?

    /// Returns the claims for an ID token that the authorization server receives.
    ///
    /// - Parameter now: Seconds since 1970.
    func claims(for audience: String, at now: Int64) -> JSONObject {
        var claims = JSONObject([
            ("iss", .string("https://accounts.google.com")), ("aud", .string(audience)),
            ("sub", .string(subject)), ("email", .string(email)), ("email_verified", .bool(isEmailVerified)),
            ("iat", .integer(now)), ("exp", .integer(now + 3600)),
        ])
        claims["hd"] = hostedDomain.map { .string($0) }
        return claims
    }
}

/// Intents that streamlined linking supports.
enum StreamlinedIntent: String, CaseIterable {
    /// Asks whether the user has an account.
    case check
    /// Requests tokens for the user's account.
    case get
    /// Requests tokens for a new account.
    case create
}

extension Linking {
    /// Sends a request with Google's ID token as the assertion (RFC 7523). If the response contains tokens,
    /// adds a link.
    ///
    /// - Parameter assertion: Assertion to send instead of a genuine ID token, for tests.
    func streamlined(
        _ intent: StreamlinedIntent, _ account: GoogleAccount, scope: String?, assertion: String? = nil
    ) async throws(EmulatorError) -> (response: ServerClient.Response, link: AccountLink?) {
        let audience = state.configuration.googleClientID
        let honest = try state.signingKey().sign(account.claims(for: audience, at: state.now), type: "JWT")
        let fields = [
            (name: "grant_type", value: "urn:ietf:params:oauth:grant-type:jwt-bearer"),
            ("intent", intent.rawValue), ("assertion", assertion ?? honest),
            ("scope", scope ?? state.configuration.scopes.joined(separator: " ")),
        ]
        let response = await client.post(
            .assertion, "Google asks with the intent \(intent.rawValue)", try state.server().tokenURL,
            .form(fields + clientFields), at: .token)
        guard intent != .check, response.status == 200, let tokens = response.json.flatMap({ LinkTokens($0) })
        else { return (response, nil) }
        return (response, add(.streamlined, tokens, subject: account.subject))
    }
}
