import Encodings
import StrictJSON

/// The protected header of a compact JWS, reduced to what a verifier may use of it: the key ID.
///
/// The algorithm is not in here, because it is pinned: a header that asks for anything but RS256 does not parse, and
/// nothing can be chosen from it.
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
                // `crit` and `b64` change how the token is read (RFC 7515 §4.1.11, RFC 7797). The others bring or
                // name a key of the sender's choice: whoever honours one lets anyone sign.
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
    /// A string, or `nil` after skipping a value of another kind.
    fileprivate mutating func readStringOrSkip() throws(JSONError) -> String? {
        if try peekKind() == .string { return try readString() }
        try skipValue()
        return nil
    }
}
