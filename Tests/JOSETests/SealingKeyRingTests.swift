import JOSE
import Testing

@Suite struct SealingKeyRingTests {
    static let key = SealingKey(name: "2026-01", bytes: Array(0..<32))
    static let other = SealingKey(name: "2026-02", bytes: Array(32..<64))
    static let data = Array("refresh_token\nacc_1\ncom.example.app".utf8)
    static let secret = Array("r.0123456789abcdef.secret".utf8)

    func ring(_ keys: SealingKey?...) throws -> SealingKeyRing {
        let keys = keys.compactMap { $0 }
        return try #require(SealingKeyRing(keys))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 64, 4096, 1 << 20])
    func `opens what it sealed`(size: Int) throws {
        let plaintext = SecureRandom.bytes(count: size)
        let ring = try ring(Self.key)
        let sealed = ring.seal(plaintext, associatedData: Self.data)
        #expect(sealed.count == size + 30 + "2026-01".count)
        #expect(try ring.open(sealed, associatedData: Self.data) == plaintext)
    }

    @Test func `opens with empty associated data, and with no other then`() throws {
        let ring = try ring(Self.key)
        let sealed = ring.seal(Self.secret, associatedData: [])
        #expect(try ring.open(sealed, associatedData: []) == Self.secret)
        #expect(throws: SealError(.authenticationFailed)) { try ring.open(sealed, associatedData: [0]) }
    }

    /// Made with another implementation (Python's cryptography), so that the form can never change by accident.
    @Test func `opens a value of another implementation`() throws {
        let sealed = try #require(
            Hexadecimal.decode(
                "0107323032362d30310102030405060708090a0b0c77c46ae4dea7c4b37a95"
                    + "5b7e7171894c2725cf8df20e22a0d5e685a86859031abc24a55ee6717bb670"))
        #expect(try ring(Self.key).open(sealed, associatedData: Self.data) == Self.secret)
    }

    @Test func `never seals the same way twice, and never in the clear`() throws {
        let ring = try ring(Self.key)
        let sealed = (0..<100).map { _ in ring.seal(Self.secret, associatedData: Self.data) }
        #expect(Set(sealed).count == 100)
        #expect(sealed.allSatisfy { $0.firstRange(of: Self.secret) == nil })
    }

    @Test func `refuses a value with any bit flipped`() throws {
        let ring = try ring(Self.key, Self.other)
        let sealed = ring.seal(Self.secret, associatedData: Self.data)
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << bit
                #expect(throws: SealError.self, "byte \(index), bit \(bit)") {
                    try ring.open(changed, associatedData: Self.data)
                }
            }
        }
    }

    @Test func `refuses a value of any other length`() throws {
        let ring = try ring(Self.key)
        let sealed = ring.seal(Self.secret, associatedData: Self.data)
        for count in 0..<sealed.count {
            #expect(throws: SealError.self, "\(count) bytes") {
                try ring.open(Array(sealed[..<count]), associatedData: Self.data)
            }
            #expect(throws: SealError.self, "without the first \(sealed.count - count)") {
                try ring.open(Array(sealed[(sealed.count - count)...]), associatedData: Self.data)
            }
        }
        #expect(throws: SealError(.authenticationFailed)) {
            try ring.open(sealed + [0], associatedData: Self.data)
        }
    }

    @Test(arguments: [
        "", "refresh_token\nacc_2\ncom.example.app", "refresh_token\nacc_1\ncom.example.web",
        "authorization_code\nacc_1\ncom.example.app", "refresh_token\nacc_1\ncom.example.app\n",
    ])
    func `refuses a value that was moved to another row`(place: String) throws {
        let ring = try ring(Self.key)
        let sealed = ring.seal(Self.secret, associatedData: Self.data)
        #expect(throws: SealError(.authenticationFailed)) {
            try ring.open(sealed, associatedData: Array(place.utf8))
        }
    }

    @Test func `refuses associated data that continues the header`() throws {
        // The header ends with the key's name: its length keeps the two apart.
        let short = try #require(SealingKey(name: "a", bytes: Array(0..<32)))
        let long = try #require(SealingKey(name: "ab", bytes: Array(0..<32)))
        let sealed = try ring(short).seal(Self.secret, associatedData: Array("bc".utf8))
        let renamed = [1, 2] + Array("ab".utf8) + sealed[3...]
        #expect(throws: SealError(.authenticationFailed)) {
            try ring(long).open(renamed, associatedData: Array("c".utf8))
        }
    }

    @Test func `refuses a value of another key, under its own name and under the same`() throws {
        let sealed = try ring(Self.key).seal(Self.secret, associatedData: Self.data)
        #expect(throws: SealError(.unknownKey)) {
            try ring(Self.other).open(sealed, associatedData: Self.data)
        }
        let impostor = SealingKey(name: "2026-01", bytes: Array(1..<33))
        #expect(throws: SealError(.authenticationFailed)) {
            try ring(impostor).open(sealed, associatedData: Self.data)
        }
    }

    @Test func `the first key seals and all open`() throws {
        let old = try ring(Self.key)
        let rotated = try ring(Self.other, Self.key)
        let sealed = old.seal(Self.secret, associatedData: Self.data)
        #expect(try rotated.open(sealed, associatedData: Self.data) == Self.secret)
        #expect(!rotated.isSealedByFirst(sealed))
        let fresh = rotated.seal(Self.secret, associatedData: Self.data)
        #expect(rotated.isSealedByFirst(fresh))
        #expect(SealingKeyRing.keyName(of: fresh) == "2026-02")
        #expect(throws: SealError(.unknownKey)) { try old.open(fresh, associatedData: Self.data) }
    }

    @Test(arguments: [[], [0], [1], [1, 0], [2, 1, 97], Array(repeating: 1, count: 28)] as [[UInt8]])
    func `refuses what is no sealed value`(bytes: [UInt8]) throws {
        let ring = try ring(Self.key)
        #expect(throws: SealError(.malformed)) { try ring.open(bytes, associatedData: Self.data) }
        #expect(!ring.isSealedByFirst(bytes))
        #expect(SealingKeyRing.keyName(of: bytes) == nil)
    }

    @Test func `a ring has keys, each with a name of its own`() throws {
        #expect(SealingKeyRing([]) == nil)
        let key = try #require(Self.key)
        let namesake = try #require(SealingKey(name: key.name, bytes: Array(1..<33)))
        #expect(SealingKeyRing([key, namesake]) == nil)
    }
}
