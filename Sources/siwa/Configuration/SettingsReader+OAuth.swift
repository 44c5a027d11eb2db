import AppleAccounts
import AuthorizationServer
import Cryptography
import GoogleIDClient

extension SettingsReader {
    /// Reads the section `oauth`. Returns `nil` when it declares no client, and after a mistake.
    ///
    /// - Parameter webRedirectURLs: By client ID. An app has sign-in on the web when one of its client IDs
    ///   has a page there: people of an OAuth client's app sign in with the app's Services ID.
    mutating func oauthSettings(
        for deployment: Deployment?, publicURL: String?, sealingKeys: SealingKeyRing?,
        webRedirectURLs: [ClientID: String]
    ) -> OAuthSettings? {
        guard let file, let deployment else { return nil }
        var draft = file.oauth
        for app in file.teams.flatMap(\.apps) where !app.name.isEmpty {
            if let primary = app.clientIDs.first { draft.appNames[primary] = app.name }
        }
        let surroundings = OAuthSurroundings(
            isDevelopment: isDevelopment, publicURL: publicURL, deployment: deployment,
            appsWithWebSignIn: Set(
                deployment.apps.lazy.filter { app in
                    // The first client ID is the App ID, which cannot sign people in on the web.
                    app.clientIDs.dropFirst().contains { webRedirectURLs[$0] != nil }
                }.map(\.primaryClientID)))
        switch OAuthSettings.check(draft, in: surroundings) {
        case .none: return nil
        case .refused(let found):
            for mistake in found { mistakes.add(mistake.setting, mistake.text) }
            return nil
        case .usable(let settings):
            if sealingKeys == nil, text(.sealingKeys) == nil {
                mistakes.add(
                    SettingName.sealingKeys.rawValue,
                    "is missing: oauth.clients need it, because the keys that sign tokens are stored sealed; "
                        + "siwa sealing-key creates one")
            }
            return settings
        }
    }
    /// Google's endpoints, or in development those of the fake Google.
    mutating func googleEndpoints() -> GoogleEndpoints {
        guard let base = text(.googleBaseURL) else { return .google }
        let setting = SettingName.googleBaseURL.rawValue
        if !isDevelopment {
            mistakes.add(setting, "is only for SIWA_ENV=development; remove it in production")
        }
        guard let endpoints = GoogleEndpoints(baseURL: base) else {
            mistakes.add(setting, "must be an http or https URL without user, query and fragment")
            return .google
        }
        return endpoints
    }
}
