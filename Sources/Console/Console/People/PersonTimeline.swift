import AppleAccounts
import AuthorizationServer
import Pages
import SignIn

/// Builds a person's timeline from the stored rows.
///
/// Some history entries have no event, and others contain details that their events lack. An event belongs to
/// the history entry with the same two times: Apple's and ours. Events and notifications without a history
/// entry get their own rows, and so does the last sign-in.
struct PersonTimeline: PagePart {
    let items: [TimelineItem]

    /// - Parameters:
    ///   - account: The account; `nil` if it is erased.
    ///   - grants: Grants with their clients' names.
    ///   - isShown: False to mask names and addresses.
    init(
        events: [AccountEvent], history: [SeenHistoryEntry], payloads: [KeptPayload], account: Account?,
        grants: [GrantRecord] = [], isShown: Bool
    ) {
        var (events, payloads) = (events, payloads)
        func facts(ofFirst isOwn: (KeptPayload) -> Bool) -> [Fact] {
            payloads.firstIndex(where: isOwn).map { payloads.remove(at: $0).facts(isShown: isShown) } ?? []
        }
        var items = history.map { entry -> TimelineItem in
            var item = entry.item
            item.events = events.filter { entry.made($0) }
            events.removeAll { entry.made($0) }
            item.facts += facts { entry.came(with: $0) }
            return item
        }
        // Events from one commit share a row, such as a new account and its first credential.
        for group in Self.groups(of: events) {
            var item = Self.item(of: group, disabling: account?.disabling)
            item.facts += facts { $0.made(group[0]) }
            items.append(item)
        }
        items += payloads.map { $0.item(account: account, isShown: isShown) }
        if let account, let item = Self.lastSignIn(of: account, items) { items.append(item) }
        // If times are equal, the row about issued tokens is treated as the later row.
        self.items = (grants.compactMap(Self.lastUse) + items).sorted {
            ($1.recordedAt, $1.moment ?? $1.recordedAt) < ($0.recordedAt, $0.moment ?? $0.recordedAt)
        }
    }

    var html: HTML {
        HTML {
            "<h2>Time line</h2>"
            if items.isEmpty {
                "<p class=\"empty\">Nothing is kept about this person's past.</p>"
            } else {
                "<ol class=\"timeline\">"
                for item in items { item }
                "</ol>"
            }
        }
    }

    private static func groups(of events: [AccountEvent]) -> [[AccountEvent]] {
        var groups: [[AccountEvent]] = []
        for event in events.sorted(by: { $0.sequence < $1.sequence }) {
            if let last = groups.last?.first, last.recordedAt == event.recordedAt,
                last.moment == event.moment, last.source == event.source, last.grant?.id == event.grant?.id
            {
                groups[groups.count - 1].append(event)
            } else {
                groups.append([event])
            }
        }
        return groups
    }

    /// - Parameter disabling: The account's current disabling.
    private static func item(of events: [AccountEvent], disabling: Disabling?) -> TimelineItem {
        // A commit's last event usually describes the commit best, because the event about the credential
        // follows the event about the account.
        let main =
            events.first { $0.kind == .accountCreated } ?? events.first { $0.kind == .accountErased }
            ?? events[events.count - 1]
        let (title, look, effect) = main.words
        var item = TimelineItem(
            title: title, look: look, app: events.lazy.compactMap(\.clientID).first,
            moment: main.hasMomentOfApple ? main.moment : nil, recordedAt: main.recordedAt, effect: effect,
            facts: main.facts, events: events)
        // An event contains no reason. The audit log has the reasons for past disablings.
        if main.kind == .accountDisabled, let disabling, disabling.since == main.recordedAt {
            item.facts += [
                Fact("reason", .code(disabling.reason.rawValue)),
                Fact("end", .code(disabling.until < .last ? disabling.until.shown : "none")),
            ]
        }
        return item
    }

    /// Returns a row for the last sign-in; `nil` if another row shows it. A repeated sign-in may have no
    /// other row.
    private static func lastSignIn(of account: Account, _ items: [TimelineItem]) -> TimelineItem? {
        guard let last = account.lastSignInAt, !items.contains(where: { $0.recordedAt == last }) else {
            return nil
        }
        let credentials = account.credentials.filter { $0.state == .authorized && $0.source == .signIn }
        let credential = credentials.count == 1 ? credentials[0] : nil
        return TimelineItem(
            title: "Last sign-in", look: "good", app: credential?.clientID, moment: credential?.since,
            recordedAt: last, effect: "Nothing new: the person stays signed in.")
    }

    /// Returns a row for a grant's last use. The service stores only the day, because clients refresh often.
    private static func lastUse(of grant: GrantRecord) -> TimelineItem? {
        guard let day = grant.lastUsedAt else { return nil }
        return TimelineItem(
            title: "Tokens issued to \(grant.oauthClientID.rawValue)", look: "", app: grant.clientID,
            moment: nil, recordedAt: max(day, grant.createdAt), hasDayAlone: true,
            effect: "The last day on which the client got or refreshed tokens.",
            facts: [Fact("grant", .code(grant.id.rawValue))])
    }
}

/// One row in a person's timeline.
struct TimelineItem: PagePart {
    let title: String
    /// CSS class; empty for a plain row.
    let look: String
    let app: ClientID?
    /// Apple's time; `nil` if Apple sent none.
    let moment: Moment?
    /// Time on this service's clock.
    let recordedAt: Moment
    /// True if only the day in `recordedAt` is known.
    var hasDayAlone = false
    /// The effect in one sentence.
    let effect: String
    /// The two times that the state rule has compared.
    var comparison: (revokedAt: Moment, authorizedAt: Moment)?
    /// Facts that the row shows.
    var facts: [Fact] = []
    /// Events that the backend received.
    var events: [AccountEvent] = []

    var html: HTML {
        HTML {
            "<li\(HTML.class(look))>"
            Details("\(title)\(app.map { " \(HTML.muted($0.rawValue))" as HTML })") {
                if !facts.isEmpty { Facts(facts) }
                if events.isEmpty {
                    "<p class=\"muted\">The backend got no event of this.</p>"
                } else {
                    "<h3>What the backend got</h3>"
                    Facts(
                        events.map {
                            Fact("event \($0.sequence)", "\($0.kind.rawValue) \(HTML.code($0.id.rawValue))")
                        })
                }
            }
            "<p>\(effect)</p>"
            comparison.map(Self.plot)
            "<p class=\"muted\">\(times)</p>"
            "</li>"
        }
    }

    private var times: HTML {
        let recorded = hasDayAlone ? String(recordedAt.rfc3339.prefix(10)) : recordedAt.shown
        guard let moment else { return "here \(recorded)" }
        let distance = ShownDuration(from: moment, to: recordedAt)
        let delay = moment <= recordedAt ? "\(distance) later" : "\(distance) before Apple's moment"
        // Apple's times are whole seconds, so a shorter delay is meaningless.
        let isNews = distance.milliseconds >= 1000
        return "Apple \(moment.shown) · here \(recorded)\(isNews ? " (\(delay))" : "")"
    }

    private static func plot(revokedAt: Moment, authorizedAt: Moment) -> HTML {
        let (revoked, authorized) = (revokedAt.shown, authorizedAt.shown)
        return """
            <svg class="plot small" viewBox="0 0 420 62" role="img" aria-label="Withdrawn \(revoked), authorized \
            \(authorized): the later moment decides">
            <line class="axis" x1="10" y1="22" x2="410" y2="22"/>
            <rect class="bar s4" x="105" y="16" width="12" height="12" rx="6"/>
            <rect class="bar s1" x="305" y="16" width="12" height="12" rx="6"/>
            <text x="211" y="14" text-anchor="middle">\(ShownDuration(from: revokedAt, to: authorizedAt).description)</text>
            <text x="111" y="44" text-anchor="middle">withdrawn</text>
            <text x="111" y="58" text-anchor="middle">\(revoked)</text>
            <text x="311" y="44" text-anchor="middle">authorized: decides</text>
            <text x="311" y="58" text-anchor="middle">\(authorized)</text>
            </svg>
            """
    }
}
