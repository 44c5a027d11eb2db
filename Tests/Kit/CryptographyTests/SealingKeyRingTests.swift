import Encodings
import Testing

@testable import Cryptography

@Suite struct SealingKeyRingTests {
    static let key = SealingKey(name: "2026-01", bytes: Array(0..<32))
    static let other = SealingKey(name: "2026-02", bytes: Array(32..<64))
    static let data = Array("refresh_token\nacc_1\ncom.example.app".utf8)
    static let purpose = SealingPurpose("refresh_token")
    static let secret = Array("r.0123456789abcdef.secret".utf8)

    func ring(_ keys: SealingKey?...) throws -> SealingKeyRing {
        let keys = keys.compactMap { $0 }
        return try #require(SealingKeyRing(keys))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 64, 4096, 1 << 20]) func `opens what it sealed`(size: Int) throws {
        let plaintext = SecureRandom.bytes(count: size)
        let ring = try ring(Self.key)
        let sealed = ring.seal(plaintext, for: Self.purpose, associatedData: Self.data)
        #expect(sealed.count == size + 46 + "2026-01".count)
        #expect(try ring.open(sealed, for: Self.purpose, associatedData: Self.data) == plaintext)
    }

    @Test func `opens with empty associated data, and with no other then`() throws {
        let ring = try ring(Self.key)
        let sealed = ring.seal(Self.secret, for: Self.purpose, associatedData: [])
        #expect(try ring.open(sealed, for: Self.purpose, associatedData: []) == Self.secret)
        #expect(throws: SealError(.authenticationFailed)) {
            try ring.open(sealed, for: Self.purpose, associatedData: [0])
        }
    }

    /// Made with another implementation (Python's cryptography), so that the form cannot change by accident.
    @Test func `opens a value of another implementation`() throws {
        let sealed = try #require(
            Hexadecimal.decode(
                "0107323032362d3031101112131415161718191a1b1c1d1e1f0102030405060708090a0b0c6858576009a16b1213"
                    + "93e6f73cba5607037b72c7ad49cfceaa0b9a57debb0b62ff54ff97c023a00cd2"))
        let plaintext = try ring(Self.key).open(sealed, for: Self.purpose, associatedData: Self.data)
        #expect(plaintext == Self.secret)
    }

    @Test func `derives another key for each value and purpose`() throws {
        let key = try #require(Self.key)
        let purposes = ["refresh_token", "authorization_code", "web_state", "web_ticket"].map {
            SealingPurpose($0)
        }
        let salts = (0..<4).map { number in Array(repeating: UInt8(number), count: 16) }
        let keys = purposes.flatMap { purpose in salts.map { key.derived(for: purpose, salt: $0) } }
        #expect(Set(keys + [key.bytes]).count == 17)
        let sealed = try (0..<100).map { _ in
            let ring = try ring(Self.key)
            return Array(ring.seal(Self.secret, for: Self.purpose, associatedData: Self.data)[9..<25])
        }
        #expect(Set(sealed).count == 100)
    }

    @Test func `refuses a value of another purpose, whatever it is bound to`() throws {
        let ring = try ring(Self.key)
        let sealed = ring.seal(Self.secret, for: Self.purpose, associatedData: Self.data)
        #expect(throws: SealError(.authenticationFailed)) {
            try ring.open(sealed, for: SealingPurpose("web_state"), associatedData: Self.data)
        }
    }

    @Test(arguments: [0, 2, 255] as [UInt8])
    func `refuses a value of another version`(version: UInt8) throws {
        let ring = try ring(Self.key)
        var sealed = ring.seal(Self.secret, for: Self.purpose, associatedData: Self.data)
        sealed[0] = version
        #expect(throws: SealError(.malformed)) {
            try ring.open(sealed, for: Self.purpose, associatedData: Self.data)
        }
    }

    @Test func `never seals the same way twice, and never in the clear`() throws {
        let ring = try ring(Self.key)
        let sealed = (0..<100).map { _ in ring.seal(Self.secret, for: Self.purpose, associatedData: Self.data)
        }
        #expect(Set(sealed).count == 100)
        #expect(sealed.allSatisfy { $0.firstRange(of: Self.secret) == nil })
    }

    @Test func `refuses a value with any bit flipped`() throws {
        let ring = try ring(Self.key, Self.other)
        let sealed = ring.seal(Self.secret, for: Self.purpose, associatedData: Self.data)
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << bit
                #expect(throws: SealError.self, "byte \(index), bit \(bit)") {
                    try ring.open(changed, for: Self.purpose, associatedData: Self.data)
                }
            }
        }
    }

    @Test func `refuses a value of any other length`() throws {
        let ring = try ring(Self.key)
        let sealed = ring.seal(Self.secret, for: Self.purpose, associatedData: Self.data)
        for count in 0..<sealed.count {
            #expect(throws: SealError.self, "\(count) bytes") {
                try ring.open(Array(sealed[..<count]), for: Self.purpose, associatedData: Self.data)
            }
            #expect(throws: SealError.self, "without the first \(sealed.count - count)") {
                try ring.open(
                    Array(sealed[(sealed.count - count)...]), for: Self.purpose, associatedData: Self.data)
            }
        }
        #expect(throws: SealError(.authenticationFailed)) {
            try ring.open(sealed + [0], for: Self.purpose, associatedData: Self.data)
        }
    }

    @Test(arguments: [
        "", "refresh_token\nacc_2\ncom.example.app", "refresh_token\nacc_1\ncom.example.web",
        "authorization_code\nacc_1\ncom.example.app", "refresh_token\nacc_1\ncom.example.app\n",
    ])
    func `refuses a value that was moved to another row`(place: String) throws {
        let ring = try ring(Self.key)
        let sealed = ring.seal(Self.secret, for: Self.purpose, associatedData: Self.data)
        #expect(throws: SealError(.authenticationFailed)) {
            try ring.open(sealed, for: Self.purpose, associatedData: Array(place.utf8))
        }
    }

    @Test func `refuses associated data that continues the header`() throws {
        // The header ends with the key's name: its length keeps the two apart.
        let short = try #require(SealingKey(name: "a", bytes: Array(0..<32)))
        let long = try #require(SealingKey(name: "ab", bytes: Array(0..<32)))
        let sealed = try ring(short).seal(Self.secret, for: Self.purpose, associatedData: Array("bc".utf8))
        let renamed = [1, 2] + Array("ab".utf8) + sealed[3...]
        #expect(throws: SealError(.authenticationFailed)) {
            try ring(long).open(renamed, for: Self.purpose, associatedData: Array("c".utf8))
        }
    }

    @Test func `refuses a value of another key, under its own name and under the same`() throws {
        let sealed = try ring(Self.key).seal(Self.secret, for: Self.purpose, associatedData: Self.data)
        #expect(throws: SealError(.unknownKey)) {
            try ring(Self.other).open(sealed, for: Self.purpose, associatedData: Self.data)
        }
        let impostor = SealingKey(name: "2026-01", bytes: Array(1..<33))
        #expect(throws: SealError(.authenticationFailed)) {
            try ring(impostor).open(sealed, for: Self.purpose, associatedData: Self.data)
        }
    }

    @Test func `the first key seals and all open`() throws {
        let old = try ring(Self.key)
        let rotated = try ring(Self.other, Self.key)
        let sealed = old.seal(Self.secret, for: Self.purpose, associatedData: Self.data)
        #expect(try rotated.open(sealed, for: Self.purpose, associatedData: Self.data) == Self.secret)
        #expect(!rotated.isCurrent(sealed))
        let fresh = rotated.seal(Self.secret, for: Self.purpose, associatedData: Self.data)
        #expect(rotated.isCurrent(fresh))
        #expect(SealingKeyRing.keyName(of: fresh) == "2026-02")
        #expect(throws: SealError(.unknownKey)) {
            try old.open(fresh, for: Self.purpose, associatedData: Self.data)
        }
    }

    @Test(
        arguments: [
            [], [0], [1], [1, 0], [1, 1, 97], [2, 1, 97], Array(repeating: 1, count: 28),
            [1, 1, 97] + Array(repeating: 1, count: 43),
        ] as [[UInt8]])
    func `refuses what is no sealed value`(bytes: [UInt8]) throws {
        let ring = try ring(Self.key)
        #expect(throws: SealError(.malformed)) {
            try ring.open(bytes, for: Self.purpose, associatedData: Self.data)
        }
        #expect(!ring.isCurrent(bytes))
        #expect(SealingKeyRing.keyName(of: bytes) == nil)
    }

    @Test func `a ring has keys, each with a name of its own`() throws {
        #expect(SealingKeyRing([]) == nil)
        let key = try #require(Self.key)
        let namesake = try #require(SealingKey(name: key.name, bytes: Array(1..<33)))
        #expect(SealingKeyRing([key, namesake]) == nil)
    }
}

@Suite struct SealingKeyTests {
    @Test(arguments: ["a", "2026-01", "A_b-9", String(repeating: "x", count: 32)])
    func `has a short, plain name`(name: String) {
        #expect(SealingKey(name: name, bytes: Array(0..<32))?.name == name)
    }

    @Test(arguments: ["", " ", "a b", "a=b", "a,b", "ä", "a\n", "\u{0}", String(repeating: "x", count: 33)])
    func `refuses any other name`(name: String) {
        #expect(SealingKey(name: name, bytes: Array(0..<32)) == nil)
    }

    @Test(arguments: [0, 16, 24, 31, 33, 64]) func `refuses any other size`(size: Int) {
        #expect(SealingKey(name: "a", bytes: Array(repeating: 7, count: size)) == nil)
    }

    @Test func `shows its bytes nowhere`() throws {
        let key = try #require(SealingKey(name: "a", bytes: Array(repeating: 0xAB, count: 32)))
        let ring = try #require(SealingKeyRing([key]))
        var dumped = ""
        dump(ring, to: &dumped)
        dump([key], to: &dumped)
        for text in ["\(key)", String(reflecting: key), "\(ring)", String(reflecting: ring), dumped] {
            #expect(!text.contains("171"), "\(text)")
            #expect(!text.lowercased().contains("ab, ab"))
        }
    }

    @Test func `tells the same key under another name`() throws {
        let key = try #require(SealingKey(name: "a", bytes: Array(0..<32)))
        let again = try #require(SealingKey(name: "b", bytes: Array(0..<32)))
        let other = try #require(SealingKey(name: "a", bytes: Array(1..<33)))
        #expect(key.hasSameBytes(as: again))
        #expect(!key.hasSameBytes(as: other))
    }
}
