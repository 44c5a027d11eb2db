import Console
import EmulatorServer
import Encodings

extension WorldPages {
    var exchangePages: [ConsolePage] {
        [
            ConsolePage(.get, WorldTabs.Place.exchanges.rawValue, access: .development) { request in
                .template(
                    "world-exchanges", title: "Exchanges",
                    values: ExchangesValues(request, world.exchanges), isLive: true)
            },
            ConsolePage(.get, "/world/exchanges/{id}", access: .development) { request in
                let all = world.exchanges
                let id = request.parameters["id", default: ""]
                guard let exchange = all.first(where: { $0.id == id }) else {
                    return Self.wasExchange(id) ? .refused(Self.forgotten) : .notFound
                }
                return .template(
                    "world-exchange", title: exchange.exchange.title,
                    values: ExchangeValues(exchange))
            },
        ]
    }

    private static let forgotten =
        "This exchange is not kept any more: each fake keeps the latest 50 and 50 that repeat without a person, and siwa "
        + "as many requests. A restart forgets all."

    /// True for a name that an exchange can have.
    private static func wasExchange(_ id: String) -> Bool {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && WorldExchange.Source(rawValue: String(parts[0])) != nil
            && Int(parts[1]) ?? 0 > 0
    }
}

extension [WorldExchange] {
    /// The names of those that repeat without a person: checks and probes, and what a service tries again after a
    /// failure, while it goes on to fail.
    var repeated: Set<String> {
        var failed: Set<[String]> = []
        return reduce(into: []) { repeated, exchange in
            let isOfService = exchange.step.from == .siwa || exchange.step.from == .apple
            let step = [exchange.step.from.rawValue, exchange.step.to.rawValue, exchange.exchange.title]
            if exchange.step.isRoutine || (isOfService && exchange.isBad && failed.contains(step)) {
                repeated.insert(exchange.id)
            }
            if exchange.isBad { failed.insert(step) } else { failed.remove(step) }
        }
    }
}

/// The sequence diagram.
private struct ExchangesValues: Sendable {
    /// Number of exchanges in the diagram. The fakes keep more.
    static let shown = 40

    let tabs = WorldTabs(.exchanges)
    let hasExchanges: Bool
    let diagram: SequenceDiagram
    let showsRoutine: Bool
    let hidden: String?

    init(_ request: ConsoleRequest, _ all: [WorldExchange]) {
        showsRoutine = request.query["routine"] != nil
        let repeated = all.repeated
        let wanted = showsRoutine ? all : all.filter { !repeated.contains($0.id) }
        let exchanges = wanted.suffix(Self.shown)
        diagram = SequenceDiagram(Array(exchanges))
        hasExchanges = !exchanges.isEmpty
        hidden = showsRoutine || repeated.isEmpty ? nil : String(repeated.count)
    }
}

/// The whole of one exchange.
private struct ExchangeValues: Sendable {
    let tabs = WorldTabs(.exchanges)
    let title: String
    let from: String
    let to: String
    let time: String
    let outcome: String
    let tone: String
    let standard: String
    let standardURL: String?
    let request: String
    let response: String
    let requestNumber: Int?
    let diagram: SequenceDiagram

    init(_ shown: WorldExchange) {
        let exchange = shown.exchange
        (title, from, to) = (exchange.title, exchange.step.from.title, exchange.step.to.title)
        (time, outcome) = (RFC3339.text(milliseconds: exchange.at), shown.outcome)
        tone = shown.isBad ? "bad" : "good"
        (standard, standardURL) = (exchange.step.standard, shown.standardURL)
        (request, response) = (exchange.request, exchange.response)
        requestNumber = shown.requestNumber
        diagram = SequenceDiagram([shown], title: exchange.title)
    }
}
