import EmulatorServer
import Encodings

/// Exchanges as a sequence diagram: a column for each party, and a row for each request and each response, in the
/// order of time. Pure: the properties are what the template draws, in units of the drawing.
struct SequenceDiagram: Sendable {
    struct Lane: Sendable, Equatable {
        let title: String
        let x: Int
        let left: Int
    }

    /// A request or a response.
    struct Arrow: Sendable, Equatable {
        let href: String
        /// The arrow in words, for screen readers.
        let label: String
        let isResponse: Bool
        let isBad: Bool
        let y: Int
        let from: Int
        /// End of the line, before the head.
        let to: Int
        let head: String
        let middle: Int
        let text: String
        let textY: Int
        /// The section of the standard below a request.
        let standard: String?
        let standardY: Int
        let time: String
    }

    /// A break in time.
    struct Pause: Sendable, Equatable {
        let y: Int
        let text: String
    }

    let title: String
    let width = 898
    let height: Int
    let lifelineEnd: Int
    let lanes: [Lane]
    let arrows: [Arrow]
    let pauses: [Pause]

    /// Nanoseconds without an event, after which the diagram shows a pause.
    private static let pause: UInt64 = 3_000_000_000
    private static let requestHeight = 50
    private static let responseHeight = 32
    /// Characters that fit between two neighbouring lanes.
    private static let fitting = 34
    /// Distance of two lanes.
    private static let step = 222
    private static let firstX = 160

    private struct Event {
        let exchange: WorldExchange
        let isResponse: Bool

        var time: UInt64 { isResponse ? exchange.end : exchange.begin }
    }

    init(_ exchanges: [WorldExchange], title: String = "Requests between the parties") {
        self.title = title
        lanes = ExchangeStep.Party.allCases.map { party in
            Lane(title: party.title, x: Self.x(of: party), left: Self.x(of: party) - 65)
        }
        var y = 56
        var last: UInt64?
        var arrows: [Arrow] = []
        var pauses: [Pause] = []
        for event in Self.events(of: exchanges) {
            if let last, event.time > last, event.time - last > Self.pause {
                pauses.append(Pause(y: y + 16, text: "\(Self.words(event.time - last)) later"))
                y += 30
            }
            last = event.time
            y += event.isResponse ? Self.responseHeight : Self.requestHeight
            arrows.append(Self.arrow(event, at: y - (event.isResponse ? 8 : 20)))
        }
        (self.arrows, self.pauses) = (arrows, pauses)
        (lifelineEnd, height) = (y + 10, y + 20)
    }

    private static func events(of exchanges: [WorldExchange]) -> [Event] {
        exchanges.flatMap { exchange in
            exchange.step.isOneWay
                ? [Event(exchange: exchange, isResponse: false)]
                : [Event(exchange: exchange, isResponse: false), Event(exchange: exchange, isResponse: true)]
        }.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    }

    private static func arrow(_ event: Event, at y: Int) -> Arrow {
        let exchange = event.exchange
        let isResponse = event.isResponse
        let (sender, receiver) =
            isResponse ? (exchange.step.to, exchange.step.from) : (exchange.step.from, exchange.step.to)
        let (from, tip) = (x(of: sender), x(of: receiver))
        let direction = tip >= from ? 1 : -1
        let lanes = max(1, abs(tip - from) / step)
        let text = isResponse ? exchange.outcome : exchange.exchange.title
        let words =
            "\(sender.title) to \(receiver.title): \(isResponse ? "answer to " : "")\(exchange.exchange.title)"
        return Arrow(
            href: "/console/world/exchanges/\(exchange.id)",
            label: isResponse
                ? "\(words), \(exchange.outcome)"
                : "\(time(exchange.exchange.at)) \(words), \(exchange.step.standard)",
            isResponse: isResponse, isBad: isResponse && exchange.isBad, y: y, from: from,
            to: tip - direction * 8,
            head: "\(tip),\(y) \(tip - direction * 9),\(y - 5) \(tip - direction * 9),\(y + 5)",
            middle: (from + tip) / 2, text: cut(text, to: fitting * lanes), textY: y - 7,
            standard: isResponse ? nil : exchange.step.standard, standardY: y + 15,
            time: isResponse ? "" : time(exchange.exchange.at))
    }

    private static func x(of party: ExchangeStep.Party) -> Int {
        firstX + step * (ExchangeStep.Party.allCases.firstIndex(of: party) ?? 0)
    }

    /// Time of day in UTC with milliseconds.
    static func time(_ milliseconds: Int64) -> String {
        String(RFC3339.text(milliseconds: milliseconds).dropFirst(11).prefix(12))
    }

    private static func words(_ nanoseconds: UInt64) -> String {
        let seconds = nanoseconds / 1_000_000_000
        return seconds < 120 ? "\(seconds) s" : seconds < 7200 ? "\(seconds / 60) min" : "\(seconds / 3600) h"
    }

    private static func cut(_ text: String, to length: Int) -> String {
        text.count <= length ? text : "\(text.prefix(length - 1))…"
    }
}
