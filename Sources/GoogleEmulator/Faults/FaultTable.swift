import StrictJSON

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
