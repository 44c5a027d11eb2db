import Testing

@testable import AppleEmulator

@Suite struct TokenTableTests {
    @Test func `drops its oldest tenth when it is full`() {
        var table = TokenTable<String, Int>(capacity: 100)
        for number in 0..<100 { table.insert("t\(number)", number, of: "owner\(number % 3)") }
        #expect(table.count == 100)
        table.insert("new", 100, of: "owner")
        #expect(table.count <= 100)
        #expect(table["new"] == 100)
        #expect(table["t0"] == nil)
        #expect(table["t10"] == nil)
        #expect(table["t50"] == 50)
        #expect(table["t99"] == 99)
        #expect(!table.values(of: "owner0").contains(0))
    }

    @Test func `compares secrets as bytes`() {
        var table = TokenTable<String, Int>(capacity: 10)
        table.insert("rK", 1, of: "owner")
        #expect(table["rK"] == 1)
        // The Kelvin sign, which is canonically equivalent to the letter K.
        #expect(table["r\u{212A}"] == nil)
        #expect(table.owner(of: "r\u{212A}") == nil)
    }

    @Test func `removes the secrets of one owner only`() {
        var table = TokenTable<String, Int>(capacity: 100)
        for number in 0..<10 { table.insert("t\(number)", number, of: number < 5 ? "a" : "b") }
        table.removeAll(of: "a")
        #expect(table.count == 5)
        #expect(table["t4"] == nil)
        #expect(table.owner(of: "t5") == "b")
        table.removeAll { $0 == "b" }
        #expect(table.count == 0)
    }
}
