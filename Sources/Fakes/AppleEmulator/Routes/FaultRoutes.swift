import EmulatorServer
import HTTPTypes
import Hummingbird
public import StrictJSON

/// Sets, shows and removes endpoint faults.
struct FaultRoutes: Sendable {
    let state: EmulatorState

    func add(to api: ControlAPI<EmulatorRequestContext>) {
        api.add(.get, "faults", "Shows the faults of Apple's endpoints.") { list() }
        api.add(
            .put, "faults/{endpoint}",
            "Makes an endpoint, or the delivery of notifications, fail until the fault is cleared.",
            example: ["status": 503, "times": 3]
        ) { input throws(EmulatorError) in
            (try Self.endpoint(&input), try input.fault())
        } use: { endpoint, fault in
            if endpoint != .keys, fault.body == .noKeys || fault.body == .unusableKeys {
                throw EmulatorError(
                    .memberMalformed, detail: "body: no_keys and unusable_keys are only for keys")
            }
            if endpoint == .notifications, fault.body != nil || fault.status != nil {
                throw EmulatorError(
                    .memberMalformed,
                    detail: "status, body: not for notifications, because the receiver answers them"
                )
            }
            state.setFault(fault, on: endpoint)
            return list()
        }
        api.add(.delete, "faults/{endpoint}", "Clears the fault of an endpoint.") {
            input throws(EmulatorError) in
            try Self.endpoint(&input)
        } use: { endpoint in
            state.setFault(nil, on: endpoint)
            return list()
        }
        api.add(.delete, "faults", "Clears all faults.") {
            state.clearFaults()
            return list()
        }
    }

    private static func endpoint(_ input: inout ControlInput) throws(EmulatorError) -> EmulatedEndpoint {
        let name = input.path("endpoint", EmulatedEndpoint.self)
        guard let endpoint = EmulatedEndpoint(rawValue: name) else {
            let names = EmulatedEndpoint.allCases.map(\.rawValue).joined(separator: ", ")
            throw EmulatorError(.parameterMalformed, detail: "endpoint: one of \(names)")
        }
        return endpoint
    }

    private func list() -> ControlResponse<MembersByWord<EmulatedEndpoint, EndpointFault>> {
        let faults = state.faults
        let names = EmulatedEndpoint.allCases.filter { faults[$0] != nil }.map(\.rawValue)
        return ControlResponse(
            MembersByWord(faults), text: names.isEmpty ? "none" : names.joined(separator: "\n"))
    }
}

extension EndpointFault: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("delay_ms") { $0.delayMilliseconds > 0 ? $0.delayMilliseconds : nil }
        member("status") { $0.status }
        member("body", .words(FaultBody.allCases.map(\.rawValue))) { $0.body?.rawValue }
        member("cut", .words(ConnectionCut.allCases.map(\.rawValue))) { $0.cut?.rawValue }
        member("cache_control") { $0.cacheControl }
        member("etag", "Present and false if the responses have no entity tag.") {
            $0.hidesEntityTag ? false : nil
        }
        member("work", "Absent if the fault decides whether the endpoint does its work.") { $0.doesWork }
        member("times", "Requests to which the fault still applies; absent for all.") {
            $0.remainingRequests
        }
    }
}
