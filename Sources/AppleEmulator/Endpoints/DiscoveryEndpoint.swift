import HTTPTypes
import Hummingbird

/// `GET /.well-known/openid-configuration`, for clients that are configured only with Apple's issuer.
struct DiscoveryEndpoint: Sendable {
    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let shell = EndpointShell(state: state, endpoint: .discovery)
        router.get(".well-known/openid-configuration") { request, context in
            try await shell.respond(on: context.channel) { _ in
                DiscoveryDocument(baseURL: state.baseURL(request, on: context.channel)).answer
            }
        }
    }
}
