import EmulatorServer
import Encodings
import Pages

/// Exchanges as a sequence diagram, with a column for each party, and a row for each request and response in
/// chronological order. Lengths are in drawing units.
struct SequenceDiagram: PagePart {
    /// A request or a response.
    struct Arrow {
        let exchange: WorldExchange
        let isResponse: Bool
        fileprivate(set) var y = 0
    }

    let height: Int
    private(set) var arrows: [Arrow] = []
    /// Pauses in the diagram, each with its position and text.
    private(set) var pauses: [(y: Int, text: String)] = []

    private static let width = 898
    /// Number of nanoseconds without an event that the diagram shows as a pause.
    private static let pause: UInt64 = 3_000_000_000
    private static let requestHeight = 50
    private static let responseHeight = 32
    /// Number of characters that fit between two neighbouring lanes.
    fileprivate static let fitting = 34
    /// Distance between two lanes.
    fileprivate static let step = 222
    private static let firstX = 160

    init(_ exchanges: some Sequence<WorldExchange>) {
        var y = 56
        var last: UInt64?
        for var arrow in Self.arrows(of: exchanges) {
            if let last, arrow.moment > last, arrow.moment - last > Self.pause {
                pauses.append((y + 16, "\(Self.words(arrow.moment - last)) later"))
                y += 30
            }
            last = arrow.moment
            y += arrow.isResponse ? Self.responseHeight : Self.requestHeight
            arrow.y = y - (arrow.isResponse ? 8 : 20)
            arrows.append(arrow)
        }
        height = y + 20
    }

    /// Y coordinate at which the parties' lines end.
    var lifelineEnd: Int { height - 10 }

    var html: HTML {
        let lanes = ExchangeStep.Party.allCases.map { party -> HTML in
            let x = Self.x(of: party)
            return """
                <rect class="lane" x="\(x - 65)" y="8" width="130" height="30" rx="7"/>
                <text class="lane-title" x="\(x)" y="28">\(party.title)</text>
                <line class="lifeline" x1="\(x)" y1="38" x2="\(x)" y2="\(lifelineEnd)"/>

                """
        }
        let breaks = pauses.map { "<text class=\"pause\" x=\"8\" y=\"\($0.y)\">\($0.text)</text>\n" as HTML }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="Requests between the parties">
            <svg class="sequence" viewBox="0 0 \(Self.width) \(height)" width="\(Self.width)" height="\(height)">
            <title>Requests between the parties</title>
            \(HTML(lanes))\(HTML(breaks))\(HTML(arrows.map(\.html)))</svg>
            </div>
            """
    }

    private static func arrows(of exchanges: some Sequence<WorldExchange>) -> [Arrow] {
        let all = exchanges.flatMap { exchange in
            let request = Arrow(exchange: exchange, isResponse: false)
            return exchange.step.isOneWay
                ? [request] : [request, Arrow(exchange: exchange, isResponse: true)]
        }
        return all.enumerated().sorted { ($0.element.moment, $0.offset) < ($1.element.moment, $1.offset) }
            .map(\.element)
    }

    static func x(of party: ExchangeStep.Party) -> Int {
        firstX + step * (ExchangeStep.Party.allCases.firstIndex(of: party) ?? 0)
    }

    /// Returns the time of day in UTC, with milliseconds.
    static func time(_ milliseconds: Int64) -> String {
        String(RFC3339.text(milliseconds: milliseconds).dropFirst(11).prefix(12))
    }

    private static func words(_ nanoseconds: UInt64) -> String {
        let seconds = nanoseconds / 1_000_000_000
        return seconds < 120 ? "\(seconds) s" : seconds < 7200 ? "\(seconds / 60) min" : "\(seconds / 3600) h"
    }
}

extension SequenceDiagram.Arrow {
    /// True for a response that refuses the request, and for a lost response.
    var isBad: Bool { isResponse && exchange.isBad }
    var time: String? { isResponse ? nil : SequenceDiagram.time(exchange.exchange.at) }
    /// The section of the standard, shown below a request.
    var standard: String? { isResponse || exchange.step.standard.isEmpty ? nil : exchange.step.standard }
    private var from: Int { SequenceDiagram.x(of: sender) }
    private var tip: Int { SequenceDiagram.x(of: receiver) }

    /// Describes the arrow for screen readers.
    var label: String {
        let (parties, title) = ("\(sender.title) to \(receiver.title)", exchange.exchange.title)
        guard let time else { return "\(parties): answer to \(title), \(exchange.outcome)" }
        return "\(time) \(parties): \(title), \(exchange.step.standard)"
    }

    var text: String {
        let text = isResponse ? exchange.outcome : exchange.exchange.title
        let length = SequenceDiagram.fitting * max(1, abs(tip - from) / SequenceDiagram.step)
        return text.count <= length ? text : "\(text.prefix(length - 1))…"
    }

    fileprivate var moment: UInt64 { isResponse ? exchange.end : exchange.begin }
    private var sender: ExchangeStep.Party { isResponse ? exchange.step.to : exchange.step.from }
    private var receiver: ExchangeStep.Party { isResponse ? exchange.step.from : exchange.step.to }

    fileprivate var html: HTML {
        let (middle, direction) = ((from + tip) / 2, tip >= from ? 1 : -1)
        let (end, back) = (tip - direction * 8, tip - direction * 9)
        func words(_ look: String, _ x: Int, _ y: Int, _ text: String) -> HTML {
            "<text class=\"\(look)\" x=\"\(x)\" y=\"\(y)\">\(text)</text>\n"
        }
        return """
            <a href="/console/world/exchanges/\(exchange.id)" aria-label="\(label)" \
            class="\(isResponse ? "response" : "request" as String)\(isBad ? " bad" : "" as String)">
            \(time.map { words("time", 8, y, $0) })\
            <line class="arrow" x1="\(from)" y1="\(y)" x2="\(end)" y2="\(y)"/>
            <polygon class="head" points="\(tip),\(y) \(back),\(y - 5) \(back),\(y + 5)"/>
            \(words("words", middle, y - 7, text))\(standard.map { words("standard", middle, y + 15, $0) })</a>

            """
    }
}
