import EmulatorServer

/// A request between two parties with its response: recorded by a fake, or received by siwa.
struct WorldExchange: Sendable, Equatable {
    /// The log that has the exchange.
    enum Source: String, CaseIterable { case apple, google, siwa }

    let source: Source
    let exchange: Exchange
    /// Number of the request on the page of requests, if siwa has received it and still keeps it.
    var requestNumber: Int?

    /// Name in the path of its page, such as `apple-12`.
    var id: String { "\(source.rawValue)-\(exchange.number)" }
    var step: ExchangeStep { exchange.step }
    /// Beginning and end in nanoseconds of the machine's monotonic clock.
    var begin: UInt64 { exchange.span.begin }
    var end: UInt64 { exchange.span.end }

    /// Address of the section; `nil` if the standard is not an RFC.
    var standardURL: String? {
        let words = step.standard.split(separator: " ")
        guard words.count == 3, words[0] == "RFC", words[2].hasPrefix("§") else { return nil }
        return "https://www.rfc-editor.org/rfc/rfc\(words[1])#section-\(words[2].dropFirst())"
    }

    /// The outcome in words.
    var outcome: String {
        let tenths = (end - begin) / 100_000
        let duration = tenths < 100 ? "\(tenths / 10).\(tenths % 10) ms" : "\(tenths / 10) ms"
        return step.isOneWay
            ? "leads the browser" : exchange.status.map { "\($0) in \(duration)" } ?? "no answer"
    }

    var isBad: Bool { !step.isOneWay && exchange.status.map { $0 >= 400 } ?? true }
}

extension ExchangeStep.Party {
    var title: String {
        switch self {
        case .browser: "Browser, app"
        case .google: "Google"
        case .siwa: "siwa"
        case .apple: "Apple"
        }
    }
}
