import AppleAccounts
import AppleIDClient
import SignIn

extension ServiceSettings {
    /// Sign-in in a browser, or `nil` where nothing is configured for it.
    ///
    /// - Throws: `WebSettingsError`.
    func webSignIn(
        useCases: SignInUseCases, tickets: any TicketStore, now: @escaping @Sendable () -> Moment
    ) throws -> WebSignIn? {
        // The settings reader insists on both where there is a page to come back to.
        guard let publicURL, let sealingKeys, !webClients.isEmpty else { return nil }
        let settings = try WebSignIn.Settings(
            publicURL: publicURL, redirectURLs: webClients, authorizeURL: appleEndpoints.authorize,
            allowsPlainHTTP: environment == .development)
        return WebSignIn(
            settings: settings, useCases: useCases, sealingKeys: sealingKeys, tickets: tickets, now: now)
    }

    /// Where each client ID that can sign in in a browser comes back to.
    ///
    /// Apple's page knows Services IDs only, and the primary client ID is the app's bundle ID: it does not count where
    /// another of the app comes back too, so that a link need not name the one that is left.
    var webClients: [ClientID: String] {
        webRedirectURLs.filter { clientID, _ in
            guard let app = deployment.app(for: clientID) else { return false }
            let others = app.clientIDs.filter { $0 != app.primaryClientID }
            return clientID != app.primaryClientID || !others.contains { webRedirectURLs[$0] != nil }
        }
    }
}
