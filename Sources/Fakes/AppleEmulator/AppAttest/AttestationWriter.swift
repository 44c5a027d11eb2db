import Cryptography
import EmulatorServer
import Encodings
import JOSE

/// Writes a key's attestation, with the requested errors. It does no I/O, but uses random numbers.
struct AttestationWriter {
    let authorities: AppAttestAuthorities
    let recipe: AttestationRecipe
    let key: DeviceKey
    let pair: KeyPair
    /// Current time in milliseconds since 1970.
    let now: Int64

    /// Returns the leaf certificate in DER, the receipt, and the object. Throws `.attestationUnsignable` if
    /// OpenSSL fails.
    func write() throws(EmulatorError) -> (leaf: [UInt8], receipt: [UInt8], object: [UInt8]) {
        let data = authenticatorData(try KeyPair.generate())
        let authority =
            recipe.faults.contains(.foreignRoot) ? authorities.foreignAttestation : authorities.attestation
        let leaf = try authority.issue(
            to: pair.publicKey, Hexadecimal.encode(SHA256Digest.hash(pair.publicKey.point)),
            validity: leafValidity, extensions: extensions(over: data)
        ).der
        let receipt = try self.receipt(leaf: leaf)
        let shown = recipe.faults.contains(.malformedCertificate) ? leaf + [0] : leaf
        let entries: [(key: CBORItem, value: CBORItem)] = [
            (.text("fmt"), .text(recipe.faults.contains(.format) ? "apple" : "apple-appattest")),
            (
                .text("attStmt"),
                .map([
                    (.text("x5c"), .array([.bytes(shown), .bytes(authority.certificate.der)])),
                    (.text("receipt"), .bytes(receipt)),
                ])
            ),
            (.text("authData"), .bytes(data)),
        ]
        let form = recipe.faults.compactMap(\.form).first ?? .strict
        return (leaf, receipt, form.write(entries))
    }

    private func authenticatorData(_ other: KeyPair) -> [UInt8] {
        let faults = recipe.faults
        let extensions = recipe.extensions?.encoded(in: key.environment) ?? []
        let hash = SHA256Digest.hash(pair.publicKey.point).bytes
        let otherHash = SHA256Digest.hash(other.publicKey.point).bytes
        let aaguid =
            faults.contains(.unknownEnvironment)
            ? [UInt8](repeating: 0, count: 16)
            : (faults.contains(.environment) ? key.environment.other : key.environment).aaguid
        let data =
            AuthenticatorData.fixed(
                appID: faults.contains(.appID) ? "\(key.appID).other" : key.appID,
                counter: faults.contains(.counter) ? 1 : 0, hasExtensions: !extensions.isEmpty)
            + AuthenticatorData.credential(
                aaguid: aaguid, credentialID: faults.contains(.credentialID) ? otherHash : hash,
                point: (faults.contains(.credentialKey) ? other : pair).publicKey.point)
        if faults.contains(.authenticatorData) { return Array(data.prefix(100)) }
        return data + (faults.contains(.extensions) ? [0x00] : extensions)
    }

    /// Validity period of Apple's certificates since the end of 2025: 3 days, starting a day ago.
    private var leafValidity: ClosedRange<Int64> {
        let day: Int64 = 86_400
        let seconds = now / 1000
        if recipe.faults.contains(.expiredLeaf) { return (seconds - 4 * day)...(seconds - day) }
        if recipe.faults.contains(.futureLeaf) { return (seconds + day)...(seconds + 4 * day) }
        return (seconds - day)...(seconds + 2 * day)
    }

    private func extensions(over data: [UInt8]) -> [(identifier: String, content: [UInt8])] {
        let faults = recipe.faults
        let hash =
            faults.contains(.nonce)
            ? SHA256Digest.hash(recipe.clientDataHash).bytes : recipe.clientDataHash
        let nonce = DERItem.sequence([
            .tagged(1, [.octetString(AuthenticatorData.nonce(data, hash))])
        ]).bytes
        let count = faults.contains(.noNonce) ? 0 : faults.contains(.twoNonces) ? 2 : 1
        var all = (0..<count).map { _ in (identifier: "1.2.840.113635.100.8.2", content: nonce) }
        switch key.platform {
        case .iOS: break
        case .macOS:
            guard !faults.contains(.noKeyPolicy) else { break }
            var policy = Self.macOSPolicy
            // Clears the policy's "sip" flag.
            if faults.contains(.keyPolicy) { policy[policy.count - 1] ^= 1 }
            all.append(
                (
                    identifier: "1.2.840.113635.100.8.6",
                    content: DERItem.sequence([.tagged(3, [.octetString(policy)])]).bytes
                ))
        }
        // Apple's extended key usage, which leaf certificates have contained since 2026.
        all.append(
            (
                identifier: "2.5.29.37",
                content: DERItem.sequence([.objectIdentifier("1.2.840.113635.100.4.24")]).bytes
            ))
        return all
    }

    /// Policy for a Mac with System Integrity Protection and Full Security, as documented by Apple.
    private static let macOSPolicy =
        Base64.decode(
            "MEAMAjExMDowCQwCb2uhAwEB/zAJDAJvYaEDAQH/MAsMBG9kZWyhAwEB/zAVDARvc2duoAYMBHJzZWMwBaYDAgEB") ?? []

    private func receipt(leaf: [UInt8]) throws(EmulatorError) -> [UInt8] {
        let faults = recipe.faults
        if faults.contains(.receiptMalformed) { return Array("a receipt".utf8) }
        var shownLeaf = leaf
        if faults.contains(.receiptKey) {
            shownLeaf =
                try authorities.attestation.issue(
                    to: KeyPair.generate().publicKey, "another key", validity: leafValidity
                ).der
        }
        var fields = ReceiptFields(
            appID: faults.contains(.receiptAppID) ? "\(key.appID).other" : key.appID, leaf: shownLeaf,
            clientDataHash: faults.contains(.receiptClientHash)
                ? SHA256Digest.hash(recipe.clientDataHash).bytes : recipe.clientDataHash,
            environment: faults.contains(.receiptEnvironment) ? key.environment.other : key.environment,
            createdAt: faults.contains(.receiptAge) ? now - 600_000 : now)
        if faults.contains(.receiptKind) { fields.refresh = (metric: 1, notBefore: now + 86_400_000) }
        let signer = faults.contains(.receiptRoot) ? authorities.foreignReceipts : authorities.receipts
        return try signer.sign(
            fields.content, isDefinite: false, isTampered: faults.contains(.receiptSignature))
    }
}

/// Authenticator data for App Attest objects, encoded as devices encode it.
enum AuthenticatorData {
    /// Returns the 37 bytes that attestations and assertions have in common.
    static func fixed(appID: String, counter: UInt32, hasExtensions: Bool) -> [UInt8] {
        // Apple also sets the credential flag in assertions.
        SHA256Digest.hash(appID).bytes + [hasExtensions ? 0xC0 : 0x40]
            + (0..<4).reversed().map { UInt8(truncatingIfNeeded: counter >> (8 * UInt32($0))) }
    }

    /// Returns the AAGUID, the credential ID and the key as a COSE key (RFC 9053 §7.1).
    ///
    /// - Parameter point: Uncompressed public key.
    static func credential(aaguid: [UInt8], credentialID: [UInt8], point: [UInt8]) -> [UInt8] {
        let key = CBORItem.map([
            (.unsigned(1), .unsigned(2)), (.unsigned(3), .negative(6)), (.negative(0), .unsigned(1)),
            (.negative(1), .bytes(Array(point[1..<33]))), (.negative(2), .bytes(Array(point[33...]))),
        ])
        return aaguid + [0, UInt8(credentialID.count)] + credentialID + key.encoded
    }

    /// Returns the SHA-256 of the authenticator data and the client data hash.
    static func nonce(_ data: [UInt8], _ clientDataHash: [UInt8]) -> [UInt8] {
        SHA256Digest.hash(data + clientDataHash).bytes
    }
}
