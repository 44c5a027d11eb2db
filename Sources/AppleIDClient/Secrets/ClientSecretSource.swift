/// Provides client secrets.
public protocol ClientSecretSource: Sendable {
    /// Returns valid secrets of a client ID, one for each key of its team, in the order in which to try them.
    /// Never empty. Throws `.noSigningKey` and `.signingFailed`.
    func secrets(for clientID: String) throws(AppleCallError) -> [ClientSecret]

    /// Reports that Apple accepted this secret: its key comes first from now on.
    func accepted(_ secret: ClientSecret, for clientID: String)
}
