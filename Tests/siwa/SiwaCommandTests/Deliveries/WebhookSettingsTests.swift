import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import EventDelivery
import HTTPEngine
import TestSupport
import Testing

@testable import Composition

@Suite struct WebhookSettingsTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// - Parameter change: Changes the lines of the webhook.
    private static func file(_ secretFile: String, _ change: (inout String) -> Void = { _ in }) -> String {
        var webhook = """
            webhooks:
              - name: backend
                url: https://backend.example.com/siwa
                events: [credential_revoked]
                apps: [com.example.watch]
                secret_files: [\(secretFile)]
                private_networks: [10.0.5.0/24]
            """
        change(&webhook)
        return SettingsFileTests.file + "\n" + webhook
    }

    /// Runs `body` with a file that has this secret.
    private static func withSecret(
        _ text: String = secret, _ body: (String) async throws -> Void
    ) async throws {
        try await TemporaryFile.with(text) { try await body($0) }
    }

    private static func mistakes(_ file: String) async throws -> String {
        try await SettingsReaderTests.complaints(file: file).joined(separator: "\n")
    }

    @Test func `a webhook has its URL, events, apps and networks`() async throws {
        try await Self.withSecret(Self.secret + "\n") { path in
            let settings = try await SettingsReaderTests.read([:], file: Self.file(path))
            let webhook = try #require(settings.webhooks.first)
            #expect(webhook.name.rawValue == "backend")
            #expect(webhook.url.host == "backend.example.com")
            #expect(webhook.kinds == [.credentialRevoked])
            #expect(webhook.scope == .only(Set([ClientID("com.example.watch")].compactMap(\.self))))
            #expect(webhook.secrets.count == 1)
            #expect(webhook.networks == [AddressBlock("10.0.5.0/24")])
        }
    }

    @Test func `without events and apps a webhook has all of them`() async throws {
        try await Self.withSecret { path in
            let file = Self.file(path) { text in
                text = text.split(separator: "\n")
                    .filter { !$0.contains("events:") && !$0.contains("apps:") && !$0.contains("networks:") }
                    .joined(separator: "\n")
            }
            let webhook = try #require(try await SettingsReaderTests.read([:], file: file).webhooks.first)
            #expect(webhook.kinds == Set(AccountEvent.Kind.allCases))
            #expect(webhook.scope == .all)
            #expect(webhook.networks.isEmpty)
        }
    }

    @Test(arguments: [
        ("name: backend", "name: back end", "webhooks.name"),
        ("name: backend", "name: google", "must not be google"),
        ("https://backend.example.com/siwa", "http://backend.example.com/siwa", "webhooks.url"),
        ("https://backend.example.com/siwa", "https://user@backend.example.com/", "webhooks.url"),
        ("https://backend.example.com/siwa", "backend.example.com", "webhooks.url"),
        ("[credential_revoked]", "[credential_revokd]", "did you mean credential_revoked"),
        ("[credential_revoked]", "[]", "webhooks.events"), ("[com.example.watch]", "[]", "webhooks.apps"),
        ("[com.example.watch]", "[com.example.nobody]", "webhooks.apps"),
        ("[10.0.5.0/24]", "[10.0.5.0/33]", "webhooks.private_networks"),
        ("[10.0.5.0/24]", "[0.0.0.0/0]", "webhooks.private_networks"),
        ("    url:", "    secret: x\n    url:", "did you mean"),
    ])
    func `a mistake in a webhook is a mistake`(
        original: String, replacement: String, text: String
    ) async throws {
        try await Self.withSecret { path in
            let file = Self.file(path) {
                #expect($0.contains(original))
                $0 = $0.replacing(original, with: replacement)
            }
            let found = try await Self.mistakes(file)
            #expect(found.contains(text))
        }
    }

    @Test(arguments: ["", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2hvcnQ="])
    func `a file without a secret is a mistake, which does not repeat its content`(text: String) async throws
    {
        try await Self.withSecret(text) { path in
            let mistakes = try await Self.mistakes(Self.file(path))
            #expect(mistakes.contains("webhooks.secret_files"))
            #expect(text.isEmpty || !mistakes.contains(text))
        }
    }

    @Test(arguments: [true, false])
    func `an audience needs a public URL and a sealing key, and no secret`(isSet: Bool) async throws {
        let file = Self.file("x") {
            $0 = $0.replacing("secret_files: [x]", with: "audience: https://backend.example.com")
        }
        if isSet {
            let settings = try await SettingsReaderTests.read(
                [
                    "SIWA_PUBLIC_URL": "https://siwa.example.com",
                    "SIWA_SEALING_KEYS": "test=\(Base64.encode(SecureRandom.bytes(count: 32)))",
                ], file: file)
            #expect(settings.signsEvents && settings.oauth == nil)
            #expect(settings.eventIssuer == "https://siwa.example.com")
            return
        }
        let found = try await Self.mistakes(file)
        #expect(found.contains("webhooks.audience: of backend needs SIWA_PUBLIC_URL"))
        #expect(!found.contains("webhooks.secret_files"))
        let both = try await Self.mistakes(Self.file("x") { $0 += "\n    audience: a" })
        #expect(both.contains("cannot be set together with audience"))
    }

    @Test(arguments: ["[]", "[/nowhere/secret]", "[a, b, c]"])
    func `a webhook has one secret file or two`(files: String) async throws {
        let file = Self.file("x") { $0 = $0.replacing("[x]", with: files) }
        let found = try await Self.mistakes(file)
        #expect(found.contains("webhooks.secret_files"))
    }

    @Test func `two webhooks of one name, and more than the bound, are mistakes`() async throws {
        try await Self.withSecret { path in
            let entry = "\n  - {name: backend, url: https://b.example.com/, secret_files: [\(path)]}"
            let two = Self.file(path) { $0 += entry }
            let found = try await Self.mistakes(two)
            #expect(found.contains("two webhooks named backend"))
            let many = Self.file(path) { text in
                for number in 0..<EventReceiver.most {
                    text += entry.replacing("backend", with: "b\(number)")
                }
            }
            let more = try await Self.mistakes(many)
            #expect(more.contains("more than 48"))
        }
    }
}

/// Receivers that poll, and the streams of OAuth clients, in the configuration.
@Suite struct EventStreamSettingsTests {
    private static let secretHash = Hexadecimal.encode(SHA256Digest.hash("a secret of 256 random bits"))
    private static let environment = ["SIWA_PUBLIC_URL": "https://signin.example.com"]

    private static let receiver = """
        webhooks:
          - name: billing
            audience: billing
            api_key: backend
            events: [account_erased]
        """

    private static let client = """
        oauth:
          clients:
            - id: shop
              kind: native
              app: com.example.app
              name: Shop
              first_party: true
              allow_native_sign_in: true
              bundle_id: com.example.app
              platform: ios
              scopes: [openid]
              secret_hashes: [\(secretHash)]
              events: push
              events_url: https://shop.example.com/events
              events_private_networks: [10.0.5.0/24]
        """

    private static func mistakes(_ file: String) async throws -> String {
        try await SettingsReaderTests.complaints(environment, file: SettingsFileTests.file + "\n" + file)
            .joined(separator: "\n")
    }

    @Test(arguments: [
        ("audience: billing", "apps: [com.example.app]", "webhooks.audience: of billing is missing"),
        ("api_key: backend", "api_key: nobody", "webhooks.api_key: of billing must be the name"),
        (
            "api_key: backend", "api_key: backend\n    url: https://a.example",
            "webhooks.url: of billing cannot"
        ),
        (
            "api_key: backend", "api_key: backend\n    secret_files: [x]",
            "webhooks.secret_files: of billing cannot"
        ),
        ("name: billing", "name: client:shop", "webhooks.name"),
        ("[account_erased]", "[account_erasd]", "did you mean account_erased"),
    ])
    func `a mistake in a receiver that polls is a mistake`(
        original: String, replacement: String, text: String
    ) async throws {
        #expect(Self.receiver.contains(original))
        let found = try await Self.mistakes(Self.receiver.replacing(original, with: replacement))
        #expect(found.contains(text), "\(found)")
    }

    @Test(arguments: [("operator", false), ("backend, operator", true)])
    func `a receiver polls with a key that opens calls`(roles: String, isAccepted: Bool) async throws {
        let hash = Hexadecimal.encode(SHA256Digest.hash("a key of 256 random bits"))
        let file = """
            siwa_public_url: https://signin.example.com
            siwa_sealing_keys: ["a=\(SealingSettingsTests.first)"]
            api_keys:
              - name: night-shift
                hash: \(hash)
                roles: [\(roles)]

            """
        let mistakes = try await SettingsReaderTests.mistakes(
            [:], file: file + Self.receiver.replacing("api_key: backend", with: "api_key: night-shift"))
        #expect(mistakes == (isAccepted ? [] : ["webhooks.api_key"]))
    }

    @Test(arguments: [
        ("events: push", "events: pull", "oauth.clients.events"),
        ("https://shop", "http://shop", "oauth.clients.events_url: of shop must be https"),
        ("https://shop.example.com/events", "shop", "oauth.clients.events_url: of shop must be a URL"),
        ("10.0.5.0/24", "0.0.0.0/0", "oauth.clients.events_private_networks"),
        ("10.0.5.0/24", "0.0.0.0/1, 128.0.0.0/1", "oauth.clients.events_private_networks"),
        ("events: push", "events: push\n      event_types: [email_changed]", "oauth.clients.event_types"),
    ])
    func `a mistake in the stream of a client is a mistake`(
        original: String, replacement: String, text: String
    ) async throws {
        #expect(Self.client.contains(original))
        let found = try await Self.mistakes(Self.client.replacing(original, with: replacement))
        #expect(found.contains(text), "\(found)")
    }
}
