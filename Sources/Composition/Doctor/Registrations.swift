import AppleAccounts
import AuthorizationServer
import Encodings

/// Configured values that the operator must register at Apple and Google. `siwa doctor` prints them at the
/// end, and the console shows them with the findings.
struct Registrations {
    /// The values that the operator enters in one place.
    struct Item {
        /// The menu path to the input fields.
        let place: [String]
        let fields: [(name: String, value: String)]
        /// The `siwa doctor` check that tests the values; `nil` for values that this machine cannot test.
        let check: String?
        /// The app whose notifications Apple sends to the registered URL. Apple's first notification proves
        /// the registration.
        var notifiedApp: ClientID?

        var line: String {
            (place + [
                fields.map { "\($0.name)\($0.name.hasPrefix("domain") ? " " : ": ")\($0.value)" }.joined(
                    separator: ", ")
            ])
            .joined(separator: ", ")
        }
    }

    let settings: ServiceSettings

    /// One line for each place, with the values to enter there. Empty if the service is not reachable from
    /// outside.
    var lines: [String] { items.map(\.line) + google }

    /// The values for Apple's developer pages and Google's console.
    var items: [Item] {
        guard let (publicURL, host) = publicAddress else { return [] }
        var items: [Item] = []
        for app in settings.deployment.apps {
            items.append(
                Item(
                    place: [
                        "developer.apple.com", "Identifiers", app.primaryClientID.rawValue,
                        "Sign in with Apple", "Edit",
                    ],
                    fields: [
                        ("Server-to-Server Notification Endpoint", "\(publicURL)/v1/apple/notifications")
                    ],
                    check: nil, notifiedApp: app.primaryClientID))
        }
        for id in settings.webRedirectURLs.keys.map(\.rawValue).sorted() {
            items.append(
                Item(
                    place: ["developer.apple.com", "Identifiers", "Services IDs", id, "Configure"],
                    fields: [("domain", host), ("Return URL", "\(publicURL)/v1/web/callback")],
                    check: ServicesIDsCheck.name))
        }
        if let oauth = settings.oauth, oauth.clients.clients.contains(where: { $0.googleLinking != nil }) {
            let issuer = oauth.issuer.text
            items.append(
                Item(
                    place: ["Google's console", "Account linking"],
                    fields: [
                        ("authorization URL", "\(issuer)/oauth/authorize"),
                        ("token URL", "\(issuer)/oauth/token"),
                    ],
                    check: nil))
        }
        return items
    }

    /// Lines about the receiver for Google's security events, which a command registers.
    private var google: [String] {
        guard publicAddress != nil, let url = settings.googleEventsURL else { return [] }
        return [
            "Google's security events (no field in a console): siwa google risc register registers \(url)"
        ]
    }

    /// The receiver for Google's security events, as an item.
    var googleEvents: Item? {
        guard publicAddress != nil, let url = settings.googleEventsURL else { return nil }
        return Item(
            place: ["siwa google risc register"], fields: [("receiver of security events", url)],
            check: GoogleEventsDiagnosis.name)
    }

    private var publicAddress: (url: String, host: String)? {
        guard let publicURL = settings.publicURL, let address = WebAddress(publicURL), address.isSecure,
            !address.isLocalOrNumeric
        else { return nil }
        return (publicURL, address.host)
    }
}
