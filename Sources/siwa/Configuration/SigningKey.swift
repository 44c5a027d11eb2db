/// The key with which a team signs its calls to Apple: a P-256 private key and its ID.
struct SigningKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    let keyID: String
    /// PKCS #8 in PEM, as Apple gives it out.
    let pem: String

    enum Refusal: Error, Equatable { case keyIDMalformed, keyMalformed }

    /// Checks the shape. Whether Apple knows the key only Apple can say.
    init(keyID: String, pem text: String) throws(Refusal) {
        guard keyID.utf8.count == 10, keyID.utf8.allSatisfy(Self.isCapitalOrDigit) else {
            throw .keyIDMalformed
        }
        let pem = text.replacing("\\n", with: "\n").replacing("\r\n", with: "\n")
        var lines = pem.split(separator: "\n").map(String.init).filter { !$0.isEmpty }
        guard lines.count >= 3, lines.removeFirst() == "-----BEGIN PRIVATE KEY-----",
            lines.removeLast() == "-----END PRIVATE KEY-----",
            let der = Base64Text.decode(lines.joined()), Self.isP256(der)
        else { throw .keyMalformed }
        self.keyID = keyID
        self.pem = pem
    }

    /// The object identifiers of EC keys and of the curve P-256 stand at a fixed place in PKCS #8.
    private static func isP256(_ der: [UInt8]) -> Bool {
        let algorithm: [UInt8] = [
            0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE,
            0x3D, 0x03, 0x01, 0x07,
        ]
        guard der.count >= 60, der.first == 0x30, let start = der.firstRange(of: algorithm)?.lowerBound else {
            return false
        }
        return start < 12
    }

    private static func isCapitalOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    var description: String { "key \(keyID)" }
    var debugDescription: String { description }
}
