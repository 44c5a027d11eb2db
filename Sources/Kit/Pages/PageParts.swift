// Block elements that many pages use.

/// A box with a heading.
public struct Card: PagePart {
    private let title: HTML?
    private let id: HTML?
    private let content: HTML

    /// - Parameter id: Anchor for links to the box.
    public init(
        _ title: HTML? = nil, id: String? = nil, @PageBuilder _ content: () throws -> HTML
    ) rethrows {
        (self.title, self.id, self.content) = (title, id.map { " id=\"\($0)\"" }, try content())
    }

    public var html: HTML {
        "<section class=\"card\"\(id)>\n\(title.map { "<h2>\($0)</h2>\n" as HTML })\(content)</section>"
    }
}

/// One entry of a description list.
public struct Fact: Sendable, Equatable {
    public var name: HTML
    public var value: HTML
    /// A style-sheet class, such as `good` or `warn`.
    public var look: String

    public init(_ name: HTML, _ value: HTML, look: String = "") {
        (self.name, self.value, self.look) = (name, value, look)
    }
}

/// A description list of named facts.
public struct Facts: PagePart {
    private let facts: [Fact]

    public init(_ facts: [Fact?]) {
        self.facts = facts.compactMap(\.self)
    }

    public var html: HTML {
        let lines = facts.map { "<dt>\($0.name)</dt><dd\(HTML.class($0.look))>\($0.value)</dd>\n" as HTML }
        return "<dl class=\"facts\">\n\(HTML(lines))</dl>"
    }
}

/// A table that scrolls horizontally in a narrow window.
public struct Table: PagePart {
    /// A column with its heading and its cells' class.
    public struct Column: Sendable, ExpressibleByStringLiteral {
        let heading: String
        let look: String
        /// True if each cell is the heading of its row.
        private(set) var isHead = false
        /// The heading's class.
        private(set) var headingLook: String?
        /// Names of the sort orders that the column offers for a long list, descending order first.
        private(set) var orders: [String] = []

        public init(_ heading: String, _ look: String = "") { (self.heading, self.look) = (heading, look) }
        public init(stringLiteral heading: String) { self.init(heading) }

        /// Returns a column whose cells may break lines at any character.
        public static func any(_ heading: String) -> Self { Self(heading, "any") }
        public static func nowrap(_ heading: String) -> Self { Self(heading, "nowrap") }
        public static func number(_ heading: String) -> Self {
            var column = Self(heading, "number")
            column.headingLook = "number"
            return column
        }

        /// Returns the column with a heading that sorts the list. Each order needs a database index, or a
        /// list in memory.
        public func sorted(_ orders: [String]) -> Self {
            var column = self
            column.orders = orders
            return column
        }

        /// Returns a column in which each cell is the heading of its row.
        public static func head(_ heading: String, _ look: String = "") -> Self {
            var column = Self(heading, look)
            column.isHead = true
            return column
        }
    }

    private let label: String?
    private let columns: [Column]
    private let rows: [[HTML]]
    private let ids: [String]
    private let empty: HTML?
    private var caption: HTML?
    private var pager: Pager?

    /// - Parameters:
    ///   - label: Name of the table for screen readers; `nil` for a narrow table, which does not scroll.
    ///   - rows: Rows with one cell per column.
    ///   - ids: Row anchors, one per row; empty if the rows have none.
    ///   - empty: Sentence shown instead of a table without rows.
    public init(
        _ label: String?, _ columns: [Column], _ rows: [[HTML]], ids: [String] = [],
        ifEmpty empty: HTML? = nil
    ) {
        assert(
            rows.allSatisfy { $0.count == columns.count } && (ids.isEmpty || ids.count == rows.count),
            "a row has a cell for each column")
        (self.label, self.columns, self.rows, self.ids) = (label, columns, rows, ids)
        self.empty = empty
    }

    /// Creates a table with one row per value. `cells` returns one cell per column.
    public init<Values: Sequence>(
        _ label: String?, _ columns: [Column], _ values: Values, ifEmpty empty: HTML? = nil,
        cells: (Values.Element) throws -> [HTML]
    ) rethrows {
        self.init(label, columns, try values.map(cells), ifEmpty: empty)
    }

    /// Returns the table as one page of a long list, with links to the other pages below it.
    public func paged(_ pager: Pager) -> Self {
        var table = self
        table.pager = pager
        return table
    }

    /// Returns the table with a caption above it.
    public func captioned(_ caption: HTML) -> Self {
        var table = self
        table.caption = "<caption>\(caption)</caption>\n"
        return table
    }

    public var html: HTML {
        let pages = pager.map { "\n\($0.html(of: label ?? "this list"))" as HTML }
        if rows.isEmpty, let empty { return "<p class=\"empty\">\(empty)</p>\(pages)" }
        let heads = columns.map { column -> HTML in
            let (content, sort) =
                (column.orders.isEmpty ? nil : pager?.heading(column.heading, column.orders))
                ?? (.text(column.heading), "")
            return "<th scope=\"col\"\(HTML.class(column.headingLook))\(sort)>\(content)</th>"
        }
        let lines = rows.enumerated().map { number, row -> HTML in
            let cells = zip(columns, row).map { column, cell -> HTML in
                let look = HTML.class(column.look)
                return column.isHead
                    ? "<th scope=\"row\"\(look)>\(cell)</th>" : "<td\(look)>\(cell)</td>"
            }
            let id: HTML = ids.isEmpty ? "" : " id=\"\(ids[number])\""
            return "<tr\(id)>\(HTML(cells))</tr>\n"
        }
        let table: HTML = """
            <table>
            \(caption)<thead><tr>\(HTML(heads))</tr></thead>
            <tbody>
            \(HTML(lines))</tbody>
            </table>
            """
        guard let label else { return table }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="\(label)">
            \(table)
            </div>\(pages)
            """
    }
}

/// A form that requests a change with POST.
public struct PostForm: PagePart {
    private let address: String
    private let token: String
    private let look: String
    private let hidden: [(name: String, value: String)]
    private let content: HTML

    /// - Parameters:
    ///   - token: CSRF token, which proves that the form comes from one of this server's pages.
    ///   - look: A style-sheet class.
    ///   - hidden: Hidden fields.
    public init(
        to address: String, token: String, look: String = "", _ hidden: [(name: String, value: String)] = [],
        @PageBuilder _ content: () throws -> HTML
    ) rethrows {
        (self.address, self.token, self.look, self.hidden) = (address, token, look, hidden)
        self.content = try content()
    }

    public var html: HTML {
        """
        <form\(HTML.class(look)) method="post" action="\(address)">\(HTML.hidden([("csrf", token)] + hidden))
        \(content)</form>
        """
    }
}

/// A drop-down list in a form.
public struct Select: PagePart {
    private let attributes: HTML
    private let options: [HTML]

    /// - Parameters:
    ///   - id: ID for the label that refers to the list; `nil` for a list inside its label.
    ///   - choices: Values with their labels.
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

/// Blocks grouped in a `div`, an element without semantics.
public struct Division: PagePart {
    private let look: String
    private let content: HTML

    /// - Parameter look: A style-sheet class.
    public init(_ look: String = "", @PageBuilder _ content: () throws -> HTML) rethrows {
        (self.look, self.content) = (look, try content())
    }

    public var html: HTML { "<div\(HTML.class(look))>\n\(content)</div>" }
}

/// Blocks that a user can unfold below a line of text.
public struct Details: PagePart {
    private let summary: HTML
    private let look: String
    private let id: HTML?
    private let isOpen: Bool
    private let content: HTML

    /// - Parameter look: Class of the line of text.
    public init(
        _ summary: HTML, _ look: String = "", id: String? = nil, isOpen: Bool = false,
        @PageBuilder _ content: () throws -> HTML
    ) rethrows {
        (self.summary, self.look, self.isOpen, self.content) = (summary, look, isOpen, try content())
        self.id = id.map { " id=\"\($0)\"" }
    }

    public var html: HTML {
        let open: HTML = isOpen ? " open" : ""
        return "<details\(id)\(open)>\n<summary\(HTML.class(look))>\(summary)</summary>\n\(content)</details>"
    }
}

/// Links to related pages, or to the sections of one page.
public struct Tabs: PagePart {
    private let label: String
    private let links: [HTML]

    /// - Parameters:
    ///   - label: Name of the links for screen readers.
    ///   - tabs: Titles with their addresses.
    ///   - current: Address of the current page.
    public init(_ label: String, _ tabs: [(title: String, address: String)], current: String? = nil) {
        self.label = label
        links = tabs.map { title, address in
            let mark: HTML = address == current ? " aria-current=\"page\"" : ""
            return "<a href=\"\(address)\"\(mark)>\(title)</a>\n"
        }
    }

    public var html: HTML { "<nav class=\"tabs\" aria-label=\"\(label)\">\n\(HTML(links))</nav>" }
}

/// Program text, which scrolls horizontally if it is too wide.
public struct CodeBlock: PagePart {
    private let label: String
    private let text: String
    private let id: HTML?

    /// - Parameters:
    ///   - label: Name of the text for screen readers.
    ///   - id: ID that the copy button uses.
    public init(_ label: String, _ text: String, id: String? = nil) {
        (self.label, self.text, self.id) = (label, text, id.map { " id=\"\($0)\"" })
    }

    public var html: HTML {
        "<pre tabindex=\"0\" role=\"region\" aria-label=\"\(label)\"><code\(id)>\(text)</code></pre>"
    }
}

extension HTML {
    /// Returns hidden form fields.
    public static func hidden(_ fields: [(name: String, value: String)]) -> HTML {
        HTML(fields.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">" })
    }

    /// Returns a button that copies an element's text. Browsers without scripts do not show the button.
    public static func copyButton(for id: String, _ words: String = "Copy") -> HTML {
        "<button type=\"button\" class=\"quiet\" data-copy=\"\(id)\" hidden>\(words)</button>"
    }
}
