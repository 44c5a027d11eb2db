import EmulatorServer
public import StrictJSON

/// A fault that a receiver simulates. It ends when the receiver recovers, or after the fault has been applied
/// a given number of times.
public struct ReceiverFault: Sendable, Equatable {
    public enum Kind: String, Sendable, CaseIterable {
        /// The receiver closes the connection without a response.
        case down
        /// The receiver accepts the message after a delay.
        case slow
        /// The receiver sends no response, and closes the connection after `hangMilliseconds`.
        case hang
        /// The receiver refuses the message with an error status, by default 500.
        case error
        /// The receiver responds with a redirect to another of its paths.
        case redirect
        /// The receiver accepts the message, with a response body of `hugeBody` bytes.
        case hugeBody = "huge_body"
        /// New connections receive a certificate that the service does not trust.
        case wrongCertificate = "wrong_certificate"
    }

    /// Allowed delays in seconds. The upper bound limits how long a request can hold its connection.
    public static let delays: ClosedRange<Int64> = 1...60
    /// Duration of `hang`, longer than the service's timeout.
    static let hangMilliseconds: Int64 = 30_000
    /// Size of the response body in bytes, much larger than the service accepts.
    static let hugeBody = 64 << 20

    public var kind: Kind
    /// Delay for `slow`, in seconds.
    public var seconds: Int64 = 3
    /// Response status for `error`, 300 to 599.
    public var status = 500
    /// Number of requests that the fault still applies to; `nil` for all requests.
    public var remainingRequests: Int?

    public init(_ kind: Kind) { self.kind = kind }

    /// The fault in words, for the page.
    var words: String {
        switch kind {
        case .down: "is down: it closes every connection without an answer"
        case .slow: "is slow: it answers after \(seconds) s"
        case .hang: "hangs: it does not answer"
        case .error: "fails: it answers \(status)"
        case .redirect: "redirects: it answers 307"
        case .hugeBody: "answers with \(Self.hugeBody >> 20) MiB"
        case .wrongCertificate: "shows a certificate that siwa does not trust"
        }
    }
}

extension ReceiverFault: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("fault", .words(Kind.allCases.map(\.rawValue))) { $0.kind.rawValue }
        member("seconds", "Only for slow.") { $0.kind == .slow ? $0.seconds : nil }
        member("status", "Only for error.") { $0.kind == .error ? $0.status : nil }
        member("times", "Requests to which the fault still applies; absent for all.") {
            $0.remainingRequests
        }
    }
}

extension ControlInput {
    mutating func receiverFault() throws(EmulatorError) -> ReceiverFault {
        try require("fault")
        var fault = ReceiverFault(try word("fault", ReceiverFault.Kind.self) ?? .down)
        if let seconds = try integer("seconds", in: ReceiverFault.delays) { fault.seconds = seconds }
        if let status = try integer("status", in: 300...599) { fault.status = Int(status) }
        fault.remainingRequests = try integer("times", in: 1...1_000_000).map { Int($0) }
        return fault
    }
}
