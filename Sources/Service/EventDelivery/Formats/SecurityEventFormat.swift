public import AppleAccounts
public import JOSE

/// The format of security event tokens, delivered by push (RFC 8935 §2) or poll (RFC 8936 §2).
public struct SecurityEventFormat: EventFormat {
    private let issuer: String
    private let audience: String
    private let key: @Sendable () async throws -> TokenSigningKey

    /// - Parameter key: Returns the current signing key.
    public init(
        issuer: String, audience: String, key: @escaping @Sendable () async throws -> TokenSigningKey
    ) {
        (self.issuer, self.audience, self.key) = (issuer, audience, key)
    }

    /// Returns `nil` for an event about an erased user without an account, because no token can name its
    /// subject.
    public func message(for event: AccountEvent, at moment: Moment) async throws -> EventMessage? {
        guard let subject = SecurityEventSubject(of: event) else { return nil }
        let token = SecurityEventToken(
            issuer: issuer, audience: audience, subject: subject, event: event,
            issuedAt: moment.milliseconds / 1000)
        return EventMessage(token: try token.signed(with: try await key()))
    }

    public func message(
        for verification: StreamVerification, of stream: ReceiverName, at moment: Moment
    ) async throws -> EventMessage? {
        let token = StreamVerificationToken(
            issuer: issuer, audience: audience, stream: stream, verification: verification,
            issuedAt: moment.milliseconds / 1000)
        return EventMessage(token: try token.signed(with: try await key()))
    }
}

extension EventMessage {
    /// Creates the request that pushes a security event token.
    init(token: String) {
        self.init(
            fields: ["content-type": SecurityEventToken.mediaType, "accept": "application/json"],
            body: Array(token.utf8))
    }
}

/// The format of security event tokens for an OAuth client. The client gets events about users who had a
/// grant to the client at the time of the event.
///
/// The decision depends on the feed's latest earlier event about the account's grant to the client. Changes
/// to the grant between the event and its delivery have no effect.
public struct ClientEventFormat: EventFormat {
    private let issuer: String
    private let client: OAuthClientID
    private let store: any DeliveryStore
    private let key: @Sendable () async throws -> TokenSigningKey
    /// Makes the tokens whose content does not depend on the receiver.
    private let common: SecurityEventFormat

    /// - Parameter key: Returns the current signing key.
    public init(
        issuer: String, client: OAuthClientID, store: any DeliveryStore,
        key: @escaping @Sendable () async throws -> TokenSigningKey
    ) {
        (self.issuer, self.client, self.store, self.key) = (issuer, client, store, key)
        common = SecurityEventFormat(issuer: issuer, audience: client.rawValue, key: key)
    }

    public func message(for event: AccountEvent, at moment: Moment) async throws -> EventMessage? {
        // The ID outlives an erasure, and the client knows it as the `sub` of its ID tokens.
        guard let account = event.accountID, try await isMeant(by: event, about: account) else { return nil }
        let token = ClientEventToken(
            issuer: issuer, client: client, account: account, event: event,
            issuedAt: moment.milliseconds / 1000)
        return EventMessage(token: try token.signed(with: try await key()))
    }

    public func message(
        for verification: StreamVerification, of stream: ReceiverName, at moment: Moment
    ) async throws -> EventMessage? {
        try await common.message(for: verification, of: stream, at: moment)
    }

    private func isMeant(by event: AccountEvent, about account: AccountID) async throws -> Bool {
        if let grant = event.grant { return grant.oauthClientID == client }
        guard
            let sequence = try await store.grantEventSequence(
                of: account, for: client, before: event.sequence),
            let last = try await store.events(numbered: [sequence]).first, let grant = last.grant
        else { return false }
        guard let reason = grant.reason else { return true }
        // The event is for this client if the same transaction made the event's change and ended the grant.
        return reason.accountEvent == event.kind && last.recordedAt == event.recordedAt
    }
}

extension GrantEndReason {
    /// The event about the change that ended grants for this reason; `nil` if clients are not notified of
    /// this change.
    fileprivate var accountEvent: AccountEvent.Kind? {
        switch self {
        case .erased: .accountErased
        case .signedOut: .sessionsEnded
        case .unlinked, .clientRevoked, .tokenReused, .replaced, .googleRevoked, .consentRevoked,
            .appleAccountDeleted:
            nil
        }
    }
}

/// The format of the RISC reports to Google about ended refresh tokens (`token-revoked`): one security event
/// token for each event that contains such a token.
public struct GoogleReportFormat: EventFormat {
    /// Kinds of events that can contain an ended refresh token.
    public static let kinds: Set<AccountEvent.Kind> = [.grantRevoked, .tokenRevoked]

    private let issuer: String
    private let key: @Sendable () async throws -> TokenSigningKey

    /// - Parameter key: Returns the current signing key for RS256.
    public init(issuer: String, key: @escaping @Sendable () async throws -> TokenSigningKey) {
        (self.issuer, self.key) = (issuer, key)
    }

    /// Returns `nil` for an event without a refresh token, such as the end of another client's grant, or an
    /// end that Google itself requested.
    ///
    /// A message is the same in each attempt, except for its signature. It names no user.
    public func message(for event: AccountEvent, at moment: Moment) async throws -> EventMessage? {
        guard let digest = event.grant?.endedToken else { return nil }
        let report = TokenRevokedEvent(
            issuer: issuer, id: event.id.rawValue, doubleSHA512: digest,
            issuedAt: event.recordedAt.milliseconds / 1000)
        let text = try report.signed(with: try await key())
        return EventMessage(
            fields: ["content-type": SecurityEventToken.mediaType, "accept": "application/json"],
            body: Array(text.utf8))
    }
}
