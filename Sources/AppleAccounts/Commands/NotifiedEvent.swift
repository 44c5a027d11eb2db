import Cryptography
import Encodings

/// One event of a notification.
public struct NotifiedEvent: Sendable, Hashable {
    public enum Change: Sendable, Hashable {
        case consentRevoked
        case appleAccountDeleted
        /// The address comes along with what Apple said of it; `nil` when Apple did not say all.
        case emailForwarding(EmailForwarding, EmailAddress?)
        /// A type that this version does not know. It is kept and changes nothing.
        case unknown
    }

    public let change: Change
    /// Apple's word for the type, as sent. One that no store can keep, having more than `longestType`
    /// characters or a control character, is replaced by "sha256:" and its digest: refused, it would be
    /// delivered for ever; cut off, it could be taken for another.
    public let type: String
    /// `nil` only for a type that is not known.
    public let subject: AppleSubject?
    /// Apple's `event_time`.
    public let moment: Moment

    /// In characters. The stores have an index of types and subjects, whose entries are bounded.
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

    /// Whether it ends credentials.
    public var isRevocation: Bool {
        switch change {
        case .consentRevoked, .appleAccountDeleted: true
        case .emailForwarding, .unknown: false
        }
    }
}
