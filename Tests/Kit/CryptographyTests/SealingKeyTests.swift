import Cryptography
import Testing

@Suite struct SealingKeyTests {
    @Test(arguments: ["a", "2026-01", "A_b-9", String(repeating: "x", count: 32)])
    func `has a short, plain name`(name: String) {
        #expect(SealingKey(name: name, bytes: Array(0..<32))?.name == name)
    }

    @Test(arguments: ["", " ", "a b", "a=b", "a,b", "ä", "a\n", "\u{0}", String(repeating: "x", count: 33)])
    func `refuses any other name`(name: String) {
        #expect(SealingKey(name: name, bytes: Array(0..<32)) == nil)
    }

    @Test(arguments: [0, 16, 24, 31, 33, 64])
    func `refuses any other size`(size: Int) {
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
