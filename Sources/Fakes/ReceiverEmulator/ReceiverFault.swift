import EmulatorServer
import StrictJSON

/// A fault of a receiver, until the receiver recovers or the fault has been applied often enough.
public struct ReceiverFault: Sendable, Equatable {
    public enum Kind: String, Sendable, CaseIterable {
        /// The connection is closed without an answer.
        case down
        /// The receiver takes the message after a delay.
        case slow
        /// No answer comes. The connection is closed after `hangMilliseconds`.
        case hang
        /// The receiver refuses with a status, by default 500.
        case error
        /// The answer is a redirect to another path of the receiver.
        case redirect
        /// The receiver takes the message, with an answer of `hugeBody` bytes.
        case hugeBody = "huge_body"
        /// New connections get a certificate that the service does not trust.
        case wrongCertificate = "wrong_certificate"
    }

    /// In seconds. Bounds how long a request can hold its connection.
    public static let delays: ClosedRange<Int64> = 1...60
    /// Longer than the service waits.
    static let hangMilliseconds: Int64 = 30_000
    /// Bytes. A multiple of what the service reads.
    static let hugeBody = 64 << 20

    public var kind: Kind
    /// Delay of `slow`.
    public var seconds: Int64 = 3
    /// Status of `error`, 300 to 599.
    public var status = 500
    /// Number of requests to which the fault still applies; `nil` for all.
    public var remainingRequests: Int?

    public init(_ kind: Kind) { self.kind = kind }

    var json: JSONObject {
        var json = JSONObject([("fault", .string(kind.rawValue))])
        switch kind {
        case .slow: json["seconds"] = .integer(seconds)
        case .error: json["status"] = .integer(Int64(status))
        case .down, .hang, .redirect, .hugeBody, .wrongCertificate: break
        }
        json["times"] = remainingRequests.map { .integer(Int64($0)) }
        return json
    }

    /// Words for the page.
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

extension ControlInput {
    mutating func receiverFault() throws(EmulatorError) -> ReceiverFault {
        guard let kind = try word("fault", ReceiverFault.Kind.self) else {
            let words = ReceiverFault.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw EmulatorError(.memberMalformed, detail: "fault: one of \(words)")
        }
        var fault = ReceiverFault(kind)
        if let seconds = try integer("seconds", in: ReceiverFault.delays) { fault.seconds = seconds }
        if let status = try integer("status", in: 300...599) { fault.status = Int(status) }
        fault.remainingRequests = try integer("times", in: 1...1_000_000).map { Int($0) }
        return fault
    }
}
