import Encodings

/// Position of a page in a long list, as sent in the `from` field of links and forms.
///
/// A database uses its index to find the rows after a position. To find the previous page or the total number
/// of rows, it would have to read all earlier rows, so a place contains three values: the number of rows on
/// the previous pages, the position after which its page begins, and the places of the previous pages. The
/// previous page therefore begins where it began before, even if rows have been added. A list in memory has
/// no positions; its places are row numbers.
public struct ListPlace: Sendable, Equatable {
    private struct Start: Sendable, Equatable {
        let skipped: Int
        let position: String?
    }

    /// Number of pages that a place remembers. Users reach older pages only from the first page.
    private static let mostStarts = 20
    /// The maximum number of rows. Clients can write any number into a URL, so the limit prevents an overflow
    /// when a page's rows are added.
    private static let mostRows = 1 << 40

    /// The starts of this page and the previous pages, nearest page first; empty for the first page.
    private var starts: [Start] = []
    /// Name of the sort order; empty for the default order.
    public let order: String

    /// Creates the place of the first page.
    public init(order: String = "") { self.order = order }

    private init(starts: some Sequence<Start>, order: String) {
        (self.starts, self.order) = (Array(starts.prefix(Self.mostStarts)), order)
    }

    /// Parses a place. Returns `nil` for a string that no page can have written.
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

    /// Number of rows on all earlier pages.
    public var skipped: Int { starts.first?.skipped ?? 0 }
    /// Position after which the page begins; `nil` for the first page and for lists in memory.
    public var position: String? { starts.first?.position }

    /// Returns this place in a list in memory, or the last page's place if this place is beyond the end.
    public func limited(to count: Int, size: Int) -> ListPlace {
        let last = count == 0 ? 0 : (count - 1) / size * size
        return skipped <= last ? self : ListPlace(starts: Self.memory(last), order: order)
    }

    fileprivate func next(after rows: Int, position: String?) -> ListPlace {
        let start = Start(skipped: skipped + rows, position: position)
        guard position != nil else { return ListPlace(starts: [start], order: order) }
        return ListPlace(starts: [start] + (starts.isEmpty ? [Self.begin] : starts), order: order)
    }

    /// Returns the place of the previous page; `nil` for the first page, or if this place does not remember
    /// it.
    ///
    /// - Parameter size: Number of rows on a page of a list in memory.
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

/// Line below a long list that shows the range of rows, and links to the first, previous and next pages.
///
/// If the total number of rows is unknown, the line shows that more rows follow. The last page reveals the
/// total.
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
    ///   - rows: Number of rows on this page.
    ///   - size: Number of rows on a full page of a list in memory.
    ///   - next: For a list from a database, the position after which the next page begins; `nil` at the end.
    ///   - total: Total number of rows, if it is known without a database count.
    ///   - fields: Fields that request the same list, such as its filter fields.
    ///   - posts: True for fields that must not be in a URL. Form buttons then replace the links.
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

    /// - Parameter list: Name of the list for screen readers.
    func html(of list: String) -> HTML {
        if place == ListPlace(order: place.order), rows == 0, next == nil { return HTML() }
        let range: HTML = rows == 0 ? "No row" : "\(place.skipped + 1) to \(place.skipped + rows)"
        let isFirst = place.position == nil && place.skipped == 0
        let ways = [
            ("First page", isFirst ? nil : ListPlace(order: place.order)),
            ("Previous page", place.previous(size: size)), ("Next page", next),
        ]
        let line: HTML = "<span>\(range)\(total.map { " of \($0)" } ?? "; more follow")</span>"
        let steps = ways.map { words, place -> HTML in
            guard let place else { return HTML() }
            return posts
                ? " <button class=\"secondary\" name=\"from\" value=\"\(place.text)\">\(words)</button>"
                : " \(HTML.link(.text(words), to: way(place)))"
        }
        return posts
            ? """
            <form class="pager" method="post" action="\(address)" aria-label="Pages of \(list)">\(HTML.hidden(fields))\
            \(line)\(HTML(steps))</form>
            """
            : "<nav class=\"pager\" aria-label=\"Pages of \(list)\">\(line)\(HTML(steps))</nav>"
    }

    /// Returns the address of one of this list's pages.
    private func way(_ place: ListPlace) -> String {
        let all = fields + [("order", place.order), ("from", place.text)].filter { !$0.1.isEmpty }
        return all.isEmpty ? address : "\(address)?\(FormEncoding.encode(all))"
    }

    /// Returns the heading of a column that can sort the list. It shows the sort direction, and links to the
    /// first page in the column's next order.
    ///
    /// - Parameter orders: Names of the sort orders, descending order first.
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
