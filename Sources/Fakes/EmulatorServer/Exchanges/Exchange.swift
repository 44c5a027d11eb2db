import Dispatch
import Encodings
public import StrictJSON
import Synchronization

/// One request and its response, for display on pages, with shortened secrets.
public struct Exchange: Sendable, Equatable {
    /// Sequence number of the exchange in one emulator's log.
    public let number: Int
    public let step: ExchangeStep
    /// Purpose of the request.
    public let title: String
    /// Request method, URL and headers, one per line.
    public let request: String
    /// Response status and body, or the reason why no response arrived.
    public let response: String
    /// Response status; `nil` if no response arrived, or if the exchange is a step in a browser.
    public let status: Int?
    /// Start time in milliseconds since 1970.
    public let at: Int64
    public let span: ExchangeSpan
    /// Value of `X-Request-ID` in the response, which identifies the server's own record. `nil` if there is
    /// no such a header, and for a request that the emulator itself received.
    public let requestID: String?

    package init(
        number: Int, step: ExchangeStep, title: String, request: String, response: String, status: Int?,
        at: Int64, span: ExchangeSpan, requestID: String?
    ) {
        (self.number, self.step, self.title) = (number, step, title)
        (self.request, self.response, self.status) = (request, response, status)
        (self.at, self.span, self.requestID) = (at, span, requestID)
    }
}

extension Exchange: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("number") { $0.number }
        member("at", ["format": "date-time"]) { RFC3339.text(milliseconds: $0.at) }
        member("title", "The purpose of the request.") { $0.title }
        member("request", "Method, URL and header fields, one per line.") { $0.request }
        member("answer", "Status and body, or the reason why no response arrived.") { $0.response }
        member("from", "The sender of the request.") { $0.step.from.rawValue }
        member("to", "The receiver of the request.") { $0.step.to.rawValue }
        member("standard", "The section of a standard.") { $0.step.standard }
    }
}

/// Start and end of an exchange on the machine's monotonic clock, so that exchanges within the same
/// millisecond stay in order.
public struct ExchangeSpan: Sendable, Equatable {
    /// Start in nanoseconds since the machine started.
    public let begin: UInt64
    public let end: UInt64

    public init(begin: UInt64, end: UInt64) { (self.begin, self.end) = (begin, max(begin, end)) }

    public var milliseconds: Double { Double(end - begin) / 1_000_000 }
}

/// The start of an exchange.
package struct ExchangeStart: Sendable {
    /// Start time in milliseconds since 1970.
    let at: Int64
    let begin: UInt64

    package init(at now: Int64) {
        at = now
        begin = DispatchTime.now().uptimeNanoseconds
    }
}

/// The latest exchanges. Limits their number and size, and does no I/O.
package struct ExchangeLog: Sendable {
    /// The maximum number of routine exchanges, and also of other exchanges, that are stored. The counts are
    /// separate, so that routine exchanges do not displace other exchanges.
    package static let capacity = 50
    /// Maximum number of characters stored per request or response.
    package static let longestText = 4096
    /// Maximum number of characters in a request ID.
    private static let longestID = 128

    private var routine: [Exchange] = []
    private var others: [Exchange] = []
    private var lastNumber = 0

    package init() {}

    /// All stored exchanges, the oldest first.
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

    /// Returns the text, truncated to the maximum length.
    package static func cut(_ text: String) -> String {
        text.count <= longestText ? text : "\(text.prefix(longestText))…"
    }
}

/// A protocol step: sender, receiver, and the section of the specification that describes the request.
public struct ExchangeStep: Sendable, Equatable {
    /// A party in the fake world.
    public enum Party: String, Sendable, CaseIterable {
        /// `browser` includes the app with its backend.
        case browser, google, siwa, apple
    }

    public let from: Party
    public let to: Party
    /// Section of the specification, such as "RFC 6749 §4.1.3".
    public let standard: String
    /// True for requests that repeat without user action, such as daily checks.
    public let isRoutine: Bool
    /// True for a step that redirects the browser and has no separate response.
    public let isOneWay: Bool

    public init(
        _ from: Party, _ to: Party, _ standard: String, isRoutine: Bool = false, isOneWay: Bool = false
    ) {
        (self.from, self.to, self.standard) = (from, to, standard)
        (self.isRoutine, self.isOneWay) = (isRoutine, isOneWay)
    }
}

extension ExchangeStep {
    // Steps between the browser and the app.
    public static let authorizationRequest = ExchangeStep(
        .google, .browser, "RFC 6749 §4.1.1", isOneWay: true)
    public static let authorizationResponse = ExchangeStep(
        .browser, .google, "RFC 6749 §4.1.2", isOneWay: true)
    public static let appFlip = ExchangeStep(.browser, .siwa, "Google: App Flip")
    public static let appSignIn = ExchangeStep(.browser, .apple, "Apple: ASAuthorizationController")
    public static let appleAuthorization = ExchangeStep(.browser, .apple, "OpenID Connect Core §3.1.2")

    // Steps between Google and siwa.
    public static let codeExchange = ExchangeStep(.google, .siwa, "RFC 6749 §4.1.3")
    public static let refresh = ExchangeStep(.google, .siwa, "RFC 6749 §6")
    public static let introspection = ExchangeStep(.browser, .siwa, "RFC 7662 §2.1")
    public static let revocation = ExchangeStep(.google, .siwa, "RFC 7009 §2.1")
    public static let assertion = ExchangeStep(.google, .siwa, "RFC 7523 §2.1")
    public static let pushedEvent = ExchangeStep(.google, .siwa, "RFC 8935 §2.1")
    public static let serverMetadata = ExchangeStep(.google, .siwa, "OpenID SSF §7.2")
    public static let serverKeys = ExchangeStep(.google, .siwa, "RFC 7517 §5")
    public static let reportedEvent = ExchangeStep(.siwa, .google, "RFC 8935 §2.1")
    public static let googleKeys = ExchangeStep(.siwa, .google, "RFC 7517 §5")
    public static let googleMetadata = ExchangeStep(.siwa, .google, "OpenID SSF §7.2")
    public static let eventStream = ExchangeStep(.siwa, .google, "OpenID SSF §8.1")

    // Steps between siwa and Apple.
    public static let appleKeys = ExchangeStep(.siwa, .apple, "RFC 7517 §5")
    public static let appleMetadata = ExchangeStep(.siwa, .apple, "OpenID Connect Discovery §4")
    public static let appleCodeExchange = ExchangeStep(.siwa, .apple, "RFC 6749 §4.1.3")
    /// Requests that `siwa doctor` sends.
    public static let appleKeysTrial = ExchangeStep(.siwa, .apple, "RFC 7517 §5", isRoutine: true)
    public static let applePageTrial = ExchangeStep(
        .siwa, .apple, "OpenID Connect Core §3.1.2", isRoutine: true)
    public static let appleSecretTrial = ExchangeStep(.siwa, .apple, "RFC 6749 §4.1.3", isRoutine: true)
    public static let appleRefresh = ExchangeStep(.siwa, .apple, "RFC 6749 §6", isRoutine: true)
    public static let appleClientGrant = ExchangeStep(.siwa, .apple, "RFC 6749 §4.4.2")
    public static let appleRevocation = ExchangeStep(.siwa, .apple, "RFC 7009 §2.1")
    public static let appleMigration = ExchangeStep(.siwa, .apple, "Apple: TN3159")
    public static let appleReceipt = ExchangeStep(.siwa, .apple, "Apple: Assessing fraud risk")
    public static let appleNotification = ExchangeStep(.apple, .siwa, "RFC 8417 §2")
}

/// Notifies one listener of each exchange, for pages that show exchanges as they happen.
package final class ExchangeObserver: Sendable {
    private let listener = Mutex<(@Sendable () -> Void)?>(nil)

    package init() {}

    /// Replaces the listener. The listener can be called on any thread, and must be fast.
    package func listen(_ action: @escaping @Sendable () -> Void) { listener.withLock { $0 = action } }

    package func tell() { listener.withLock { $0 }?() }
}
