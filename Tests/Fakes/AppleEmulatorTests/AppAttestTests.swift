import AppAttestation
import AppleEmulator
import Certificates
import Cryptography
import Encodings
import JOSE
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// The fake devices make objects that the verifiers of the service accept, and each error gives its code.
@Suite(.apple()) struct AppAttestTests {
    let apple = EmulatorUnderTest.current

    private static let challenge = "a challenge of the service"

    private func appID() throws -> AppID {
        try #require(AppID(teamID: EmulatorUnderTest.teamID, bundleID: EmulatorUnderTest.clientID))
    }

    private func make(_ apple: EmulatorUnderTest, _ members: String = "") async throws -> JSONObject {
        let body = #"{"challenge":"\#(Self.challenge)"\#(members)}"#
        let response = try await apple.post("/emulator/app-attest/keys", body)
        try #require(response.status == 201, "\(response.text)")
        return try #require(response.json.object)
    }

    private func bytes(_ object: JSONObject, _ member: String) throws -> [UInt8] {
        try #require(object[member]?.string.flatMap { Base64.decode($0) })
    }

    @discardableResult private func verify(
        _ made: JSONObject, on apple: EmulatorUnderTest, platform: AppPlatform = .iOS,
        environment: AttestationEnvironment = .development
    ) throws -> VerifiedAttestation {
        let keyID = try #require(made["key_id"]?.string.flatMap { AttestedKeyID(base64: $0) })
        return try AttestationVerifier(
            root: .fake(.attestation), appID: appID(), platform: platform, environment: environment
        ).verify(
            UnverifiedAttestation(bytes(made, "attestation")), keyID: keyID,
            clientDataHash: ClientDataHash(hashing: Array(Self.challenge.utf8)),
            at: apple.emulator.state.now / 1000)
    }

    private func verify(
        receiptOf attestation: VerifiedAttestation, on apple: EmulatorUnderTest
    ) throws -> VerifiedReceipt {
        try ReceiptVerifier(
            root: .fake(.receipts), appID: appID(), environment: attestation.environment
        ).verify(
            UnverifiedReceipt(attestation.receipt), of: attestation.publicKey,
            from: .attestation(ClientDataHash(hashing: Array(Self.challenge.utf8))),
            at: apple.emulator.state.now)
    }

    @Test(arguments: ["production", "development"], ["ios", "macos"])
    func `a device attests as Apple's devices do`(environment: String, platform: String) async throws {
        let made = try await make(apple, #","environment":"\#(environment)","platform":"\#(platform)""#)
        let known = try #require(AttestationEnvironment(rawValue: environment))
        let verified = try verify(
            made, on: apple, platform: #require(AppPlatform(rawValue: platform)), environment: known)
        #expect(verified.counter == 0)
        #expect(try verified.publicKey.point == (bytes(made, "public_key")))
        let category: ValidationCategory = known == .production ? .appStore : .development
        #expect(verified.extensions.validationCategory == category.rawValue)
        #expect(verified.extensions.bundleVersion == "1")
        let receipt = try verify(receiptOf: verified, on: apple)
        #expect(receipt.kind == .attestation && receipt.createdAt == apple.emulator.state.now)
    }

    @Test func `only Apple's own roots refuse what the fake Apple attests`() async throws {
        let made = try await make(apple)
        let roots = try await apple.get("/emulator/app-attest/roots").json
        #expect(roots["attestation"]?.string == FakeRoot.attestation.certificatePEM)
        #expect(roots["receipts"]?.string == FakeRoot.receipts.certificatePEM)
        let verifier = try AttestationVerifier(
            root: .appleAppAttestation, appID: appID(), platform: .iOS, environment: .development)
        let keyID = try #require(AttestedKeyID(base64: made["key_id"]?.string ?? ""))
        #expect(throws: AppAttestationError(.chainUntrusted)) {
            try verifier.verify(
                UnverifiedAttestation(bytes(made, "attestation")), keyID: keyID,
                clientDataHash: ClientDataHash(hashing: Array(Self.challenge.utf8)),
                at: apple.emulator.state.now / 1000)
        }
    }

    @Test(arguments: AttestationFault.allCases)
    func `each error of an attestation has its code`(fault: AttestationFault) async throws {
        let isOfMacs = fault == .keyPolicy || fault == .noKeyPolicy
        let made = try await make(
            apple, #","wrong":["\#(fault.rawValue)"]"# + (isOfMacs ? #","platform":"macos""# : ""))
        let platform: AppPlatform = isOfMacs ? .macOS : .iOS
        switch Self.effect(of: fault) {
        case .attestation(let code):
            #expect(throws: AppAttestationError(code)) { try verify(made, on: apple, platform: platform) }
        case .receipt(let code):
            let verified = try verify(made, on: apple, platform: platform)
            #expect(throws: ReceiptError(code)) { try verify(receiptOf: verified, on: apple) }
        }
    }

    private enum Effect {
        case attestation(AppAttestationError.Code)
        case receipt(ReceiptError.Code)
    }

    private static func effect(of fault: AttestationFault) -> Effect {
        switch fault {
        case .cutOff, .trailingBytes, .duplicateKeys, .indefiniteLength, .longLength:
            .attestation(.objectMalformed)
        case .tooLarge: .attestation(.objectTooLarge)
        case .format: .attestation(.formatMismatch)
        case .malformedCertificate: .attestation(.certificateMalformed)
        case .foreignRoot: .attestation(.chainUntrusted)
        case .expiredLeaf: .attestation(.certificateExpired)
        case .futureLeaf: .attestation(.certificateNotYetValid)
        case .nonce: .attestation(.nonceMismatch)
        case .noNonce, .twoNonces: .attestation(.nonceMissing)
        case .keyID: .attestation(.keyIDMismatch)
        case .authenticatorData: .attestation(.authenticatorDataMalformed)
        case .appID: .attestation(.appIDMismatch)
        case .counter: .attestation(.counterNotZero)
        case .environment: .attestation(.environmentMismatch)
        case .unknownEnvironment: .attestation(.environmentUnknown)
        case .credentialID: .attestation(.credentialIDMismatch)
        case .credentialKey: .attestation(.credentialKeyMismatch)
        case .extensions: .attestation(.extensionsMalformed)
        case .keyPolicy: .attestation(.keyPolicyMismatch)
        case .noKeyPolicy: .attestation(.keyPolicyMissing)
        case .receiptMalformed: .receipt(.malformed)
        case .receiptRoot: .receipt(.chainUntrusted)
        case .receiptSignature: .receipt(.signatureInvalid)
        case .receiptAppID: .receipt(.appIDMismatch)
        case .receiptKey: .receipt(.keyMismatch)
        case .receiptClientHash: .receipt(.clientHashMismatch)
        case .receiptEnvironment: .receipt(.environmentMismatch)
        case .receiptKind: .receipt(.kindMismatch)
        case .receiptAge: .receipt(.notFresh)
        }
    }

    @Test(arguments: AssertionFault.allCases)
    func `each error of an assertion has its code`(fault: AssertionFault) async throws {
        let made = try await make(apple)
        try await check(sign(apple, made), by: made, after: 0)
        let wrong = try await sign(apple, made, #","wrong":["\#(fault.rawValue)"]"#)
        #expect(throws: AppAttestationError(Self.code(of: fault))) { try check(wrong, by: made, after: 1) }
    }

    private static func code(of fault: AssertionFault) -> AppAttestationError.Code {
        switch fault {
        case .cutOff, .trailingBytes, .duplicateKeys, .indefiniteLength, .longLength: .objectMalformed
        case .tooLarge: .objectTooLarge
        case .nonce, .signature, .otherKey: .signatureInvalid
        case .authenticatorData: .authenticatorDataMalformed
        case .appID: .appIDMismatch
        case .counter: .counterNotIncreased
        case .extensions: .extensionsMalformed
        }
    }

    private func sign(
        _ apple: EmulatorUnderTest, _ key: JSONObject, _ members: String = ""
    ) async throws -> JSONObject {
        let keyID = try #require(key["key_id"]?.string)
        let body = #"{"key_id":"\#(keyID)","challenge":"\#(Self.challenge)"\#(members)}"#
        let response = try await apple.post("/emulator/app-attest/assertions", body)
        try #require(response.status == 201, "\(response.text)")
        return try #require(response.json.object)
    }

    @discardableResult private func check(
        _ made: JSONObject, by key: JSONObject, after counter: UInt32
    ) throws -> VerifiedAssertion {
        try AssertionVerifier(appID: appID()).verify(
            UnverifiedAssertion(bytes(made, "assertion")), by: ECPublicKey(point: bytes(key, "public_key")),
            clientDataHash: ClientDataHash(hashing: Array(Self.challenge.utf8)), after: counter)
    }

    @Test func `the counter rises with each assertion, and is the device's own`() async throws {
        let made = try await make(apple)
        for counter in UInt32(1)...3 {
            #expect(try await check(sign(apple, made), by: made, after: counter - 1).counter == counter)
        }
        // A given counter does not change the device's counter.
        let last = try await sign(apple, made, #","counter":4294967295"#)
        #expect(try check(last, by: made, after: 4_294_967_294).counter == .max)
        #expect(try await check(sign(apple, made), by: made, after: 3).counter == 4)
        // A second attestation of the key does not set it back.
        let keyID = try #require(made["key_id"]?.string)
        let again = try await make(apple, #","key_id":"\#(keyID)""#)
        #expect(try verify(again, on: apple).keyID.base64 == keyID)
        #expect(again["attestation"] != made["attestation"])
        #expect(try await check(sign(apple, made), by: made, after: 4).counter == 5)
    }

    @Test func `an attestation is shown as the body that registers its key`() async throws {
        let body = #"{"challenge":"\#(Self.challenge)"}"#
        let made = try await apple.post("/emulator/app-attest/keys?format=registration", body)
        let members = try #require(made.json.object)
        #expect(made.status == 201)
        #expect(members.members.map(\.name) == ["key_id", "attestation", "challenge", "client_id"])
        #expect(members["client_id"]?.string == EmulatorUnderTest.clientID)
        try verify(members, on: apple)
        let hash = Base64.encode(SHA256Digest.hash(Self.challenge).bytes)
        let unknown = try await apple.post(
            "/emulator/app-attest/keys?format=registration", #"{"client_data_hash":"\#(hash)"}"#)
        #expect(try unknown.json.object?["challenge"] == nil)
    }

    @Test func `an assertion vouches for a text in the form of the service`() async throws {
        let made = try await make(apple)
        let signed = try await sign(apple, made, #","vouch_for":"a token""#)
        let text = try #require(signed["client_data"]?.string)
        let digest = Base64URL.encode(SHA256Digest.hash("a token").bytes)
        #expect(text == #"{"challenge":"\#(Self.challenge)","sha256":"\#(digest)"}"#)
        let verified = try AssertionVerifier(appID: appID()).verify(
            UnverifiedAssertion(bytes(signed, "assertion")),
            by: ECPublicKey(point: bytes(made, "public_key")),
            clientDataHash: ClientDataHash(hashing: Array(text.utf8)), after: 0)
        #expect(verified.counter == 1)
    }

    @Test(arguments: [true, false])
    func `signatures with a large and a small s are valid`(isHigh: Bool) async throws {
        let made = try await make(apple)
        for counter in UInt32(1)...8 {
            let assertion = try await sign(apple, made, #","high_s":\#(isHigh)"#)
            try check(assertion, by: made, after: counter - 1)
            let object = try bytes(assertion, "assertion")
            // The signature ends before the key "authenticatorData", which has 18 bytes with its head.
            let tail = try #require(
                object.indices.last { object[$0...].starts(with: Array("authenticatorData".utf8)) })
            let s = object[..<(tail - 1)].suffix(32)
            #expect(((s.first ?? 0) >= 0x80) == isHigh)
        }
    }

    @Test func `an older system sends no facts, and every fact can be given`() async throws {
        let old = try await verify(make(apple, #","extensions":false"#), on: apple)
        #expect(old.extensions.validationCategory == nil && old.extensions.bundleVersion == nil)
        let made = try await make(apple, #","validation_category":4000000000,"bundle_version":"7.1""#)
        let facts = try verify(made, on: apple).extensions
        #expect(facts.validationCategory == 4_000_000_000 && facts.bundleVersion == "7.1")
    }

    @Test(arguments: [
        (#"{"challenge":"c","wrong":["key_policy"]}"#, "member_ineffective"),
        (#"{"challenge":"c","wrong":["cut_off","too_large"]}"#, "member_ineffective"),
        (#"{"challenge":"c","wrong":["environment","unknown_environment"]}"#, "member_ineffective"),
        (#"{"challenge":"c","wrong":["nothing"]}"#, "member_malformed"),
        (#"{"challenge":"c","extensions":false,"bundle_version":"1"}"#, "member_ineffective"),
        (#"{"challenge":"c","client_data":"YQ=="}"#, "member_malformed"),
        (#"{"client_data_hash":"YQ=="}"#, "member_malformed"), ("{}", "member_malformed"),
        (#"{"challenge":"c","bundle_id":"a b"}"#, "member_malformed"),
        (#"{"challenge":"c","key_id":"AAAA"}"#, "device_key_not_found"),
        (#"{"challenge":"c","key_id":"AAAA","device":"d"}"#, "member_ineffective"),
        (#"{"challenge":"c","misspelled":1}"#, "member_unknown"),
    ])
    func `refuses what it cannot make`(body: String, code: String) async throws {
        let response = try await apple.post("/emulator/app-attest/keys", body)
        #expect(try response.json["code"]?.string == code)
        #expect(apple.emulator.state.deviceKeys.isEmpty)
    }

    @Test func `keys and counters survive a restart`() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.path(of: "state")
            var made = JSONObject()
            try await EmulatorUnderTest.run {
                $0.stateFile = path
            } _: { apple in
                made = try await make(apple)
                _ = try await sign(apple, made)
            }
            try await EmulatorUnderTest.run {
                $0.stateFile = path
            } _: { apple in
                #expect(try await check(sign(apple, made), by: made, after: 1).counter == 2)
                let keys = try await apple.get("/emulator/app-attest/keys").json["keys"]?.array
                #expect(keys?.first?["counter"]?.integer == 2)
            }
        }
    }
}

/// The exchange of receipts at the fake Apple.
@Suite(.apple()) struct AttestationDataTests {
    let apple = EmulatorUnderTest.current

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
            root: .fake(.attestation), appID: appID(), platform: .iOS,
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
        return try ReceiptVerifier(root: .fake(.receipts), appID: appID(), environment: .production).verify(
            UnverifiedReceipt(bytes), of: key, from: .exchange, at: apple.emulator.state.now)
    }

    @Test func `a receipt is exchanged at once, and the next receipt after a day`() async throws {
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

    @Test func `the metric counts the keys of a device in 30 days`() async throws {
        _ = try await receipt(apple)
        try apple.emulator.state.advanceClock(bySeconds: 20 * 86_400)
        _ = try await receipt(apple)
        _ = try await receipt(apple, device: "another")
        let (third, key) = try await receipt(apple)
        #expect(try await verify(exchange(third, at: apple), of: key, on: apple).riskMetric == 3)
        try apple.emulator.state.advanceClock(bySeconds: 11 * 86_400)
        #expect(try await verify(exchange(third, at: apple), of: key, on: apple).riskMetric == 2)
    }

    @Test func `Apple forgets an attestation after 30 days`() async throws {
        let (bytes, _) = try await receipt(apple)
        try apple.emulator.state.advanceClock(bySeconds: 30 * 86_400 + 1)
        #expect(try await exchange(bytes, at: apple).status == 404)
    }

    @Test func `each environment has its own endpoint`() async throws {
        let (production, _) = try await receipt(apple)
        let (development, _) = try await receipt(apple, environment: "development")
        let path = "/development/v1/attestationData"
        #expect(try await exchange(production, at: apple, path: path).status == 400)
        #expect(try await exchange(development, at: apple).status == 400)
        #expect(try await exchange(development, at: apple, path: path).status == 200)
        let host = "data-development.appattest.apple.com"
        #expect(try await exchange(production, at: apple, host: host).status == 400)
        #expect(try await exchange(production, at: apple, host: "data.appattest.apple.com").status == 200)
    }

    @Test func `refuses other tokens`() async throws {
        let (bytes, _) = try await receipt(apple)
        let now = apple.emulator.state.now / 1000
        let tokens = [
            "", "Bearer \(try token(apple))", try apple.clientSecret() + "x",
            try token(apple) { $0["iss"] = "OTHER00000" },
            try token(apple) { $0["iat"] = .integer(now - 3601) },
            try token(apple) { $0["iat"] = .integer(now + 61) }, try token(apple) { $0["iat"] = nil },
        ]
        for token in tokens {
            #expect(try await exchange(bytes, at: apple, token: token).status == 401)
        }
        #expect(try await apple.counter("attestation_data_refusals") == Int64(tokens.count))
    }

    @Test func `refuses other bodies`() async throws {
        let headers: HTTPHeaders = ["Authorization": try token(apple)]
        for (body, status) in [("", 400), ("!", 400), (Base64.encode([1, 2, 3]), 404)] {
            let response = try await apple.send(.POST, "/v1/attestationData", headers: headers, body: body)
            #expect(response.status == status)
        }
    }

    @Test(arguments: [429, 500, 503])
    func `a fault is one of the endpoint's statuses`(status: Int) async throws {
        let (bytes, _) = try await receipt(apple)
        _ = try await apple.send(
            .PUT, "/emulator/faults/attestation_data", body: #"{"status":\#(status),"times":1}"#)
        #expect(try await exchange(bytes, at: apple).status == status)
        #expect(try await exchange(bytes, at: apple).status == 200)
    }
}

extension TrustAnchor {
    /// A root of the fake Apple.
    fileprivate static func fake(_ root: FakeRoot) -> TrustAnchor {
        guard let anchor = TrustAnchor(pem: root.certificatePEM) else {
            preconditionFailure("no certificate")
        }
        return anchor
    }
}
