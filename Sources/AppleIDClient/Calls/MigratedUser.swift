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
