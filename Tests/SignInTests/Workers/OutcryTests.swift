import AppleAccounts
import StorageConformance
import Testing

@testable import SignIn

@Suite struct OutcryTests {
    @Test func `tells a cause at once and then once a minute, with the number between`() {
        var outcry = Outcry()
        #expect(outcry.tell("a", at: 1000) == 0)
        #expect(outcry.tell("a", at: 1001) == nil)
        #expect(outcry.tell("a", at: 60_999) == nil)
        #expect(outcry.tell("b", at: 60_999) == 0)
        #expect(outcry.tell("a", at: 61_000) == 2)
        #expect(outcry.tell("a", at: 61_001) == nil)
        // A clock that was set back must not silence it.
        #expect(outcry.tell("a", at: 0) == 1)
    }

    @Test func `remembers a bounded number of causes`() {
        var outcry = Outcry()
        for number in 0..<10_000 { #expect(outcry.tell("cause \(number)", at: 0) == 0) }
        #expect(outcry.tell("cause 9999", at: 1) == nil)
        #expect(outcry.tell("cause 0", at: 1) == 0)
    }
}
