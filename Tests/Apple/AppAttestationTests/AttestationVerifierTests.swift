import AppAttestation
import AttestationMint
import Certificates
import Cryptography
import Encodings
import JOSE
import Testing

@Suite struct AttestationVerifierTests {
    let minted: Minted

    init() throws { minted = try Minted.shared.get() }

    /// Returns the attestation after a change of its parts.
    private func attestation(_ change: (inout AttestationParts) throws -> Void = { _ in }) throws -> [UInt8] {
        var parts = minted.parts
        try change(&parts)
        return try minted.mint.attestation(parts)
    }

    private func expect(
        _ code: AppAttestationError.Code, _ location: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) { #expect(throws: AppAttestationError(code), sourceLocation: location) { try body() } }

    @Test func `accepts what Apple's devices make, and returns what is to be stored`() throws {
        let verified = try minted.verify(attestation())
        #expect(verified.publicKey.point == minted.key.point)
        #expect(verified.keyID == (try Minted.keyID(of: minted.key)))
        #expect(verified.appID == minted.appID)
        #expect(verified.environment == .production)
        #expect(verified.counter == 0)
        #expect(verified.receipt == Array("a receipt".utf8))
        #expect(verified.extensions.validationCategory == nil && verified.extensions.bundleVersion == nil)
    }

    @Test(arguments: [UInt8(0x40), 0xC0, 0x00])
    func `reads the facts of iOS 27, whatever the flags say`(flags: UInt8) throws {
        let verified = try minted.verify(
            attestation {
                $0.flags = flags
                $0.extensions =
                    CBORItem.map([
                        (.text("apple_validation_category_01"), .bytes([4, 0, 0, 0])),
                        (.text("apple_bundle_version_01"), .text("42")),
                        (.text("apple_cd_hash_type_01"), .array([.negative(0), .raw([0xF5])])),
                    ]).encoded
            })
        #expect(verified.extensions.validationCategory == ValidationCategory.appStore.rawValue)
        #expect(verified.extensions.bundleVersion == "42")
    }

    @Test func `ignores unknown members, as iOS 18.5 sends them`() throws {
        let members = try minted.mint.members(of: minted.parts)
        try minted.verify(CBORItem.map(members + [(.text("cdHash"), .map([]))]).encoded)
    }

    @Test func `refuses another challenge`() throws {
        for index in AttestationMint.clientData.indices {
            var challenge = AttestationMint.clientData
            challenge[index] ^= 1
            let object = try attestation()
            expect(.nonceMismatch) { try minted.verify(object, clientData: challenge) }
        }
    }

    @Test(arguments: [
        ("A1B2C3D4E6", AttestationMint.bundleID), (AttestationMint.teamID, "com.example.apq"),
        (AttestationMint.teamID, "com.example.App"), (AttestationMint.teamID, "com.example.app.clip"),
    ])
    func `refuses another app`(teamID: String, bundleID: String) throws {
        let object = try attestation()
        let other = try #require(AppID(teamID: teamID, bundleID: bundleID))
        expect(.appIDMismatch) { try minted.verify(object, appID: other) }
        let signedAgain = try attestation { $0.appID = other.text }
        expect(.appIDMismatch) { try minted.verify(signedAgain) }
    }

    @Test func `refuses the other environment, in both directions, with a code of its own`() throws {
        let production = try attestation()
        expect(.environmentMismatch) { try minted.verify(production, environment: .development) }
        let development = try attestation { $0.aaguid = AttestationParts.development }
        expect(.environmentMismatch) { try minted.verify(development) }
        try minted.verify(development, environment: .development)
    }

    @Test(arguments: 0..<16) func `refuses an AAGUID with one other byte`(index: Int) throws {
        let object = try attestation { $0.aaguid[index] ^= 1 }
        expect(.environmentUnknown) { try minted.verify(object) }
    }

    @Test func `refuses another key ID`() throws {
        let object = try attestation()
        let other = try Minted.keyID(of: MintedKey())
        expect(.keyIDMismatch) { try minted.verify(object, keyID: other) }
    }

    @Test func `refuses another credential ID in the authenticator data`() throws {
        let object = try attestation { $0.credentialID = [UInt8](repeating: 7, count: 32) }
        expect(.credentialIDMismatch) { try minted.verify(object) }
    }

    @Test func `refuses another key in the authenticator data`() throws {
        let other = try MintedKey()
        let object = try attestation { $0.coseKey = AttestationParts.coseKey(other.point) }
        expect(.credentialKeyMismatch) { try minted.verify(object) }
    }

    @Test(arguments: [UInt32(1), 256, 65_536, 1 << 24, .max])
    func `refuses a counter that is not 0`(counter: UInt32) throws {
        let object = try attestation { $0.counter = counter }
        expect(.counterNotZero) { try minted.verify(object) }
    }

    @Test(arguments: ["apple", "packed", "Apple-appattest", "", "apple-appattest\u{0}"])
    func `refuses another format`(format: String) throws {
        let object = try attestation { $0.format = format }
        expect(.formatMismatch) { try minted.verify(object) }
    }

    /// `notAfter` belongs to the validity (RFC 5280 §4.1.2.5).
    @Test func `the end of the leaf is exact to the second, and included`() throws {
        let object = try attestation()
        let validity = AttestationMint.leafValidity
        try minted.verify(object, at: validity.lowerBound)
        try minted.verify(object, at: validity.upperBound)
        expect(.certificateNotYetValid) { try minted.verify(object, at: validity.lowerBound - 1) }
        expect(.certificateExpired) { try minted.verify(object, at: validity.upperBound + 1) }
        expect(.certificateExpired) { try minted.verify(object, at: 253_402_300_799) }
    }

    @Test func `trusts no other root`() throws {
        let object = try attestation()
        let other = try #require(TrustAnchor(pem: try AttestationMint().root.pem))
        expect(.chainUntrusted) { try minted.verify(object, root: other) }
        expect(.chainUntrusted) { try minted.verify(object, root: .appleAppAttestation) }
    }

    @Test func `refuses chains that do not lead to the root`() throws {
        let (mint, other) = (minted.mint, try AttestationMint())
        let leaf = CBORItem.bytes(try mint.leaf(of: minted.parts).der)
        let chains: [[CBORItem]] = [
            // The same names with other keys; the leaf or the root in the place of the intermediate.
            [leaf, .bytes(other.intermediate.der)], [.bytes(try other.leaf(of: minted.parts).der)],
            [leaf, leaf], [leaf, .bytes(mint.root.der)],
        ]
        for var chain in chains {
            if chain.count == 1 { chain.append(.bytes(mint.intermediate.der)) }
            let object = try attestation { $0.certificates = chain }
            expect(.chainUntrusted) { try minted.verify(object) }
        }
    }

    @Test func `refuses a certificate of the chain as leaf`() throws {
        let (intermediate, root) = (minted.mint.intermediate.der, minted.mint.root.der)
        for chain in [[intermediate, root], [root, root], [intermediate, intermediate]] {
            // They lead to the root, but not through an intermediate certificate.
            let object = try attestation { $0.certificates = chain.map { .bytes($0) } }
            expect(.chainUntrusted) { try minted.verify(object) }
        }
    }

    @Test func `refuses any changed byte of the leaf`() throws {
        let leaf = try minted.mint.leaf(of: minted.parts).der
        for index in stride(from: 0, to: leaf.count, by: 3) {
            var changed = leaf
            changed[index] ^= 0x10
            let object = try attestation {
                $0.certificates = [.bytes(changed), .bytes(minted.mint.intermediate.der)]
            }
            #expect(throws: AppAttestationError.self) { try minted.verify(object) }
        }
    }

    @Test func `refuses certificates that are not exactly one certificate in DER`() throws {
        let (leaf, intermediate) = (try minted.mint.leaf(of: minted.parts), minted.mint.intermediate)
        let others: [[UInt8]] = [[], [0x30], leaf.der + [0], leaf.der.dropLast(), Array(leaf.pem.utf8)]
        for bytes in others {
            let object = try attestation { $0.certificates = [.bytes(bytes), .bytes(intermediate.der)] }
            expect(.certificateMalformed) { try minted.verify(object) }
            let second = try attestation { $0.certificates = [.bytes(leaf.der), .bytes(bytes)] }
            expect(.certificateMalformed) { try minted.verify(second) }
        }
    }

    @Test(arguments: ["secp384r1", "secp521r1"])
    func `refuses a leaf whose key is on another curve`(curve: String) throws {
        let key = try MintedKey(group: curve)
        let object = try attestation { $0.leafKey = key }
        expect(.certificateKeyUnusable) { try minted.verify(object) }
    }

    @Test func `refuses a leaf with another key`() throws {
        let key = try MintedKey()
        let object = try attestation { $0.leafKey = key }
        expect(.keyIDMismatch) { try minted.verify(object) }
    }

    @Test func `refuses a leaf without a nonce, and a leaf with two`() throws {
        let none = try attestation { $0.nonces = [] }
        expect(.nonceMissing) { try minted.verify(none) }
        let two = try attestation { $0.nonces = [$0.nonce, $0.nonce] }
        expect(.nonceMissing) { try minted.verify(two) }
    }

    @Test func `compares the whole nonce extension, and finds no nonce inside of something else`() throws {
        let nonce = minted.parts.nonce
        let bare = Array(nonce.suffix(32))
        let others: [[UInt8]] = [
            bare, [], nonce + [0], nonce.dropLast(), [0x30, 0x26] + nonce.dropFirst(2) + [0x05, 0x00],
            [0x30, 0x24, 0xA2, 0x22, 0x04, 0x20] + bare, [0x04, 0x20] + bare, bare + nonce,
        ]
        for other in others {
            let object = try attestation { $0.nonces = [other] }
            expect(.nonceMismatch) { try minted.verify(object) }
        }
        for index in nonce.indices {
            var changed = nonce
            changed[index] ^= 1
            let object = try attestation { $0.nonces = [changed] }
            expect(.nonceMismatch) { try minted.verify(object) }
        }
    }

    @Test func `any changed byte of the authenticator data breaks the nonce`() throws {
        let members = try minted.mint.members(of: minted.parts)
        for index in minted.parts.authenticatorData.indices {
            var data = minted.parts.authenticatorData
            data[index] ^= 0x80
            let object = CBORItem.map(members.dropLast() + [(.text("authData"), .bytes(data))]).encoded
            expect(.nonceMismatch) { try minted.verify(object) }
        }
    }

    /// Keys that are not the map {1: 2, 3: -7, -1: 1, -2: x, -3: y}.
    static let otherKeys: [@Sendable ([UInt8]) -> CBORItem] = [
        { _ in .map([]) }, { .bytes($0) },
        { .map([(.unsigned(1), .unsigned(2)), (.negative(1), .bytes(Array($0[1..<33])))]) },
        { point in Self.cose(point) { $0[0].1 = .unsigned(3) } },
        { point in Self.cose(point) { $0[1].1 = .negative(7) } },
        { point in Self.cose(point) { $0[2].1 = .unsigned(2) } },
        { point in Self.cose(point) { $0[3].1 = .bytes(Array(point[2..<33])) } },
        { point in Self.cose(point) { $0[4].1 = .bytes(Array(point[33...]) + [0]) } },
        { point in Self.cose(point) { $0.append((.unsigned(2), .bytes([1]))) } },
        { point in Self.cose(point) { $0.append($0[4]) } },
        { .raw([0xBF] + AttestationParts.coseKey($0).encoded.dropFirst() + [0xFF]) },
        { .raw(AttestationParts.coseKey($0).encoded.dropLast()) },
    ]

    private static func cose(_ point: [UInt8], _ change: (inout [(CBORItem, CBORItem)]) -> Void) -> CBORItem {
        guard case .map(var entries) = AttestationParts.coseKey(point) else { return .map([]) }
        change(&entries)
        return .map(entries)
    }

    @Test(arguments: otherKeys.indices) func `refuses a key in another form`(index: Int) throws {
        let object = try attestation { $0.coseKey = Self.otherKeys[index](minted.key.point) }
        expect(.authenticatorDataMalformed) { try minted.verify(object) }
    }

    @Test(arguments: [0, 16, 31, 33, 64]) func `refuses a credential ID of another size`(size: Int) throws {
        let object = try attestation { $0.credentialID = [UInt8](repeating: 1, count: size) }
        expect(.authenticatorDataMalformed) { try minted.verify(object) }
    }

    @Test func `refuses authenticator data that is cut off anywhere`() throws {
        let whole = minted.parts.authenticatorData
        for count in 0..<whole.count {
            let data = Array(whole.prefix(count))
            var parts = minted.parts
            parts.nonces = [nonce(of: data)]
            let members = try minted.mint.members(of: parts).dropLast() + [(.text("authData"), .bytes(data))]
            expect(.authenticatorDataMalformed) { try minted.verify(CBORItem.map(Array(members)).encoded) }
        }
    }

    private func nonce(of data: [UInt8]) -> [UInt8] {
        let digest = SHA256Digest.hash(data + SHA256Digest.hash(AttestationMint.clientData).bytes)
        return [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20] + digest.bytes
    }

    @Test(
        arguments: [[0x00], [0xA0, 0x00], [0x80], [0xA1, 0x01, 0x02], [0xBF, 0xFF], [0xA1, 0x61, 0x61]]
            as [[UInt8]])
    func `refuses other bytes behind the key`(bytes: [UInt8]) throws {
        let object = try attestation { $0.extensions = bytes }
        expect(.extensionsMalformed) { try minted.verify(object) }
    }
}

@Suite struct AttestedKeyIDTests {
    static let sample = "zgSY9YSD+7TaDXssY6WlOPVS1K3Lmk+pFhlcSWE+ZV0="

    @Test func `reads the text that a client has`() {
        #expect(AttestedKeyID(base64: Self.sample)?.base64 == Self.sample)
    }

    @Test(arguments: [
        "", String(sample.dropLast()), sample + "=", sample.replacing("+", with: "-"), sample + "\n",
        // Unused bits that are set: a second text for the same bytes.
        "zgSY9YSD+7TaDXssY6WlOPVS1K3Lmk+pFhlcSWE+ZV1=", "zgSY9YSD+7TaDXssY6WlOPVS1K3Lmk+pFhlcSWE+ZV==",
    ])
    func `refuses any other text`(text: String) { #expect(AttestedKeyID(base64: text) == nil) }
}

extension AttestedKeyID {
    /// The text that a client has for a key, computed without the module.
    static func base64(ofKey point: [UInt8]) -> String { Base64.encode(SHA256Digest.hash(point).bytes) }
}

@Suite struct AppIDTests {
    @Test func `the digest is the hash of team and bundle ID`() {
        let appID = AppID(teamID: "A1B2C3D4E5", bundleID: "com.example.my-App")
        #expect(appID?.text == "A1B2C3D4E5.com.example.my-App")
        #expect(appID?.digest == SHA256Digest.hash("A1B2C3D4E5.com.example.my-App"))
    }

    @Test(arguments: ["", "A1B2C3D4E", "A1B2C3D4E5F", "a1b2c3d4e5", "A1B2C3D4E ", "A1B2C.D4E5", "Ä1B2C3D4E"])
    func `refuses other team IDs`(teamID: String) {
        #expect(AppID(teamID: teamID, bundleID: "com.example.app") == nil)
    }

    @Test(arguments: [
        "", "*", "com.example.*", "com.example app", "com/example", "com.exämple", "com.example.app\n",
    ])
    func `refuses bundle IDs with other characters`(bundleID: String) {
        #expect(AppID(teamID: "A1B2C3D4E5", bundleID: bundleID) == nil)
    }

    @Test func `refuses bundle IDs that are too long`() {
        #expect(AppID(teamID: "A1B2C3D4E5", bundleID: String(repeating: "a", count: 155)) != nil)
        #expect(AppID(teamID: "A1B2C3D4E5", bundleID: String(repeating: "a", count: 156)) == nil)
    }
}

@Suite struct ClientDataHashTests {
    @Test func `hashes the bytes as they are`() {
        #expect(ClientDataHash(hashing: [1, 2, 3]).bytes == SHA256Digest.hash([1, 2, 3]).bytes)
        #expect(ClientDataHash(hashing: []).bytes.count == 32)
    }

    @Test func `takes bytes that are no hash, from 16 to 64`() {
        for count in [16, 24, 32, 64] {
            #expect(ClientDataHash(bytes: [UInt8](repeating: 1, count: count))?.bytes.count == count)
        }
        for count in [0, 15, 65] {
            #expect(ClientDataHash(bytes: [UInt8](repeating: 1, count: count)) == nil)
        }
    }
}
