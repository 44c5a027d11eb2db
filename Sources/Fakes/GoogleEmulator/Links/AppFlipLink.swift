import EmulatorServer
import Encodings
import StrictJSON

/// A universal link that the app on the user's iPhone receives.
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

    /// Parameters, in the link's order.
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

    /// Returns the URL that the app opens if it cannot reach its backend. It repeats `state`, so that Google
    /// can continue in the browser.
    func url(error: String) -> String {
        let fields = FormEncoding.encode([("error", error), ("state", state)])
        return redirectURI + (redirectURI.contains("?") ? "&" : "?") + fields
    }
}

/// The user's decision in the app.
enum AppFlipDecision: String, CaseIterable {
    case granted, denied, cancelled
}

/// The user's identity for the app's backend.
enum AppFlipIdentity: Sendable {
    case accountID(String)
    case identityToken(String)
}

/// The user's iPhone app and its backend.
struct AppFlipApp: Sendable {
    enum Check: Equatable {
        case fine
        /// The link comes from another client, so the app returns `invalid_request`.
        case otherClient
        /// The redirect URI is not one of Google's addresses, so the app opens no URL.
        case otherRedirectURI
    }

    let state: GoogleState

    /// Checks the link before the app asks for consent (Google's page on App Flip).
    func check(_ link: AppFlipLink) -> Check {
        let known =
            state.redirectURIs.dropFirst()
            + GoogleState.googleHosts.flatMap { host in
                GoogleState.bundleIDs.map { "\(host)/a/\($0)" }
            }
        guard known.contains(where: { $0.isByteEqual(to: link.redirectURI) }) else {
            return .otherRedirectURI
        }
        return link.clientID.isByteEqual(to: state.configuration.clientID) ? .fine : .otherClient
    }

    /// Asks the authorization server for the URL to open. If there is no usable response, the app itself
    /// creates the URL with the error `cancelled`.
    func decide(
        _ decision: AppFlipDecision, _ link: AppFlipLink, identity: AppFlipIdentity?, scopes: String? = nil
    ) async throws(EmulatorError) -> (redirectTo: String, response: ServerClient.Response) {
        var body = JSONObject([
            ("client_id", .string(link.clientID)), ("redirect_uri", .string(link.redirectURI)),
            ("state", .string(link.state)), ("scope", .string(link.scope)),
            ("decision", .string(decision.rawValue)),
        ])
        body["code_challenge"] = link.codeChallenge.map { .string($0) }
        body["code_challenge_method"] = link.codeChallengeMethod.map { .string($0) }
        body["user_locale"] = link.userLocale.map { .string($0) }
        if decision == .granted {
            body["granted_scopes"] = scopes.map { .string($0) }
            switch identity {
            case .accountID(let id)?: body["account_id"] = .string(id)
            case .identityToken(let token)?: body["identity_token"] = .string(token)
            case nil: break
            }
        }
        let response = await ServerClient(state: state).post(
            .appFlip, "The app's backend asks for the URL to open", try state.server().appFlipURL,
            .json(body),
            bearer: state.configuration.apiKey ?? "")
        let url = response.status == 200 ? response.json?["redirect_to"]?.string : nil
        return (url ?? link.url(error: "cancelled"), response)
    }

    /// Gets an identity token from the fake Apple, as the app would get one from iOS.
    ///
    /// `subject` is the user at the fake Apple, or `nil` for the default user. Throws `.serverMissing` if
    /// there is no fake Apple, or if its response contains no identity token.
    func identityToken(subject: String?) async throws(EmulatorError) -> String {
        guard let apple = state.update({ $0.appleURL }) else {
            throw EmulatorError(
                .serverMissing, detail: "no fake Apple is configured; use an account ID")
        }
        var body = JSONObject()
        body["sub"] = subject.map { .string($0) }
        let response = await ServerClient(state: state).post(
            .appSignIn, "The app signs in with the fake Apple", "\(apple)/emulator/identity-tokens",
            .json(body))
        guard let token = response.json?["identity_token"]?.string else {
            throw EmulatorError(.serverMissing, detail: "the fake Apple gave no identity token")
        }
        return token
    }
}
