import AppleAccounts
import AppleIDClient
import AppleIdentity
import StrictJSON

/// The new identifiers of a transferred account, from Apple's response: a line of the results file.
struct TransferResult: Equatable, Sendable {
    let accountID: AccountID
    let subject: AppleSubject
    let email: EmailAddress?

    /// Returns `nil` when Apple's response has no usable subject.
    init?(accountID: AccountID, user: MigratedUser) {
        guard let subject = AppleSubject(user.subject) else { return nil }
        (self.accountID, self.subject) = (accountID, subject)
        // The response is not signed, but it comes from Apple's server over TLS, so it counts like a token.
        email = user.email.flatMap {
            EmailAddress(
                address: $0, isVerified: true,
                isPrivate: RelayAddress.isPrivate(user.isPrivateEmail, address: $0))
        }
    }

    init?(_ json: JSONObject) {
        guard let accountID = json["account_id"]?.string.flatMap({ AccountID($0) }),
            let subject = json["sub"]?.string
        else { return nil }
        self.init(
            accountID: accountID,
            user: MigratedUser(
                subject: subject, email: json["email"]?.string, isPrivateEmail: json["is_private_email"]?.bool
            ))
    }

    var json: JSONObject {
        var json = JSONObject([
            ("account_id", .string(accountID.rawValue)), ("sub", .string(subject.rawValue)),
        ])
        json["email"] = email.map { .string($0.address) }
        json["is_private_email"] = email?.isPrivate.map { .bool($0) }
        return json
    }
}
