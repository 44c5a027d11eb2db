import AppleIDClient
import Encodings
import JOSE
import StrictJSON
import Synchronization
import TestSupport
import Testing

@Suite struct SignedClientSecretsTests {
    let time = ManualClock(millisecondsSince1970: 1_700_000_000_000)
    let clientID = "com.example.app"

    func secrets(_ keys: any SigningKeySource) -> SignedClientSecrets {
        SignedClientSecrets(
            teams: [clientID: "A1B2C3D4E5", "com.example.web": "A1B2C3D4E5", "com.other": "F6G7H8I9J0"],
            keys: keys, secondsSince1970: { time.secondsSince1970 })
    }

    func part(_ index: Int, of secret: ClientSecret) throws -> JSONValue {
        let segments = secret.text.split(separator: ".").map(String.init)
        return try JSONValue(parsing: try #require(Base64URL.decode(segments[index])))
    }

    @Test func `has the header and the claims that Apple requires, and a valid signature`() throws {
        let privateKey = try ECPrivateKey.generate()
        let key = try ClientSigningKey(keyID: "K1L2M3N4O5", pem: privateKey.pem)
        let secret = try #require(try secrets(ChangingKeys([key])).secrets(for: clientID).first)
        let header = try part(0, of: secret)
        #expect(header["alg"]?.string == "ES256")
        #expect(header["kid"]?.string == "K1L2M3N4O5")
        let claims = try part(1, of: secret)
        #expect(claims.object?.members.map(\.name).sorted() == ["aud", "exp", "iat", "iss", "sub"])
        #expect(claims["iss"]?.string == "A1B2C3D4E5")
        #expect(claims["sub"]?.string == clientID)
        #expect(claims["aud"]?.string == "https://appleid.apple.com")
        // Slightly in the past, because Apple refuses an `iat` in the future, and clocks differ.
        #expect(claims["iat"]?.integer == time.secondsSince1970 - 60)
        #expect(claims["exp"]?.integer == time.secondsSince1970 + 3600)
        let end = try #require(secret.text.lastIndex(of: "."))
        let signature = try #require(Base64URL.decode(String(secret.text[secret.text.index(after: end)...])))
        #expect(signature.count == 64)
        let input = Array(secret.text[..<end].utf8)
        #expect(privateKey.publicKey.isValidSignature(signature, for: input[...]))
    }

    @Test func `is signed once and used until well before it expires`() throws {
        let secrets = secrets(ChangingKeys([try .sample()]))
        let first = try secrets.secrets(for: clientID)
        time.secondsSince1970 += 2699
        #expect(try secrets.secrets(for: clientID) == first)
        time.secondsSince1970 += 1
        let second = try secrets.secrets(for: clientID)
        #expect(second != first)
        #expect(try part(1, of: second[0])["exp"]?.integer == time.secondsSince1970 + 3600)
    }

    @Test func `is signed again when the clock was set back, because it would be from the future`() throws {
        let secrets = secrets(ChangingKeys([try .sample()]))
        _ = try secrets.secrets(for: clientID)
        time.secondsSince1970 -= 1
        #expect(
            try part(1, of: secrets.secrets(for: clientID)[0])["iat"]?.integer == time.secondsSince1970 - 60)
    }

    @Test func `each client ID has its own secret`() throws {
        let secrets = secrets(ChangingKeys([try .sample()]))
        let app = try secrets.secrets(for: clientID)
        let web = try secrets.secrets(for: "com.example.web")
        #expect(app != web)
        #expect(try part(1, of: web[0])["sub"]?.string == "com.example.web")
        #expect(try secrets.secrets(for: clientID) == app)
    }

    @Test func `all keys are tried, first the one that Apple accepted last, then the newest`() throws {
        let (new, old) = (
            try ClientSigningKey.sample("NEWNEWNEW1"), try ClientSigningKey.sample("OLDOLDOLD1")
        )
        let secrets = secrets(ChangingKeys([new, old]))
        let both = try secrets.secrets(for: clientID)
        #expect(both.map(\.keyID) == ["NEWNEWNEW1", "OLDOLDOLD1"])
        secrets.accepted(both[1], for: clientID)
        #expect(try secrets.secrets(for: clientID).map(\.keyID) == ["OLDOLDOLD1", "NEWNEWNEW1"])
        #expect(try secrets.secrets(for: "com.example.web").map(\.keyID) == ["NEWNEWNEW1", "OLDOLDOLD1"])
    }

    @Test func `a replaced key signs from then on, also under the same ID`() throws {
        let keys = ChangingKeys([try .sample()])
        let secrets = secrets(keys)
        let first = try secrets.secrets(for: clientID)
        keys.keys = [try .sample()]
        #expect(try secrets.secrets(for: clientID) != first)
        keys.keys = [try .sample("NEWNEWNEW1")]
        #expect(try secrets.secrets(for: clientID).map(\.keyID) == ["NEWNEWNEW1"])
    }

    @Test(arguments: ["com.other", "com.nobody"])
    func `without a key there is no secret`(clientID: String) throws {
        let secrets = secrets(ChangingKeys([try .sample()]))
        #expect(throws: AppleCallError(.noSigningKey)) { try secrets.secrets(for: clientID) }
    }

    @Test(arguments: [Int64.min, Int64.max])
    func `an extreme time is an error, not a crash`(now: Int64) throws {
        time.secondsSince1970 = now
        let secrets = secrets(ChangingKeys([try .sample()]))
        #expect(throws: AppleCallError(.signingFailed)) { try secrets.secrets(for: clientID) }
    }

    @Test func `does not appear in any description`() throws {
        let secret = try #require(try secrets(ChangingKeys([try .sample()])).secrets(for: clientID).first)
        var dumped = ""
        dump([secret], to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] { #expect(!text.contains("eyJ")) }
    }
}

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

extension ClientSigningKey {
    /// A new key. Generating it takes less than a millisecond.
    static func sample(_ keyID: String = "K1L2M3N4O5") throws -> ClientSigningKey {
        try ClientSigningKey(keyID: keyID, pem: ECPrivateKey.generate().pem)
    }
}

/// The keys of one team, which a test can change.
final class ChangingKeys: SigningKeySource {
    private let held: Mutex<[ClientSigningKey]>

    init(_ keys: [ClientSigningKey]) { held = Mutex(keys) }

    var keys: [ClientSigningKey] {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }

    func keys(ofTeam team: String) -> [ClientSigningKey] { team == "A1B2C3D4E5" ? keys : [] }
}
