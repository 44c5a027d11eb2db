import Hummingbird

/// `POST /auth/revoke`. It authenticates the client. The response is an empty 200 for a known and for an
/// unknown token.
struct RevokeEndpoint: Sendable {
    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let shell = EndpointShell(state: state, endpoint: .revoke)
        router.post("auth/revoke") { request, context in
            try await shell.respond(on: context.channel) { _ in await answer(request) }
        }
    }

    private func answer(_ request: Request) async -> EndpointAnswer {
        do throws(OAuthRefusal) {
            let form = try await FormFields(bodyOf: request)
            let (clientID, _) = try state.authenticate(form, includingFormerTeam: false)
            // `token_type_hint` may be wrong (RFC 7009 §2.1), so it is ignored and both token types are
            // looked up.
            state.revoke(try form.require("token"), clientID: clientID)
            return EndpointAnswer(headers: [EndpointAnswer.noStore])
        } catch {
            state.count(error, on: .revoke)
            return .refusal(error)
        }
    }
}
