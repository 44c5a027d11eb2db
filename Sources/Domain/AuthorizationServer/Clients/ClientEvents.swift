public import AppleAccounts

/// The event stream of a client, from the configuration.
public struct ClientEvents: Sendable, Hashable {
    /// The ways in which events reach a client.
    public enum Delivery: String, Sendable, Hashable, CaseIterable {
        /// RFC 8935: the service posts each event to the client.
        case push
        /// RFC 8936: the client polls for its events.
        case poll
    }

    /// The events of the feed that a client can receive. The others are about Apple,
    /// about apps, or about the client's own actions.
    public static let kinds: [AccountEvent.Kind] = [
        .grantRevoked, .accountErased, .accountDisabled, .accountEnabled, .sessionsEnded,
    ]

    public let delivery: Delivery
    public let kinds: Set<AccountEvent.Kind>
    /// The URL for pushed events, as written. Only with `push`.
    public let url: String?
    /// Private networks to which the URL's name may resolve. Only with `push`.
    public let privateNetworks: [String]
}

extension OAuthCheck {
    /// Returns the event stream of a client; `nil` for a client without a stream, and after a mistake.
    ///
    /// The reader of the settings checks URL and networks, as it does for webhooks.
    mutating func events(of draft: ClientDraft, _ kind: ClientKind) -> ClientEvents? {
        // A client of another kind is refused because of the members themselves.
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
            // Client IDs are public, and events name users. A confidential
            // client without a secret is a separate mistake.
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
