public import AppleAccounts

/// The name of a client of this authorization server: the `client_id` on the wire (RFC 6749 §2.2).
///
/// It is made by the operator. `ClientID` is something else: a bundle ID or a Services ID, the `aud` of
/// Apple's tokens.
public struct OAuthClientID: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 128 characters of `A-Z a-z 0-9 - . _ ~`. These need no escape in
    /// a query, a form or HTTP Basic, so that one client ID has one spelling.
    public init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy(\.isUnreserved) else { return nil }
        rawValue = text
    }
}
