import AppleAccounts
import AuthorizationServer
import SignIn

/// Puts together what is stored about the past of a person. Pure; it shows everything, and the page masks it.
///
/// The history has what made no event, or says more than the event. An event belongs to the entry of the history
/// that has its two moments. Events without an entry, notifications without an entry, and the last sign-in have rows
/// of their own.
struct PersonTimeline {
    let items: [TimelineItem]

    /// - Parameters:
    ///   - account: `nil` for an erased account.
    ///   - grants: With the names of their clients.
    init(_ past: AccountPastValues, account: Account?, grants: [GrantRecord] = []) {
        var events = past.events
        var payloads = past.payloads
        var items = past.history.map { entry -> TimelineItem in
            let own = events.filter { entry.made($0) }
            events.removeAll { entry.made($0) }
            let payload = payloads.firstIndex { entry.came(with: $0) }.map { payloads.remove(at: $0) }
            return entry.item(payload: payload, events: own)
        }
        // Events of one commit are one row: a new account and its first credential.
        for group in Self.groups(of: events) {
            let payload = payloads.firstIndex { $0.made(group[0]) }.map { payloads.remove(at: $0) }
            items.append(Self.item(of: group, payload: payload, disabling: account?.disabling))
        }
        items += payloads.map { $0.item(account: account) }
        if let account, let item = Self.lastSignIn(of: account, items) { items.append(item) }
        // At equal times the tokens are the later row.
        self.items = (grants.compactMap(Self.lastUse) + items).sorted {
            ($1.recordedAt, $1.moment ?? $1.recordedAt) < ($0.recordedAt, $0.moment ?? $0.recordedAt)
        }
    }

    private static func groups(of events: [AccountEvent]) -> [[AccountEvent]] {
        var groups: [[AccountEvent]] = []
        for event in events.sorted(by: { $0.sequence < $1.sequence }) {
            if let last = groups.last?.first, last.recordedAt == event.recordedAt,
                last.moment == event.moment,
                last.source == event.source, last.grant?.id == event.grant?.id
            {
                groups[groups.count - 1].append(event)
            } else {
                groups.append([event])
            }
        }
        return groups
    }

    /// - Parameter disabling: The one that holds.
    private static func item(
        of events: [AccountEvent], payload: KeptPayload?, disabling: Disabling?
    ) -> TimelineItem {
        // The last event of a commit says most: the credential comes after the account.
        let main =
            events.first { $0.kind == .accountCreated } ?? events.first { $0.kind == .accountErased }
            ?? events[events.count - 1]
        var item = TimelineItem(
            title: main.title, look: main.kind.look,
            app: events.lazy.compactMap(\.clientID).first,
            moment: main.hasMomentOfApple ? main.moment : nil,
            recordedAt: main.recordedAt, effect: main.effect)
        item.facts = main.facts + (payload?.facts ?? [])
        // The event tells no reason. Those of disablings that are over are in the audit log.
        if main.kind == .accountDisabled, let disabling, disabling.since == main.recordedAt {
            item.facts += [
                TimelineItem.Fact(name: "reason", value: disabling.reason.rawValue),
                TimelineItem.Fact(
                    name: "end", value: disabling.until < .last ? disabling.until.shown : "none"),
            ]
        }
        item.events = events
        return item
    }

    /// The last sign-in changes its time alone, so it can be without a row.
    private static func lastSignIn(of account: Account, _ items: [TimelineItem]) -> TimelineItem? {
        guard let last = account.lastSignInAt, !items.contains(where: { $0.recordedAt == last }) else {
            return nil
        }
        let credentials = account.credentials.filter { $0.state == .authorized && $0.source == .signIn }
        return TimelineItem(
            title: "Last sign-in", look: .good, app: credentials.count == 1 ? credentials[0].clientID : nil,
            moment: credentials.count == 1 ? credentials[0].since : nil, recordedAt: last,
            effect: "Nothing new: the person stays signed in.")
    }

    /// Refreshes are counted by day and client, because a client refreshes every hour.
    private static func lastUse(of grant: GrantRecord) -> TimelineItem? {
        guard let day = grant.lastUsedAt else { return nil }
        return TimelineItem(
            title: "Tokens issued to \(grant.oauthClientID.rawValue)", look: .plain, app: grant.clientID,
            moment: nil, recordedAt: max(day, grant.createdAt), hasDayAlone: true,
            effect: "The last day on which the client got or refreshed tokens.",
            facts: [TimelineItem.Fact(name: "grant", value: grant.id.rawValue)])
    }
}

/// The stored facts that the time line is made of.
struct AccountPastValues {
    let events: [AccountEvent]
    let history: [SeenHistoryEntry]
    let payloads: [KeptPayload]
}
