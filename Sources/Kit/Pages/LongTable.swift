import Encodings

/// The place of a page in a long list, as the field `from` of links and forms carries it.
///
/// A database finds the rows after a position along its index. It finds neither the page before nor the number of all
/// rows without reading them. So a place has the number of rows on the pages before it, the position after which it
/// begins, and the places of the pages before it: the previous page begins where it began, and rows that are new
/// since move nothing. A list in memory has no positions; its places are numbers of rows.
public struct ListPlace: Sendable, Equatable {
    private struct Start: Sendable, Equatable {
        let skipped: Int
        let position: String?
    }

    /// Number of pages that a place remembers. Farther back only the link to the first page leads.
    private static let mostStarts = 20
    /// Anyone can write a number into an address. This one and the rows of a page do not overflow.
    private static let mostRows = 1 << 40

    /// This page, and the pages before it with the nearest first; empty for the first page.
    private var starts: [Start] = []
    /// The word of the order; empty for the usual order.
    public let order: String

    /// The first page.
    public init(order: String = "") { self.order = order }

    private init(starts: some Sequence<Start>, order: String) {
        (self.starts, self.order) = (Array(starts.prefix(Self.mostStarts)), order)
    }

    /// Returns `nil` for a text that no page has written.
    public init?(_ text: String?, order: String? = nil) {
        self.init(order: order ?? "")
        for part in (text ?? "").split(separator: "~").prefix(Self.mostStarts) {
            let halves = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard let skipped = Int(halves[0]), skipped >= 0 else { return nil }
            starts.append(
                Start(
                    skipped: min(skipped, Self.mostRows), position: halves.count == 2 ? "\(halves[1])" : nil))
        }
    }

    public var text: String {
        starts.map { "\($0.skipped)\($0.position.map { "-\($0)" } ?? "")" }.joined(separator: "~")
    }

    /// The number of rows on the pages before this one.
    public var skipped: Int { starts.first?.skipped ?? 0 }
    /// The position after which the page begins; `nil` for the first page and for a list in memory.
    public var position: String? { starts.first?.position }

    /// Returns this page of a list in memory. A place behind the end becomes that of the last page.
    public func limited(to count: Int, size: Int) -> ListPlace {
        let last = count == 0 ? 0 : (count - 1) / size * size
        return skipped <= last ? self : ListPlace(starts: Self.memory(last), order: order)
    }

    fileprivate func next(after rows: Int, position: String?) -> ListPlace {
        let start = Start(skipped: skipped + rows, position: position)
        guard position != nil else { return ListPlace(starts: [start], order: order) }
        return ListPlace(starts: [start] + (starts.isEmpty ? [Self.begin] : starts), order: order)
    }

    /// Returns `nil` for the first page, and where the page before is not remembered.
    ///
    /// - Parameter size: The rows of a page of a list in memory.
    fileprivate func previous(size: Int) -> ListPlace? {
        guard let start = starts.first else { return nil }
        if start.position == nil {
            return ListPlace(starts: Self.memory(max(0, start.skipped - size)), order: order)
        }
        let rest = starts.dropFirst()
        return rest.isEmpty ? nil : ListPlace(starts: rest.first == Self.begin ? [] : rest, order: order)
    }

    private static let begin = Start(skipped: 0, position: nil)

    private static func memory(_ skipped: Int) -> [Start] {
        skipped == 0 ? [] : [Start(skipped: skipped, position: nil)]
    }
}

/// The line below a long list: which rows these are, and the ways to the first, the previous and the next page.
///
/// Without a number of all rows the line says that more follow; after the last page it is known.
public struct Pager: PagePart {
    private let place: ListPlace
    private let rows: Int
    private let size: Int
    private let next: ListPlace?
    private let total: Int?
    private let address: String
    private let fields: [(name: String, value: String)]
    private let posts: Bool

    /// - Parameters:
    ///   - rows: The number of rows on this page.
    ///   - size: The rows of a full page of a list in memory.
    ///   - next: The position after which the next page of a list of a database begins; `nil` at the end.
    ///   - total: The number of all rows, where it is known without a count in the database.
    ///   - fields: The fields that ask for the same list, such as those of its filter.
    ///   - posts: True for fields that must not be in an address. The ways are then buttons of a form.
    public init(
        _ place: ListPlace, rows: Int, size: Int = 0, next: String? = nil, of total: Int? = nil,
        at address: String, _ fields: [(name: String, value: String)] = [], posts: Bool = false
    ) {
        (self.place, self.rows, self.size, self.address) = (place, rows, size, address)
        (self.fields, self.posts) = (fields.filter { !$0.value.isEmpty }, posts)
        let end = place.skipped + rows
        let hasMore = next != nil || end < total ?? 0
        self.next = hasMore ? place.next(after: rows, position: next) : nil
        self.total = hasMore ? total : end
    }

    public var html: HTML { html(of: "this list") }

    /// - Parameter list: The name of the list for screen readers.
    func html(of list: String) -> HTML {
        if place == ListPlace(order: place.order), rows == 0, next == nil { return HTML() }
        let range: HTML = rows == 0 ? "No row" : "\(place.skipped + 1) to \(place.skipped + rows)"
        let isFirst = place.position == nil && place.skipped == 0
        let ways = [
            ("First page", isFirst ? nil : ListPlace(order: place.order)),
            ("Previous page", place.previous(size: size)), ("Next page", next),
        ]
        let line: HTML = "<span>\(range)\(total.map { " of \($0)" } ?? "; more follow")</span>"
        guard posts else {
            let links = ways.map { words, place in
                place.map { " \(HTML.link(.text(words), to: way($0)))" as HTML } ?? HTML()
            }
            return "<nav class=\"pager\" aria-label=\"Pages of \(list)\">\(line)\(HTML(links))</nav>"
        }
        let buttons = ways.map { words, place in
            place.map {
                " <button class=\"secondary\" name=\"from\" value=\"\($0.text)\">\(words)</button>" as HTML
            } ?? HTML()
        }
        return """
            <form class="pager" method="post" action="\(address)" aria-label="Pages of \(list)">\(HTML.hidden(fields))\
            \(line)\(HTML(buttons))</form>
            """
    }

    /// The address of a page of the list.
    private func way(_ place: ListPlace) -> String {
        let all = fields + [("order", place.order), ("from", place.text)].filter { !$0.1.isEmpty }
        return all.isEmpty ? address : "\(address)?\(FormEncoding.encode(all))"
    }

    /// The heading of a column by which the list can be sorted: the direction, and a link to the first page in the next
    /// of its orders.
    ///
    /// - Parameter orders: Words of orders, the descending one first.
    func heading(_ words: String, _ orders: [String]) -> (content: HTML, attribute: HTML) {
        let current = orders.firstIndex(of: place.order)
        let other = current.map { orders[($0 + 1) % orders.count] } ?? orders[0]
        let (arrow, direction): (HTML, HTML) =
            switch current {
            case nil: ("", "")
            case 0?: ("&nbsp;<span aria-hidden=\"true\">↓</span>", " aria-sort=\"descending\"")
            case _?: ("&nbsp;<span aria-hidden=\"true\">↑</span>", " aria-sort=\"ascending\"")
            }
        return ("\(HTML.link(.text(words), to: way(ListPlace(order: other))))\(arrow)", direction)
    }
}
