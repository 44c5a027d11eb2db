import JOSE
import Testing

/// A compact JWS, taken apart without any check of what it says.
struct ReadToken {
    let header: JSONValue
    let claims: JSONValue
    let signature: [UInt8]
    let signedBytes: [UInt8]

    init(_ compact: String) throws {
        let segments = compact.split(separator: "\n")[0].split(
            separator: ".", omittingEmptySubsequences: false)
        try #require(segments.count == 3)
        let (header, claims) = (Base64URL.decode(String(segments[0])), Base64URL.decode(String(segments[1])))
        self.header = try JSONValue(parsing: try #require(header))
        self.claims = try JSONValue(parsing: try #require(claims))
        signature = try #require(Base64URL.decode(String(segments[2])))
        signedBytes = Array("\(segments[0]).\(segments[1])".utf8)
    }

    /// `key` is an entry of a key set.
    func isSigned(by key: JSONValue) throws -> Bool {
        let modulus = try #require(Base64URL.decode(key["n"]?.string ?? ""))
        let exponent = try #require(Base64URL.decode(key["e"]?.string ?? ""))
        return try RSAPublicKey(modulus: modulus, exponent: exponent)
            .isValidSignature(signature, for: signedBytes[...])
    }
}
