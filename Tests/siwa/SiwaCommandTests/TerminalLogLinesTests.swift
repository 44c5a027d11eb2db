import Testing

@testable import siwa

@Suite struct TerminalLogLinesTests {
    private static func shorten(_ text: String, hasColors: Bool = false) -> String {
        String(decoding: TerminalLogLines(hasColors: hasColors).shorten(Array(text.utf8)), as: UTF8.self)
    }

    @Test(arguments: [
        (
            #"time=2026-11-24T00:19:44.123Z level=info logger=siwa msg="Server started" port=8080"#,
            "00:19:44 Server started port=8080"
        ),
        (
            #"time=2026-11-24T00:19:44.123Z level=warning logger=siwa msg=late cause="a b=\"c\"""#,
            #"00:19:44 warning late cause="a b=\"c\"""#
        ),
        (
            #"time=2026-11-24T00:19:44.123Z level=info request=01A method=GET status=200"#,
            "00:19:44 request=01A method=GET status=200"
        ),
        (#"time=2026-11-24T00:19:44.123Z level=info msg="a\u{a}b""#, #"00:19:44 "a\u{a}b""#),
        (
            #"level=warning msg="log lines dropped" count=3"#,
            #"level=warning msg="log lines dropped" count=3"#
        ),
        ("not a line of ours", "not a line of ours"), ("time=", "time="),
        (#"time=2026-11-24T00:19:44.123Z level=info msg="open"#, #"00:19:44 ope"#),
    ])
    func `a line has the time of day, the message and the fields`(line: String, expected: String) {
        #expect(Self.shorten(line + "\n") == expected + "\n")
        #expect(Self.shorten("\(line)\n\(line)\n") == "\(expected)\n\(expected)\n")
    }

    @Test func `only a terminal with colors gets them`() {
        let line = "time=2026-11-24T00:19:44.123Z level=error msg=x\n"
        #expect(Self.shorten(line, hasColors: true).contains("\u{1B}[31merror\u{1B}[0m"))
        #expect(!Self.shorten(line).contains("\u{1B}"))
        #expect(TerminalStyle.hasColors(["TERM": "xterm"]))
        #expect(!TerminalStyle.hasColors(["TERM": "xterm", "NO_COLOR": "1"]))
        #expect(!TerminalStyle.hasColors(["TERM": "dumb"]) && !TerminalStyle.hasColors([:]))
    }
}
