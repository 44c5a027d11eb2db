import AppleAccounts
import Cryptography
import Encodings

extension SettingsReader {
    /// Reads this service's public URL, and removes a trailing slash.
    mutating func publicURL() -> String? {
        guard let text = text(.publicURL) else { return nil }
        guard let url = WebAddress(text), url.query == nil else {
            mistakes.add(
                Setting.publicURL.name,
                "must be a URL like https://signin.example.com, without user, query and fragment")
            return nil
        }
        checkScheme(of: url, setting: Setting.publicURL.name)
        var trimmed = text
        while trimmed.hasSuffix("/") { trimmed.removeLast() }
        return trimmed
    }

    /// Reads the redirect URLs that receive web flow results, by client ID. The web flow needs a public URL,
    /// to which Apple posts its response, and a sealing key, which seals the `state` parameter.
    mutating func webRedirectURLs(
        of teams: [SettingsFile.Team], publicURL: String?, sealingKeys: SealingKeyRing?
    ) -> [ClientID: String] {
        let isFromFile = !(file?.sections.teams.isEmpty ?? true)
        let setting = isFromFile ? "teams.apps.web_redirect_url" : Setting.webRedirectURL.name
        var urls: [ClientID: String] = [:]
        for app in teams.flatMap(\.apps) {
            guard let text = app.webRedirectURL else { continue }
            guard let url = WebAddress(text) else {
                mistakes.add(
                    setting, "must be a URL like https://example.com/signed-in, without user and fragment")
                continue
            }
            checkScheme(of: url, setting: setting)
            // A bundle ID is not a candidate, because apps sign in with it, App Check judges its tokens, and
            // Apple's page refuses it.
            let candidates = app.clientIDsForBrowsers.filter { id in
                !app.attested.contains { $0.bundleID == id }
            }
            if candidates.isEmpty, !app.clientIDsForBrowsers.isEmpty {
                mistakes.add(
                    setting,
                    "needs a Services ID, but every client ID of the app has an entry in app_attest, and so is "
                        + "a bundle ID; add the Services ID to services_ids")
            }
            for clientID in candidates.compactMap({ ClientID($0) }) { urls[clientID] = text }
        }
        guard teams.flatMap(\.apps).contains(where: { $0.webRedirectURL != nil }) else { return urls }
        if text(.publicURL) == nil {
            mistakes.add(Setting.publicURL.name, "is missing: \(setting) needs it")
        }
        if text(.sealingKeys) == nil {
            mistakes.add(
                Setting.sealingKeys.name,
                "is missing: \(setting) needs it; siwa sealing-key creates one")
        }
        return urls
    }

    private mutating func checkScheme(of url: WebAddress, setting: String) {
        guard !url.isSecure, !isDevelopment else { return }
        mistakes.add(setting, "must be https: the data sent there is confidential")
    }
}
