import HTTPTypes
import Hummingbird

/// `GET /auth/keys`, as Apple answers it or as the fault of the hour has it.
struct KeySetEndpoint: Sendable {
    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let shell = EndpointShell(state: state, endpoint: .keys)
        router.get("auth/keys") { request, context in
            try await shell.respond(on: context.channel) { fault in
                state.keySet(ifNoneMatch: request.headers[.ifNoneMatch], fault: fault)
            }
        }
    }
}
