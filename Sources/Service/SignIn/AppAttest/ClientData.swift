import Cryptography
import Encodings
import StrictJSON

/// The client data of an assertion: a JSON object with exactly two members, `challenge` and `sha256`.
///
/// The app hashes the bytes of the text as it sends them, so they are never written again here.
struct ClientData: Sendable {
    let challenge: String
    /// The digest of what the assertion vouches for.
    let digest: SHA256Digest

    /// Reads strictly: no other member, none twice, base64url without padding.
    init(parsing bytes: [UInt8]) throws(ProofFault) {
        guard let object = try? JSONValue(parsing: bytes).object, object.members.count == 2,
            let challenge = object["challenge"]?.string, let text = object["sha256"]?.string,
            text.utf8.count == 43, let digest = Base64URL.decode(text).flatMap({ SHA256Digest($0) })
        else { throw ProofFault(.clientDataMalformed) }
        (self.challenge, self.digest) = (challenge, digest)
    }
}
