import TokenMint

/// The section `oauth` of a configuration whose test needs a client and does not use it.
enum OAuthSection {
    /// One line, so that it can stand in a text with any indentation.
    static let phone =
        "oauth: {clients: [{id: phone, kind: native, app: \(TokenMint.clientID), name: Phone, platform: ios, "
        + "scopes: [openid], redirect_uris: [\"com.example.app:/back\"]}]}"
}
