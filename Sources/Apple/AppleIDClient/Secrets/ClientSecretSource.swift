/// Provides client secrets.
public protocol ClientSecretSource: Sendable {
    /// Returns valid secrets of a client ID, one for each key of its team, in the order in which to try them.
    /// Never empty. Throws `.noSigningKey` and `.signingFailed`.
    func secrets(for clientID: String) throws(AppleCallError) -> [ClientSecret]

    /// Reports that Apple accepted this secret: its key comes first in later calls.
    func accepted(_ secret: ClientSecret, for clientID: String)
}

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
