import AppleIDClient
import Encodings
import JOSE
import StrictJSON
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
        #expect(
            claims.object?.members.map(\.name).sorted() == ["aud", "exp", "iat", "iss", "sub"])
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
