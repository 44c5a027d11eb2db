import Foundation

/// An element of a page, for finding content by the names that users see: a card by its heading, a fact by
/// its name, table rows by the table's label, a form by its address. It reads only HTML that this program
/// writes, and is not a general parser.
public struct PageTree: Sendable {
    public enum Node: Sendable {
        case text(String)
        case element(PageTree)
    }

    public let name: String
    public let attributes: [String: String]
    public private(set) var children: [Node] = []

    /// Reads a page or part of one. An unclosed element ends with its parent.
    public init(_ html: String) {
        var open = [PageTree(name: "", attributes: [:])]
        func close() {
            let last = open.removeLast()
            open[open.count - 1].children.append(.element(last))
        }
        var rest = Substring(html)
        while let start = rest.firstIndex(of: "<") {
            if start > rest.startIndex {
                open[open.count - 1].children.append(.text(Self.unescaped(rest[..<start])))
            }
            guard let end = rest[start...].firstIndex(of: ">") else { break }
            let tag = rest[rest.index(after: start)..<end]
            rest = rest[rest.index(after: end)...]
            if tag.hasPrefix("!") { continue }
            if tag.hasPrefix("/") {
                let name = tag.dropFirst()
                guard let place = open.lastIndex(where: { $0.name == name }) else { continue }
                while open.count > place { close() }
                continue
            }
            let name = tag.prefix { !" /\n".contains($0) }
            open.append(
                PageTree(name: String(name), attributes: Self.attributes(tag.dropFirst(name.count))))
            if Self.void.contains(String(name)) || tag.hasSuffix("/") { close() }
        }
        if !rest.isEmpty { open[open.count - 1].children.append(.text(Self.unescaped(rest))) }
        while open.count > 1 { close() }
        self = open[0]
    }

    private init(name: String, attributes: [String: String]) {
        (self.name, self.attributes) = (name, attributes)
    }

    private static let void: Set = ["br", "col", "hr", "img", "input", "link", "meta", "wbr"]

    private static func attributes(_ text: Substring) -> [String: String] {
        var found: [String: String] = [:]
        for match in text.matches(of: /([a-z][a-zA-Z0-9-]*)(?:="([^"]*)")?/) {
            found[String(match.1)] = match.2.map { unescaped($0) } ?? ""
        }
        return found
    }

    private static func unescaped(_ text: Substring) -> String {
        String(text).replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    }
}

extension PageTree {
    /// All descendants, in page order.
    public var descendants: [PageTree] {
        children.flatMap { child -> [PageTree] in
            guard case .element(let element) = child else { return [] }
            return [element] + element.descendants
        }
    }

    /// The text, with each run of whitespace reduced to one space.
    public var text: String {
        func text(_ tree: PageTree) -> String {
            tree.children.map { child in
                switch child {
                case .text(let words): words
                case .element(let element): text(element)
                }
            }.joined(separator: tree.name == "tr" || tree.name == "dl" || tree.name == "ul" ? " " : "")
        }
        return text(self).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The elements with this name, and with this class if one is given.
    public func all(_ name: String, _ look: String? = nil) -> [PageTree] {
        descendants.filter { element in
            let looks = element.attributes["class", default: ""].split(separator: " ")
            return element.name == name && (look.map { looks.contains(Substring($0)) } ?? true)
        }
    }

    /// The card with this heading.
    public func card(_ heading: String) -> PageTree? {
        descendants.first { element in
            element.attributes["class", default: ""].split(separator: " ").contains("card")
                && element.descendants.contains { ["h2", "h3"].contains($0.name) && $0.text == heading }
        }
    }

    /// The values of all facts with this name.
    public func facts(_ name: String) -> [PageTree] {
        all("dl").flatMap { list -> [PageTree] in
            var (found, isNamed): ([PageTree], Bool) = ([], false)
            for element in list.descendants where ["dt", "dd"].contains(element.name) {
                if element.name == "dt" {
                    isNamed = element.text == name
                } else if isNamed {
                    found.append(element)
                }
            }
            return found
        }
    }

    /// The text of the first fact with this name.
    public func fact(_ name: String) -> String? { facts(name).first?.text }

    /// The cell texts of all rows, or only of the table in the region with this label.
    public func rows(_ label: String? = nil) -> [[String]] {
        let tables =
            label.map { label in all("div").filter { $0.attributes["aria-label"] == label } } ?? [self]
        return tables.flatMap { $0.all("tbody") }.flatMap { $0.all("tr") }.map { row in
            row.descendants.filter { ["td", "th"].contains($0.name) }.map(\.text)
        }
    }

    /// The form that is submitted to this address.
    public func form(to address: String) -> PageTree? {
        all("form").first { $0.attributes["action"] == address }
    }

    /// A form's fields with their values, and its named buttons.
    public var fields: [(name: String, value: String)] {
        descendants.filter { ["input", "button", "select", "textarea"].contains($0.name) }.compactMap {
            element in
            element.attributes["name"].map { ($0, element.attributes["value", default: ""]) }
        }
    }

    /// The fields of a control that leads to another page of a long list, such as "Next page": those in the
    /// query of its link, or those of its form, including its button.
    public func way(_ words: String) -> [String: String]? {
        let pagers = descendants.filter { $0.attributes["class"] == "pager" }
        for pager in pagers {
            if let button = pager.all("button").first(where: { $0.text == words }) {
                let hidden = pager.all("input").map {
                    ($0.attributes["name"] ?? "", $0.attributes["value"] ?? "")
                }
                return Dictionary(hidden + [("from", button.attributes["value"] ?? "")]) { $1 }
            }
            guard let link = pager.all("a").first(where: { $0.text == words }) else { continue }
            let query = (link.attributes["href"] ?? "").split(separator: "?").dropFirst().first ?? ""
            return Dictionary(
                query.split(separator: "&").map { pair in
                    let parts = pair.split(separator: "=").map { $0.removingPercentEncoding ?? "" }
                    return (parts[0], parts[1])
                }
            ) { $1 }
        }
        return nil
    }

    /// The text of the link to this address.
    public func link(to address: String) -> String? {
        all("a").first { $0.attributes["href"] == address }?.text
    }
}
