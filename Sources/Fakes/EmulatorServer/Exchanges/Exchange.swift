import Dispatch

/// One request and its response, as pages show them: with shortened secrets.
public struct Exchange: Sendable, Equatable {
    /// Number in the log of one emulator.
    public let number: Int
    public let step: ExchangeStep
    /// Purpose of the request.
    public let title: String
    /// Method, URL and fields, one per line.
    public let request: String
    /// Status and body, or the reason why no response arrived.
    public let response: String
    /// The status of the response. `nil` when none arrived, and where the exchange is a step in a browser.
    public let status: Int?
    /// Beginning, in milliseconds since 1970.
    public let at: Int64
    public let span: ExchangeSpan
    /// `X-Request-ID` of the response, by which the server's own record is found. `nil` without such a field, and
    /// for a request that the emulator itself received.
    public let requestID: String?
}

/// Beginning and end of an exchange by the machine's monotonic clock, so that exchanges within a millisecond stay
/// in order.
public struct ExchangeSpan: Sendable, Equatable {
    /// Nanoseconds since the start of the machine.
    public let begin: UInt64
    public let end: UInt64

    public init(begin: UInt64, end: UInt64) { (self.begin, self.end) = (begin, max(begin, end)) }

    public var milliseconds: Double { Double(end - begin) / 1_000_000 }
}

/// An exchange that has begun.
package struct ExchangeStart: Sendable {
    /// Milliseconds since 1970.
    let at: Int64
    let begin: UInt64

    package init(at now: Int64) {
        at = now
        begin = DispatchTime.now().uptimeNanoseconds
    }
}

/// The latest exchanges. Pure, and bounded in number and size.
package struct ExchangeLog: Sendable {
    /// For exchanges that repeat, and for all others, so that the first do not push the others out.
    package static let capacity = 50
    /// Characters of a request or a response, at most.
    package static let longestText = 4096
    /// Characters of a request ID, at most.
    private static let longestID = 128

    private var routine: [Exchange] = []
    private var others: [Exchange] = []
    private var lastNumber = 0

    package init() {}

    /// All kept exchanges, the oldest first.
    package var exchanges: [Exchange] { (routine + others).sorted { $0.number < $1.number } }

    package mutating func add(
        _ step: ExchangeStep, _ title: String, request: String, response: String, status: Int?,
        since start: ExchangeStart, requestID: String? = nil
    ) {
        lastNumber += 1
        let exchange = Exchange(
            number: lastNumber, step: step, title: title, request: Self.cut(request),
            response: Self.cut(response), status: status, at: start.at,
            span: ExchangeSpan(begin: start.begin, end: DispatchTime.now().uptimeNanoseconds),
            requestID: requestID.map { String($0.prefix(Self.longestID)) })
        if step.isRoutine { Self.append(exchange, to: &routine) } else { Self.append(exchange, to: &others) }
    }

    package mutating func clear() { (routine, others) = ([], []) }

    private static func append(_ exchange: Exchange, to list: inout [Exchange]) {
        if list.count >= capacity { list.removeFirst() }
        list.append(exchange)
    }

    /// The text, shortened to what is kept.
    package static func cut(_ text: String) -> String {
        text.count <= longestText ? text : "\(text.prefix(longestText))…"
    }
}
