import AppleAccounts
import AuthorizationServer
import Testing

@Suite struct AuthenticationAgeTests {
    private let now = Moment(seconds: 1_800_000_000)

    @Test(
        arguments: [(0, true), (3600, true), (3601, false), (-30, true), (Int64.max / 4000, false)]
            as [(Int64, Bool)])
    func `accepts an authentication up to its bound`(age: Int64, isAccepted: Bool) {
        let moment = now.advanced(byMilliseconds: -age * 1000)
        #expect(AuthenticationAge(longest: 3600).accepts(moment, at: now) == isAccepted)
    }

    @Test func `a moment that is not known is never recent`() {
        #expect(!AuthenticationAge(longest: 9_999_999_999).accepts(nil, at: now))
        #expect(AuthenticationAge(longest: nil).accepts(nil, at: now))
    }

    @Test func `no bound overflows`() {
        #expect(AuthenticationAge(longest: 9_999_999_999).earliest(at: now) == Moment(seconds: 0))
    }
}
