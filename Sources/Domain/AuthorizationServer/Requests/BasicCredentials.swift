import Encodings

/// Client ID and secret in HTTP Basic (RFC 7617), each form-encoded first (RFC 6749 §2.3.1).
public struct BasicCredentials: Sendable, Confidential {
    /// The client ID. At introspection also the name of an API key.
    public let clientID: String
    /// `nil` when it is empty, as some libraries send it for a public client.
    public let secret: String?

    /// Returns `nil` for another scheme and for credentials that cannot be decoded.
    public init?(_ authorization: String) {
        guard authorization.utf8.count <= 1024 else { return nil }
        let bytes = Array(authorization.utf8)
        guard let space = bytes.firstIndex(of: UInt8(ascii: " ")),
            String(decoding: bytes[..<space], as: UTF8.self).lowercased() == "basic",
            // RFC 9110 §11.4: one space or more.
            let decoded = Base64.decode(
                String(decoding: bytes[space...].drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)),
            let colon = decoded.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        // The form encoding of ID and secret escapes colons, ampersands and equals signs.
        guard case .text(let clientID) = Self.decode(decoded[..<colon]) else { return nil }
        switch Self.decode(decoded[(colon + 1)...]) {
        case .text(let text): secret = text
        case .absent: secret = nil
        case .malformed, .repeated: return nil
        }
        self.clientID = clientID
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> FormParameters.Value {
        guard !bytes.contains(UInt8(ascii: "&")),
            let form = try? FormParameters(parsing: "v=".utf8 + bytes, as: .form)
        else { return .malformed }
        return form["v"]
    }
}
