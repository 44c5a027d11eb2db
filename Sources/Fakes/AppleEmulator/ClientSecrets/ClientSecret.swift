import Encodings
import StrictJSON

/// A client secret of a request: a JWT in compact serialization, parsed but not yet verified.
struct ClientSecret {
    /// Bytes. Real client secrets have about 300.
    private static let longest = 4096

    let keyID: String
    let claims: JSONObject
    let signature: [UInt8]
    let signedBytes: [UInt8]

    /// Throws `invalid_client` unless the text is an ES256 token with a key ID.
    init(_ compact: String) throws(OAuthError) {
        let segments = compact.split(separator: ".", omittingEmptySubsequences: false)
        guard compact.utf8.count <= Self.longest, segments.count == 3,
            let header = Self.object(segments[0]), let claims = Self.object(segments[1]),
            let signature = Base64URL.decode(String(segments[2]))
        else {
            throw OAuthError(.invalidClient, "client_secret is not a signed JWT")
        }
        guard header["alg"] == .string("ES256") else {
            throw OAuthError(.invalidClient, "client_secret: alg must be ES256")
        }
        guard header["crit"] == nil else {
            throw OAuthError(.invalidClient, "client_secret: crit is not supported")
        }
        guard let keyID = header["kid"]?.string else {
            throw OAuthError(.invalidClient, "client_secret: the header has no kid")
        }
        (self.keyID, self.claims, self.signature) = (keyID, claims, signature)
        signedBytes = Array("\(segments[0]).\(segments[1])".utf8)
    }

    private static func object(_ segment: Substring) -> JSONObject? {
        guard let bytes = Base64URL.decode(String(segment)) else { return nil }
        return try? JSONValue(parsing: bytes).object
    }
}
