import StrictJSON

/// User transfers between teams: `POST /auth/usermigrationinfo`. Apple responds for 60 days after the
/// receiving team has accepted the app. Both calls only read, so they are safe to repeat.
public protocol AppleMigrationService: Sendable {
    /// Returns the identifier that lets the receiving team find this user. Only for the sending team.
    func transferSubject(of subject: String, to recipientTeam: String, clientID: String)
        async throws(AppleCallError) -> String

    /// Returns the user's new identifier and e-mail address. Only for the receiving team.
    func recipient(ofTransferSubject transferSubject: String, clientID: String) async throws(AppleCallError)
        -> MigratedUser
}

/// A transferred user's identity for the receiving team. It is personal data, so descriptions omit it.
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

extension MigratedUser {
    /// Reads the response for the receiving team. Throws the matching error for any other response.
    init(_ response: AppleResponse) throws(AppleCallError) {
        let document = try response.json()
        let isPrivate = document["is_private_email"]
        guard let subject = document["sub"]?.string, (1...255).contains(subject.utf8.count),
            document["email"].map({ $0.string != nil }) ?? true,
            isPrivate.map({ Self.bool($0) != nil }) ?? true
        else {
            throw AppleCallError(.responseUnusable, detail: "no migrated user")
        }
        self.init(
            subject: subject, email: document["email"]?.string, isPrivateEmail: isPrivate.flatMap(Self.bool))
    }

    /// Reads a boolean. Apple writes the same claim as a boolean at some endpoints and as a string at others.
    private static func bool(_ value: JSONValue) -> Bool? {
        switch value {
        case .bool(let value): value
        case .string("true"): true
        case .string("false"): false
        case .string, .null, .integer, .number, .array, .object: nil
        }
    }
}
