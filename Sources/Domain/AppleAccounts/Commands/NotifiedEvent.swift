import Cryptography
import Encodings

/// One event of a notification.
public struct NotifiedEvent: Sendable, Hashable {
    public enum Change: Sendable, Hashable {
        case consentRevoked
        case appleAccountDeleted
        /// `nil` for the address when Apple did not send all of its members.
        case emailForwarding(EmailForwarding, EmailAddress?)
        /// A type that this version does not know. The event is kept and changes nothing.
        case unknown
    }

    public let change: Change
    /// Apple's word for the type, as sent. A word that no store can keep, because it has more than
    /// `longestType` characters or a control character, is replaced by "sha256:" and its digest: if it were
    /// refused, Apple would deliver it for ever; if it were cut off, it could equal another word.
    public let type: String
    /// `nil` only for an unknown type.
    public let subject: AppleSubject?
    /// Apple's `event_time`.
    public let moment: Moment

    /// In characters. The stores index types and subjects, and index entries are bounded.
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

    /// Indicates that the event ends credentials.
    public var isRevocation: Bool {
        switch change {
        case .consentRevoked, .appleAccountDeleted: true
        case .emailForwarding, .unknown: false
        }
    }
}
