/// One request and its response, as the page shows them: with shortened secrets.
public struct Exchange: Sendable, Equatable {
    public let number: Int
    /// Milliseconds since 1970.
    public let at: Int64
    /// Purpose of the request.
    public let title: String
    /// Method, URL and fields, one per line.
    public let request: String
    /// Status and body, or the reason why no response arrived.
    public let response: String
}

/// The latest exchanges. Pure, and bounded in number and size.
struct ExchangeLog: Sendable {
    static let capacity = 50
    /// Characters of a request or a response, at most.
    static let longestText = 4096

    private(set) var exchanges: [Exchange] = []
    private var lastNumber = 0

    mutating func add(_ title: String, request: String, response: String, at now: Int64) {
        lastNumber += 1
        if exchanges.count >= Self.capacity { exchanges.removeFirst() }
        exchanges.append(
            Exchange(
                number: lastNumber, at: now, title: title, request: Self.cut(request),
                response: Self.cut(response)))
    }

    mutating func clear() { exchanges = [] }

    private static func cut(_ text: String) -> String {
        text.count <= longestText ? text : "\(text.prefix(longestText))…"
    }
}
