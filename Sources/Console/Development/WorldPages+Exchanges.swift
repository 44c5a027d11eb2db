import Encodings

extension WorldPages {
    var exchangePages: [ConsolePage] {
        [
            ConsolePage(.get, WorldTabs.Place.exchanges.rawValue, access: .development) { request in
                .page(
                    template: "world-exchanges", title: "Exchanges",
                    values: ExchangesValues(request, world.exchanges), isLive: true)
            },
            ConsolePage(.get, "/world/exchanges/{id}", access: .development) { request in
                let all = world.exchanges
                guard let exchange = all.first(where: { $0.id == request.parameters["id"] }) else {
                    return .notFound
                }
                return .page(
                    template: "world-exchange", title: exchange.title, values: ExchangeValues(exchange))
            },
        ]
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
        let routine = all.count { $0.isRoutine }
        let wanted = showsRoutine ? all : all.filter { !$0.isRoutine }
        let exchanges = wanted.suffix(Self.shown)
        diagram = SequenceDiagram(Array(exchanges))
        hasExchanges = !exchanges.isEmpty
        hidden = showsRoutine || routine == 0 ? nil : String(routine)
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

    init(_ exchange: WorldExchange) {
        (title, from, to) = (exchange.title, exchange.from.title, exchange.to.title)
        (time, outcome) = (RFC3339.text(milliseconds: exchange.at), exchange.outcome)
        tone = exchange.isBad ? "bad" : "good"
        (standard, standardURL) = (exchange.standard, exchange.standardURL)
        (request, response) = (exchange.request, exchange.response)
        requestNumber = exchange.requestNumber
        diagram = SequenceDiagram([exchange], title: exchange.title)
    }
}
