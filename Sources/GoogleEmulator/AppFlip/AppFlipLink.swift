import Encodings

/// A universal link, as the app on the person's iPhone receives it.
struct AppFlipLink: Sendable {
    let clientID: String
    let redirectURI: String
    let state: String
    let scope: String
    let userLocale: String?
    let codeChallenge: String?
    let codeChallengeMethod: String?

    init(_ fields: [(name: String, value: String)]) {
        func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
        (clientID, redirectURI) = (value("client_id") ?? "", value("redirect_uri") ?? "")
        (state, scope, userLocale) = (value("state") ?? "", value("scope") ?? "", value("user_locale"))
        (codeChallenge, codeChallengeMethod) = (value("code_challenge"), value("code_challenge_method"))
    }

    /// The parameters in the order of the link.
    var fields: [(name: String, value: String)] {
        var fields = [
            (name: "client_id", value: clientID), ("redirect_uri", redirectURI), ("state", state),
            ("scope", scope),
        ]
        if let userLocale { fields.append(("user_locale", userLocale)) }
        if let codeChallenge { fields.append(("code_challenge", codeChallenge)) }
        if let codeChallengeMethod { fields.append(("code_challenge_method", codeChallengeMethod)) }
        return fields
    }

    /// What the app opens by itself when it cannot ask its backend. The state comes back, so that Google can
    /// go on in the browser.
    func url(error: String) -> String {
        let fields = FormEncoding.encode([("error", error), ("state", state)])
        return redirectURI + (redirectURI.contains("?") ? "&" : "?") + fields
    }
}
