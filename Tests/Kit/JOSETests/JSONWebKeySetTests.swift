import Encodings
import JOSE
import StrictJSON
import Testing
import TokenMint

@Suite struct JSONWebKeySetTests {
    private static let sample = TokenMint.shared.privateKey.publicJWK(keyID: "GOOD")

    private static func set(_ entries: [JSONValue]) -> [UInt8] {
        JSONValue.object(JSONObject([("keys", .array(entries))])).serialized()
    }

    private static func changed(_ name: String, _ value: JSONValue?) -> JSONValue {
        var key = sample
        key[name] = value
        return .object(key)
    }

    private static func number(bits: Int, last: UInt8 = 1) -> JSONValue {
        var bytes = [UInt8](repeating: 0xAB, count: (bits + 7) / 8)
        bytes[0] = 1 << UInt8((bits - 1) % 8)
        bytes[bytes.count - 1] = last
        return .string(Base64URL.encode(bytes))
    }

    private static let rest = TokenMint(keyID: "REST").privateKey.publicJWK(keyID: "REST")

    @Test func `finds a key by the bytes of its ID`() throws {
        var kelvin = TokenMint(keyID: "\u{212A}").privateKey.publicJWK(keyID: "\u{212A}")
        kelvin["alg"] = nil
        kelvin["use"] = nil
        let set = try JSONWebKeySet(parsing: Self.set([.object(kelvin), .object(Self.sample)]))
        #expect(set.count == 2)
        #expect(set.key(for: "GOOD") != nil)
        #expect(set.key(for: "\u{212A}") != nil)
        #expect(set.key(for: "K") == nil)
        #expect(set.key(for: "") == nil)
        #expect(set.key(for: "GOOD\0") == nil)
    }

    @Test(arguments: [
        (changed("kty", .string("EC")), SkippedKey.Reason.otherType), (changed("kty", nil), .malformed),
        (changed("use", .string("enc")), .otherUse), (changed("use", .null), .otherUse),
        (changed("key_ops", .array([])), .otherOperations),
        (changed("key_ops", .array([.string("sign")])), .otherOperations),
        (changed("key_ops", .array([.string("Verify")])), .otherOperations),
        (changed("key_ops", .string("verify")), .malformed), (changed("key_ops", .null), .malformed),
        (changed("key_ops", .array([.string("verify"), .integer(1)])), .malformed),
        (changed("key_ops", .array([.string("verify"), .string("verify")])), .malformed),
        (changed("alg", .string("RS512")), .otherAlgorithm), (changed("alg", .integer(1)), .otherAlgorithm),
        (changed("kid", nil), .keyIDInvalid), (changed("kid", .string("")), .keyIDInvalid),
        (changed("kid", .string(String(repeating: "k", count: 65))), .keyIDInvalid),
        (changed("n", nil), .malformed), (changed("n", .string("not base64!")), .malformed),
        (changed("n", .string("")), .unsafeNumbers), (changed("n", number(bits: 1024)), .unsafeNumbers),
        (changed("n", number(bits: 2047)), .unsafeNumbers),
        (changed("n", number(bits: 4097)), .unsafeNumbers),
        (changed("n", number(bits: 2048, last: 2)), .unsafeNumbers),
        (changed("e", .string("AQ")), .unsafeNumbers), (changed("e", .string("Aw")), .unsafeNumbers),
        (changed("e", .string("AQAC")), .unsafeNumbers), (changed("e", .string("AQAAAAE")), .unsafeNumbers),
        (changed("e", nil), .malformed), (.string("key"), .malformed), (.null, .malformed),
    ])
    func `skips an entry that must not verify, and keeps the rest`(
        entry: JSONValue, reason: SkippedKey.Reason
    ) throws {
        let set = try JSONWebKeySet(parsing: Self.set([entry, .object(Self.rest)]))
        #expect(set.keyIDs == ["REST"])
        #expect(set.skipped.map(\.reason) == [reason])
    }

    @Test(arguments: [["verify"], ["sign", "verify"], ["verify", "unknown"]])
    func `uses a key whose operations include verify`(operations: [String]) throws {
        let entry = Self.changed("key_ops", .array(operations.map { .string($0) }))
        #expect(try JSONWebKeySet(parsing: Self.set([entry])).count == 1)
    }

    @Test(arguments: [2048, 3072, 4096])
    func `uses moduli of 2048 to 4096 bits`(bits: Int) throws {
        #expect(try JSONWebKeySet(parsing: Self.set([Self.changed("n", Self.number(bits: bits))])).count == 1)
    }

    @Test func `makes a key ID unusable that two different keys share, and no other`() throws {
        let other = TokenMint(keyID: "GOOD").privateKey
        let set = try JSONWebKeySet(
            parsing: Self.set([
                .object(Self.sample), .object(other.publicJWK(keyID: "GOOD")),
                .object(other.publicJWK(keyID: "ELSE")),
            ]))
        #expect(set.keyIDs == ["ELSE"])
        #expect(set.skipped.map(\.reason) == [.ambiguous, .ambiguous])
    }

    @Test func `counts the same key twice as one`() throws {
        let set = try JSONWebKeySet(parsing: Self.set([.object(Self.sample), .object(Self.sample)]))
        #expect(set.keyIDs == ["GOOD"])
    }

    @Test(arguments: [
        "", "<html>", "[]", "{}", #"{"keys":{}}"#, #"{"keys":null}"#, #"{"keys":[],"keys":[]}"#,
        "{\"keys\":[]} x",
    ])
    func `refuses what is no key set`(text: String) {
        #expect(throws: JOSEError(.keySetMalformed)) { try JSONWebKeySet(parsing: Array(text.utf8)) }
    }

    @Test func `parses a set without a usable key as empty`() throws {
        #expect(try JSONWebKeySet(parsing: Array(#"{"keys":[{}]}"#.utf8)).isEmpty)
    }
}
