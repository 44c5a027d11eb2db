/// A call of `POST /v1/oauth/app-flip` or of its prompt, and the expected result.
struct AppFlipCase: Decodable, Sendable {
    let summary: String
    /// The apps of the API key; `nil` for all apps.
    let caller: [String]?
    let given: Given?
    let call: Call
    let expect: Expectation

    struct Given: Decodable {
        /// Result of checking the identity.
        let identity: String
    }

    struct Call: Decodable {
        let clientId, redirectUri, state, scope, codeChallenge, codeChallengeMethod, userLocale: String?
        let acceptLanguage: String?
        let decision, grantedScopes, identityToken, nonce, accountId, authenticatedAt: String?
    }

    struct Expectation: Decodable {
        let status: Int
        /// Code of an error of the interface.
        let code: String?
        let outcome: String?
        let redirect: Redirect?
        /// Scope of the tokens for the code.
        let scope: String?
        /// `auth_time` of the tokens for the code, as seconds before the call.
        let authenticatedSecondsAgo: Int?
        /// Language of the message for the user.
        let language: String?
        /// Contents of the sheet.
        let prompt: Prompt?
        /// True if a new sign-in makes linking possible.
        let signInAgain: Bool?
    }

    struct Prompt: Decodable {
        let language, scope: String
        let optional: String?
    }

    struct Redirect: Decodable {
        let uri: String
        let error, state: String?
    }
}
