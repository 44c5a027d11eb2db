import Cryptography
public import EmulatorServer
import Encodings
import JOSE
public import StrictJSON
import Synchronization

extension EmulatorState {
    /// App Attest keys of all fake devices.
    public var deviceKeys: [DeviceKey] { world.withLock { $0.deviceKeys.keys } }

    /// Creates a key on a fake device, or uses an existing key, and attests it.
    ///
    /// Throws `.deviceKeyNotFound`, `.tooManyDeviceKeys`, `.memberIneffective` and `.attestationUnsignable`.
    public func makeAttestation(_ recipe: AttestationRecipe) throws(EmulatorError) -> MadeAttestation {
        let now = now
        let known = try recipe.keyID.map { id throws(EmulatorError) in
            try world.withLock { world throws(EmulatorError) in try world.deviceKeys.key(id) }
        }
        let pair: KeyPair
        if let known {
            pair = try KeyPair(pem: known.pem)
        } else {
            pair = try .generate()
        }
        let key = known ?? newKey(recipe, pair: pair, now: now)
        try check(recipe, for: key)
        let made = try AttestationWriter(
            authorities: authorities(), recipe: recipe, key: key, pair: pair, now: now
        ).write()
        let receipt = IssuedReceipt(
            digest: Hexadecimal.encode(SHA256Digest.hash(made.receipt)), notBefore: nil,
            expiresAt: now + ReceiptFields.lifetime, leaf: Base64.encode(made.leaf),
            clientDataHash: Base64.encode(recipe.clientDataHash))
        try world.withLock { world throws(EmulatorError) in
            if known == nil { try world.deviceKeys.add(key) }
            try world.deviceKeys.update(key.keyID) { key throws(EmulatorError) in
                key.attestedAt = now
                key.remember(receipt)
            }
            world.counters.attestations += 1
        }
        var shownKeyID = key.keyID
        if recipe.faults.contains(.keyID) { shownKeyID = Base64.encode(SecureRandom.bytes(count: 32)) }
        return MadeAttestation(
            key: key, shownKeyID: shownKeyID, publicKey: pair.publicKey.point,
            clientDataHash: recipe.clientDataHash, object: made.object)
    }

    /// Signs an assertion with a key, and increments the key's counter. Throws `.deviceKeyNotFound`,
    /// `.memberIneffective` and `.attestationUnsignable`.
    public func makeAssertion(_ recipe: AssertionRecipe) throws(EmulatorError) -> MadeAssertion {
        let forms = recipe.faults.filter { $0.form != nil }
        guard forms.count <= 1 else {
            throw EmulatorError(.memberIneffective, detail: "wrong: an object has only one form")
        }
        let repeats = recipe.faults.contains(.counter)
        guard !repeats || recipe.counter == nil else {
            throw EmulatorError(.memberIneffective, detail: "counter: wrong has it as well")
        }
        let (key, counter) = try world.withLock { world throws(EmulatorError) in
            try world.deviceKeys.update(recipe.keyID) {
                (key: inout DeviceKey) throws(EmulatorError) -> (DeviceKey, UInt32) in
                if let counter = recipe.counter { return (key, counter) }
                if !repeats {
                    guard key.counter < UInt32.max else {
                        throw EmulatorError(.memberMalformed, detail: "the counter of the key is at its end")
                    }
                    key.counter += 1
                }
                return (key, key.counter)
            }
        }
        let pair = try recipe.faults.contains(.otherKey) ? KeyPair.generate() : KeyPair(pem: key.pem)
        let extensions = recipe.extensions?.encoded(in: key.environment) ?? []
        var data = AuthenticatorData.fixed(
            appID: recipe.faults.contains(.appID) ? "\(key.appID).other" : key.appID, counter: counter,
            hasExtensions: !extensions.isEmpty)
        data += recipe.faults.contains(.extensions) ? [0x00] : extensions
        if recipe.faults.contains(.authenticatorData) { data = Array(data.prefix(36)) }
        let hash =
            recipe.faults.contains(.nonce)
            ? SHA256Digest.hash(recipe.clientDataHash).bytes : recipe.clientDataHash
        var signature = try pair.sign(AuthenticatorData.nonce(data, hash), isHigh: recipe.isHigh)
        if recipe.faults.contains(.signature) { signature[signature.count - 1] ^= 1 }
        let form = forms.first.flatMap(\.form) ?? .strict
        world.withLock { $0.counters.assertions += 1 }
        return MadeAssertion(
            keyID: key.keyID, counter: counter, clientDataHash: recipe.clientDataHash,
            clientData: recipe.clientData,
            object: form.write([
                (.text("signature"), .bytes(signature)), (.text("authenticatorData"), .bytes(data)),
            ]))
    }

    private func newKey(_ recipe: AttestationRecipe, pair: KeyPair, now: Int64) -> DeviceKey {
        let bundleID = recipe.bundleID ?? apps[0].primaryClientID
        let owner = world.withLock { $0.app(of: bundleID)?.teamID ?? $0.apps[0].teamID }
        return DeviceKey(
            device: recipe.device, teamID: recipe.teamID ?? owner, bundleID: bundleID,
            environment: recipe.environment, platform: recipe.platform,
            keyID: Base64.encode(SHA256Digest.hash(pair.publicKey.point).bytes), pem: pair.pem,
            attestedAt: now)
    }

    /// Refuses errors without effect, so that no test relies on an error that does not occur.
    private func check(_ recipe: AttestationRecipe, for key: DeviceKey) throws(EmulatorError) {
        let ofMacs: Set<AttestationFault> = [.keyPolicy, .noKeyPolicy]
        guard key.platform == .macOS || recipe.faults.isDisjoint(with: ofMacs) else {
            throw EmulatorError(
                .memberIneffective, detail: "wrong: key_policy and no_key_policy need platform macos")
        }
        guard recipe.faults.count(where: { $0.form != nil }) <= 1 else {
            throw EmulatorError(.memberIneffective, detail: "wrong: an object has only one form")
        }
        guard !recipe.faults.isSuperset(of: [.environment, .unknownEnvironment]) else {
            throw EmulatorError(.memberIneffective, detail: "wrong: environment or unknown_environment")
        }
    }
}

/// An attestation created by a fake device.
public struct MadeAttestation: Sendable {
    public let key: DeviceKey
    /// Key ID in base64. If the recipe contains `AttestationFault.keyID`, it is another key's ID.
    public let shownKeyID: String
    public let publicKey: [UInt8]
    public let clientDataHash: [UInt8]
    public let object: [UInt8]
}

/// An assertion created by a fake device.
public struct MadeAssertion: Sendable {
    public let keyID: String
    public let counter: UInt32
    public let clientDataHash: [UInt8]
    /// The text that was hashed; `nil` if only the hash is known.
    public let clientData: String?
    public let object: [UInt8]

    /// The `attestation` member of a sign-in if the client data is known, otherwise the assertion in base64.
    var text: String {
        let assertion = Base64.encode(object)
        guard let clientData else { return assertion }
        let member = JSONObject([
            ("key_id", .string(keyID)), ("assertion", .string(assertion)),
            ("client_data", .string(clientData)),
        ])
        return String(decoding: JSONValue.object(member).serialized(), as: UTF8.self)
    }
}

extension MadeAssertion: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("key_id") { $0.keyID }
        member("assertion", "Base64.") { Base64.encode($0.object) }
        member("client_data_hash", "Base64.") { Base64.encode($0.clientDataHash) }
        member("counter") { Int64($0.counter) }
        member("client_data", "The hashed text; absent if the request had only its hash.") { $0.clientData }
    }
}
