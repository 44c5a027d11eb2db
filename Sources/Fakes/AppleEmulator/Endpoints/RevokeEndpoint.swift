import Hummingbird

/// `POST /auth/revoke`. Authenticates the client. The response is an empty 200 for known and unknown tokens.
struct RevokeEndpoint: Sendable {
    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let faults = FaultInjection(state: state, endpoint: .revoke)
        router.post("auth/revoke") { request, context in
            try await faults.respond(to: request, on: context.channel) { request, _ in
                await response(to: request)
            }
        }
    }

    private func response(to request: Request) async -> EndpointResponse {
        do throws(OAuthError) {
            let form = try await FormFields(bodyOf: request)
            let (clientID, _) = try state.authenticate(form, includingFormerTeam: false)
            // `token_type_hint` may be wrong (RFC 7009 §2.1), so it is ignored and both token types are
            // looked up.
            state.revoke(try form.require("token"), clientID: clientID)
            return EndpointResponse(headers: [EndpointResponse.noStore])
        } catch {
            state.count(error, on: .revoke)
            return .refusal(error)
        }
    }
}
