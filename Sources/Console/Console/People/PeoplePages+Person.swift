import AppleAccounts
import AuthorizationServer
import Encodings
import HTTPAPI
import OAuth
import Pages
import SignIn

// The page about one person.
extension PeoplePages {
    /// - Parameter isAsked: True if the audit log has recorded that the operator asked to see the values.
    func person(_ request: ConsoleRequest, isShown isAsked: Bool = false) async throws -> ConsoleAnswer {
        let viewer = request.viewer
        guard let id = request.account,
            let past = try await unlessUnknown({
                try await signIn.past(of: id.rawValue, allowed: viewer.scope)
            })
        else { return .notFound }
        // If there is no account, the person has been erased.
        let account = try await account(of: request)
        let granted =
            account == nil
            ? []
            : try await unlessUnknown {
                try await grants?.grants(of: id.rawValue, allowed: viewer.scope).map(\.grant) ?? []
            } ?? []
        let erasure = try await signIn.erasure(of: id, allowed: viewer.scope)
        // In `siwa dev`, all people are fictitious, so nothing is masked.
        let isShown = viewer.isDevelopment || (isAsked && account != nil)
        let timeline = PersonTimeline(
            events: past.events, history: past.history, payloads: past.payloads, account: account,
            grants: granted, isShown: isShown)
        let checks = CheckTimes(next: past.nextChecks, schedule: checks, history: past.history)
        let badge: HTML =
            account == nil
            ? "<span class=\"badge bad\">erased</span>"
            : account?.disabling == nil ? "" : "<span class=\"badge warn\">disabled</span>"
        let address = "/console/people/\(id.rawValue)"
        let auditNote = HTML.muted("The audit log keeps it.")
        let audit: HTML = " <a href=\"/console/audit?account=\(id.rawValue)\">Audit log of this person</a>"
        return .page("Person", heading: "<div class=\"bar\"><h1>Person</h1>\(badge)</div>") {
            "<p><code>\(id.rawValue)</code></p>"
            if account != nil, !isShown {
                PostForm(to: "\(address)/show", token: viewer.formToken) {
                    "<button class=\"secondary\">Show name and address</button> \(auditNote)"
                }
            }
            if isShown, !viewer.isDevelopment {
                """
                <p class="notice">Personal data is shown, and the audit log has kept it. \
                <a href="\(address)">Mask it</a></p>
                """
            }
            if let erasure { Self.card(of: erasure) }
            if let account {
                Division("grid") {
                    Card("Account") { Facts(Self.facts(of: account, isShown: isShown)) }
                    for credential in account.credentials { Self.card(of: credential, checks) }
                }
                Self.table(of: granted, viewer)
                requests(of: account)
                Self.actions(on: account, token: viewer.formToken)
            }
            timeline
            """
            <p class="muted">All times are UTC. The history keeps 200 entries and 90 days; events stay. A sign-in \
            without news is noted once a day and app.\(viewer.scope == .all ? audit : "")</p>
            """
        }
    }

    private static func card(of erasure: ErasureRecord) -> Card {
        let finished = erasure.finishedAt?.shown ?? "not yet; Apple is asked until \(erasure.deadline.shown)"
        let tokens = erasure.tokens.map { token in
            let (word, look) =
                switch token.step {
                case .exchange: ("must be exchanged first", "")
                case .revoke: ("must be revoked", "")
                case .prove: ("revoked, not yet proven", "")
                case .done(.provenRevoked): ("proven revoked", "good")
                case .done(.notRevoked): ("not revoked", "bad")
                }
            let cause = token.cause.map { " (\($0))" } ?? ""
            let times = token.attempts == 1 ? "once" : "\(token.attempts) times"
            return Fact("\(token.clientID.rawValue)", "\(word)\(cause), asked \(times)", look: look)
        }
        return Card("Erasure") {
            Facts(
                [
                    Fact("Erasure", .code(erasure.id.rawValue)),
                    Fact("Requested", .text(erasure.requestedAt.shown)), Fact("Finished", .text(finished)),
                ] + tokens)
        }
    }

    private static func facts(of account: Account, isShown: Bool) -> [Fact?] {
        let isVerified = account.isEmailVerified == true
        return [
            account.name(isShown: isShown).map { Fact("Name", .text($0)) },
            account.address(isShown: isShown).map {
                Fact(account.isPrivateEmail == true ? "Relay address" : "Address", .text($0))
            },
            account.email.map { _ in
                Fact("Signed by Apple", isVerified ? "yes" : "no", look: isVerified ? "" : "warn")
            },
            Fact("Mail forwarding", .text(account.emailForwarding.rawValue)),
            Fact("sub", .code(account.subject.rawValue)),
            Fact("Team", .code(account.team.rawValue)),
            Fact("Created", .text(account.createdAt.shown)),
            account.lastSignInAt.map { Fact("Last sign-in", .text($0.shown)) },
            account.realUserStatus.map { status in
                let words = ["unsupported", "unknown", "likely real"]
                let isKnown = (0..<Int64(words.count)).contains(status)
                return Fact("Apple's estimate", .text(isKnown ? words[Int(status)] : String(status)))
            },
            account.disabling.map { disabling in
                let end = disabling.until < .last ? " until \(disabling.until.shown)" : ""
                let reason = disabling.reason.rawValue
                return Fact("Disabled", "\(reason) since \(disabling.since.shown)\(end)", look: "warn")
            },
            account.sessionsEndedAt.map { Fact("Signed out everywhere", .text($0.shown)) },
        ]
    }

    private static func card(of credential: Credential, _ checks: CheckTimes) -> Card {
        let (token, look) =
            switch credential.refreshToken {
            case nil: ("none came", "muted")
            case .held: ("held", "good")
            case .pending: ("the code waits for its exchange", "")
            case .unavailable(let cause): (cause.rawValue.replacing("_", with: " "), "warn")
            }
        let isOurs = credential.source == .dailyCheck || credential.source == .erasure
        let facts = [
            credential.reason.map { Fact("Reason", .text($0.words)) },
            credential.since.map { Fact(isOurs ? "Since" : "Since, by Apple", .text($0.shown)) },
            credential.source.map { Fact("Source", .text($0.rawValue.replacing("_", with: " "))) },
            Fact("Apple's token", .text(token), look: look),
        ]
        return Card(.text(credential.clientID.rawValue)) {
            "<p\(HTML.class(credential.state.look))>\(credential.state.rawValue)</p>"
            Facts(facts.compactMap(\.self) + checks.facts(of: credential.clientID))
        }
    }

    /// Returns the table of grants. Only operators with access to all apps get links to the clients, because
    /// other operators cannot open the client pages.
    private static func table(of grants: [GrantRecord], _ viewer: ConsoleViewer) -> HTML {
        HTML {
            "<h2>OAuth grants</h2>"
            Table(
                "OAuth grants",
                [.any("Client"), .nowrap("Grant"), .any("Scope"), "Created", "Tokens last issued"], grants,
                ifEmpty: "No grant now. Grants that have ended are in the time line."
            ) { grant in
                let client = grant.oauthClientID.rawValue
                let link = HTML.link(.text(client), to: "/console/clients/\(client)")
                let app = HTML.muted(grant.clientID.rawValue)
                return [
                    "\(viewer.scope == .all ? link : .text(client))<br>\(app)",
                    .code(grant.id.rawValue), .text(grant.scope), .text(grant.createdAt.shown),
                    "\(grant.lastUsedAt?.rfc3339.prefix(10) ?? "")",
                ]
            }
        }
    }

    /// Returns the newest requests with a token that names the person, verified or not. Only in `siwa dev`.
    private func requests(of account: Account) -> HTML {
        let names = [account.id.rawValue, account.subject.rawValue]
        let found = recent?.all.lazy.filter { request in
            let subject = TokenText.carried(by: request.exchange).flatMap(TokenText.subject)
            return names.contains { subject?.isByteEqual(to: $0) == true }
        }.prefix(20)
        guard let found, !found.isEmpty else { return "" }
        let title = "Requests with a token of this person"
        return HTML {
            "<h2>\(title)</h2>"
            Table(title, [.nowrap("Time (UTC)"), "Request", "Status", "Code or reason"], found) { request in
                let target: HTML = "<code>\(request.method) \(request.route)</code>"
                return [
                    .text(request.timeOfDay), .link(target, to: "/console/requests/\(request.number)"),
                    request.statusText, "\(request.reason ?? request.code)",
                ]
            }
        }
    }

    private static func actions(on account: Account, token: String) -> HTML {
        let address = "/console/people/\(account.id.rawValue)"
        return HTML {
            "<h2>Actions</h2>"
            Division("grid") {
                if account.disabling == nil {
                    PostForm(to: "\(address)/disable", token: token, look: "card") {
                        "<label for=\"reason\">Disable, because of</label>"
                        Select(
                            "reason", id: "reason",
                            Disabling.Reason.allCases.map { ($0.rawValue, $0.rawValue) })
                        """
                        <label for="days">Days; empty without an end</label>
                        <input id="days" name="days" type="number" min="1" max="3650">
                        <button class="danger">Disable</button>
                        """
                    }
                } else {
                    PostForm(to: "\(address)/enable", token: token, look: "card") {
                        "<p>The person cannot sign in, and tokens are suspended.</p>"
                        "<button>Enable</button>"
                    }
                }
                PostForm(to: "\(address)/sign-out", token: token, look: "card") {
                    """
                    <p>Ends all sessions and grants. Links with Google stay unless you choose otherwise.</p>
                    <p><label><input type="checkbox" name="google" value="yes"> End links with Google too</label></p>
                    <button class="danger">Sign out everywhere</button>
                    """
                }
                Card {
                    "<p>Deletes all personal data and revokes Apple's tokens. Nothing brings it back.</p>"
                    "<p><a href=\"\(address)/erase\">Erase this person…</a></p>"
                }
            }
        }
    }
}

/// The times at which a person's refresh tokens are checked daily at Apple. A successful check adds no
/// history entry, because otherwise each user would get an entry per day. So this type computes the last
/// check's time from the next check's time.
struct CheckTimes {
    /// Planned checks by the app's primary client ID.
    let next: [ClientID: PlannedCheck]
    let schedule: CheckSchedule
    /// The person's history entries.
    let history: [SeenHistoryEntry]

    func facts(of app: ClientID) -> [Fact] {
        guard let planned = next[app] else { return [] }
        let last =
            planned.uncheckedSince.map { "due since \($0.shown), none has succeeded" }
            ?? last(of: app, before: planned.next)
        return [
            Fact("Last check at Apple", .text(last)), Fact("Next check at Apple", .text(planned.next.shown)),
        ]
    }

    private func last(of app: ClientID, before next: Moment) -> String {
        let previous = schedule.previous(before: next)
        // The first check is planned when the token arrives, so no check can be earlier.
        let came = history.first { $0.kind == .exchange && $0.outcome == .tokenKept && $0.clientID == app }
        if let came, previous.lowerBound <= came.recordedAt { return "none yet" }
        return "from \(previous.lowerBound.shown) to \(previous.upperBound.shown)"
    }
}
