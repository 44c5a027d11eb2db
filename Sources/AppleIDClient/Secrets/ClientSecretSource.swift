/// Where client secrets come from.
public protocol ClientSecretSource: Sendable {
    /// Valid secrets of a client ID, one for each key of its team, the one to try first at the front. Never empty.
    /// Throws `.noSigningKey` and `.signingFailed`.
    func secrets(for clientID: String) throws(AppleCallError) -> [ClientSecret]

    /// Apple took this secret: its key comes first from now on.
    func accepted(_ secret: ClientSecret, for clientID: String)
}
