public import AppleAccounts
import AppleIdentity
public import Commits
import Cryptography
import Encodings
import JOSE
import KeySets

/// The result of a committed notification, with the changes that the notification requests.
public struct ReceivedNotification: Sendable {
    public let receipt: NotificationReceipt
    /// The changes that the notification requests.
    public let changes: [NotifiedEvent.Change]
}

extension SignInUseCases {
    /// Verifies a server-to-server notification from Apple, and returns the command to commit.
    ///
    /// Stores no part of an invalid payload. Waits only for a fetch of the payload's key.
    /// - Throws: `AppleTokenError`, `KeySetError`. The commit throws `StorageError` and `OverloadedError`.
    public func receiveNotification(
        payload: String
    ) throws -> Step<ReceivedNotification> {
        let moment = now()
        let token = try UnverifiedToken(payload)
        if let key = keys.cachedKey(for: token.keyID) {
            return try notification(token, with: key, payload: payload, at: moment)
        }
        return .work { [self] in
            let key = try await keys.key(for: token.keyID, issuedAt: token.claimedIssuedAt)
            return try notification(token, with: key, payload: payload, at: moment)
        }
    }

    private func notification(
        _ token: UnverifiedToken, with key: RSAPublicKey, payload: String, at moment: Moment
    ) throws -> Step<ReceivedNotification> {
        let notification = try notificationVerifier.verify(
            token, with: key, at: NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000))
        guard let clientID = ClientID(notification.clientID), let app = deployment.app(for: clientID) else {
            throw AppleTokenError(.audienceMismatch)
        }
        let command = NotificationCommand(
            identifier: Self.identifier(of: notification, payload: payload), team: app.team,
            clientID: app.primaryClientID,
            events: notification.events.map { NotifiedEvent($0, of: notification) },
            payload: payload, receivedAt: moment)
        let changes = command.events.map(\.change)
        return commits.step(command) { ReceivedNotification(receipt: $0, changes: changes) }
    }

    /// Returns the notification's `jti`, or the digest of its payload if the `jti` is absent or cannot be
    /// stored.
    private static func identifier(
        of notification: VerifiedNotification, payload: String
    ) -> InboxIdentifier {
        if let identifier = notification.identifier.flatMap({ InboxIdentifier($0) }) { return identifier }
        let digest = "sha256:" + Hexadecimal.encode(SHA256Digest.hash(payload))
        guard let identifier = InboxIdentifier(digest) else {
            preconditionFailure("a digest is a valid identifier")
        }
        return identifier
    }
}

extension NotifiedEvent {
    /// An event without a time gets its notification's time of issue.
    init(_ event: NotificationEvent, of notification: VerifiedNotification) {
        let moment =
            event.eventTimeMilliseconds.map { Moment(milliseconds: $0) }
            ?? Moment(seconds: notification.issuedAt.secondsSince1970)
        self.init(
            change: Change(event), type: event.type, subject: event.subject.flatMap { AppleSubject($0) },
            moment: moment)
    }
}

extension NotifiedEvent.Change {
    fileprivate init(_ event: NotificationEvent) {
        self =
            switch event.kind {
            case .consentRevoked: .consentRevoked
            case .accountDeleted: .appleAccountDeleted
            case .emailEnabled: .emailForwarding(.enabled, EmailAddress(event))
            case .emailDisabled: .emailForwarding(.disabled, EmailAddress(event))
            case .unknown: .unknown
            }
    }
}

extension EmailAddress {
    /// Returns `nil` if the event contains no address, or if neither its claim nor the domain shows whether
    /// the address is a relay address. Such an address must not replace an address of a known kind.
    ///
    /// Events contain no claim about verification. A relay address belongs to Apple, and any other address
    /// counts as unverified.
    fileprivate init?(_ event: NotificationEvent) {
        guard let address = event.email, let isPrivate = event.isPrivateEmail else { return nil }
        self.init(address: address, isVerified: isPrivate, isPrivate: isPrivate)
    }
}

extension SignInUseCases {
    /// Maximum time that `events` waits.
    public static let longestWait = Duration.seconds(30)
    /// The maximum number of events in a page that `events` returns.
    public static let largestEventPage = 1000

    /// Returns the account events after a cursor, in commit order and without gaps.
    ///
    /// A limited caller receives the events about its apps' credentials, and about accounts with such
    /// credentials.
    ///
    /// - Parameters:
    ///   - cursor: 0 for the beginning of the feed, otherwise the `cursor` of the previous page.
    ///   - limit: Maximum number of events, from 1 to `largestEventPage`. Any other value is clamped.
    ///   - wait: Time to wait for an event at the end of the feed, at most `longestWait`. The wait ends early
    ///     with an empty page if the task is cancelled or the service shuts down.
    /// - Returns: A page of events. An empty page can still have a next page, because very many events may be
    ///   hidden from the caller.
    /// - Throws: `StorageError`, `EventCursorAhead`.
    public func events(
        after cursor: Int64, limit: Int, wait: Duration, allowed: AppScope
    ) async throws -> EventPage {
        let reader = EventReader(
            store: store, feed: feed, limit: min(max(limit, 1), Self.largestEventPage),
            scope: allowed)
        let page = try await reader.page(after: max(cursor, 0))
        guard page.events.isEmpty, !page.hasMore else { return page }
        // The last sequence number is read after the page, because the feed never shrinks unless the database
        // was restored.
        guard try await store.lastEventSequence() >= page.cursor else { throw EventCursorAhead() }
        guard wait > .zero else { return page }
        return try await reader.page(after: page.cursor, waiting: min(wait, Self.longestWait))
    }

    /// Returns an empty page with the cursor at the end of the feed. With a wait, returns the next events.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    public func latestEvents(limit: Int, wait: Duration, allowed: AppScope) async throws -> EventPage {
        let end = try await store.lastEventSequence()
        guard wait > .zero else { return EventPage(events: [], cursor: end, hasMore: false) }
        return try await events(after: end, limit: limit, wait: wait, allowed: allowed)
    }
}
