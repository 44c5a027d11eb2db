import Cryptography
import Encodings

/// Applies a verified server-to-server notification from Apple.
///
/// A notification is applied only once: repeating it with the same identifier
/// changes nothing. If it arrives under another identifier, only events with
/// a new combination of client ID, subject, type and time are applied.
public struct NotificationCommand: Sendable, Hashable {
    public let identifier: InboxIdentifier
    public let team: TeamID
    /// The app's primary client ID.
    public let clientID: ClientID
    public let events: [NotifiedEvent]
    /// Maximum length of a payload, in characters. Real tokens are far shorter.
    public static let longestPayload = 65536

    /// The signed payload, as received.
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

/// The result for a notification. Apple gets the same HTTP response in every case.
public enum NotificationReceipt: String, Sendable, Hashable, CaseIterable {
    /// At least one event was new and of a known type, and its user's state changed.
    case applied
    /// Like `applied`, but no state changed: later facts take precedence, or the user already had the state.
    case unchanged
    /// No event was new.
    case duplicate
    /// The notification was stored, but this version recognizes none of its new events.
    case unknownType = "unknown_type"

    /// The word in API responses, the same for `applied` and `unchanged`.
    public var word: String {
        switch self {
        case .applied, .unchanged: "applied"
        case .duplicate: "duplicate"
        case .unknownType: "unknown_type"
        }
    }
}

/// One event in a notification.
public struct NotifiedEvent: Sendable, Hashable {
    public enum Change: Sendable, Hashable {
        case consentRevoked
        case appleAccountDeleted
        /// The address is `nil` if Apple left out any of its members.
        case emailForwarding(EmailForwarding, EmailAddress?)
        /// A type unknown to this version. The event is stored but changes nothing.
        case unknown
    }

    public let change: Change
    /// Apple's name for the type, as sent. A name that no store accepts (more than `longestType` characters,
    /// or a control character) is replaced by "sha256:" and its digest: Apple would redeliver a refused
    /// notification forever, and a truncated name could equal another name.
    public let type: String
    /// The user; `nil` only for an unknown type.
    public let subject: AppleSubject?
    /// Apple's `event_time`.
    public let moment: Moment

    /// Maximum length in characters. Stores index types and subjects, and index entries have a size limit.
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

/// Identifies an event, so that a repetition in another notification is recognized.
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

    /// Returns `nil` for an event without a subject, because only the notification's identifier distinguishes
    /// two such events.
    init?(_ event: NotifiedEvent, of command: NotificationCommand) {
        guard let subject = event.subject else { return nil }
        self.init(clientID: command.clientID, subject: subject, type: event.type, moment: event.moment)
    }
}

extension InboxKey: Hashable {
    // The comparison uses bytes, as the databases do.
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
    /// Applies a notification once, even if it is delivered repeatedly or occurs twice in one batch.
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
                // The key identifies the user, so no key is stored for an erased user. Without a key, a
                // repetition only makes the same changes again.
                if subjects[position(of: SubjectKey(team: command.team, subject: key.subject))].isTombstone {
                    isErased = true
                } else {
                    newKeys.append(key)
                }
            }
            newEvents.append(event)
        }
        // A repetition under another identifier need not be stored.
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

    /// Returns true if the user's state changed.
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
        // Facts about a user without an account are not visible yet, except in the credential.
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
        // Tokens end even if a later sign-in keeps the credential authorized, because earlier authorizations
        // have ended.
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
    /// The reason why this event ends tokens; `nil` if it ends none.
    fileprivate var grantEndReason: GrantEndReason? {
        switch self {
        case .consentRevoked: .consentRevoked
        case .appleAccountDeleted: .appleAccountDeleted
        case .emailForwarding, .unknown: nil
        }
    }
}

extension SubjectRecord {
    /// Changes that callers can see, made by one event in a notification.
    struct NotificationChange {
        var isAccountDeleted = false
        var isEmailChanged = false
        var isForwardingChanged = false
        /// Apps whose credentials were ended by the event.
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

    /// Moves only the time before which tokens are refused, because a late revocation must add no other fact
    /// about an erased user.
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
        // This includes unknown users, whose state changes from "not found", because callers query by `sub`.
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
        // The notification's app gets an event even if the user was not known there.
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

/// A notification to store in the inbox.
public struct KeptNotification: Sendable, Hashable {
    public let command: NotificationCommand
    public let receipt: NotificationReceipt
    /// Keys for the notification's new events.
    public let newInboxKeys: [InboxKey]
    /// The payload to store: as received, or just the word "erased" if it is about an erased user.
    public let payload: String

    init(command: NotificationCommand, receipt: NotificationReceipt, newInboxKeys: [InboxKey], isErased: Bool)
    {
        self.command = command
        self.receipt = receipt
        self.newInboxKeys = newInboxKeys
        payload = isErased ? Self.erasedPayload : command.payload
    }

    /// Stored in the inbox in place of a payload that names an erased user.
    public static let erasedPayload = "erased"
}
