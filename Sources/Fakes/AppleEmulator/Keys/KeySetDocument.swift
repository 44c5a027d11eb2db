import Cryptography
import Encodings
import JOSE
import StrictJSON

/// The body of `/auth/keys`: a JSON Web Key Set (RFC 7517 §5).
struct KeySetDocument {
    let keys: [SigningKey]

    /// Writes the keys in random order, because Apple's order changes between responses.
    func serialized() -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: keys.count * 480 + 64)
        writer.beginObject()
        writer.name("keys")
        writer.beginArray()
        for key in keys.shuffled() {
            writer.element()
            writer.value(.object(key.privateKey.publicJWK(keyID: key.keyID)))
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    /// A weak tag (RFC 9110 §8.8.1), because the order of the keys changes while the set is the same.
    var entityTag: String {
        let names = keys.map { "\($0.keyID) \($0.privateKey.publicKeyPEM)" }.sorted()
        return "W/\"\(Base64URL.encode(SHA256Digest.hash(names.joined(separator: "\n")).prefix(12)))\""
    }
}
