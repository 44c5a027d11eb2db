import PageTemplates
import Testing

@Suite struct TemplateLibraryTests {
    /// A combining mark, a variation selector and a joiner: each makes one character with what precedes it.
    @Test(arguments: ["", "\u{301}", "\u{FE0F}", "\u{200D}"], ["\"", "'", "<", ">", "&"])
    func `escapes what could end an attribute, also before a mark that joins it`(
        mark: String, character: String
    ) throws {
        let value = "a\(character)\(mark) onfocus=x"
        for (name, template) in Self.places {
            let library = try TemplateLibrary([
                name: Array(template.utf8), "part": Array("{{value}}".utf8),
                "parent": Array("{{$block}}{{/block}}".utf8),
            ])
            let page = try #require(library.render(name, ["value": value, "list": [value]] as [String: Any]))
            #expect(!page.utf8.contains(character.utf8.first ?? 0) || character == "&")
            #expect(page.unicodeScalars.contains("&") && page.hasSuffix("onfocus=x"))
        }
    }

    private static let places = [
        "variable": "{{value}}", "section": "{{#value}}{{.}}{{/value}}", "list": "{{#list}}{{.}}{{/list}}",
        "partial": "{{> part}}", "block": "{{<parent}}{{$block}}{{value}}{{/block}}{{/parent}}",
        "partial in a section": "{{#list}}{{> part}}{{/list}}",
    ]

    @Test func `a page begins with its first line`() throws {
        let library = try TemplateLibrary(["page": Array("<!doctype html>\n{{title}}\n".utf8)])
        #expect(library.render("page", ["title": "a"]) == "<!doctype html>\na\n")
        #expect(library.render("other", ["title": "a"]) == nil)
    }

    @Test(arguments: ["{{#open}}", "{{value", "{{/closed}}"])
    func `refuses a template that is not one`(template: String) {
        #expect(throws: (any Error).self) { try TemplateLibrary(["page": Array(template.utf8)]) }
    }
}
