import AppAttestation
import AppleEmulator
import Encodings
import JOSE
import NIOHTTP1
import StrictJSON
import Testing

/// The exchange of receipts at the fake Apple.
@Suite struct AttestationDataTests {
    private static let challenge = "a challenge of the service"

    /// A receipt of a new key.
    private func receipt(
        _ apple: EmulatorUnderTest, device: String = "default", environment: String = "production"
    ) async throws -> (receipt: [UInt8], key: ECPublicKey) {
        let made = try await apple.post(
            "/emulator/app-attest/keys",
            #"""
            {"challenge":"\#(Self.challenge)","device":"\#(device)","environment":"\#(environment)"}
            """#
        ).json
        let object = try #require(made["attestation"]?.string.flatMap { Base64.decode($0) })
        let keyID = try #require(made["key_id"]?.string.flatMap { AttestedKeyID(base64: $0) })
        let verified = try AttestationVerifier(
            root: AppAttestRoots.emulator.attestation, appID: appID(), platform: .iOS,
            environment: #require(AttestationEnvironment(rawValue: environment))
        ).verify(
            UnverifiedAttestation(object), keyID: keyID,
            clientDataHash: ClientDataHash(hashing: Array(Self.challenge.utf8)),
            at: apple.emulator.state.now / 1000)
        return (verified.receipt, verified.publicKey)
    }

    private func appID() throws -> AppID {
        try #require(AppID(teamID: EmulatorUnderTest.teamID, bundleID: EmulatorUnderTest.clientID))
    }

    private func token(_ apple: EmulatorUnderTest, _ change: (inout JSONObject) -> Void = { _ in }) throws
        -> String
    {
        let key = try TestKeys.clientKey
        var claims = JSONObject([
            ("iss", .string(EmulatorUnderTest.teamID)), ("iat", .integer(apple.emulator.state.now / 1000)),
        ])
        change(&claims)
        return try JWTSigner.sign(
            claims: claims, keyID: key.keyID, algorithm: .ES256, key: key.privateKeyPEM ?? "")
    }

    private func exchange(
        _ receipt: [UInt8], at apple: EmulatorUnderTest, token: String? = nil,
        path: String = "/v1/attestationData", host: String? = nil
    ) async throws -> ReceivedResponse {
        var headers: HTTPHeaders = ["Authorization": try token ?? self.token(apple)]
        if let host { headers.add(name: "Host", value: host) }
        return try await apple.send(.POST, path, headers: headers, body: Base64.encode(receipt))
    }

    private func verify(
        _ response: ReceivedResponse, of key: ECPublicKey, on apple: EmulatorUnderTest
    ) throws -> VerifiedReceipt {
        #expect(response.status == 200)
        let bytes = try #require(Base64.decode(response.text))
        return try ReceiptVerifier(
            root: AppAttestRoots.emulator.receipt, appID: appID(), environment: .production
        ).verify(UnverifiedReceipt(bytes), of: key, from: .exchange, at: apple.emulator.state.now)
    }

    @Test func `a receipt is exchanged at once, and the next receipt after a day`() async throws {
        try await EmulatorUnderTest.run { apple in
            let (first, key) = try await receipt(apple)
            let second = try await verify(exchange(first, at: apple), of: key, on: apple)
            #expect(second.riskMetric == 1)
            #expect(second.notBefore == apple.emulator.state.now + 86_400_000)
            let early = try await exchange(second.bytes, at: apple)
            #expect(early.status == 304 && early.body.isEmpty)
            try apple.emulator.state.advanceClock(bySeconds: 86_400)
            let third = try await verify(exchange(second.bytes, at: apple), of: key, on: apple)
            #expect(third.bytes != second.bytes && third.kind == .refreshed)
            #expect(try await apple.counter("receipts") == 2)
            #expect(try await apple.counter("receipts_too_early") == 1)
        }
    }

    @Test func `the metric counts the keys of a device in 30 days`() async throws {
        try await EmulatorUnderTest.run { apple in
            _ = try await receipt(apple)
            try apple.emulator.state.advanceClock(bySeconds: 20 * 86_400)
            _ = try await receipt(apple)
            _ = try await receipt(apple, device: "another")
            let (third, key) = try await receipt(apple)
            #expect(try await verify(exchange(third, at: apple), of: key, on: apple).riskMetric == 3)
            try apple.emulator.state.advanceClock(bySeconds: 11 * 86_400)
            #expect(try await verify(exchange(third, at: apple), of: key, on: apple).riskMetric == 2)
        }
    }

    @Test func `Apple forgets an attestation after 30 days`() async throws {
        try await EmulatorUnderTest.run { apple in
            let (bytes, _) = try await receipt(apple)
            try apple.emulator.state.advanceClock(bySeconds: 30 * 86_400 + 1)
            #expect(try await exchange(bytes, at: apple).status == 404)
        }
    }

    @Test func `each environment has its own endpoint`() async throws {
        try await EmulatorUnderTest.run { apple in
            let (production, _) = try await receipt(apple)
            let (development, _) = try await receipt(apple, environment: "development")
            let path = "/development/v1/attestationData"
            #expect(try await exchange(production, at: apple, path: path).status == 400)
            #expect(try await exchange(development, at: apple).status == 400)
            #expect(try await exchange(development, at: apple, path: path).status == 200)
            let host = "data-development.appattest.apple.com"
            #expect(try await exchange(production, at: apple, host: host).status == 400)
            #expect(
                try await exchange(production, at: apple, host: "data.appattest.apple.com").status == 200)
        }
    }

    @Test func `refuses other tokens`() async throws {
        try await EmulatorUnderTest.run { apple in
            let (bytes, _) = try await receipt(apple)
            let now = apple.emulator.state.now / 1000
            let tokens = [
                "", "Bearer \(try token(apple))", try apple.clientSecret() + "x",
                try token(apple) { $0["iss"] = .string("OTHER00000") },
                try token(apple) { $0["iat"] = .integer(now - 3601) },
                try token(apple) { $0["iat"] = .integer(now + 61) }, try token(apple) { $0["iat"] = nil },
            ]
            for token in tokens {
                #expect(try await exchange(bytes, at: apple, token: token).status == 401)
            }
            #expect(try await apple.counter("attestation_data_refusals") == Int64(tokens.count))
        }
    }

    @Test func `refuses other bodies`() async throws {
        try await EmulatorUnderTest.run { apple in
            let headers: HTTPHeaders = ["Authorization": try token(apple)]
            for (body, status) in [("", 400), ("!", 400), (Base64.encode([1, 2, 3]), 404)] {
                let response = try await apple.send(
                    .POST, "/v1/attestationData", headers: headers, body: body)
                #expect(response.status == status)
            }
        }
    }

    @Test(arguments: [429, 500, 503])
    func `a fault is one of the endpoint's statuses`(status: Int) async throws {
        try await EmulatorUnderTest.run { apple in
            let (bytes, _) = try await receipt(apple)
            _ = try await apple.send(
                .PUT, "/emulator/faults/attestation_data", body: #"{"status":\#(status),"times":1}"#)
            #expect(try await exchange(bytes, at: apple).status == status)
            #expect(try await exchange(bytes, at: apple).status == 200)
        }
    }
}
