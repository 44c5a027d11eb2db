import EmulatorServer
import Encodings

/// The page with all accounts and their settings, like those on an iPhone.
struct AccountsPage {
    let users: UserPage
    let deliveries: [RecentDelivery]
    /// The names of the users in `deliveries`, by their `sub`.
    let names: [String: String]
    /// The primary client ID of each app, in the order of the configuration.
    let bundleIDs: [String]
    let notificationURL: String?
    /// The CSRF token of the forms.
    let token: String

    var response: EndpointResponse {
        let controls = UserPageControls(page: users, method: "get", action: "/")
        return PageFrame(
            title: "Fake Apple",
            content: """
                <h1>Emulated Apple accounts</h1>
                <p>For each change, Apple sends a notification to the apps\
                \(notificationURL.map { " to <code>\($0.htmlEscaped)</code>" } ?? " when a notification URL is set").</p>
                \(controls.search)
                \(users.users.map { account($0) }.joined(separator: "\n"))
                \(controls.pager)
                <section class="account"><h2>Notifications, newest first</h2>
                \(deliveries.isEmpty ? "<p class=\"note\">No notifications yet.</p>" : table)
                </section>
                """,
            isWide: true
        ).response
    }

    private var table: String {
        let rows = deliveries.reversed().map { delivery in
            let isTaken = delivery.outcome == "200"
            let subject = delivery.subject
            return "<tr><td>\(RFC3339.text(milliseconds: delivery.postedAt).htmlEscaped)</td>"
                + "<td>\(delivery.type.htmlEscaped)</td>"
                + "<td>\((names[subject] ?? subject).htmlEscaped)</td>"
                + "<td>\(delivery.clientID.htmlEscaped)</td><td class=\"\(isTaken ? "good" : "bad")\">\(delivery.outcome.htmlEscaped)</td></tr>"
        }
        return
            "<table><tr><th>Time</th><th>Event</th><th>User</th><th>App</th><th>Response</th></tr>\(rows.joined())</table>"
    }

    private func account(_ user: EmulatedUser) -> String {
        """
        <section class="account">
        <div class="person">\(UserLine.html(user, tag: user.isDeleted ? "deleted" : ""))</div>
        <p class="note"><code>\(user.subject.htmlEscaped)</code>\(relay(of: user))</p>
        \(user.isDeleted ? "" : buttons(user))
        </section>
        """
    }

    /// The relay address of a user who hides the real address; it differs for each team.
    private func relay(of user: EmulatedUser) -> String {
        guard user.hidesEmail else { return "" }
        let addresses = user.identities.map { "<code>\($0.relayAddress.htmlEscaped)</code>" }
        return "<br>Hides the address. Apps see \(addresses.joined(separator: ", "))"
    }

    private func buttons(_ user: EmulatedUser) -> String {
        let apps = user.apps.sorted().map { app in
            button(user, .revokeConsent, "Stop using \(app)", app: app)
        }
        let forwarding: AccountChange = user.forwardsEmail ? .disableForwarding : .enableForwarding
        let words = user.forwardsEmail ? "Turn off e-mail forwarding" : "Turn on e-mail forwarding"
        return """
            <div class="row">
            \(signIns(user).joined(separator: "\n"))
            \(apps.joined(separator: "\n"))
            \(button(user, forwarding, words))
            \(form(user, action: AccountsRoute.changePassword, "Change password"))
            \(button(user, .deleteAccount, "Delete Apple account", style: "danger"))
            </div>
            """
    }

    private func signIns(_ user: EmulatedUser) -> [String] {
        bundleIDs.map { id in
            let words = bundleIDs.count == 1 ? "Sign in on an iPhone" : "Sign in to \(id) on an iPhone"
            return form(user, action: AccountsRoute.signIn, words, app: id, style: "main")
        }
    }

    private func button(
        _ user: EmulatedUser, _ change: AccountChange, _ words: String, app: String? = nil, style: String = ""
    ) -> String {
        form(user, action: change.rawValue, words, app: app, style: style)
    }

    private func form(
        _ user: EmulatedUser, action: String, _ words: String, app: String? = nil, style: String = ""
    ) -> String {
        var hidden = [(name: "token", value: token), ("sub", user.subject)]
        if let app { hidden.append(("client_id", app)) }
        // The fields select the current page, so that the same page is shown after the action.
        hidden += users.fields
        return """
            <form method="post" action="/accounts">\
            \(HiddenFields.html(hidden))\
            <button class="\(style)" name="action" value="\(action.htmlEscaped)">\(words.htmlEscaped)</button></form>
            """
    }
}
