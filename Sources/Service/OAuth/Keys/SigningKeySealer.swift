public import AppleAccounts
public import AuthorizationServer
public import Cryptography
public import JOSE
import StrictJSON

/// Seals the private keys that sign this service's tokens, and opens them.
///
/// The sealed keys have a purpose of their own, and are bound to their key ID and algorithm, so that rows
/// cannot be exchanged.
public struct SigningKeySealer: Sendable {
    private static let purpose = SealingPurpose("oauth_signing_key")

    private let keys: SealingKeyRing

    public init(keys: SealingKeyRing) {
        self.keys = keys
    }

    /// Makes and seals a new key. Throws `.keyUnusable`.
    func makeKey(
        for algorithm: SignatureAlgorithm, _ dates: SigningKeySchedule.NewKey, at now: Moment
    ) throws(JOSEError) -> SigningKeyRecord {
        let pem = try TokenSigningKey.makePEM(for: algorithm)
        let key = try TokenSigningKey(pem: pem, algorithm: algorithm)
        let bytes = keys.seal(
            Array(pem.utf8), for: Self.purpose,
            associatedData: Self.associatedData(keyID: key.keyID, algorithm: algorithm.rawValue))
        guard let sealed = SealedSecret(bytes) else {
            throw JOSEError(.keyUnusable, detail: "too long to keep")
        }
        return SigningKeyRecord(
            keyID: key.keyID, algorithm: algorithm.rawValue, sealed: sealed,
            publicKey: JSONValue.object(key.verificationKey.jwk).serialized(), createdAt: now,
            signsFrom: dates.signsFrom, retiresAt: dates.retiresAt)
    }

    /// Throws `SealError`, and `JOSEError` for a key that does not match its row.
    public func open(_ record: SigningKeyRecord) throws -> TokenSigningKey {
        guard let algorithm = SignatureAlgorithm(rawValue: record.algorithm) else {
            throw JOSEError(.keyUnusable, detail: "algorithm")
        }
        let plaintext = try keys.open(
            record.sealed.bytes, for: Self.purpose, associatedData: Self.associatedData(of: record))
        let key = try TokenSigningKey(
            pem: String(decoding: plaintext, as: UTF8.self), algorithm: algorithm)
        guard key.keyID == record.keyID else { throw JOSEError(.keyUnusable, detail: "another key") }
        return key
    }

    /// Seals a value again with the first key of the ring; `nil` when the first key has sealed it in the
    /// current format. Throws `SealError`, also for a current value that does not open.
    public func resealed(_ record: SigningKeyRecord) throws(SealError) -> SealedSecret? {
        let associatedData = Self.associatedData(of: record)
        let plaintext = try keys.open(record.sealed.bytes, for: Self.purpose, associatedData: associatedData)
        guard !keys.isCurrent(record.sealed.bytes) else { return nil }
        return SealedSecret(keys.seal(plaintext, for: Self.purpose, associatedData: associatedData))
    }

    private static func associatedData(of record: SigningKeyRecord) -> [UInt8] {
        associatedData(keyID: record.keyID, algorithm: record.algorithm)
    }

    /// Neither part can contain a line feed, so no two pairs are equal.
    private static func associatedData(keyID: String, algorithm: String) -> [UInt8] {
        Array("\(purpose.rawValue)\n\(keyID)\n\(algorithm)".utf8)
    }
}
