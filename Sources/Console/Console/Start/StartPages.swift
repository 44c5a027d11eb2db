/// Addresses, commands and values to copy, for a developer who tries `siwa dev`.
public struct StartPages: Sendable {
    public struct Entry: Sendable {
        /// `nil` for a value to copy.
        public let url: String?
        public let name: String
        public let text: String

        public init(_ name: String, at url: String? = nil, _ text: String) {
            (self.name, self.url, self.text) = (name, url, text)
        }
    }

    public struct Section: Sendable {
        public let title: String
        public let entries: [Entry]

        public init(_ title: String, _ entries: [Entry]) {
            (self.title, self.entries) = (title, entries)
        }
    }

    private struct Values {
        let sections: [ShownSection]
    }

    private struct ShownSection {
        let title: String
        let entries: [ShownEntry]
    }

    private struct ShownEntry {
        /// For the button that copies the value; unique on the page.
        let id: String
        let url: String?
        let name: String
        let text: String
    }

    private let values: Values

    public init(sections: [Section]) {
        values = Values(
            sections: sections.enumerated().map { place, section in
                ShownSection(
                    title: section.title,
                    entries: section.entries.enumerated().map { index, entry in
                        ShownEntry(
                            id: "value-\(place)-\(index)", url: entry.url, name: entry.name, text: entry.text)
                    })
            })
    }

    public var pages: [ConsolePage] {
        [
            ConsolePage(.get, "/start", access: .development, entry: ConsolePage.Entry("Try it", order: 85)) {
                [values] _ in
                .page(template: "start", title: "Try it", values: values)
            }
        ]
    }
}
