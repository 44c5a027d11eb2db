import Testing

@testable import HTTPAPI

@Suite struct AppLinkPatternTests {
    @Test(arguments: [
        ("/link/google/*", "/link/google/abc", true), ("/link/google/*", "/link/google/", true),
        ("/link/google/*", "/link/google", false), ("/link/google/*", "/other/link/google/a", false),
        ("/*/google/?", "/tr/google/1", true), ("/*/google/?", "/tr/google/12", false),
        ("/*a*b", "/xaybzab", true), ("/*a*b", "/xayz", false), ("/flip", "/flip", true),
        ("/flip", "/flipp", false), ("/*", "/" + String(repeating: "a", count: 512), false),
    ])
    func `matches as iOS does`(pattern: String, path: String, isMatch: Bool) {
        #expect(AppLinkPattern(pattern).matches(path[...]) == isMatch)
    }
}
