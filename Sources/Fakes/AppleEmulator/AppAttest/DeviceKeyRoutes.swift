import Cryptography
import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
public import StrictJSON

/// Creates keys, attestations and assertions on fake devices, and shows the roots that a service must trust.
struct DeviceKeyRoutes: Sendable {
    let state: EmulatorState

    func add(to api: ControlAPI<EmulatorRequestContext>) {
        api.add(.get, "app-attest/keys", "Shows the keys of fake devices; text: the key IDs.") {
            let keys = state.deviceKeys
            return ControlResponse(
                DeviceKeyList(keys: keys),
                text: keys.map(\.keyID).joined(separator: "\n"))
        }
        api.add(
            .post, "app-attest/keys",
            "Makes a key on a fake device and attests it; text: the key ID, a line break and the attestation.",
            status: .created, variant: ControlVariant(.registration) { RegistrationBody(attested: $0) },
            example: ["challenge": "a challenge"]
        ) { input throws(EmulatorError) in
            try input.attestation()
        } use: { recipe, challenge in
            let made = try state.makeAttestation(recipe)
            return ControlResponse(
                AttestedKey(made: made, challenge: challenge),
                text: "\(made.shownKeyID)\n\(Base64.encode(made.object))")
        }
        api.add(
            .post, "app-attest/assertions", "Signs an assertion, and counts up; text: the assertion.",
            status: .created, example: ["key_id": "KEY_ID", "challenge": "a challenge"]
        ) { input throws(EmulatorError) in
            try input.assertion()
        } use: { recipe in
            let made = try state.makeAssertion(recipe)
            return ControlResponse(made, text: made.text)
        }
        api.add(.get, "app-attest/roots", "Shows the two roots of fake devices in PEM.") {
            let (attestation, receipts) = (FakeRoot.attestation, FakeRoot.receipts)
            return ControlResponse(
                FakeRoots(attestation: attestation.certificatePEM, receipts: receipts.certificatePEM),
                text: attestation.certificatePEM + receipts.certificatePEM)
        }
    }
}

private struct DeviceKeyList: JSONBody {
    let keys: [DeviceKey]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("keys") { $0.keys }
    }
}

extension DeviceKey: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("key_id", "Base64 of the public key's SHA-256.") { $0.keyID }
        member("device") { $0.device }
        member("app_id", "Team ID, dot, bundle ID.") { $0.appID }
        member("environment", .words(AttestEnvironment.allCases.map(\.rawValue))) { $0.environment.rawValue }
        member("platform", .words(AttestPlatform.allCases.map(\.rawValue))) { $0.platform.rawValue }
        member("counter", "That of the last assertion.") { Int64($0.counter) }
        member("attested_at", "Seconds since 1970.") { $0.attestedAt / 1000 }
    }
}

private struct AttestedKey: JSONBody {
    let made: MadeAttestation
    /// The challenge, if the request has it as text.
    let challenge: String?

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("key_id") { $0.made.shownKeyID }
        member("attestation", "Base64.") { Base64.encode($0.made.object) }
        member("public_key", "Base64 of the point.") { Base64.encode($0.made.publicKey) }
        member("client_data_hash", "Base64.") { Base64.encode($0.made.clientDataHash) }
        member("app_id", "Team ID, dot, bundle ID.") { $0.made.key.appID }
        member("environment", .words(AttestEnvironment.allCases.map(\.rawValue))) {
            $0.made.key.environment.rawValue
        }
        member("counter") { _ in 0 }
    }
}

/// The body of the request that registers a key with the service.
private struct RegistrationBody: JSONBody {
    let attested: AttestedKey

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("key_id") { $0.attested.made.shownKeyID }
        member("attestation", "Base64.") { Base64.encode($0.attested.made.object) }
        member("challenge", "Absent if the request had only its hash.") { $0.attested.challenge }
        member("client_id") { $0.attested.made.key.bundleID }
    }
}

private struct FakeRoots: JSONBody {
    let attestation: String
    let receipts: String

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("attestation", "A certificate in PEM.") { $0.attestation }
        member("receipts", "A certificate in PEM.") { $0.receipts }
    }
}

extension ControlInput {
    /// Reads an attestation recipe, and the challenge if the request contains it as text.
    fileprivate mutating func attestation() throws(EmulatorError) -> (AttestationRecipe, String?) {
        let (hash, challenge) = try clientDataHash()
        var recipe = AttestationRecipe(clientDataHash: hash)
        recipe.keyID = try string("key_id")
        let isKnown = recipe.keyID != nil
        for name in ["device", "team_id", "bundle_id", "environment", "platform"] where isKnown {
            guard try !has(name) else {
                throw EmulatorError(.memberIneffective, detail: "\(name): the key of key_id has its own")
            }
        }
        if let device = try string("device", maximum: 64) { recipe.device = device }
        recipe.teamID = try name("team_id", maximum: 64)
        recipe.bundleID = try name("bundle_id", maximum: 155)
        if let environment = try word("environment", AttestEnvironment.self) {
            recipe.environment = environment
        }
        if let platform = try word("platform", AttestPlatform.self) { recipe.platform = platform }
        recipe.extensions = try deviceExtensions()
        recipe.faults = try words("wrong", AttestationFault.self)
        return (recipe, challenge)
    }

    fileprivate mutating func assertion() throws(EmulatorError) -> AssertionRecipe {
        let keyID = try required("key_id")
        var recipe: AssertionRecipe
        if let text = try string("vouch_for", maximum: 32 * 1024) {
            // Read too, because a member that is null counts as absent.
            guard try string("client_data") == nil, try string("client_data_hash") == nil else {
                throw EmulatorError(
                    .memberIneffective, detail: "client_data, client_data_hash: have no effect with vouch_for"
                )
            }
            recipe = AssertionRecipe(
                keyID: keyID, challenge: try required("challenge"), vouchingFor: text)
        } else {
            recipe = AssertionRecipe(keyID: keyID, clientDataHash: try clientDataHash().hash)
        }
        recipe.counter = try integer("counter", in: 0...Int64(UInt32.max)).map { UInt32($0) }
        recipe.isHigh = try bool("high_s")
        recipe.extensions = try deviceExtensions()
        recipe.faults = try words("wrong", AssertionFault.self)
        return recipe
    }

    /// Reads the hash in one of the three forms that `siwa verify` also accepts.
    private mutating func clientDataHash() throws(EmulatorError) -> (hash: [UInt8], challenge: String?) {
        try require("challenge", "client_data", "client_data_hash")
        // All three are read, because a member that is null counts as absent.
        let data = try string("client_data", maximum: 32 * 1024)
        let (hash, challenge) = (try string("client_data_hash"), try string("challenge") ?? "")
        if let data {
            guard let bytes = Base64.decode(data) else {
                throw EmulatorError(.memberMalformed, detail: "client_data: base64 with padding")
            }
            return (SHA256Digest.hash(bytes).bytes, nil)
        }
        if let hash {
            guard let bytes = Base64.decode(hash), (16...64).contains(bytes.count) else {
                throw EmulatorError(
                    .memberMalformed, detail: "client_data_hash: 16 to 64 bytes in base64 with padding")
            }
            return (bytes, nil)
        }
        return (SHA256Digest.hash(challenge).bytes, challenge)
    }

    private mutating func deviceExtensions() throws(EmulatorError) -> DeviceExtensions? {
        let isSent = try bool("extensions") ?? true
        let category = try integer("validation_category", in: 0...Int64(UInt32.max))
        let version = try string("bundle_version", maximum: 255)
        guard isSent else {
            guard category == nil, version == nil else {
                throw EmulatorError(
                    .memberIneffective,
                    detail: "validation_category, bundle_version: have no effect without extensions")
            }
            return nil
        }
        var extensions = DeviceExtensions()
        extensions.validationCategory = category.map { UInt32($0) }
        if let version { extensions.bundleVersion = version }
        return extensions
    }

    private mutating func name(_ member: String, maximum: Int) throws(EmulatorError) -> String? {
        guard let text = try string(member, maximum: maximum) else { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy(Self.isUnreserved) else {
            throw EmulatorError(.memberMalformed, detail: "\(member): letters, digits, dots and hyphens")
        }
        return text
    }
}
