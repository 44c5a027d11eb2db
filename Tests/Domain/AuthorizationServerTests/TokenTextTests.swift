import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import StorageConformance
import Testing

@Suite struct TokenTextTests {
    private let family = UniqueID(high: 0x0193_A5E0_7C00_7ABC, low: 0x8DEF_0123_4567_89AB)

    private func token(generation: UInt32 = 0) -> RefreshTokenText {
        RefreshTokenText(
            familyID: family, familySecret: Array(repeating: 1, count: 16), generation: generation,
            secret: Array(repeating: 2, count: 32))
    }

    @Test(arguments: [0, 1, 258, UInt32.max])
    func `a refresh token says which family and generation it is of`(generation: UInt32) throws {
        let token = token(generation: generation)
        let read = try #require(RefreshTokenText(parsing: token.text))
        #expect(read == token && read.digest == token.digest)
        #expect(read.familyID == family)
        #expect(read.generation == generation)
    }

    @Test func `a successor has the family and its secret, and another text`() throws {
        let token = token(generation: 7)
        let next = try #require(token.successor(salt: Array(repeating: 3, count: 32)))
        #expect(next.generation == 8)
        #expect(next.familySecretDigest == token.familySecretDigest)
        #expect(next.digest != token.digest)
        #expect(self.token(generation: .max).successor(salt: Array(repeating: 3, count: 32)) == nil)
    }

    @Test func `a successor follows from the text and the salt, and from nothing else`() throws {
        let token = token(generation: 7)
        let salt = Array(repeating: 3 as UInt8, count: 32)
        let next = try #require(token.successor(salt: salt))
        #expect(try #require(RefreshTokenText(parsing: token.text)).successor(salt: salt) == next)
        let others = [
            token.successor(salt: Array(repeating: 4, count: 32)),
            self.token(generation: 8).successor(salt: salt), next.successor(salt: salt),
            RefreshTokenText(
                familyID: UniqueID(high: 1, low: 1), familySecret: Array(repeating: 1, count: 16),
                generation: 7, secret: Array(repeating: 2, count: 32)
            ).successor(salt: salt),
        ]
        #expect(Set(others.map { $0?.text.suffix(43) } + [next.text.suffix(43)]).count == 5)
        // HKDF with SHA-256 (RFC 5869), computed apart: the secret is the last 32 of the 68 bytes.
        let bytes = try #require(Base64URL.decode(String(next.text.dropFirst(8))))
        #expect(
            Hexadecimal.encode(Array(bytes.suffix(32)))
                == "d2b8b3e55eb6b84250a4a9745f8bf190504e4871608cb6a8d44d7165b7f395de")
    }

    @Test func `altered texts are no tokens`() {
        let text = token().text
        for altered in [
            String(text.dropLast()), text + "A", text.replacing("siwa_rt_", with: "siwa_ac_"), text + "=",
            " " + text, String(text.dropLast()) + "é",
        ] {
            #expect(RefreshTokenText(parsing: altered) == nil)
        }
    }

    @Test func `the double hash hashes the 64 raw bytes of the first`() {
        let token = token()
        #expect(token.doubleSHA512 == SHA512Digest.hash(SHA512Digest.hash(Array(token.text.utf8)).bytes))
        #expect(token.doubleSHA512.bytes.count == 64)
        // FIPS 180-4, the example of "abc".
        let abc = Hexadecimal.encode(SHA512Digest.hash(Array("abc".utf8)).bytes)
        #expect(abc.hasPrefix("ddaf35a193617abacc417349ae204131"))
    }

    @Test func `a code is read as it was written, and nothing else is one`() throws {
        let code = AuthorizationCodeText(random: Array(repeating: 5, count: 32))
        #expect(try #require(AuthorizationCodeText(parsing: code.text)).digest == code.digest)
        for text in ["", "siwa_ac_", code.text + "A", String(code.text.dropLast()), token().text] {
            #expect(AuthorizationCodeText(parsing: text) == nil)
        }
    }

    @Test func `descriptions have no secret in them`() {
        let code = AuthorizationCodeText(random: Array(repeating: 5, count: 32))
        #expect(!"\(code)".contains(code.text))
        #expect(!"\(token())".contains(token().text))
        let command = RefreshCommand.sample()
        var dumped = ""
        dump(command, to: &dumped)
        #expect(!"\(command)\(dumped)".contains(command.presented.text))
    }
}
