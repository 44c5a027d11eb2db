import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import TestSupport
import Testing

@testable import siwa

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
        do {
            _ = try await SettingsReaderTests.read(environment, file: SettingsFileTests.file + "\n" + file)
            return ""
        } catch let mistakes as ConfigurationMistakes {
            return mistakes.list.joined(separator: "\n")
        }
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
