// Block elements that many pages use.

/// A box with a heading.
public struct Card: PagePart {
    public let html: HTML

    /// - Parameters:
    ///   - id: Anchor for links to the box.
    ///   - look: A style-sheet class.
    public init(
        _ title: HTML? = nil, id: String? = nil, look: String = "card",
        @PageBuilder _ content: () throws -> HTML
    ) rethrows {
        let heading = title.map { "<h2>\($0)</h2>\n" as HTML }
        html = "<section\(HTML.class(look))\(HTML.id(id))>\n\(heading)\(try content())</section>"
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
    public let html: HTML

    public init(_ facts: [Fact?]) {
        let lines = facts.compactMap(\.self).map { fact -> HTML in
            "<dt>\(fact.name)</dt><dd\(HTML.class(fact.look))>\(fact.value)</dd>\n"
        }
        html = "<dl class=\"facts\">\n\(HTML(lines))</dl>"
    }
}

/// A table that scrolls horizontally in a narrow window.
public struct Table: PagePart {
    /// A column with its heading and its cells' class.
    public struct Column: Sendable {
        let heading: String
        let look: String
        /// True if each cell is the heading of its row.
        var isHead = false
        /// Names of the sort orders that the column offers for a long list, descending order first.
        var orders: [String] = []
    }

    public let html: HTML

    /// Creates a table with one row per value.
    ///
    /// - Parameters:
    ///   - label: Name of the table for screen readers; `nil` for a narrow table, which does not scroll.
    ///   - empty: Sentence shown instead of a table without rows.
    ///   - pager: Links to the other pages of a long list.
    ///   - id: Returns the anchor of a value's row; `nil` for a row without an anchor.
    ///   - cells: Returns one cell per column.
    public init<Values: Sequence>(
        _ label: String?, _ columns: [Column], _ values: Values, ifEmpty empty: HTML? = nil,
        caption: HTML? = nil, pager: Pager? = nil, id: (Values.Element) -> String? = { _ in nil },
        cells: (Values.Element) throws -> [HTML]
    ) rethrows {
        let rows = try values.map { value -> HTML in
            let row = try cells(value)
            assert(row.count == columns.count, "a row has a cell for each column")
            let cells = zip(columns, row).map { column, cell -> HTML in
                let look = HTML.class(column.look)
                return column.isHead
                    ? "<th scope=\"row\"\(look)>\(cell)</th>" : "<td\(look)>\(cell)</td>"
            }
            return "<tr\(HTML.id(id(value)))>\(HTML(cells))</tr>\n"
        }
        let pages = pager.map { "\n\($0.html(of: label ?? "this list"))" as HTML }
        if rows.isEmpty, let empty {
            html = "<p class=\"empty\">\(empty)</p>\(pages)"
            return
        }
        let heads = columns.map { column -> HTML in
            let (content, sort) =
                (column.orders.isEmpty ? nil : pager?.heading(column.heading, column.orders))
                ?? (.text(column.heading), "")
            let look = HTML.class(column.look == "number" ? column.look : nil)
            return "<th scope=\"col\"\(look)\(sort)>\(content)</th>"
        }
        let table: HTML = """
            <table>
            \(caption.map { "<caption>\($0)</caption>\n" as HTML })<thead><tr>\(HTML(heads))</tr></thead>
            <tbody>
            \(HTML(rows))</tbody>
            </table>
            """
        guard let label else {
            html = table
            return
        }
        html = """
            <div class="scroll" tabindex="0" role="region" aria-label="\(label)">
            \(table)
            </div>\(pages)
            """
    }
}

extension Table.Column: ExpressibleByStringLiteral {
    public init(_ heading: String, _ look: String = "") { self.init(heading: heading, look: look) }
    public init(stringLiteral heading: String) { self.init(heading) }

    /// Returns a column whose cells may break lines at any character.
    public static func any(_ heading: String) -> Self { Self(heading, "any") }
    public static func nowrap(_ heading: String) -> Self { Self(heading, "nowrap") }
    /// Returns a column of numbers, which are aligned with the heading on the right.
    public static func number(_ heading: String) -> Self { Self(heading, "number") }

    /// Returns a column in which each cell is the heading of its row.
    public static func head(_ heading: String, _ look: String = "") -> Self {
        Self(heading: heading, look: look, isHead: true)
    }

    /// Returns the column with a heading that sorts the list. Each order needs a database index, or a list in
    /// memory.
    public func sorted(_ orders: [String]) -> Self {
        Self(heading: heading, look: look, isHead: isHead, orders: orders)
    }
}

/// A form that requests a change with POST.
public struct PostForm: PagePart {
    public let html: HTML

    /// - Parameters:
    ///   - token: CSRF token, which proves that the form comes from one of this server's pages.
    ///   - look: A style-sheet class.
    ///   - hidden: Hidden fields.
    public init(
        to address: String, token: String, look: String = "", _ hidden: [(name: String, value: String)] = [],
        @PageBuilder _ content: () throws -> HTML
    ) rethrows {
        html = """
            <form\(HTML.class(look)) method="post" action="\(address)">\(HTML.hidden([("csrf", token)] + hidden))
            \(try content())</form>
            """
    }
}

/// A drop-down list in a form.
public struct Select: PagePart {
    public let html: HTML

    /// - Parameters:
    ///   - id: ID for the label that refers to the list; `nil` for a list inside its label.
    ///   - choices: Values with their labels.
    public init(
        _ name: String, id: String? = nil, _ choices: [(value: String, label: String)], chosen: String? = nil
    ) {
        let options = choices.map { value, label -> HTML in
            let given: HTML = value == label ? "" : " value=\"\(value)\""
            return "<option\(given)\(value == chosen ? " selected" : "" as HTML)>\(label)</option>"
        }
        html = "<select\(HTML.id(id)) name=\"\(name)\">\(HTML(options))</select>"
    }
}

/// Blocks grouped in a `div`, an element without semantics.
public struct Division: PagePart {
    public let html: HTML

    /// - Parameter look: A style-sheet class.
    public init(_ look: String = "", @PageBuilder _ content: () throws -> HTML) rethrows {
        html = "<div\(HTML.class(look))>\n\(try content())</div>"
    }
}

/// Blocks that a user can unfold below a line of text.
public struct Details: PagePart {
    public let html: HTML

    /// - Parameter look: Class of the line of text.
    public init(
        _ summary: HTML, _ look: String = "", id: String? = nil, isOpen: Bool = false,
        @PageBuilder _ content: () throws -> HTML
    ) rethrows {
        html = """
            <details\(HTML.id(id))\(isOpen ? " open" : "" as HTML)>
            <summary\(HTML.class(look))>\(summary)</summary>
            \(try content())</details>
            """
    }
}

/// Links to related pages, or to the sections of one page.
public struct Tabs: PagePart {
    public let html: HTML

    /// - Parameters:
    ///   - label: Name of the links for screen readers.
    ///   - tabs: Titles with their addresses.
    ///   - current: Address of the current page.
    public init(_ label: String, _ tabs: [(title: String, address: String)], current: String? = nil) {
        let links = tabs.map { title, address -> HTML in
            let mark: HTML = address == current ? " aria-current=\"page\"" : ""
            return "<a href=\"\(address)\"\(mark)>\(title)</a>\n"
        }
        html = "<nav class=\"tabs\" aria-label=\"\(label)\">\n\(HTML(links))</nav>"
    }
}

/// Program text, which scrolls horizontally if it is too wide.
public struct CodeBlock: PagePart {
    public let html: HTML

    /// - Parameters:
    ///   - label: Name of the text for screen readers.
    ///   - id: ID that the copy button uses.
    public init(_ label: String, _ text: String, id: String? = nil) {
        html = """
            <pre tabindex="0" role="region" aria-label="\(label)"><code\(HTML.id(id))>\(text)</code></pre>
            """
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
