import Encodings
import Testing

@Suite struct TextLayoutTests {
    private let narrow = TextLayout(columns: 40, hasColors: false)

    @Test func `text is wrapped at spaces, and a long word stays whole`() {
        let word = String(repeating: "x", count: 50)
        let lines = narrow.wrapped("one two \(word) three", indent: 2, hanging: 4)
        #expect(lines == ["  one two", "    \(word)", "    three"])
        #expect(TextLayout.plain.wrapped("one two \(word)", indent: 2) == ["  one two \(word)"])
        #expect(narrow.wrapped("") == [""])
        #expect(narrow.wrapped("a   b") == ["a   b"])
    }

    @Test(arguments: 1...120) func `no line of short words is wider than the terminal`(columns: Int) {
        let text = Array(repeating: "ab", count: 60).joined(separator: " ")
        let layout = TextLayout(columns: columns, hasColors: false)
        let lines = layout.row("  head  ", styled: "  head  ", text) + layout.beneath(8, text)
        #expect(lines.allSatisfy { $0.count <= max(columns, 6) })
        let words = lines.flatMap { $0.split(separator: " ") }.filter { $0 != "head" }
        #expect(words.count == 120, "nothing is lost")
    }

    @Test func `text begins on the next line where a head leaves no room`() {
        let head = "  a head of twenty columns  "
        #expect(narrow.row(head, styled: head, "text") == ["  a head of twenty columns", "    text"])
        let wide = TextLayout(columns: 80, hasColors: false)
        #expect(wide.row(head, styled: head, "text") == [head + "text"])
        #expect(wide.beneath(28, "x") == [String(repeating: " ", count: 28) + "x"])
        #expect(narrow.beneath(28, "x") == ["    x"])
    }

    @Test func `styles are for terminals with colors alone, and cost no columns`() {
        #expect(TextLayout.plain.styled("x", .bad) == "x")
        let layout = TextLayout(columns: 40, hasColors: true)
        #expect(layout.styled("x", .bad) == "\u{1B}[1;31mx\u{1B}[0m")
        #expect(layout.styled("", .bad).isEmpty)
        let text = String(repeating: "y", count: 34)
        #expect(layout.row("head  ", styled: layout.styled("head", .good) + "  ", text).count == 1)
    }
}
