import AppleAccounts
import Composition
import Encodings
import EventDelivery
import ReceiverEmulator

/// The receivers for `siwa dev`: a webhook, and security event tokens that are pushed over TLS.
///
/// The secret is the same in every run, so that copied commands work again. It protects nothing, because the
/// service sends only to this machine.
struct DevelopmentReceivers {
    static let secret = "whsec_c2l3YSBkZXZlbG9wbWVudCB3ZWJob29rIHNlY3JldCE="
    static let audience = "siwa-dev"

    let port: Int
    let securePort: Int
    /// PEM certificate of the authority that issued the certificate for `securePort`.
    let authority: String

    /// Returns the URL of each receiver.
    ///
    /// - Parameter signsEvents: True if the service has signing keys, as it does with OAuth clients.
    func urls(signsEvents: Bool) -> [EmulatedReceiver: String] {
        var urls = [EmulatedReceiver.webhook: "http://127.0.0.1:\(port)/webhook"]
        if signsEvents { urls[.push] = "https://127.0.0.1:\(securePort)/push" }
        return urls
    }

    func webhooks(signsEvents: Bool) -> [WebhookSettings] {
        let urls = urls(signsEvents: signsEvents)
        return EmulatedReceiver.allCases.compactMap { receiver in
            guard let text = urls[receiver], let url = WebAddress(text),
                let name = ReceiverName(receiver.rawValue)
            else { return nil }
            var webhook = WebhookSettings(
                name: name, url: url, text: text, kinds: Set(AccountEvent.Kind.allCases), scope: .all,
                audience: receiver == .push ? Self.audience : nil,
                secrets: receiver == .push ? [] : [Self.secret].compactMap { WebhookSecret($0) }, networks: []
            )
            webhook.authority = url.isSecure ? authority : nil
            return webhook
        }
    }

    /// Returns the service as the event sender, with the status of its receivers.
    static func sender(of service: ComposedService, issuer: String?) -> EventSender {
        var sender = EventSender(issuer: issuer, keysURL: issuer.map { "\($0)/oauth/jwks.json" })
        guard let deliveries = service.deliveries else { return sender }
        sender.status = {
            guard let states = try? await deliveries.states() else { return [:] }
            let words = states.configured.map { ($0.rawValue, states.words(of: $0)) }
            return Dictionary(words, uniquingKeysWith: { first, _ in first })
        }
        sender.resume = { name in
            if let name = ReceiverName(name) { try? await deliveries.resume(name) }
        }
        return sender
    }
}
