import Testing

@testable import Encodings

@Suite struct WordScanTests {
    static let stops: [UInt8] = [0x00, 0x1F, 0x22, 0x5C]
    static let passes: [UInt8] = [0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7E, 0x7F]

    @Test(arguments: stops)
    func `finds the end of plain text wherever it is`(stop: UInt8) {
        for length in 0..<20 {
            for position in 0..<length {
                var bytes = [UInt8](repeating: 0x61, count: length)
                bytes[position] = stop
                for start in 0...position {
                    #expect(
                        bytes.withUnsafeBytes { WordScan.endOfPlainText(in: $0, from: start) } == position)
                    #expect(
                        bytes.withUnsafeBytes { WordScan.endOfPlainASCII(in: $0, from: start) } == position)
                }
                #expect(
                    bytes.withUnsafeBytes { WordScan.endOfPlainText(in: $0, from: position + 1) } == length)
            }
        }
    }

    @Test func `every pair of bytes is told apart as one byte at a time would`() {
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                let bytes: [UInt8] = [0x61, first, second, 0x61, 0x61, 0x61, 0x61, 0x61]
                let isStop = { (byte: UInt8) in Self.stops.contains(byte) || byte < 0x20 }
                let text = bytes.firstIndex(where: isStop) ?? bytes.count
                let ascii = bytes.firstIndex { isStop($0) || $0 >= 0x80 } ?? bytes.count
                let printable = bytes.firstIndex { $0 < 0x20 || $0 > 0x7E } ?? bytes.count
                let found = bytes.withUnsafeBytes { bytes in
                    (
                        WordScan.endOfPlainText(in: bytes, from: 0),
                        WordScan.endOfPlainASCII(in: bytes, from: 0),
                        WordScan.firstOffset(of: second, in: bytes, from: 0),
                        WordScan.endOfPrintableASCII(in: bytes)
                    )
                }
                #expect(found.0 == text && found.1 == ascii)
                #expect(found.2 == bytes.firstIndex(of: second) && found.3 == printable)
            }
        }
    }

    @Test func `compares all bytes`() {
        for length in 0..<20 {
            let bytes = [UInt8](repeating: 7, count: length)
            #expect(bytes.withUnsafeBytes { WordScan.areEqual($0, $0) })
            for position in 0..<length {
                var other = bytes
                other[position] = 8
                #expect(
                    !bytes.withUnsafeBytes { bytes in other.withUnsafeBytes { WordScan.areEqual(bytes, $0) } }
                )
            }
        }
    }
}

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
