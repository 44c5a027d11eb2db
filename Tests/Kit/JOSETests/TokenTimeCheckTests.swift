import JOSE
import Testing

@Suite struct TokenTimeCheckTests {
    private let times = TokenTimeCheck(leeway: 60)
    private let now: Int64 = 1_800_000_000

    @Test(arguments: [(0, true), (59, true), (60, false), (86_400, false)] as [(Int64, Bool)])
    func `a token is good up to its end and the leeway`(age: Int64, isGood: Bool) {
        #expect(times.isUnexpired(now - age, at: now) == isGood)
    }

    @Test(arguments: [(-86_400, true), (0, true), (60, true), (61, false)] as [(Int64, Bool)])
    func `a token is good from nbf on, and what has happened is not ahead`(ahead: Int64, isGood: Bool) {
        #expect(times.isValid(notBefore: now + ahead, at: now) == isGood)
        #expect(times.isPast(now + ahead, at: now) == isGood)
    }

    @Test func `nbf is optional`() {
        #expect(times.isValid(notBefore: nil, at: now))
    }
}
