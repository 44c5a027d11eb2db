import NIOHTTP1
import StrictJSON
import Testing

/// App Attest on the fake iPhone, with the routes of the backend.
extension PhoneApp {
    /// A key that a fake iPhone has made, and Apple has attested.
    struct AttestedKey {
        let id: String
        /// The body that registers the key.
        let members: Members
    }

    func makeKey(wrong faults: [String] = []) async throws -> AttestedKey {
        let challenge = try await challenge("attestation")
        var order: Members = [("challenge", challenge)]
        if !faults.isEmpty { order.append(("wrong", .array(faults.map { .string($0) }))) }
        let made = try await self.order("/emulator/app-attest/keys", order)
        let id = try #require(made["key_id"]?.string)
        return AttestedKey(
            id: id,
            members: [
                ("key_id", .string(id)), ("attestation", made["attestation"] ?? .null),
                ("challenge", challenge),
            ])
    }

    /// Makes a key and registers it. Returns its ID.
    func attestedKey() async throws -> String {
        let key = try await makeKey()
        let registered = try await call(.POST, "/app-attest/keys", key.members)
        #expect(registered.status == 200)
        #expect(registered.json?["is_new_key"]?.bool == true)
        return key.id
    }

    /// The member `attestation` that vouches for a text.
    func proof(_ keyID: String, of text: String) async throws -> (String, JSONValue) {
        let members: Members = [
            ("key_id", .string(keyID)), ("challenge", try await challenge("assertion")),
            ("vouch_for", .string(text)),
        ]
        return ("attestation", try await order("/emulator/app-attest/assertions?format=text", members))
    }

    private func challenge(_ purpose: String) async throws -> JSONValue {
        let response = try await call(.POST, "/app-attest/challenges", [("purpose", .string(purpose))])
        #expect(response.status == 200)
        return response.json?["challenge"] ?? .null
    }
}

extension PhoneApp.Response {
    /// The reason why a proof was refused.
    var cause: String? { json?["cause"]?.string }
    var canReAttest: Bool? { json?["re_attest"]?.bool }
}

extension PhoneApp.Members {
    var identityToken: String { first { $0.0 == "identity_token" }?.1.string ?? "" }
}
