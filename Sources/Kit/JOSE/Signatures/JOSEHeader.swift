import Encodings
import StrictJSON

/// The protected header of a compact JWS, reduced to the part that a verifier may use: the key ID.
///
/// It does not contain the algorithm, which is fixed: a header with another algorithm than RS256 is refused,
/// so a token cannot choose it.
struct JOSEHeader: Sendable, Equatable {
    /// `kid` (RFC 7515 §4.1.4), 1 to 64 characters.
    let keyID: String

    static let longestKeyID = 64

    init(parsing bytes: [UInt8]) throws(JOSEError) {
        var algorithm: String?
        var keyID: String?
        var carriesForbidden = false
        do throws(JSONError) {
            var reader = JSONReader(bytes)
            try reader.beginObject()
            while let name = try reader.nextMember() {
                switch name {
                case "alg": algorithm = try reader.readStringOrSkip()
                case "kid": keyID = try reader.readStringOrSkip()
                // `crit` and `b64` change how the token is read (RFC 7515 §4.1.11, RFC 7797). The others
                // contain or name a key that the sender chooses: a verifier that used such a key would accept
                // tokens signed by any sender.
                case "crit", "b64", "jwk", "jku", "x5u", "x5c":
                    carriesForbidden = true
                    try reader.skipValue()
                default: try reader.skipValue()
                }
            }
            try reader.finish()
        } catch {
            throw JOSEError(.jwsMalformed, detail: "header: \(error.detail)")
        }
        guard let algorithm, algorithm.isByteEqual(to: "RS256") else {
            throw JOSEError(.algorithmNotAllowed, detail: "alg=\(algorithm ?? "none")")
        }
        guard !carriesForbidden else { throw JOSEError(.headerNotAllowed) }
        guard let keyID, (1...Self.longestKeyID).contains(keyID.characterCount) else {
            throw JOSEError(.keyIDInvalid)
        }
        self.keyID = keyID
    }
}

extension JSONReader {
    /// Returns a string, or `nil` after skipping a value of another kind.
    fileprivate mutating func readStringOrSkip() throws(JSONError) -> String? {
        if try peekKind() == .string { return try readString() }
        try skipValue()
        return nil
    }
}
