import Testing

@testable import HTTPEngine

@Suite struct BodyMemoryBudgetTests {
    @Test func `shares take what is left, and give it back with their end`() {
        let budget = BodyMemoryBudget(most: 100)
        let first = BodyMemoryBudget.Reservation(of: budget)
        #expect(first.grow(to: 40))
        #expect(first.grow(to: 60))
        do {
            let second = BodyMemoryBudget.Reservation(of: budget)
            #expect(second.grow(to: 40))
            #expect(!second.grow(to: 41))
            #expect(!first.grow(to: 61))
            withExtendedLifetime(second) {}
        }
        #expect(first.grow(to: 100))
        #expect(!first.grow(to: 101))
    }
}
