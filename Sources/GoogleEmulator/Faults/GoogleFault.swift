import StrictJSON

/// Where a fault can be set. The raw value is its name in the control API.
public enum FaultPlace: String, Sendable, CaseIterable {
    /// Google's requests to the token endpoint.
    case token
    /// `POST /v1beta/events:report`
    case report
    /// `GET /oauth2/v3/certs`
    case certs
    /// `GET /.well-known/risc-configuration`
    case riscConfiguration = "risc_configuration"
}

/// A fault, until it is removed or has been applied often enough.
public struct GoogleFault: Sendable, Equatable {
    /// Longer than usual time limits.
    public static let maximumDelay: Int64 = 60_000

    /// What happens to a request of Google, at `token` only.
    public enum Loss: String, Sendable, CaseIterable {
        /// It is not sent, as if the server were unreachable.
        case request
        /// It is sent, and its answer does not arrive: Google cannot know what was done.
        case answer
    }

    /// Before the request is sent or answered.
    public var delayMilliseconds: Int64 = 0
    /// The answer of an endpoint of Google instead of its own, 200 to 599. Nothing is done then.
    public var status: Int?
    public var loss: Loss?
    /// To how many requests it still applies; `nil` for all.
    public var remainingRequests: Int?

    public init() {}

    var json: JSONObject {
        var json = JSONObject()
        if delayMilliseconds > 0 { json["delay_ms"] = .integer(delayMilliseconds) }
        json["status"] = status.map { .integer(Int64($0)) }
        json["lose"] = loss.map { .string($0.rawValue) }
        json["times"] = remainingRequests.map { .integer(Int64($0)) }
        return json
    }
}

/// The faults that are set. Pure.
struct FaultTable: Sendable {
    private(set) var faults: [FaultPlace: GoogleFault] = [:]

    subscript(place: FaultPlace) -> GoogleFault? {
        get { faults[place] }
        set { faults[place] = newValue }
    }

    /// Returns the fault that applies to the next request, and counts it.
    mutating func take(_ place: FaultPlace) -> GoogleFault? {
        guard let fault = faults[place] else { return nil }
        if let remaining = fault.remainingRequests {
            faults[place]?.remainingRequests = remaining - 1
            if remaining <= 1 { faults[place] = nil }
        }
        return fault
    }

    mutating func clear() { faults = [:] }

    var json: JSONObject {
        var json = JSONObject()
        for place in FaultPlace.allCases { json[place.rawValue] = faults[place].map { .object($0.json) } }
        return json
    }
}
