import Encodings
import Testing

@Suite struct HTMLEscapeTests {
    @Test(arguments: [
        ("", ""), ("Ada", "Ada"), ("Zoë 🦊", "Zoë 🦊"),
        ("<b>", "&lt;b&gt;"), ("\" onclick='x'", "&quot; onclick=&#39;x&#39;"),
        ("&lt;", "&amp;lt;"), ("ş<\u{301}", "ş&lt;\u{301}"),
    ])
    func `escapes the characters that can begin markup or end an attribute`(text: String, html: String) {
        #expect(Array(text.htmlEscaped.utf8) == Array(html.utf8))
    }
}
