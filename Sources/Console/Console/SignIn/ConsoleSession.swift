import AppleAccounts
import Cryptography
import Encodings
import HTTPAPI
import StrictJSON

/// The session of an operator who has signed in with an API key. It is in a sealed cookie, so every replica
/// that has the sealing key reads it, and no table is needed.
struct ConsoleSession: Sendable, Equatable {
    /// In milliseconds. A session is not prolonged by its use.
    static let lifetime: Int64 = 1_800_000
    static let idSize = 16
    static let formKeySize = 32

    let id: [UInt8]
    /// The name of the API key.
    let key: String
    /// The digest of the key's hash: another key of the same name does not continue the session.
    let keyDigest: SHA256Digest
    let expiresAt: Moment
    /// The key of the tokens in the forms of the session. The browser cannot read it.
    let formKey: [UInt8]

    init(of key: APIKey, at now: Moment) {
        id = SecureRandom.bytes(count: Self.idSize)
        self.key = key.name
        keyDigest = Self.digest(of: key)
        expiresAt = now.advanced(byMilliseconds: Self.lifetime)
        formKey = SecureRandom.bytes(count: Self.formKeySize)
    }

    func isGood(for key: APIKey, at now: Moment) -> Bool {
        // A clock that was set back does not prolong a session.
        now < expiresAt && expiresAt.milliseconds - now.milliseconds <= Self.lifetime
            && self.key.isByteEqual(to: key.name) && keyDigest == Self.digest(of: key)
    }

    private static func digest(of key: APIKey) -> SHA256Digest { SHA256Digest.hash(key.hash.bytes) }

    var json: [UInt8] {
        var json = JSONWriter(reservingCapacity: 320)
        json.beginObject()
        json.member("id", Base64URL.encode(id))
        json.member("key", key)
        json.member("key_digest", Base64URL.encode(keyDigest.bytes))
        json.member("expires", expiresAt.milliseconds)
        json.member("form_key", Base64URL.encode(formKey))
        json.endObject()
        return json.bytes
    }

    init?(json: [UInt8]) {
        func bytes(_ value: JSONValue?) -> [UInt8]? { value?.string.flatMap { Base64URL.decode($0) } }
        guard let value = try? JSONValue(parsing: json), let id = bytes(value["id"]),
            id.count == Self.idSize, let key = value["key"]?.string,
            let digest = bytes(value["key_digest"]).flatMap({ SHA256Digest($0) }),
            let expiresAt = value["expires"]?.integer, let formKey = bytes(value["form_key"]),
            formKey.count == Self.formKeySize
        else { return nil }
        (self.id, self.key, self.keyDigest, self.formKey) = (id, key, digest, formKey)
        self.expiresAt = Moment(milliseconds: expiresAt)
    }
}
