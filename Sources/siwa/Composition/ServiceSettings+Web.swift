import AppleAccounts
import AppleIDClient
import SignIn

extension ServiceSettings {
    /// Sign-in in a browser; `nil` when it is not configured.
    ///
    /// - Throws: `WebSettingsError`.
    func webSignIn(
        useCases: SignInUseCases, tickets: any TicketStore, now: @escaping @Sendable () -> Moment
    ) throws -> WebSignIn? {
        // The settings reader requires both when a redirect URL is configured.
        guard let publicURL, let sealingKeys, !webClients.isEmpty else { return nil }
        let settings = try WebSignIn.Settings(
            publicURL: publicURL, redirectURLs: webClients, authorizeURL: appleEndpoints.authorize,
            allowsPlainHTTP: environment == .development)
        return WebSignIn(
            settings: settings, useCases: useCases, sealingKeys: sealingKeys, tickets: tickets, now: now)
    }

    /// The redirect URL of each client ID that can be used in a browser.
    ///
    /// Apple's web page accepts only Services IDs, and the primary client ID is the app's bundle ID. The
    /// primary client ID is left out when the app has another client ID with a redirect URL, so that a link
    /// need not name the client ID if only one client ID remains.
    var webClients: [ClientID: String] {
        webRedirectURLs.filter { clientID, _ in
            guard let app = deployment.app(for: clientID) else { return false }
            let others = app.clientIDs.filter { $0 != app.primaryClientID }
            return clientID != app.primaryClientID || !others.contains { webRedirectURLs[$0] != nil }
        }
    }
}
