import Foundation
import Pages
import TestSupport
import Testing

@Suite struct HTMLTests {
    /// A combining mark, a variation selector and a joiner: each makes one character with what precedes it.
    @Test(arguments: ["", "\u{301}", "\u{FE0F}", "\u{200D}"], ["\"", "'", "<", ">", "&"])
    func `escapes what could end an attribute, also before a mark that joins it`(
        mark: String, character: String
    ) {
        let value = "a\(character)\(mark) onfocus=x"
        let places: [HTML] = [
            "\(value)", "\(Substring(value))", "\(Optional(value))", .text(value), "\("\(value)" as HTML)",
            HTML { "\(value)" },
        ]
        for page in places {
            let text = page.string.replacing("\n", with: "")
            #expect(!text.utf8.contains(character.utf8.first ?? 0) || character == "&")
            #expect(text.unicodeScalars.contains("&") && text.hasSuffix("onfocus=x"))
        }
    }

    /// Each word with a value at each of its places.
    @Test func `no word of a page lets a value out of its text or attribute`() {
        let value = "\"><script>'&"
        let words: [HTML] = [
            .code(value), .code(value, value), .muted(value), .span(value, "\(value)"),
            .link("\(value)", to: value),
            Card("\(value)") { "\(value)" }.html, Facts([Fact("\(value)", "\(value)", look: value)]).html,
            Table(value, [.any(value), Table.Column(value, value)], [value]) { ["\($0)", "\($0)"] }.html,
            PostForm(to: value, token: value, look: value) { "\(value)" }.html,
            Select(value, id: value, [(value, "one"), ("two", value)], chosen: value).html,
            Table(value, [.head(value), .number(value)], [value], caption: "\(value)", id: \.self) {
                ["\($0)", ""]
            }.html,
            Table(nil, ["Row"], [] as [[HTML]], ifEmpty: "\(value)") { $0 }.html,
            Division(value) { "\(value)" }.html,
            Details("\(value)") { "\(value)" }.html, Tabs(value, [(value, value)], current: value).html,
            CodeBlock(value, value, id: value).html, .copyButton(for: value, value),
            .hidden([(value, value)]), Card(id: value) { "" }.html,
            Details("", value, id: value) { "" }.html,
            Pager(ListPlace(), rows: 1, next: value, at: value, [(value, value)], posts: true).html,
        ]
        for word in words {
            #expect(!word.string.contains("<script") && !word.string.contains("\"\">"), "\(word.string)")
            // What a reader of the markup finds is the value.
            let page = PageTree(word.string)
            let found = page.descendants.flatMap { [$0.text] + $0.attributes.values }
            #expect(found.contains(value), "\(word.string)")
        }
    }

    /// Markup that is no literal could hold a value. Style sheets are files of the program.
    @Test func `only style sheets are markup without a literal`() throws {
        let folder = ProjectFolder.root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var trusting: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            if text.contains("HTML(file:") { trusting.insert(file.lastPathComponent) }
            guard file.lastPathComponent != "HTML.swift" else { continue }
            #expect(!text.contains("init(stringLiteral:") || !text.contains("HTML.init"), "\(file.path)")
            #expect(!text.contains("HTML(stringLiteral:") && !text.contains(".init(file:"), "\(file.path)")
        }
        #expect(trusting == ["BrowserPage.swift", "PageDocument.swift"])
    }

    @Test func `markup in markup stays as it is, and nothing stands for nil`() {
        let (inner, none): (HTML, HTML?) = ("<b>&amp;</b>", nil)
        #expect("<p>\(inner)\(none)\(nil as String?)\(7)</p>" as HTML == "<p><b>&amp;</b>7</p>")
    }

    @Test func `blocks are lines, and an empty block is none`() {
        let names = ["a", "b"]
        let page = HTML {
            "<h1>x</h1>"
            HTML()
            if names.isEmpty { "<p>none</p>" } else { "<p>some</p>" }
            for name in names { "<p>\(name)</p>" }
            nil as HTML?
        }
        #expect(page.string == "<h1>x</h1>\n<p>some</p>\n<p>a</p>\n<p>b</p>\n")
    }

    /// Walks to the end of 2,345 rows and back, as a browser does.
    @Test func `a long list leads to each page, and back to the one before where it began`() throws {
        func page(_ fields: [String: String]) throws -> (tree: PageTree, place: ListPlace) {
            let place = try #require(ListPlace(fields["from"], order: fields["order"]))
            let begin = place.position.flatMap { Int($0) } ?? 0
            let rows = Array((begin + 1)...min(begin + 100, 2345))
            let table = Table(
                "Rows", [Table.Column("Row").sorted(["", "oldest"])], rows,
                pager: Pager(
                    place, rows: rows.count, next: rows.last.flatMap { $0 < 2345 ? "\($0)" : nil }, at: "/x",
                    [("find", "a b")])
            ) { ["\($0)"] }
            return (PageTree(table.html.string), place)
        }
        var (ways, seen): ([[String: String]], Int) = ([[:]], 0)
        while true {
            let (tree, place) = try page(ways[ways.count - 1])
            #expect(place.skipped == seen)
            seen += tree.rows("Rows").count
            let count = seen < 2345 ? "\(place.skipped + 1) to \(seen); more follow" : "2301 to 2345 of 2345"
            #expect(tree.all("nav", "pager").first?.text.hasPrefix(count) == true)
            guard let next = tree.way("Next page") else { break }
            #expect(next["find"] == "a b")
            ways.append(next)
        }
        #expect(ways.count == 24)
        // Twenty pages are remembered. Farther back only the first page is certain.
        var (fields, number) = (ways[23], 23)
        while let back = try page(fields).tree.way("Previous page") {
            (fields, number) = (back, number - 1)
            #expect(try page(fields).place.position == page(ways[number]).place.position)
        }
        #expect(number == 4)
        #expect(try page(fields).tree.way("First page") == ["find": "a b"])
        for wrong in ["x", "-", "-1", "1~x", "~-"] { #expect(ListPlace(wrong) == nil, "\(wrong)") }
        #expect(ListPlace("9223372036854775807-9")?.skipped ?? 0 < Int.max / 2)
        #expect(ListPlace("4000").map { $0.limited(to: 45, size: 20).skipped } == 40)
    }

    @Test func `a heading sorts a list by an order that the list has`() {
        func heading(_ order: String) -> PageTree? {
            PageTree(
                Table(
                    "Rows", [Table.Column("Row").sorted(["", "oldest"])], [["1"]],
                    pager: Pager(ListPlace(order: order), rows: 1, at: "/x")
                ) { $0 }.html.string
            ).all("th").first
        }
        #expect(heading("")?.attributes["aria-sort"] == "descending")
        #expect(heading("")?.link(to: "/x?order=oldest") == "Row")
        #expect(heading("oldest")?.attributes["aria-sort"] == "ascending")
        #expect(heading("oldest")?.link(to: "/x") == "Row")
        #expect(heading("other")?.attributes["aria-sort"] == nil)
    }

    @Test func `a page is found by its names`() {
        let page = PageTree(
            HTML {
                Card("Account") {
                    Facts([Fact("State", .span("good", "authorized")), Fact("ID", .code("a&b"))])
                }
                Table("Rows", ["Row", .number("Count")], [1, 2]) { ["<b>\($0)</b>", "\(10 * $0)"] }
                PostForm(to: "/x", token: "t") { Select("s", [("", "any"), ("a", "a")], chosen: "a") }
            }.string)
        #expect(page.card("Account")?.fact("State") == "authorized" && page.fact("ID") == "a&b")
        #expect(page.rows("Rows") == [["1", "10"], ["2", "20"]])
        #expect(page.form(to: "/x")?.fields.map(\.name) == ["csrf", "s"])
        #expect(
            page.all("option").map(\.text) == ["any", "a"]
                && page.all("option")[1].attributes["selected"] != nil)
    }
}
