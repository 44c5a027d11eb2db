import Testing

@testable import AppleIdentity

@Suite struct SubjectCheckTests {
    @Test(arguments: [
        "000723.25da8be332964991898630947202fef0.0402", "a", "é", String(repeating: "x", count: 255),
        String(repeating: "😀", count: 255), "' OR 1=1 --", "../../etc",
    ])
    func `accepts any string that can identify an account`(subject: String) throws {
        try SubjectCheck().check(.sample { $0.subject = subject }, at: .sample)
    }

    @Test(arguments: [
        "", String(repeating: "x", count: 256), "a\nb", "a\u{0}b", "\u{7F}", "a\u{85}", "\u{1B}[2J",
        String(repeating: "e\u{301}", count: 128),
    ])
    func `refuses empty and long subjects, and control characters`(subject: String) {
        #expect(throws: AppleTokenError(.subjectInvalid)) {
            try SubjectCheck().check(.sample { $0.subject = subject }, at: .sample)
        }
    }
}
