import AppleIDClient
import JOSE
import Testing

@Suite struct ClientSigningKeyTests {
    static func pem() throws -> String { try ECPrivateKey.generate().pem }

    @Test func `accepts Apple's format, also with escaped line ends`() throws {
        let pem = try Self.pem()
        let key = try ClientSigningKey(keyID: "K1L2M3N4O5", pem: pem)
        #expect(try ClientSigningKey(keyID: "K1L2M3N4O5", pem: pem.replacing("\n", with: "\\n")) == key)
        #expect(try ClientSigningKey(keyID: "K1L2M3N4O5", pem: pem.replacing("\n", with: "\r\n")) == key)
    }

    @Test(arguments: [
        "\u{FEFF}KEY", "\nKEY", "\r\nKEY", "  \n\t\nKEY\n\n", "\u{FEFF}\r\nKEY \r\n", "CR", "INDENTED",
    ])
    func `accepts what editors add around and between the lines`(form: String) throws {
        let pem = try Self.pem()
        let text =
            switch form {
            case "CR": pem.replacing("\n", with: "\r")
            case "INDENTED": pem.split(separator: "\n").map { "  \($0) " }.joined(separator: "\n")
            default: form.replacing("KEY", with: pem)
            }
        #expect(
            try ClientSigningKey(keyID: "K1L2M3N4O5", pem: text)
                == ClientSigningKey(keyID: "K1L2M3N4O5", pem: pem))
    }

    @Test(arguments: ["", "K1L2M3N4O", "K1L2M3N4O55", "k1l2m3n4o5", "K1L2M3N4O ", "KÄL2M3N4O"])
    func `refuses a key ID in another format`(keyID: String) throws {
        let pem = try Self.pem()
        #expect(throws: ClientSigningKey.Refusal.keyIDMalformed) {
            try ClientSigningKey(keyID: keyID, pem: pem)
        }
    }

    @Test(arguments: [
        "", "nonsense", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n%%%%\n-----END PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----",
    ])
    func `refuses a text that is not a private key`(pem: String) {
        #expect(throws: ClientSigningKey.Refusal.notPEM) {
            try ClientSigningKey(keyID: "K1L2M3N4O5", pem: pem)
        }
    }

    /// Made with the openssl command line: P-384, secp256k1.
    @Test(arguments: [
        """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDjMn//IaxoqozvYVDZ
        e9Q8F+2u4AyM5hN0g3U53pik+Vcwkki85OA1j+yFHocBou+hZANiAARZjpBEdkYb
        E5yux7rJadEnk+L6nygu9s5WcG27kAeZIXYsaGRuqF5e60kKOwHq4EcKrir8Gzst
        YlDxqNVoa6nJd1p3+f+VQg4vuEIWHfgyANO8uIcrz7WRUDwsSmEtZXg=
        -----END PRIVATE KEY-----
        """,
        """
        -----BEGIN PRIVATE KEY-----
        MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgeMVMUW1uaZHneuZW7ooN
        K7tR9KmuHAFUIsqsNxcIJq+hRANCAAQGoESyYyIekMqXiRU+E42xSvvv/GK1Bz2v
        HzJY8iSrV92vRYyHrYKZzwhVB5GHrxelcWm3CHJqqfjPUrT5w/Uw
        -----END PRIVATE KEY-----
        """,
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
    ])
    func `refuses another curve, with which libjwt would sign`(pem: String) {
        #expect(throws: ClientSigningKey.Refusal.notP256) {
            try ClientSigningKey(keyID: "K1L2M3N4O5", pem: pem)
        }
    }

    @Test func `refuses RSA`() throws {
        let pem = try RSAPrivateKey.generate().pem
        #expect(throws: ClientSigningKey.Refusal.notP256) {
            try ClientSigningKey(keyID: "K1L2M3N4O5", pem: pem)
        }
    }

    @Test func `refuses a damaged key`() throws {
        var lines = try Self.pem().split(separator: "\n").map(String.init)
        // The first bytes of the structure of the private number.
        lines[1] = String(lines[1].prefix(40)) + "AAAA" + String(lines[1].dropFirst(44))
        #expect(throws: ClientSigningKey.Refusal.notP256) {
            try ClientSigningKey(keyID: "K1L2M3N4O5", pem: lines.joined(separator: "\n"))
        }
    }

    @Test func `does not appear in any description`() throws {
        let pem = try Self.pem()
        let key = try ClientSigningKey(keyID: "K1L2M3N4O5", pem: pem)
        var dumped = ""
        dump([SigningKeyLocation.key(key)], to: &dumped)
        let secret = try #require(pem.split(separator: "\n").dropFirst().first).prefix(20)
        for text in ["\(key)", String(reflecting: key), "\(SigningKeyLocation.key(key))", dumped] {
            #expect(!text.contains(secret))
        }
    }
}
