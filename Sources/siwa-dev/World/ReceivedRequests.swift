import EmulatorServer
import Encodings
import HTTPAPI

/// The latest requests that the service received, as exchanges in the fake world. They come from browsers,
/// apps and backends, and were started by a console button or a developer. Does no I/O. Their number is
/// limited, like the number of the fakes' records.
struct ReceivedRequests {
    /// Exchanges, oldest first.
    let exchanges: [WorldExchange]
    /// Request numbers by request ID.
    let numbers: [String: Int]

    /// - Parameters:
    ///   - requests: Received requests, newest first.
    ///   - known: IDs of requests that a fake has recorded as their sender. They are skipped, so that no
    ///     exchange appears twice.
    init(_ requests: [RecentRequest], knownFrom known: Set<String>) {
        numbers = Dictionary(requests.map { ($0.requestID, $0.number) }) { last, _ in last }
        var counts: [Bool: Int] = [:]
        var found: [WorldExchange] = []
        for request in requests where !known.contains(request.requestID) {
            let step = ServiceStep(request)
            // Reads the content only of requests that are shown, because there can be many other requests.
            counts[step.step.isRoutine, default: 0] += 1
            guard counts[step.step.isRoutine, default: 0] <= ExchangeLog.capacity else { continue }
            found.append(WorldExchange(request, step))
        }
        exchanges = found.reversed()
    }
}

extension WorldExchange {
    fileprivate init(_ request: RecentRequest, _ step: ServiceStep) {
        let microseconds = max(0, request.microseconds)
        let exchange = Exchange(
            number: request.number, step: step.step, title: step.title,
            request: ExchangeLog.cut(Self.requestText(request)),
            response: ExchangeLog.cut(Self.responseText(request)), status: request.status,
            at: request.time - microseconds / 1000,
            span: ExchangeSpan(
                begin: request.begin, end: request.begin + UInt64(microseconds) * 1000),
            requestID: request.requestID)
        self.init(source: .siwa, exchange: exchange, requestNumber: request.number)
    }

    private static func requestText(_ request: RecentRequest) -> String {
        guard let exchange = request.exchange else {
            return "\(request.method) \(request.route)\n\nThe rest is not kept any more."
        }
        var text = "\(request.method) \(ShownText.url(exchange.target))"
        if let authorization = exchange.authorization { text += "\n\(credentials(authorization))" }
        if exchange.isBodyCut {
            text += "\n\n\(exchange.contentType ?? "a body") of more than \(KeptExchange.longestBody) bytes"
        } else if let form = exchange.form {
            text += "\n\n\(ShownText.fields(form))"
        } else if !exchange.body.isEmpty {
            text += "\n\n\(ShownText.body(exchange.body))"
        }
        return text
    }

    /// Returns the scheme with the first characters of the credentials, and the claims if they are a token.
    private static func credentials(_ authorization: String) -> String {
        let parts = authorization.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return "Authorization: …" }
        let shown = "Authorization: \(parts[0]) \(ShownText.shortened(parts[1]))"
        return ShownText.token(parts[1]).map { "\(shown)\n\($0)" } ?? shown
    }

    private static func responseText(_ request: RecentRequest) -> String {
        var text = "\(request.status)"
        guard let exchange = request.exchange else { return text }
        if let location = exchange.location { text += "\nLocation: \(ShownText.url(location))" }
        guard !exchange.response.isEmpty else { return text }
        let type = exchange.responseType ?? ""
        // Omits HTML pages, because their markup says nothing about the protocol.
        return type.contains("json") ? "\(text)\n\(ShownText.body(exchange.response))" : "\(text)\n\(type)"
    }
}

extension KeptExchange {
    /// The fields of a form body; `nil` if the body is not a form.
    var form: [(name: String, value: String)]? {
        guard contentType?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false else {
            return nil
        }
        return FormEncoding.decode(body)
    }
}

/// A request between two parties with its response, as recorded by a fake or received by siwa.
struct WorldExchange: Sendable, Equatable {
    /// The log that contains the exchange.
    enum Source: String, CaseIterable { case apple, google, siwa }

    let source: Source
    let exchange: Exchange
    /// The request's number on the console's request page, if siwa received the request and still stores it.
    var requestNumber: Int?

    /// The exchange's name in the path of its page, such as `apple-12`.
    var id: String { "\(source.rawValue)-\(exchange.number)" }
    var step: ExchangeStep { exchange.step }
    /// Start time in nanoseconds on the machine's monotonic clock.
    var begin: UInt64 { exchange.span.begin }
    var end: UInt64 { exchange.span.end }

    /// URL of the standard's section; `nil` if the standard is not an RFC.
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
