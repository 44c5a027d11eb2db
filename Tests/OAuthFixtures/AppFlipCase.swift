/// One call of `POST /v1/oauth/app-flip`, and what must come of it.
struct AppFlipCase: Decodable, Sendable {
    let summary: String
    /// The apps that the API key is for. `nil` is all.
    let caller: [String]?
    let given: Given?
    let call: Call
    let expect: Expectation

    struct Given: Decodable {
        /// What comes of the identity.
        let identity: String
    }

    struct Call: Decodable {
        let clientId, redirectUri, state, scope, codeChallenge, codeChallengeMethod, userLocale: String?
        let decision, grantedScopes, identityToken, nonce, accountId, authenticatedAt: String?
    }

    struct Expectation: Decodable {
        let status: Int
        /// Of an error of the interface.
        let code: String?
        let outcome: String?
        let redirect: Redirect?
        /// What the code gives.
        let scope: String?
        /// `auth_time` of its tokens, as seconds before the call.
        let authenticatedSecondsAgo: Int?
        /// Of the message for the person.
        let language: String?
    }

    struct Redirect: Decodable {
        let uri: String
        let error, state: String?
    }
}
