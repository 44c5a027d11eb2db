import HTTPTypes
import Hummingbird

/// `GET /auth/keys`.
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
