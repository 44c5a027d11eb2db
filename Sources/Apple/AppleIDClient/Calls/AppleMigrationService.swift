/// The transfer of users between teams: `POST /auth/usermigrationinfo`. Apple responds for 60 days after the
/// receiving team has accepted the app. Both calls only read and can be repeated.
public protocol AppleMigrationService: Sendable {
    /// For the sending team: returns the identifier with which the receiving team can find this user.
    func transferSubject(of subject: String, to recipientTeam: String, clientID: String)
        async throws(AppleCallError) -> String

    /// For the receiving team: returns the user's new identifier and e-mail address.
    func recipient(ofTransferSubject transferSubject: String, clientID: String) async throws(AppleCallError)
        -> MigratedUser
}

/// The identity of a transferred user for the receiving team. It is personal data and appears in no
/// description.
public struct MigratedUser: Sendable, Equatable {
    public let subject: String
    public let email: String?
    public let isPrivateEmail: Bool?

    public init(subject: String, email: String?, isPrivateEmail: Bool?) {
        (self.subject, self.email, self.isPrivateEmail) = (subject, email, isPrivateEmail)
    }
}

extension MigratedUser: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "migrated user" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
