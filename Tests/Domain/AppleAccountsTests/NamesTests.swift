import AppleAccounts
import StorageConformance
import TestSupport
import Testing

@Suite struct NamesTests {
    @Test(arguments: [("K", "\u{212A}"), ("\u{E9}", "e\u{301}"), ("a\u{323}\u{307}", "a\u{307}\u{323}")])
    func `compare their bytes`(left: String, right: String) throws {
        // The trap itself: the standard library calls them equal.
        #expect(left == right)
        let (one, other) = (try #require(AppleSubject(left)), try #require(AppleSubject(right)))
        #expect(one != other)
        #expect((one < other) != (other < one))
        #expect(Set([one, other, one]).count == 2)
        #expect(try #require(ClientID(left)) != #require(ClientID(right)))
        #expect(try #require(TeamID(left)) != #require(TeamID(right)))
    }

    @Test(arguments: ["", "a\u{0}b", "a\n", "\u{7F}", "a\u{85}b", String(repeating: "x", count: 256)])
    func `refuse what is no name`(text: String) {
        #expect(AppleSubject(text) == nil)
        #expect(ClientID(text) == nil)
        #expect(TeamID(text) == nil)
        #expect(InboxIdentifier(text) == nil)
    }

    @Test(arguments: [
        "x", "001999.abc.0123", "it's; DROP TABLE subject", "ÿ\u{A0}",
        String(repeating: "\u{1F600}", count: 255),
    ])
    func `take everything else as it is`(text: String) {
        #expect(AppleSubject(text)?.rawValue == text)
    }

    @Test func `spell an account ID in one way`() throws {
        let id = AccountID(UniqueID(high: 0x0193_A5E0_7C00_7ABC, low: 0x8DEF_0123_4567_89AB))
        #expect(id.rawValue == "acc_0193a5e0-7c00-7abc-8def-0123456789ab")
        #expect(AccountID(id.rawValue) == id)
        #expect(EventID("evt_0193a5e0-7c00-7abc-8def-0123456789ab")?.uniqueID == id.uniqueID)
    }

    @Test(arguments: [
        "", "acc_", "acc_0193a5e0-7c00-7abc-8def-0123456789a", "acc_0193A5E0-7C00-7ABC-8DEF-0123456789AB",
        "acc_0193a5e07c007abc8def0123456789ab0000", "evt_0193a5e0-7c00-7abc-8def-0123456789ab",
        "acc_0193a5e0-7c00-7abc-8def-0123456789ag", "acc_0193a5e0+7c00-7abc-8def-0123456789ab",
        " acc_0193a5e0-7c00-7abc-8def-0123456789ab",
    ])
    func `refuse any other spelling of an account ID`(text: String) {
        #expect(AccountID(text) == nil)
    }

    @Test func `make UUIDs of version 7 that sort by time`() {
        var generator = SeededGenerator(seed: 9562)
        var previous: UInt64 = 0
        for milliseconds in stride(from: 1_795_222_254_000 as Int64, to: 1_795_222_255_000, by: 10) {
            let id = UniqueID(at: Moment(milliseconds: milliseconds), using: &generator)
            #expect(id.high >> 16 == UInt64(milliseconds))
            #expect(id.high >> 12 & 0xF == 7)
            #expect(id.low >> 62 == 2)
            #expect(id.high > previous)
            previous = id.high
        }
    }
}
