import Console
import EmulatorServer
import Encodings
import Pages

extension WorldPages {
    var exchangePages: [ConsolePage] {
        [
            ConsolePage(.get, Place.exchanges, access: .development, handle: exchanges),
            ConsolePage(.get, "/world/exchanges/{id}", access: .development, handle: exchange),
        ]
    }

    private func exchanges(_ request: ConsoleRequest) -> ConsoleAnswer {
        let all = world.exchanges
        let (showsRoutine, repeated) = (request.query["routine"] != nil, all.repeated)
        let wanted = showsRoutine ? all : all.filter { !repeated.contains($0.id) }
        return Self.page("Exchanges", at: Place.exchanges, isLive: true) {
            """
            <p>What the parties of the fake world say to each other, as it happens: your browser, apps and backends \
            too, not only what the buttons of this console do. Each arrow opens the whole request and answer, with \
            decoded tokens. Times are UTC.</p>
            """
            if wanted.isEmpty {
                "<p class=\"empty\">Nothing yet. Let a person sign in, or link with Google.</p>"
            } else {
                SequenceDiagram(wanted.suffix(Self.shownExchanges))
            }
            if showsRoutine {
                "<p><a href=\"/console/world/exchanges\">Hide what repeats without a person</a></p>"
            } else if !repeated.isEmpty {
                """
                <p class="muted">\(repeated.count) requests that repeat without a person, such as checks of refresh \
                tokens, what siwa doctor tries, and what fails once more, are hidden. \
                <a href="/console/world/exchanges?routine=1">Show them</a></p>
                """
            }
        }
    }

    /// Number of exchanges in the diagram. The fakes store more than that.
    private static let shownExchanges = 40

    private func exchange(_ request: ConsoleRequest) -> ConsoleAnswer {
        let id = request.parameters["id", default: ""]
        guard let shown = world.exchanges.first(where: { $0.id == id }) else {
            return Self.wasExchange(id) ? .refused(Self.forgotten) : .notFound
        }
        let (exchange, step, time) = (
            shown.exchange, shown.step, RFC3339.text(milliseconds: shown.exchange.at)
        )
        let standard = shown.standardURL.map {
            "<a href=\"\($0)\" rel=\"noreferrer\">\(step.standard)</a>" as HTML
        }
        let facts = [
            Fact("Who", "\(step.from.title) to \(step.to.title)"),
            Fact("Time", "<time datetime=\"\(time)\">\(time)</time>"),
            Fact("Outcome", .text(shown.outcome), look: shown.isBad ? "bad" : "good"),
            Fact("Described in", standard ?? .text(step.standard)),
            shown.requestNumber.map { number in
                let link = HTML.link("Request \(number)", to: "/console/requests/\(number)")
                return Fact("At siwa", "\(link), with its whole bodies and a command to repeat it")
            },
        ]
        return Self.page(exchange.title, at: Place.exchanges) {
            Facts(facts)
            "<h2>Request</h2>"
            CodeBlock("Request", exchange.request)
            "<h2>Answer</h2>"
            CodeBlock("Answer", exchange.response)
            "<p><a href=\"/console/world/exchanges\">All exchanges</a></p>"
        }
    }

    private static let forgotten =
        "This exchange is not kept any more: each fake keeps the latest 50 and 50 that repeat without a person, and siwa "
        + "as many requests. A restart forgets all."

    /// Returns `true` for a valid exchange name.
    private static func wasExchange(_ id: String) -> Bool {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && WorldExchange.Source(rawValue: String(parts[0])) != nil
            && Int(parts[1]) ?? 0 > 0
    }
}

extension [WorldExchange] {
    /// Names of exchanges that repeat without user action: checks and probes, and a service's retries while
    /// they fail.
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
