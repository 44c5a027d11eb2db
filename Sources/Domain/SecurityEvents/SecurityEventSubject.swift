public import AppleAccounts
import StrictJSON

/// The user that a security event is about (RFC 9493 §3.2).
public enum SecurityEventSubject: Sendable, Hashable {
    /// An issuer's name of a user.
    case issuerSubject(issuer: String, subject: String)
    /// A name that only its sender and its receiver understand.
    case opaque(String)

    /// The user of an account event, for a receiver that knows accounts by their IDs here.
    ///
    /// An event from before the user's account has the name that Apple gave the user. `nil` after the erasure
    /// of such a user: then no name is left.
    public init?(of event: AccountEvent) {
        if let account = event.accountID {
            self = .opaque(account.rawValue)
        } else if let subject = event.subject {
            self = .issuerSubject(issuer: Self.apple, subject: subject.rawValue)
        } else {
            return nil
        }
    }

    /// The issuer of Apple's names, as in Apple's identity tokens.
    static let apple = "https://appleid.apple.com"
}

extension JSONWriter {
    mutating func value(_ subject: SecurityEventSubject) {
        beginObject()
        switch subject {
        case .issuerSubject(let issuer, let subject):
            member("format", "iss_sub")
            member("iss", issuer)
            member("sub", subject)
        case .opaque(let id):
            member("format", "opaque")
            member("id", id)
        }
        endObject()
    }
}
