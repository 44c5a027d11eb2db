import Cryptography
import Encodings

/// A verified server-to-server notification of Apple.
///
/// A notification is applied once: a repetition with the same identifier changes nothing. From a notification
/// with another identifier, it applies only events that are new for their client ID, subject, type and time.
public struct NotificationCommand: Sendable, Hashable {
    public let identifier: InboxIdentifier
    public let team: TeamID
    /// The app's primary client ID.
    public let clientID: ClientID
    public let events: [NotifiedEvent]
    /// The largest number of characters of a payload. Tokens are far shorter.
    public static let longestPayload = 65536

    /// The signed payload as received.
    public let payload: String
    /// Arrival time, by our clock.
    public let receivedAt: Moment

    public init(
        identifier: InboxIdentifier, team: TeamID, clientID: ClientID, events: [NotifiedEvent],
        payload: String,
        receivedAt: Moment
    ) {
        self.identifier = identifier
        self.team = team
        self.clientID = clientID
        self.events = events
        self.payload = payload
        self.receivedAt = receivedAt
    }
}

/// The result of a notification. Apple gets the same HTTP response for each.
public enum NotificationReceipt: String, Sendable, Hashable, CaseIterable {
    /// At least one event was new and of a known type, and the state of its user changed.
    case applied
    /// As `applied`, but no state changed, because later facts decide or the user already had the state.
    case unchanged
    /// No event was new.
    case duplicate
    /// The notification was stored, but this version knows none of its new events.
    case unknownType = "unknown_type"

    /// The wire word. The interface has one word for `applied` and `unchanged`.
    public var word: String {
        switch self {
        case .applied, .unchanged: "applied"
        case .duplicate: "duplicate"
        case .unknownType: "unknown_type"
        }
    }
}

/// One event of a notification.
public struct NotifiedEvent: Sendable, Hashable {
    public enum Change: Sendable, Hashable {
        case consentRevoked
        case appleAccountDeleted
        /// The address is `nil` when Apple did not send all of its members.
        case emailForwarding(EmailForwarding, EmailAddress?)
        /// A type that this version does not know. The event is stored and changes nothing.
        case unknown
    }

    public let change: Change
    /// Apple's word for the type, as sent. A word that no store accepts, because it has more than
    /// `longestType` characters or a control character, is replaced by "sha256:" and its digest: if it were
    /// refused, Apple would deliver it forever; if it were cut off, it could equal another word.
    public let type: String
    /// The user; `nil` only for an unknown type.
    public let subject: AppleSubject?
    /// Apple's `event_time`.
    public let moment: Moment

    /// Largest number of characters. The stores index types and subjects, and index entries are bounded.
    public static let longestType = 255

    public init(change: Change, type: String, subject: AppleSubject?, moment: Moment) {
        self.change = change
        self.type = Self.storable(type)
        self.subject = subject
        self.moment = moment
    }

    private static func storable(_ type: String) -> String {
        guard type.characterCount > longestType || type.hasControlCharacters else { return type }
        return "sha256:" + Hexadecimal.encode(SHA256Digest.hash(type))
    }

    /// True if the event ends credentials.
    public var isRevocation: Bool {
        switch change {
        case .consentRevoked, .appleAccountDeleted: true
        case .emailForwarding, .unknown: false
        }
    }
}

/// Identifies an event across deliveries whose notifications have different identifiers.
public struct InboxKey: Sendable {
    public let clientID: ClientID
    public let subject: AppleSubject
    public let type: String
    public let moment: Moment

    public init(clientID: ClientID, subject: AppleSubject, type: String, moment: Moment) {
        self.clientID = clientID
        self.subject = subject
        self.type = type
        self.moment = moment
    }

    /// Returns `nil` for an event without a subject: only the identifier of the notification distinguishes
    /// two such events.
    init?(_ event: NotifiedEvent, of command: NotificationCommand) {
        guard let subject = event.subject else { return nil }
        self.init(clientID: command.clientID, subject: subject, type: event.type, moment: event.moment)
    }
}

extension InboxKey: Hashable {
    // Compares bytes, as the databases do.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.moment == rhs.moment && lhs.clientID == rhs.clientID
            && lhs.subject == rhs.subject && lhs.type.isByteEqual(to: rhs.type)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(moment)
        hasher.combine(clientID)
        hasher.combine(subject)
    }
}

extension WorkingSet {
    /// Applies a notification once, even after repeated deliveries and when one batch contains it twice.
    mutating func apply(
        _ command: NotificationCommand, using generator: inout some RandomNumberGenerator
    ) -> NotificationReceipt {
        guard !knownInboxIdentifiers.contains(command.identifier) else { return .duplicate }
        var newKeys: [InboxKey] = []
        var newEvents: [NotifiedEvent] = []
        var isErased = false
        for event in command.events {
            if let key = InboxKey(event, of: command) {
                guard knownInboxKeys.insert(key).inserted else { continue }
                // The key names the user; without a key a repetition only repeats the same changes.
                if subjects[position(of: SubjectKey(team: command.team, subject: key.subject))].isTombstone {
                    isErased = true
                } else {
                    newKeys.append(key)
                }
            }
            newEvents.append(event)
        }
        // A repetition under another identifier needs no storage.
        guard !newEvents.isEmpty || command.events.isEmpty else { return .duplicate }

        var receipt = NotificationReceipt.unknownType
        for event in newEvents where event.change != .unknown {
            guard let subject = event.subject else { continue }
            let key = SubjectKey(team: command.team, subject: subject)
            let hasChanged = take(event, of: key, in: command, using: &generator)
            if receipt != .applied { receipt = hasChanged ? .applied : .unchanged }
        }
        knownInboxIdentifiers.insert(command.identifier)
        keptNotifications.append(
            KeptNotification(
                command: command, receipt: receipt, newInboxKeys: newKeys, isErased: isErased))
        return receipt
    }

    /// Returns true if the state of the user changed.
    private mutating func take(
        _ event: NotifiedEvent, of key: SubjectKey, in command: NotificationCommand,
        using generator: inout some RandomNumberGenerator
    ) -> Bool {
        let position = position(of: key)
        let change = subjects[position].take(event, for: command.clientID)
        let accountID = subjects[position].accountID
        if event.isRevocation {
            let isOfAllApps = event.change == .appleAccountDeleted
            dropAppleTokens(of: position, app: isOfAllApps ? nil : command.clientID, upTo: event.moment)
        }

        func append(_ kind: AccountEvent.Kind, clientID: ClientID? = nil, reason: CredentialReason? = nil) {
            events.append(
                AccountEvent(
                    id: EventID(UniqueID(at: command.receivedAt, using: &generator)), kind: kind, key: key,
                    accountID: accountID, clientID: clientID, reason: reason, source: .notification,
                    moment: event.moment, recordedAt: command.receivedAt))
        }
        // Facts about a user without an account are not visible yet, except for the credential.
        if accountID != nil {
            if change.isAccountDeleted { append(.accountDeleted, reason: .appleAccountDeleted) }
            if change.isForwardingChanged { append(.emailForwardingChanged) }
            if change.isEmailChanged { append(.emailChanged) }
        }
        for clientID in change.revokedClientIDs {
            append(
                .credentialRevoked, clientID: clientID,
                reason: subjects[position].record(for: clientID).reason)
        }
        if let accountID { note(event, change, of: accountID, at: position, in: command) }
        // Applies even when a later sign-in keeps the credential
        // authorized: earlier authorizations have ended.
        if let accountID, let reason = event.change.grantEndReason {
            credentialEnds.append(
                CredentialEnd(
                    accountID: accountID, key: key,
                    clientID: event.change == .appleAccountDeleted ? nil : command.clientID,
                    moment: event.moment, reason: reason, source: .notification,
                    recordedAt: command.receivedAt, eventIndex: events.count, origin: .apple))
        }
        return change.hasChanged
    }
}

extension NotifiedEvent.Change {
    /// Reason of the end of tokens by this event; `nil` when no tokens end.
    fileprivate var grantEndReason: GrantEndReason? {
        switch self {
        case .consentRevoked: .consentRevoked
        case .appleAccountDeleted: .appleAccountDeleted
        case .emailForwarding, .unknown: nil
        }
    }
}

extension SubjectRecord {
    /// Changes by an event of a notification that a caller can see.
    struct NotificationChange {
        var isAccountDeleted = false
        var isEmailChanged = false
        var isForwardingChanged = false
        /// Apps whose credentials the event ended.
        var revokedClientIDs: [ClientID] = []

        var hasChanged: Bool {
            isAccountDeleted || isEmailChanged || isForwardingChanged || !revokedClientIDs.isEmpty
        }
    }

    mutating func take(_ event: NotifiedEvent, for clientID: ClientID) -> NotificationChange {
        guard !isTombstone else {
            if event.isRevocation { moveTombstone(to: event.moment) }
            return NotificationChange()
        }
        switch event.change {
        case .consentRevoked:
            return revoke(clientID, at: event.moment)
        case .appleAccountDeleted:
            return revokeAllApps(at: event.moment, beside: clientID)
        case .emailForwarding(let forwarding, let address):
            return take(forwarding, address, at: event.moment)
        case .unknown:
            return NotificationChange()
        }
    }

    /// Moves only the time before which tokens are refused: a late
    /// revocation adds no other fact to an erased user.
    private mutating func moveTombstone(to moment: Moment) {
        let revocation = Revocation(moment: moment, reason: .erased, source: .erasure)
        guard revocationOfAllApps.map({ $0 < revocation }) ?? true else { return }
        revocationOfAllApps = revocation
        touchRow()
    }

    private mutating func revoke(_ clientID: ClientID, at moment: Moment) -> NotificationChange {
        var change = NotificationChange()
        let stateBefore = record(for: clientID).state
        let index = touchCredential(of: clientID)
        credentials[index].record.merge(
            Revocation(moment: moment, reason: .consentRevoked, source: .notification))
        // Includes an unknown user, whose state changes from "not found": callers ask by `sub`.
        if stateBefore != .revoked, record(for: clientID).state == .revoked {
            change.revokedClientIDs = [clientID]
        }
        return change
    }

    private mutating func revokeAllApps(at moment: Moment, beside clientID: ClientID) -> NotificationChange {
        var change = NotificationChange()
        let revocation = Revocation(moment: moment, reason: .appleAccountDeleted, source: .notification)
        guard revocationOfAllApps.map({ $0 < revocation }) ?? true else { return change }
        var clientIDs = credentials.map(\.clientID)
        // The app of the notification gets an event, even if the user was not known there.
        let (index, isPresent) = position(of: clientID)
        if !isPresent { clientIDs.insert(clientID, at: index) }
        let before = clientIDs.map { record(for: $0).state }
        revocationOfAllApps = revocation
        touchRow()
        change.isAccountDeleted = true
        for (clientID, stateBefore) in zip(clientIDs, before)
        where stateBefore != .revoked && record(for: clientID).state == .revoked {
            change.revokedClientIDs.append(clientID)
        }
        return change
    }

    private mutating func take(
        _ forwarding: EmailForwarding, _ address: EmailAddress?, at moment: Moment
    ) -> NotificationChange {
        var change = NotificationChange()
        let forwardingBefore = self.forwarding
        let emailBefore = email
        self.forwarding = LastWriter(forwarding, at: moment).merged(with: self.forwarding)
        if let address {
            email = LastWriter(address, at: moment).merged(with: email)
        }
        let isUnsignedReplaced = email != nil && unsignedEmail != nil
        if isUnsignedReplaced { unsignedEmail = nil }
        if self.forwarding != forwardingBefore || email != emailBefore || isUnsignedReplaced { touchRow() }
        change.isForwardingChanged = self.forwarding?.value != forwardingBefore?.value
        change.isEmailChanged = email?.value != emailBefore?.value
        return change
    }
}

/// A notification for the inbox.
public struct KeptNotification: Sendable, Hashable {
    public let command: NotificationCommand
    public let receipt: NotificationReceipt
    /// Keys of the notification's new events.
    public let newInboxKeys: [InboxKey]
    /// Payload to store, as received; only the word "erased" when it is about an erased user.
    public let payload: String

    init(command: NotificationCommand, receipt: NotificationReceipt, newInboxKeys: [InboxKey], isErased: Bool)
    {
        self.command = command
        self.receipt = receipt
        self.newInboxKeys = newInboxKeys
        payload = isErased ? Self.erasedPayload : command.payload
    }

    /// Replacement for a payload in the inbox that names an erased user.
    public static let erasedPayload = "erased"
}
