package import AppleAccounts
import AuthorizationServer
package import Encodings
package import EventDelivery
import Foundation
package import HTTPEngine

extension SettingsReader {
    /// Reads the `webhooks` entries that have a URL.
    ///
    /// - Parameter canSign: False if settings that security event tokens require are missing.
    mutating func webhooks(for deployment: Deployment?, canSign: Bool) -> [WebhookSettings] {
        let entries = file?.sections.webhooks ?? []
        if entries.count > EventReceiver.most {
            mistakes.add("webhooks", "has more than \(EventReceiver.most) entries; remove some")
        }
        var webhooks: [WebhookSettings] = []
        for entry in entries {
            // A receiver with an API key polls.
            guard entry.apiKey == nil, let name = receiverName(entry) else { continue }
            if webhooks.contains(where: { $0.name == name }) {
                mistakes.add("webhooks.name", "has two webhooks named \(name)")
            }
            let url = webhookURL(entry, of: name)
            let kinds = eventKinds(entry, of: name)
            let scope = scope(entry.apps, of: name, in: deployment)
            let secrets = entry.audience == nil ? webhookSecrets(entry, of: name) : []
            checkAudience(entry, of: name, canSign: canSign)
            let networks = privateNetworks(entry, of: name)
            guard let url else { continue }
            webhooks.append(
                WebhookSettings(
                    name: name, url: url, text: entry.url, kinds: kinds, scope: scope,
                    audience: entry.audience, secrets: secrets,
                    networks: networks))
        }
        return webhooks
    }

    mutating func receiverName(_ entry: SettingsFile.Webhook) -> ReceiverName? {
        if entry.name == ReceiverName.google.rawValue {
            mistakes.add("webhooks.name", "must not be google, which is the name of the reports to Google")
        }
        if let name = ReceiverName(entry.name), !name.isOfClient { return name }
        mistakes.add(
            "webhooks.name", "must be 1 to \(ReceiverName.longest) letters, digits, '.', '-' or '_'")
        return nil
    }

    private mutating func webhookURL(_ entry: SettingsFile.Webhook, of name: ReceiverName) -> WebAddress? {
        guard let url = WebAddress(entry.url) else {
            mistakes.add(
                "webhooks.url",
                "of \(name) must be a URL like https://backend.example.com/siwa, without user and fragment")
            return nil
        }
        if !url.isSecure, !isDevelopment {
            mistakes.add("webhooks.url", "of \(name) must be https: events name users")
        }
        return url
    }

    mutating func eventKinds(
        _ entry: SettingsFile.Webhook, of name: ReceiverName
    ) -> Set<AccountEvent.Kind> {
        guard let words = entry.events else { return Set(AccountEvent.Kind.allCases) }
        if words.isEmpty {
            mistakes.add("webhooks.events", "of \(name) is empty; leave it out for all events")
        }
        let known = AccountEvent.Kind.allCases.map(\.rawValue)
        return Set(
            words.compactMap { word in
                if let kind = AccountEvent.Kind(rawValue: word) { return kind }
                let nearest = NearestName.of(word, among: known) ?? ""
                mistakes.add(
                    "webhooks.events", "of \(name) has a word that is no event; did you mean \(nearest)?")
                return nil
            })
    }

    mutating func scope(
        _ names: [String]?, of receiver: ReceiverName, in deployment: Deployment?
    ) -> AppScope {
        guard let names else { return .all }
        if names.isEmpty {
            mistakes.add("webhooks.apps", "of \(receiver) is empty; leave it out for all apps")
        }
        var apps: Set<ClientID> = []
        for name in names {
            if let app = ClientID(name).flatMap({ deployment?.app(for: $0) }) {
                apps.insert(app.primaryClientID)
            } else if deployment != nil {
                mistakes.add("webhooks.apps", "of \(receiver) names a client ID that no app has")
            }
        }
        return .only(apps)
    }

    /// - Parameter canSign: False if settings that security event tokens require are missing.
    mutating func checkAudience(_ entry: SettingsFile.Webhook, of name: ReceiverName, canSign: Bool) {
        guard let audience = entry.audience else { return }
        if !(1...255).contains(audience.utf8.count) || audience.hasControlCharacters {
            mistakes.add("webhooks.audience", "of \(name) must have 1 to 255 bytes")
        }
        if !entry.secretFiles.isEmpty {
            mistakes.add(
                "webhooks.secret_files",
                "of \(name) cannot be set together with audience: a key of the service signs its tokens")
        }
        // If there are OAuth clients, the authorization server's own settings already cause these mistakes.
        if !canSign, file?.sections.oauth.clients.isEmpty ?? true {
            mistakes.add(
                "webhooks.audience",
                "of \(name) needs \(Setting.publicURL.name), the issuer of security event tokens, and "
                    + "\(Setting.sealingKeys.name), which seals the keys that sign them")
        }
    }

    private mutating func webhookSecrets(
        _ entry: SettingsFile.Webhook, of name: ReceiverName
    ) -> [WebhookSecret] {
        let setting = "webhooks.secret_files"
        guard (1...WebhookFormat.mostSecrets).contains(entry.secretFiles.count) else {
            mistakes.add(
                setting,
                "of \(name) must be one file, or two during a rotation: "
                    + "echo \"whsec_$(openssl rand -base64 32)\" makes a secret")
            return []
        }
        return entry.secretFiles.compactMap { path in
            let place = ConfigurationMistakes.place(path).map { "\($0): " } ?? ""
            // Secrets have fewer than 100 bytes, so the reader stops early in a longer file.
            guard let handle = FileHandle(forReadingAtPath: path),
                let content = try? handle.read(upToCount: 1024)
            else {
                mistakes.add(
                    setting, "of \(name): \(place)there is no such file, or this user may not read it")
                return nil
            }
            try? handle.close()
            let text = String(decoding: content, as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            if let fault = KnownSecrets.fault(ofWebhookSecret: text, isDevelopment: isDevelopment) {
                mistakes.add(setting, "of \(name): \(place)\(fault)")
                return nil
            }
            if let secret = WebhookSecret(text) { return secret }
            mistakes.add(
                setting, "of \(name): \(place)must be whsec_ and 24 to 64 bytes in base64")
            return nil
        }
    }

    private mutating func privateNetworks(
        _ entry: SettingsFile.Webhook, of name: ReceiverName
    ) -> [AddressBlock] {
        let blocks = (entry.privateNetworks ?? []).map { AddressBlock($0) }
        if blocks.contains(nil) || AddressBlock.holdEveryAddress(blocks.compactMap { $0 }) {
            mistakes.add(
                "webhooks.private_networks",
                "of \(name) must be addresses or networks like 10.0.5.7 or 10.0.5.0/24, and not all addresses"
            )
        }
        return blocks.compactMap { $0 }
    }
}

/// A configured webhook. All values are checked.
package struct WebhookSettings: Sendable {
    let name: ReceiverName
    let url: WebAddress
    /// The URL as written in the configuration.
    let text: String
    let kinds: Set<AccountEvent.Kind>
    let scope: AppScope
    /// The audience of security event tokens; `nil` for a Standard Webhooks receiver.
    let audience: String?
    /// One secret, or two during a rotation. Empty for a receiver with an audience.
    let secrets: [WebhookSecret]
    /// Private networks that the URL's host may resolve to.
    let networks: [AddressBlock]
    /// The PEM certificate of the authority that signed the receiver's certificate. It replaces the system's
    /// authorities. Only `siwa dev` sets it.
    package var authority: String?

    package init(
        name: ReceiverName, url: WebAddress, text: String, kinds: Set<AccountEvent.Kind>, scope: AppScope,
        audience: String?, secrets: [WebhookSecret], networks: [AddressBlock]
    ) {
        (self.name, self.url, self.text, self.kinds, self.scope) = (name, url, text, kinds, scope)
        (self.audience, self.secrets, self.networks) = (audience, secrets, networks)
    }
}
