import AppleAccounts
import AuthorizationServer
import WebOrigins

/// Values that the operator registers at Apple and Google for this configuration. `siwa doctor` prints them
/// last.
struct Registrations {
    let settings: ServiceSettings

    /// Lines with a place and the values to type there. Empty when the service cannot be reached from
    /// outside.
    var lines: [String] {
        guard let publicURL = settings.publicURL, let address = WebAddress(publicURL), address.isSecure,
            !address.isLocalOrNumeric
        else { return [] }
        var lines: [String] = []
        for app in settings.deployment.apps {
            lines.append(
                "developer.apple.com, Identifiers, \(app.primaryClientID.rawValue), Sign in with Apple, Edit, "
                    + "Server-to-Server Notification Endpoint: \(publicURL)/v1/apple/notifications")
        }
        for id in settings.webRedirectURLs.keys.map(\.rawValue).sorted() {
            lines.append(
                "developer.apple.com, Identifiers, Services IDs, \(id), Configure, domain \(address.host), "
                    + "Return URL: \(publicURL)/v1/web/callback")
        }
        if let oauth = settings.oauth, oauth.clients.clients.contains(where: { $0.googleLinking != nil }) {
            let issuer = oauth.issuer.text
            lines.append(
                "Google's console, Account linking, authorization URL: \(issuer)/oauth/authorize, "
                    + "token URL: \(issuer)/oauth/token")
        }
        if let url = settings.googleEventsURL {
            lines.append(
                "Google's security events (no field in a console): siwa google risc register registers \(url)"
            )
        }
        return lines
    }
}
