public import AppleAccounts

/// A client's event stream, from the configuration.
public struct ClientEvents: Sendable, Hashable {
    /// The ways that a client can receive events.
    public enum Delivery: String, Sendable, Hashable, CaseIterable {
        /// RFC 8935: the service posts each event to the client.
        case push
        /// RFC 8936: the client polls for its events.
        case poll
    }

    /// The event kinds that a client can receive. All other kinds are about Apple, about apps, or about the
    /// client's own actions.
    public static let kinds: [AccountEvent.Kind] = [
        .grantRevoked, .accountErased, .accountDisabled, .accountEnabled, .sessionsEnded,
    ]

    public let delivery: Delivery
    public let kinds: Set<AccountEvent.Kind>
    /// The URL to push events to, exactly as configured. Only with `push`.
    public let url: String?
    /// Private networks that the URL's host name may resolve to. Only with `push`.
    public let privateNetworks: [String]
}

extension OAuthCheck {
    /// Returns a client's event stream. Returns `nil` if the client has none or its settings contain a
    /// mistake.
    ///
    /// The URL and the networks are checked when the settings are read, just as for webhooks.
    mutating func events(of draft: ClientDraft, _ kind: ClientKind) -> ClientEvents? {
        // `checkMembers` already refuses these members for clients of other kinds.
        guard ClientMember.events.hasMeaning(for: kind) else { return nil }
        guard let word = ClientMember.events.value.word(in: draft) else {
            let others = [ClientMember.eventTypes, .eventsURL, .eventsPrivateNetworks]
            for member in others where member.value.isSet(in: draft) {
                add(
                    .eventsMissing, at: "oauth.clients.\(member.name)",
                    "of \(draft.id) has no meaning without events; add events: push or events: poll")
            }
            return nil
        }
        guard let delivery = ClientEvents.Delivery(rawValue: word) else {
            add(
                .eventsUnknown, at: "oauth.clients.events",
                "of \(draft.id) must be push or poll, but is \(word.debugDescription)")
            return nil
        }
        checkDelivery(delivery, of: draft, kind)
        return ClientEvents(
            delivery: delivery, kinds: eventKinds(of: draft), url: draft.eventsURL,
            privateNetworks: draft.eventsPrivateNetworks)
    }

    private mutating func checkDelivery(
        _ delivery: ClientEvents.Delivery, of draft: ClientDraft, _ kind: ClientKind
    ) {
        switch delivery {
        case .push:
            if draft.eventsURL == nil {
                add(
                    .eventsURLMissing, at: "oauth.clients.events_url",
                    "of \(draft.id) is missing: events: push needs the URL that events are posted to")
            }
        case .poll:
            // A polling client needs a secret, because client IDs are public and events identify users. For a
            // confidential client, the missing secret is already reported elsewhere.
            if draft.secretHashes.isEmpty, !kind.isConfidential {
                add(
                    .secretMissing, at: "oauth.clients.secret_hashes",
                    "of \(draft.id) is missing, but a client that polls has a secret; use events: push, or make a "
                        + "secret with siwa client new")
            }
            for member in [ClientMember.eventsURL, .eventsPrivateNetworks] where member.value.isSet(in: draft)
            {
                add(
                    .eventsURLUnused, at: "oauth.clients.\(member.name)",
                    "of \(draft.id) has no meaning with events: poll; remove it")
            }
        }
    }

    private mutating func eventKinds(of draft: ClientDraft) -> Set<AccountEvent.Kind> {
        guard let words = draft.eventTypes else { return Set(ClientEvents.kinds) }
        let known = ClientEvents.kinds.map(\.rawValue)
        if words.isEmpty || !words.allSatisfy(known.contains) {
            add(
                .eventTypeUnknown, at: "oauth.clients.event_types",
                "of \(draft.id) must be some of \(known.joined(separator: ", ")); correct the list, or leave it "
                    + "out for all of them")
        }
        return Set(ClientEvents.kinds.filter { words.contains($0.rawValue) })
    }
}
