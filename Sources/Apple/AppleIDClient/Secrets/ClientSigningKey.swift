import Encodings
public import JOSE
public import StrictJSON

/// A key with which a team signs its client secrets: a P-256 private key and its ID at Apple. It appears in
/// no description.
public struct ClientSigningKey: Sendable, Equatable {
    public let keyID: String
    /// PKCS #8 in PEM, the format of Apple's `.p8` files.
    let pem: String

    public enum Refusal: String, Error, Sendable, CaseIterable {
        /// Key IDs have 10 capital letters and digits.
        case keyIDMalformed = "key_id_malformed"
        /// The text is not a `BEGIN PRIVATE KEY` block with base64.
        case notPEM = "not_pem"
        /// The key is of another type or curve, or is damaged.
        case notP256 = "not_p256"
    }

    /// Checks the format and the curve, because libjwt signs with any key. It cannot check whether Apple
    /// knows the key. Line ends may be written as `\n`, so that a PEM fits in an environment variable.
    public init(keyID: String, pem text: String) throws(Refusal) {
        guard Self.isKeyID(keyID) else { throw .keyIDMalformed }
        pem = try Self.readPEM(text)
        self.keyID = keyID
    }

    /// Returns a private key in the form in which it signs. Editors add a byte order mark, blank lines, spaces and
    /// CRLF, which are not part of it.
    ///
    /// - Throws: `.notPEM`, `.notP256`.
    static func readPEM(_ text: String) throws(Refusal) -> String {
        // By scalars, because CRLF is one character of Swift.
        let scalars = text.replacing("\\n", with: "\n").replacing("\\r", with: "").unicodeScalars
        let lines = scalars.split { $0 == "\n" || $0 == "\r" }
            .map { String(String.UnicodeScalarView($0.filter { $0 != "\u{FEFF}" && $0 != "\t" })) }
            .map { line in String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
            .filter { !$0.isEmpty }
        // OpenSSL accepts more, and would ask on the terminal for the password of an encrypted key.
        guard lines.count >= 3, lines.first == "-----BEGIN PRIVATE KEY-----",
            lines.last == "-----END PRIVATE KEY-----",
            Base64.decode(lines.dropFirst().dropLast().joined()) != nil
        else { throw .notPEM }
        do throws(JOSEError) {
            return try ECPrivateKey(pem: lines.map { "\($0)\n" }.joined()).pem
        } catch {
            throw .notP256
        }
    }

    /// Returns a JWT with these claims, signed with ES256 (RFC 7518 §3.4). Throws `.signingFailed`.
    public func sign(_ claims: JSONObject) throws(JOSEError) -> String {
        try JWTSigner.sign(claims: claims, keyID: keyID, algorithm: .ES256, key: pem)
    }

    /// The key that verifies its signatures.
    package var verificationKey: TokenVerificationKey? {
        guard let key = try? ECPrivateKey(pem: pem) else { return nil }
        return try? TokenVerificationKey(jwk: .object(key.publicKey.jwk(keyID: keyID)))
    }

    public static func isKeyID(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }
}

extension ClientSigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "key \(keyID)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID]) }
}
