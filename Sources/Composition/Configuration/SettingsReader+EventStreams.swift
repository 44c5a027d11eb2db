package import AppleAccounts
import AuthorizationServer
import Encodings
import EventDelivery
import HTTPAPI
import HTTPEngine

extension SettingsReader {
    /// Reads the `webhooks` entries that have an API key, because their receivers poll.
    ///
    /// The receiver gets only events of apps that the key can access, so that a limited key gives
    /// access to no other events.
    mutating func polledReceivers(
        for deployment: Deployment?, keys: [APIKey], beside webhooks: [WebhookSettings],
        canSign: Bool
    ) -> [PolledReceiverSettings] {
        var receivers: [PolledReceiverSettings] = []
        for entry in file?.sections.webhooks ?? [] {
            guard let keyName = entry.apiKey, let name = receiverName(entry) else { continue }
            if (webhooks.map(\.name) + receivers.map(\.name)).contains(name) {
                mistakes.add("webhooks.name", "has two webhooks named \(name)")
            }
            let unused = [
                ("url", !entry.url.isEmpty), ("secret_files", !entry.secretFiles.isEmpty),
                ("private_networks", entry.privateNetworks != nil),
            ]
            for (member, isSet) in unused where isSet {
                mistakes.add(
                    "webhooks.\(member)",
                    "of \(name) cannot be set together with api_key: a receiver with an API key polls")
            }
            if entry.audience == nil {
                mistakes.add(
                    "webhooks.audience",
                    "of \(name) is missing: a receiver with api_key polls for security event tokens")
            }
            checkAudience(entry, of: name, canSign: canSign)
            let kinds = eventKinds(entry, of: name)
            let key = keys.first { $0.name.utf8.elementsEqual(keyName.utf8) }
            // In development, a service without API keys accepts every caller.
            if key == nil, !(keys.isEmpty && isDevelopment) {
                mistakes.add("webhooks.api_key", "of \(name) must be the name of an entry of api_keys")
            }
            if let key, !key.roles.contains(.backend) {
                mistakes.add(
                    "webhooks.api_key",
                    "of \(name) must name a key of the role backend, but \(keyName) is for the console only and "
                        + "could never poll; name another key, or add backend to its roles")
            }
            let scope = scope(entry, of: name, within: key?.scope ?? .all, in: deployment)
            guard let audience = entry.audience else { continue }
            receivers.append(
                PolledReceiverSettings(
                    name: name, kinds: kinds, scope: scope, audience: audience, keyName: keyName))
        }
        return receivers
    }

    private mutating func scope(
        _ entry: SettingsFile.Webhook, of name: ReceiverName, within bound: AppScope,
        in deployment: Deployment?
    ) -> AppScope {
        guard entry.apps != nil else { return bound }
        let scope = scope(entry.apps, of: name, in: deployment)
        if case .only(let apps) = scope, !apps.allSatisfy({ bound.allows($0) }) {
            mistakes.add("webhooks.apps", "of \(name) names an app that its API key may not see")
        }
        return scope
    }

    /// Reads the OAuth clients' event streams.
    ///
    /// - Parameter count: The number of receivers that are not client streams.
    mutating func clientStreams(of oauth: OAuthSettings?, beside count: Int) -> [ClientStreamSettings] {
        var streams: [ClientStreamSettings] = []
        if oauth == nil {
            // Checks the URLs even if another mistake makes the section unusable.
            for client in file?.sections.oauth.clients ?? [] {
                guard let url = client.eventsURL else { continue }
                _ = push(to: url, networks: client.eventsPrivateNetworks, of: client.id)
            }
        }
        for client in oauth?.clients.clients ?? [] {
            guard let events = client.events else { continue }
            var push: ClientStreamSettings.Push?
            if let text = events.url {
                push = self.push(to: text, networks: events.privateNetworks, of: client.id.rawValue)
                guard push != nil else { continue }
            }
            streams.append(ClientStreamSettings(client: client.id, kinds: events.kinds, push: push))
        }
        if !streams.isEmpty, count + streams.count > EventReceiver.most {
            mistakes.add(
                "oauth.clients.events",
                "makes more than \(EventReceiver.most) receivers together with webhooks; remove some")
        }
        return streams
    }

    private mutating func push(
        to text: String, networks: [String], of client: String
    ) -> ClientStreamSettings.Push? {
        guard let url = WebAddress(text) else {
            mistakes.add(
                "oauth.clients.events_url",
                "of \(client) must be a URL like https://client.example.com/events, without user and "
                    + "fragment")
            return nil
        }
        if !url.isSecure, !isDevelopment {
            mistakes.add(
                "oauth.clients.events_url", "of \(client) must be https: events name users")
        }
        let blocks = networks.map { AddressBlock($0) }
        if blocks.contains(nil) || AddressBlock.holdEveryAddress(blocks.compactMap { $0 }) {
            mistakes.add(
                "oauth.clients.events_private_networks",
                "of \(client) must be addresses or networks like 10.0.5.7 or 10.0.5.0/24, and not all "
                    + "addresses")
        }
        return ClientStreamSettings.Push(url: url, text: text, networks: blocks.compactMap { $0 })
    }
}

/// A `webhooks` entry whose receiver polls. All values are checked.
package struct PolledReceiverSettings: Sendable {
    let name: ReceiverName
    let kinds: Set<AccountEvent.Kind>
    let scope: AppScope
    /// The audience of the receiver's security event tokens.
    let audience: String
    /// The name of the only API key that may poll.
    let keyName: String

    package init(
        name: ReceiverName, kinds: Set<AccountEvent.Kind>, scope: AppScope, audience: String, keyName: String
    ) {
        (self.name, self.kinds, self.scope) = (name, kinds, scope)
        (self.audience, self.keyName) = (audience, keyName)
    }
}

/// The validated settings of an OAuth client's event stream.
package struct ClientStreamSettings: Sendable {
    package struct Push: Sendable {
        let url: WebAddress
        /// The URL as written in the configuration.
        let text: String
        /// Private networks that the URL's host may resolve to.
        let networks: [AddressBlock]
    }

    let client: OAuthClientID
    let kinds: Set<AccountEvent.Kind>
    /// The destination of pushed events; `nil` for a client that polls.
    let push: Push?

    package init(client: OAuthClientID, kinds: Set<AccountEvent.Kind>, push: Push?) {
        (self.client, self.kinds, self.push) = (client, kinds, push)
    }

    var name: ReceiverName { ReceiverName(of: client) }
}
