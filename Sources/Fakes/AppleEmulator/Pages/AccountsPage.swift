import EmulatorServer
import Encodings

/// The page with all accounts and their settings, like those on an iPhone.
struct AccountsPage {
    private let controls: UserPageControls
    private let notificationURL: String?
    private let accounts: [Account]
    private let deliveries: [DeliveryRow]

    /// - Parameters:
    ///   - names: The names of the users in `deliveries`, by their `sub`.
    ///   - bundleIDs: The primary client ID of each app, in the order of the configuration.
    ///   - token: The CSRF token of the forms.
    init(
        users: UserPage, deliveries: [RecentDelivery], names: [String: String], bundleIDs: [String],
        notificationURL: String?, token: String
    ) {
        controls = UserPageControls(page: users, method: "get", action: "/")
        self.notificationURL = notificationURL
        // The fields select the current page, so that the same page is shown after the action.
        let fields = users.fields.map { PageField($0.name, $0.value) }
        accounts = users.users.map { user in
            Account(user, bundleIDs: bundleIDs, fields: [PageField("token", token)] + fields)
        }
        self.deliveries = deliveries.reversed().map { DeliveryRow($0, names: names) }
    }

    var response: EndpointResponse {
        PageFrame(title: "Fake Apple", template: "accounts", values: self, isWide: true).response
    }
}

extension AccountsPage {
    /// A delivered notification.
    private struct DeliveryRow {
        let time: String
        let type: String
        let user: String
        let app: String
        let outcome: String
        let tone: String

        init(_ delivery: RecentDelivery, names: [String: String]) {
            time = RFC3339.text(milliseconds: delivery.postedAt)
            (type, app, outcome) = (delivery.type, delivery.clientID, delivery.outcome)
            user = names[delivery.subject] ?? delivery.subject
            tone = delivery.outcome == "200" ? "good" : "bad"
        }
    }

    private struct Account {
        struct Button {
            let words: String
            let action: String
            let style: String
            let hidden: [PageField]
        }

        let person: UserLine
        let subject: String
        let hidesEmail: Bool
        /// The relay address of a user who hides the real address differs for each team.
        let relayAddresses: [String]
        let isDeleted: Bool
        let buttons: [Button]

        init(_ user: EmulatedUser, bundleIDs: [String], fields: [PageField]) {
            person = UserLine(user, tag: user.isDeleted ? "deleted" : nil)
            (subject, hidesEmail, isDeleted) = (user.subject, user.hidesEmail, user.isDeleted)
            relayAddresses = user.identities.map(\.relayAddress)
            func button(_ action: String, _ words: String, app: String? = nil, style: String = "") -> Button {
                let own =
                    [PageField("sub", user.subject)] + (app.map { [PageField("client_id", $0)] } ?? [])
                return Button(words: words, action: action, style: style, hidden: fields + own)
            }
            let signIns = bundleIDs.map { id in
                let words = bundleIDs.count == 1 ? "Sign in on an iPhone" : "Sign in to \(id) on an iPhone"
                return button(AccountsRoute.signIn, words, app: id, style: "main")
            }
            let ends = user.apps.sorted().map { app in
                button(AccountChange.revokeConsent.rawValue, "Stop using \(app)", app: app)
            }
            let forwarding =
                user.forwardsEmail
                ? button(AccountChange.disableForwarding.rawValue, "Turn off e-mail forwarding")
                : button(AccountChange.enableForwarding.rawValue, "Turn on e-mail forwarding")
            buttons =
                signIns + ends + [
                    forwarding, button(AccountsRoute.changePassword, "Change password"),
                    button(AccountChange.deleteAccount.rawValue, "Delete Apple account", style: "danger"),
                ]
        }
    }
}

/// A page in place of the developer's own site, which shows the result of sign-in on the web.
struct SitePage {
    private let hasCode: Bool
    private let rows: [PageField]

    /// - Parameter fields: The query parameters.
    init(fields: FormFields) {
        hasCode = fields["code"] != nil
        rows = ["code", "state", "error", "error_description"].compactMap { name in
            fields[name].map { PageField(name, $0) }
        }
    }

    var response: EndpointResponse {
        PageFrame(title: "Your site", template: "site", values: self).response
    }
}
