import Testing

@testable import HTTPAPI

@Suite struct BodyAllowanceTests {
    @Test func `shares take what is left, and give it back with their end`() {
        let allowance = BodyAllowance(most: 100)
        let first = BodyAllowance.Share(of: allowance)
        #expect(first.grow(to: 40))
        #expect(first.grow(to: 60))
        do {
            let second = BodyAllowance.Share(of: allowance)
            #expect(second.grow(to: 40))
            #expect(!second.grow(to: 41))
            #expect(!first.grow(to: 61))
            withExtendedLifetime(second) {}
        }
        #expect(first.grow(to: 100))
        #expect(!first.grow(to: 101))
    }
}
