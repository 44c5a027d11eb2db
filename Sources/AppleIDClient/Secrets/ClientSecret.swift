/// A client secret: the JWT that authenticates a team and a client ID at Apple. It appears in no description.
public struct ClientSecret: Sendable, Equatable {
    /// The compact JWT.
    public let text: String
    /// The key that signed it.
    public let keyID: String

    public init(text: String, keyID: String) {
        (self.text, self.keyID) = (text, keyID)
    }
}

extension ClientSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "client secret of key \(keyID)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}
