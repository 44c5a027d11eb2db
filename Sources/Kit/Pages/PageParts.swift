// The words of pages: blocks that many pages have.

/// A box with a heading.
public struct Card: PagePart {
    private let title: HTML?
    private let content: HTML

    public init(_ title: HTML? = nil, @PageBuilder _ content: () throws -> HTML) rethrows {
        (self.title, self.content) = (title, try content())
    }

    public var html: HTML {
        "<section class=\"card\">\n\(title.map { "<h2>\($0)</h2>\n" })\(content)</section>"
    }
}

/// One line of a list of facts.
public struct Fact: Sendable, Equatable {
    public var name: HTML
    public var value: HTML
    /// A class of the style sheet, such as `good` or `warn`.
    public var look: String

    public init(_ name: HTML, _ value: HTML, look: String = "") {
        (self.name, self.value, self.look) = (name, value, look)
    }
}

/// Facts with their names, as a description list.
public struct Facts: PagePart {
    private let facts: [Fact]

    public init(_ facts: [Fact]) {
        self.facts = facts
    }

    public var html: HTML {
        let lines = facts.map { "<dt>\($0.name)</dt><dd\(HTML.class($0.look))>\($0.value)</dd>\n" as HTML }
        return "<dl class=\"facts\">\n\(HTML(lines))</dl>"
    }
}

/// A table that scrolls by itself where the window is narrow.
public struct Table: PagePart {
    /// A column: its heading, and the class of its cells.
    public struct Column: Sendable, ExpressibleByStringLiteral {
        let heading: String
        let look: String

        public init(_ heading: String, _ look: String = "") { (self.heading, self.look) = (heading, look) }
        public init(stringLiteral heading: String) { self.init(heading) }

        /// Lines of this column can break at any character.
        public static func any(_ heading: String) -> Self { Self(heading, "any") }
        public static func nowrap(_ heading: String) -> Self { Self(heading, "nowrap") }
        public static func number(_ heading: String) -> Self { Self(heading, "number") }
    }

    private let label: String
    private let columns: [Column]
    private let rows: [[HTML]]

    /// - Parameter label: The name of the table for screen readers.
    public init(_ label: String, _ columns: [Column], _ rows: [[HTML]]) {
        (self.label, self.columns, self.rows) = (label, columns, rows)
    }

    /// Makes a table with a row for each value. `cells` gives a cell for each column.
    public init<Values: Sequence>(
        _ label: String, _ columns: [Column], _ values: Values, cells: (Values.Element) throws -> [HTML]
    ) rethrows {
        self.init(label, columns, try values.map(cells))
    }

    public var html: HTML {
        let heads = columns.map { column -> HTML in
            let look = column.look == "number" ? column.look : nil
            return "<th scope=\"col\"\(HTML.class(look))>\(column.heading)</th>"
        }
        let lines = rows.map { row -> HTML in
            let cells = zip(columns, row).map { "<td\(HTML.class($0.look))>\($1)</td>" as HTML }
            return "<tr>\(HTML(cells))</tr>\n"
        }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="\(label)">
            <table>
            <thead><tr>\(HTML(heads))</tr></thead>
            <tbody>
            \(HTML(lines))</tbody>
            </table>
            </div>
            """
    }
}

/// A form that changes something.
public struct PostForm: PagePart {
    private let address: String
    private let token: String
    private let look: String
    private let content: HTML

    /// - Parameters:
    ///   - token: The token that proves that the form is of a page of ours (CSRF).
    ///   - look: A class of the style sheet.
    public init(
        to address: String, token: String, look: String = "", @PageBuilder _ content: () throws -> HTML
    ) rethrows {
        (self.address, self.token, self.look, self.content) = (address, token, look, try content())
    }

    public var html: HTML {
        """
        <form\(HTML.class(look)) method="post" action="\(address)"><input type="hidden" name="csrf" value="\(token)">
        \(content)</form>
        """
    }
}

/// A list of choices of a form.
public struct Select: PagePart {
    private let attributes: HTML
    private let options: [HTML]

    /// - Parameters:
    ///   - id: The ID to which a label refers; `nil` for a list within its label.
    ///   - choices: Values with their words.
    public init(
        _ name: String, id: String? = nil, _ choices: [(value: String, label: String)], chosen: String? = nil
    ) {
        attributes = "\(id.map { " id=\"\($0)\"" as HTML }) name=\"\(name)\""
        options = choices.map { value, label in
            let given: HTML = value == label ? "" : " value=\"\(value)\""
            return "<option\(given)\(value == chosen ? " selected" : "" as HTML)>\(label)</option>"
        }
    }

    public var html: HTML { "<select\(attributes)>\(HTML(options))</select>" }
}
