public import JOSE

/// A key with which a team signs its client secrets: a P-256 private key and its ID at Apple. It shows in no
/// description.
public struct ClientSigningKey: Sendable, Equatable {
    public let keyID: String
    /// PKCS #8 in PEM, as Apple gives it out.
    let pem: String

    public enum Refusal: String, Error, Sendable, CaseIterable {
        /// Key IDs have 10 capital letters and digits.
        case keyIDMalformed = "key_id_malformed"
        /// No `BEGIN PRIVATE KEY` with the base64 of something.
        case notPEM = "not_pem"
        /// A key of another kind or curve, or a broken one.
        case notP256 = "not_p256"
    }

    /// Checks the shape and signs once to see that it works. Whether Apple knows the key only Apple can say. Line ends may
    /// be written as `\n`, which is how a PEM fits in an environment variable.
    public init(keyID: String, pem text: String) throws(Refusal) {
        guard Self.isKeyID(keyID) else { throw .keyIDMalformed }
        let pem = text.replacing("\\n", with: "\n").replacing("\r\n", with: "\n")
        var lines = pem.split(separator: "\n").map(String.init)
        guard lines.count >= 3, lines.removeFirst() == "-----BEGIN PRIVATE KEY-----",
            lines.removeLast() == "-----END PRIVATE KEY-----", let der = Base64.decode(lines.joined())
        else { throw .notPEM }
        guard Self.isP256(der) else { throw .notP256 }
        self.keyID = keyID
        self.pem = pem
        do throws(JOSEError) { _ = try sign(JSONObject()) } catch { throw .notP256 }
    }

    /// A JWT with these claims, signed with ES256 (RFC 7518 §3.4). Throws `.signingFailed`.
    public func sign(_ claims: JSONObject) throws(JOSEError) -> String {
        try JWTSigner.sign(claims: claims, keyID: keyID, algorithm: .ES256, key: pem)
    }

    public static func isKeyID(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }

    /// The object identifiers of EC keys and of the curve P-256 stand at a fixed place in PKCS #8. libjwt itself takes any
    /// curve.
    private static func isP256(_ der: [UInt8]) -> Bool {
        let algorithm: [UInt8] = [
            0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07,
        ]
        guard der.count >= 60, der.first == 0x30, let start = der.firstRange(of: algorithm)?.lowerBound else {
            return false
        }
        return start < 12
    }
}

extension ClientSigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "key \(keyID)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}
