import Testing

@testable import HTTPEngine

@Suite struct RequestIDTests {
    @Test(arguments: ["a", "A-b_c.9", String(repeating: "x", count: 64)])
    func `a sane ID of the caller's is kept`(id: String) {
        #expect(RequestID.accept(id) == id)
    }

    @Test(arguments: [
        "", String(repeating: "x", count: 65), "a b", "a\r\nSet-Cookie: x", "a\"b", "é", "a=b", "\u{0}",
    ])
    func `an ID that could do harm is not`(id: String) {
        #expect(RequestID.accept(id) == nil)
    }

    @Test func `made IDs are short, sane and different`() {
        let ids = (0..<1000).map { _ in RequestID.make() }
        #expect(Set(ids).count == 1000)
        for id in ids {
            #expect(id.utf8.count == 13)
            #expect(RequestID.accept(id) == id)
        }
    }
}
