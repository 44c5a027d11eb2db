import AppleAccounts
import HTTPEngine
import WebOrigins

/// An entry of `webhooks` whose receiver polls, after all checks.
struct PolledReceiverSettings: Sendable {
    let name: ReceiverName
    let kinds: Set<AccountEvent.Kind>
    let scope: AppScope
    /// The audience of its security event tokens.
    let audience: String
    /// The name of the only API key that may poll.
    let keyName: String
}

/// The event stream of an OAuth client after all checks.
struct ClientStreamSettings: Sendable {
    struct Push: Sendable {
        let url: WebAddress
        /// The URL as it is written.
        let text: String
        /// Private networks that the URL's name may lead to.
        let networks: [AddressBlock]
    }

    let client: OAuthClientID
    let kinds: Set<AccountEvent.Kind>
    /// `nil` for a client that polls.
    let push: Push?

    var name: ReceiverName { ReceiverName(of: client) }
}
