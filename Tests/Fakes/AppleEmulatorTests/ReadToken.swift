import Encodings
import JOSE
import StrictJSON
import Testing

/// A parsed compact JWS, not verified.
struct ReadToken {
    let header: JSONValue
    let claims: JSONValue
    /// The exact bytes of the token.
    let headerText: String
    let claimsText: String
    let signature: [UInt8]
    let signedBytes: [UInt8]

    init(_ compact: String) throws {
        let segments = compact.split(separator: ".", omittingEmptySubsequences: false)
        try #require(segments.count == 3)
        let header = try #require(Base64URL.decode(String(segments[0])))
        let claims = try #require(Base64URL.decode(String(segments[1])))
        (headerText, claimsText) = (
            String(decoding: header, as: UTF8.self), String(decoding: claims, as: UTF8.self)
        )
        self.header = try JSONValue(parsing: header)
        self.claims = try JSONValue(parsing: claims)
        signature = try #require(Base64URL.decode(String(segments[2])))
        signedBytes = Array("\(segments[0]).\(segments[1])".utf8)
    }

    /// True if `key`, an entry of a key set, has signed the token.
    func isSigned(by key: JSONValue) throws -> Bool {
        let modulus = try #require(Base64URL.decode(key["n"]?.string ?? ""))
        let exponent = try #require(Base64URL.decode(key["e"]?.string ?? ""))
        return try RSAPublicKey(modulus: modulus, exponent: exponent)
            .isValidSignature(signature, for: signedBytes[...])
    }
}
