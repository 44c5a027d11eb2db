public import AppleAccounts

/// The event stream of a client, as the configuration declares it.
public struct ClientEvents: Sendable, Hashable {
    /// The ways in which events reach a client.
    public enum Delivery: String, Sendable, Hashable, CaseIterable {
        /// RFC 8935: the service posts each event to the client.
        case push
        /// RFC 8936: the client asks for its events.
        case poll
    }

    /// The events of the feed that a client can learn of. Others are about Apple, about apps, or about what the
    /// client has done itself.
    public static let kinds: [AccountEvent.Kind] = [
        .grantRevoked, .accountErased, .accountDisabled, .accountEnabled, .sessionsEnded,
    ]

    public let delivery: Delivery
    public let kinds: Set<AccountEvent.Kind>
    /// The URL that is posted to, as it is written. Only with `push`.
    public let url: String?
    /// Private networks that the URL's name may lead to. Only with `push`.
    public let privateNetworks: [String]
}
