import EmulatorServer
public import StrictJSON

/// The request or endpoint that a fault applies to. The raw value is its name in the control API.
public enum FaultPlace: String, Sendable, CaseIterable {
    /// Google's requests to the token endpoint.
    case token
    /// `POST /v1beta/events:report`
    case report
    /// `GET /oauth2/v3/certs`
    case certs
    /// `GET /.well-known/risc-configuration`
    case riscConfiguration = "risc_configuration"
    /// The RISC API, where event receivers are registered.
    case stream
}

/// A fault in Google's requests or responses. It ends when it is removed, or after a given number of uses.
public struct GoogleFault: Sendable, Equatable {
    /// Maximum delay, which is longer than usual timeouts.
    public static let maximumDelay: Int64 = 60_000

    /// The loss of one of Google's requests, or of its response. Only for `token`.
    public enum Loss: String, Sendable, CaseIterable {
        /// The request is not sent, as if the server were unreachable.
        case request
        /// The request is sent, but its response does not arrive, so Google does not know the outcome.
        case response = "answer"
    }

    /// Delay before the request or the response is sent.
    public var delayMilliseconds: Int64 = 0
    /// Response status of Google's endpoint, 200 to 599. If it is set, the endpoint sends only this status.
    public var status: Int?
    public var loss: Loss?
    /// Number of requests that the fault still applies to; `nil` for all requests.
    public var remainingRequests: Int?

    public init() {}
}

extension GoogleFault: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("delay_ms") { $0.delayMilliseconds > 0 ? $0.delayMilliseconds : nil }
        member("status") { $0.status }
        member("lose", .words(Loss.allCases.map(\.rawValue))) { $0.loss?.rawValue }
        member("times", "Requests to which the fault still applies; absent for all.") {
            $0.remainingRequests
        }
    }
}

/// The faults that are currently set. Does no I/O.
struct FaultTable: Sendable {
    private(set) var faults: [FaultPlace: GoogleFault] = [:]

    subscript(place: FaultPlace) -> GoogleFault? {
        get { faults[place] }
        set { faults[place] = newValue }
    }

    /// Returns the fault that applies to the next request, if any, and counts the request.
    mutating func take(_ place: FaultPlace) -> GoogleFault? {
        guard let fault = faults[place] else { return nil }
        if let remaining = fault.remainingRequests {
            faults[place]?.remainingRequests = remaining - 1
            if remaining <= 1 { faults[place] = nil }
        }
        return fault
    }

    mutating func clear() { faults = [:] }
}
