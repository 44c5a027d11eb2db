import Encodings
import JOSE
import StrictJSON
import Testing

@Suite struct ECPublicKeyTests {
    /// libjwt signs; the key reads the raw signature.
    private func signed(by key: ECPrivateKey) throws -> (message: [UInt8], signature: [UInt8]) {
        let token = try JWTSigner.sign(
            claims: JSONObject([("iss", .string("TEAM000001"))]), keyID: "KEY0000001", algorithm: .ES256,
            key: key.pem)
        let segments = token.split(separator: ".")
        try #require(segments.count == 3)
        let signature = try #require(Base64URL.decode(String(segments[2])))
        return (Array("\(segments[0]).\(segments[1])".utf8), signature)
    }

    @Test func `accepts what libjwt signed, many times over`() throws {
        let key = try ECPrivateKey.generate()
        // r and s have leading zeros in about one signature of 128, and those are written otherwise in DER.
        for _ in 0..<400 {
            let (message, signature) = try signed(by: key)
            #expect(signature.count == 64)
            #expect(key.publicKey.isValidSignature(signature, for: message[...]))
        }
    }

    @Test func `refuses another key, another message and a turned bit`() throws {
        let key = try ECPrivateKey.generate()
        let (message, signature) = try signed(by: key)
        #expect(try !ECPrivateKey.generate().publicKey.isValidSignature(signature, for: message[...]))
        #expect(!key.publicKey.isValidSignature(signature, for: (message + [0])[...]))
        for position in [0, 31, 32, 63] {
            var spoiled = signature
            spoiled[position] ^= 1
            #expect(!key.publicKey.isValidSignature(spoiled, for: message[...]))
        }
    }

    @Test(
        arguments: [
            [], [0], Array(repeating: 0, count: 64), Array(repeating: 255, count: 64),
            Array(repeating: 1, count: 63), Array(repeating: 1, count: 65),
        ] as [[UInt8]])
    func `refuses signatures that no private key made`(signature: [UInt8]) throws {
        let key = try ECPrivateKey.generate().publicKey
        #expect(!key.isValidSignature(signature, for: Array("message".utf8)[...]))
    }

    @Test func `neither form of a signature is accepted in place of the other`() throws {
        let key = try ECPrivateKey.generate()
        for _ in 0..<20 {
            let (message, raw) = try signed(by: key)
            // The two numbers, each with a zero byte in front if its top bit is set.
            let numbers = [raw.prefix(32), raw.suffix(32)].map { bytes -> [UInt8] in
                let number = Array(bytes.drop { $0 == 0 })
                return (number.first ?? 0) & 0x80 == 0 ? number : [0] + number
            }
            let encoded = numbers.reduce([UInt8]()) { $0 + [0x02, UInt8($1.count)] + $1 }
            let der = [0x30, UInt8(encoded.count)] + encoded
            #expect(key.publicKey.isValidDERSignature(der, for: message[...]))
            #expect(!key.publicKey.isValidDERSignature(raw, for: message[...]))
            #expect(!key.publicKey.isValidSignature(der, for: message[...]))
            // Other encodings of the same numbers.
            let long = [0x30, 0x81, UInt8(encoded.count)] + encoded
            let others: [[UInt8]] = [der + [0], der.dropLast(), long, [0x30, 0x80] + encoded + [0, 0]]
            for other in others { #expect(!key.publicKey.isValidDERSignature(other, for: message[...])) }
        }
    }

    @Test func `a point of 65 bytes is the same key`() throws {
        let key = try ECPrivateKey.generate().publicKey
        let read = try ECPublicKey(point: key.point)
        #expect(key.point.count == 65 && read.x == key.x && read.y == key.y)
        var changed = key.point
        changed[64] ^= 1
        let compressed = [2 + key.y[31] % 2] + key.x
        let others: [[UInt8]] = [
            changed, compressed, [], key.point + [0], key.point.dropLast(), [6] + key.x + key.y,
        ]
        for other in others { #expect(throws: JOSEError(.keyUnusable)) { try ECPublicKey(point: other) } }
    }

    @Test func `knows the key of RFC 7517, and the signature of RFC 7515, appendix A 3`() throws {
        let x = try #require(Base64URL.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
        let y = try #require(Base64URL.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
        let key = try ECPublicKey(x: x, y: y)
        let message = Array(
            ("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
                + "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ").utf8)
        let signature = try #require(
            Base64URL.decode(
                "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"))
        #expect(key.isValidSignature(signature, for: message[...]))
        #expect(key.jwk(keyID: "k")["x"] == .string(Base64URL.encode(x)))
    }

    @Test func `refuses points beside the curve and coordinates of another length`() throws {
        let key = try ECPrivateKey.generate().publicKey
        var beside = key.y
        beside[31] ^= 1
        #expect(throws: JOSEError(.keyUnusable)) { try ECPublicKey(x: key.x, y: beside) }
        #expect(throws: JOSEError(.keyUnusable)) {
            try ECPublicKey(x: [UInt8](repeating: 0, count: 32), y: [UInt8](repeating: 0, count: 32))
        }
        #expect(throws: JOSEError(.keyUnusable)) { try ECPublicKey(x: Array(key.x.dropFirst()), y: key.y) }
        #expect(throws: JOSEError(.keyUnusable)) { try ECPublicKey(x: [0] + key.x, y: key.y) }
    }

    @Test func `reads its own keys back from PEM, and no others`() throws {
        let key = try ECPrivateKey.generate()
        #expect(try ECPrivateKey(pem: key.pem).publicKey.x == key.publicKey.x)
        let rsa = try RSAPrivateKey.generate(bits: 2048)
        for pem in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n", rsa.pem] {
            #expect(throws: JOSEError(.keyUnusable)) { try ECPrivateKey(pem: pem) }
        }
        for pem in ["", key.pem, rsa.publicKeyPEM] {
            #expect(throws: JOSEError(.keyUnusable)) { try ECPublicKey(pem: pem) }
        }
        let pem = """
            -----BEGIN PUBLIC KEY-----
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
            6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
            -----END PUBLIC KEY-----
            """
        #expect(
            try ECPublicKey(pem: pem).x == Base64URL.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
        // A key on secp256k1, made with the openssl command.
        let otherCurve = """
            -----BEGIN PUBLIC KEY-----
            MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAErILQlbmTTBAM9xEXvjKDm295p9mvX/uK
            t/11WgNgxxA+BisvEujagi4SI8uxbTiohiA4xTmLdhWaKlgYI1z3nQ==
            -----END PUBLIC KEY-----
            """
        #expect(throws: JOSEError(.keyUnusable)) { try ECPublicKey(pem: otherCurve) }
    }

    /// Made with the openssl command: P-384, secp256k1, and P-256 with a damaged private number.
    @Test(arguments: [
        """
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDjMn//IaxoqozvYVDZ
        e9Q8F+2u4AyM5hN0g3U53pik+Vcwkki85OA1j+yFHocBou+hZANiAARZjpBEdkYb
        E5yux7rJadEnk+L6nygu9s5WcG27kAeZIXYsaGRuqF5e60kKOwHq4EcKrir8Gzst
        YlDxqNVoa6nJd1p3+f+VQg4vuEIWHfgyANO8uIcrz7WRUDwsSmEtZXg=
        """,
        """
        MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgeMVMUW1uaZHneuZW7ooN
        K7tR9KmuHAFUIsqsNxcIJq+hRANCAAQGoESyYyIekMqXiRU+E42xSvvv/GK1Bz2v
        HzJY8iSrV92vRYyHrYKZzwhVB5GHrxelcWm3CHJqqfjPUrT5w/Uw
        """,
        """
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wAAAAAQQgeMVMUW1uaZHneuZW7ooN
        K7tR9KmuHAFUIsqsNxcIJq+hRANCAAQGoESyYyIekMqXiRU+E42xSvvv/GK1Bz2v
        HzJY8iSrV92vRYyHrYKZzwhVB5GHrxelcWm3CHJqqfjPUrT5w/Uw
        """,
    ])
    func `refuses private keys on other curves, and a damaged one`(body: String) {
        let pem = "-----BEGIN PRIVATE KEY-----\n\(body)\n-----END PRIVATE KEY-----\n"
        #expect(throws: JOSEError(.keyUnusable)) { try ECPrivateKey(pem: pem) }
    }

    /// OpenSSL would ask for the passphrase on the terminal, and a service would wait forever.
    @Test func `refuses an encrypted private key, without asking for its passphrase`() {
        let encrypted = """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhTTyCq5c9L2QICCAAw
            DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEAai1fl9SmyGEUo06ATKwVoEgZBG
            0Y5ogAzLhZq/4sBTSwXQwCRlYTlEFv32+5+b9NcloW70Y65gEI4VD+VPXa/1hGwE
            3SPdlkq99HahrKrqrNrGkixEBDaj02R3uZmvCrgUp78GFrKFtP1K8wsNEmslUwBk
            TQIOkSnCvI2vbmSL2PzxRwHn40ab9Tju7C7AmgqjdiPwsBksVk4m9FS1PZJHJWg=
            -----END ENCRYPTED PRIVATE KEY-----
            """
        #expect(throws: JOSEError(.keyUnusable)) { try ECPrivateKey(pem: encrypted) }
    }

    /// OpenSSL reads the text of a key in place. Keys of many lengths make it likely that freed text is
    /// overwritten.
    @Test func `reads keys from text that nothing else holds, many times over`() throws {
        let key = try ECPrivateKey.generate()
        let body = key.pem.utf8
        for round in 0..<500 {
            let padding = String(repeating: "# comment\n", count: round % 7)
            let again = try ECPrivateKey(pem: padding + String(decoding: Array(body), as: UTF8.self))
            #expect(again.publicKey.x == key.publicKey.x)
        }
    }
}
