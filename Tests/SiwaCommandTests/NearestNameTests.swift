import Testing

@testable import siwa

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("", "", 0), ("abc", "abc", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 2),
    ])
    func `the distance counts single edits`(lhs: String, rhs: String, distance: Int) {
        #expect(NearestName.distance(lhs, rhs) == distance)
        #expect(NearestName.distance(rhs, lhs) == distance)
    }

    @Test func `without candidates there is no nearest name`() {
        #expect(NearestName.of("a", among: []) == nil)
    }
}
