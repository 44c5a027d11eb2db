/// A request between two parties of the fake world, and its response.
public struct WorldExchange: Sendable, Equatable {
    public enum Party: String, Sendable, CaseIterable {
        /// The browser of a person, and the app with its backend.
        case browser, google, siwa, apple

        var title: String {
            switch self {
            case .browser: "Browser, app"
            case .google: "Google"
            case .siwa: "siwa"
            case .apple: "Apple"
            }
        }
    }

    /// Name in the path of its page, such as `apple-12`.
    public let id: String
    public let from: Party
    public let to: Party
    public let title: String
    /// The specification and its section, such as "RFC 6749 §4.1.3".
    public let standard: String
    /// The request with its fields. Secrets are shortened, tokens are decoded.
    public let request: String
    public let response: String
    /// `nil` when no response arrived, and for a step that leads the browser.
    public let status: Int?
    /// Beginning, in milliseconds since 1970.
    public let at: Int64
    /// Beginning and end in nanoseconds of the machine's monotonic clock.
    public let begin: UInt64
    public let end: UInt64
    /// True for requests that repeat without a person, such as daily checks.
    public let isRoutine: Bool
    /// True for a step that leads the browser on, and has no response of its own.
    public let isOneWay: Bool
    /// Number of the request on the page of requests, where siwa has received it and still keeps it.
    public let requestNumber: Int?

    public init(
        id: String, from: Party, to: Party, title: String, standard: String, request: String,
        response: String, status: Int?, at: Int64, begin: UInt64, end: UInt64, isRoutine: Bool = false,
        isOneWay: Bool = false, requestNumber: Int? = nil
    ) {
        (self.id, self.from, self.to, self.title) = (id, from, to, title)
        (self.standard, self.request, self.response) = (standard, request, response)
        (self.status, self.at, self.begin, self.end) = (status, at, begin, max(begin, end))
        (self.isRoutine, self.isOneWay, self.requestNumber) = (isRoutine, isOneWay, requestNumber)
    }

    /// Address of the section; `nil` for what is no RFC.
    var standardURL: String? {
        let words = standard.split(separator: " ")
        guard words.count == 3, words[0] == "RFC", words[2].hasPrefix("§") else { return nil }
        return "https://www.rfc-editor.org/rfc/rfc\(words[1])#section-\(words[2].dropFirst())"
    }

    /// The duration in words.
    var duration: String {
        let tenths = (end - begin) / 100_000
        return tenths < 100 ? "\(tenths / 10).\(tenths % 10) ms" : "\(tenths / 10) ms"
    }

    /// The outcome in words.
    var outcome: String {
        isOneWay ? "leads the browser" : status.map { "\($0) in \(duration)" } ?? "no answer"
    }

    var isBad: Bool { !isOneWay && status.map { $0 >= 400 } ?? true }
}
