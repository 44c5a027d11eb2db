import AppleAccounts
import EventDelivery
import HTTPEngine
import WebOrigins

/// A webhook of the configuration after all checks.
struct WebhookSettings: Sendable {
    let name: ReceiverName
    let url: WebAddress
    /// The URL as it is written.
    let text: String
    let kinds: Set<AccountEvent.Kind>
    let scope: AppScope
    /// The audience of security event tokens; `nil` for the form of Standard Webhooks.
    let audience: String?
    /// One secret, or two during a rotation. None with an audience.
    let secrets: [WebhookSecret]
    /// Private networks that the URL's name may lead to.
    let networks: [AddressBlock]
    /// The authority in PEM that signs the receiver's certificate, instead of those of the system. Only
    /// `siwa dev` has one.
    var authority: String?
}
