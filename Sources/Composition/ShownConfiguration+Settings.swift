import AppAttestation
import AppleAccounts
import AppleIDClient
import AuthorizationServer
import Console
import Cryptography
import HTTPAPI

extension ShownConfiguration {
    /// Creates the configuration for the console, without secrets.
    ///
    /// - Parameter masksURLs: False in `siwa dev`, where receiver URLs contain no secrets.
    init(_ settings: ServiceSettings, masksURLs: Bool = true) {
        let shown = ShownSettings(settings: settings, masksURLs: masksURLs)
        self.init(settings: shown.rows, sections: shown.sections, registrations: shown.registrations)
    }
}

/// Creates the `ShownConfiguration` texts.
private struct ShownSettings {
    let settings: ServiceSettings
    let masksURLs: Bool

    var rows: [ShownConfiguration.Setting] {
        Setting.all.map { setting in
            let origin = settings.origins.first { $0.name == setting.name }
            let value = setting.shown?(settings) ?? (origin == nil ? trial(setting) : origin?.text)
            let isDefault = origin.map { $0.place == .byDefault } ?? (value == setting.defaultText)
            // siwa dev creates settings without origins.
            let source =
                origin?.place.rawValue ?? (isDefault ? SettingOrigin.Place.byDefault.rawValue : "siwa dev")
            return (
                name: setting.name, meaning: setting.sentence, value: value, source: source,
                isDefault: isDefault
            )
        }
    }

    private func trial(_ setting: Setting) -> String? {
        if case .number = setting.kind { return String(settings.numbers[setting]) }
        return setting.inTrial(settings) ?? setting.defaultText
    }

    var sections: [ShownConfiguration.Section] {
        [
            ("Apps", settings.deployment.apps.map(entry)),
            ("API keys", settings.apiKeys.map(entry)),
            ("Receivers of events", receivers),
        ]
    }

    private func entry(_ app: App) -> ShownConfiguration.Entry {
        let key =
            switch settings.signingKeys[app.team] {
            case .key(let key)?: "key ID \(key.keyID), in the setting itself"
            case .file(let path, let keyID)?:
                [keyID.map { "key ID \($0)" }, "secret file \(path)"].compactMap { $0 }.joined(
                    separator: ", ")
            case .directory(let path)?: "secret files in \(path)"
            case nil: "none: codes are not exchanged, and tokens not revoked"
            }
        let attested = settings.appCheck.all.compactMap { policy -> String? in
            guard case .app(let bundleID) = policy.target,
                app.clientIDs.contains(where: { $0.rawValue == bundleID })
            else { return nil }
            return "\(bundleID) \(policy.mode.rawValue)"
        }
        let redirects = app.clientIDs.compactMap { id in
            settings.webRedirectURLs[id].map { "\(id.rawValue) to \($0)" }
        }
        return (
            app.primaryClientID.rawValue,
            [
                ("team", app.team.rawValue),
                ("client IDs", app.clientIDs.map(\.rawValue).joined(separator: ", ")),
                ("key for Apple", key),
                ("web sign-in", redirects.isEmpty ? "off" : redirects.joined(separator: ", ")),
                ("App Check", attested.isEmpty ? "off" : attested.joined(separator: ", ")),
            ]
        )
    }

    private func entry(_ key: APIKey) -> ShownConfiguration.Entry {
        (
            key.name,
            [
                ("roles", key.roles.map(\.rawValue).sorted().joined(separator: ", ")),
                ("apps", Self.text(key.scope)), ("fingerprint", ServiceSettings.fingerprint(of: key)),
                ("from", source(of: key)),
            ]
        )
    }

    private func source(of key: APIKey) -> String {
        // siwa dev creates settings without origins.
        guard !settings.origins.isEmpty else { return "siwa dev" }
        guard settings.namesInKeySetting.contains(key.name) else { return "file, api_keys" }
        let place = settings.origins.first { $0.name == Setting.apiKeyHashes.name }?.place ?? .environment
        return "\(place.rawValue), \(Setting.apiKeyHashes.name)"
    }

    private var receivers: [ShownConfiguration.Entry] {
        settings.webhooks.map { webhook in
            (
                webhook.name.rawValue,
                [
                    ("pushed to", masksURLs ? MaskedURL.text(webhook.text) : webhook.text),
                    ("apps", Self.text(webhook.scope)),
                    ("audience", webhook.audience ?? "none: a webhook with a secret"),
                    ("secrets", "\(webhook.secrets.count)"),
                ]
            )
        }
            + settings.polledReceivers.map { receiver in
                (
                    receiver.name.rawValue,
                    [
                        ("polled with the API key", receiver.keyName), ("apps", Self.text(receiver.scope)),
                        ("audience", receiver.audience),
                    ]
                )
            }
            + settings.clientStreams.map { stream in
                (
                    stream.name.rawValue, [("stream of the OAuth client", stream.client.rawValue)]
                )
            }
    }

    var registrations: [ShownConfiguration.Registration] {
        let registrations = Registrations(settings: settings)
        return (registrations.items + (registrations.googleEvents.map { [$0] } ?? [])).map { item in
            (
                place: item.place.joined(separator: ", "), values: item.fields, check: item.check,
                notifiedApp: item.notifiedApp
            )
        }
    }

    private static func text(_ scope: AppScope) -> String {
        switch scope {
        case .all: "all"
        case .only(let apps): apps.map(\.rawValue).sorted().joined(separator: ", ")
        }
    }
}
