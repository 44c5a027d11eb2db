import EmulatorServer
import HTTPTypes
import Hummingbird

/// Mints valid and forged identity tokens and notifications.
struct TokenRoutes: Sendable {
    let state: EmulatorState
    let post: NotificationDispatcher

    func add(to group: RouterGroup<EmulatorRequestContext>) {
        group.control(.post, "identity-tokens") { request in
            let token = try state.mint(
                request.input { input throws(EmulatorError) in try input.identityToken() })
            return ControlResponse(
                status: .created, json: token.json, text: token.identityToken, signIn: token.signIn)
        }
        group.control(.post, "notifications") { request in
            let (recipe, target) = try request.input { input throws(EmulatorError) in
                (try input.notification(), try post.order(&input))
            }
            let sent = await post.carryOut(target, try state.mint(recipe))
            return ControlResponse(status: .created, json: sent.json, text: sent.text)
        }
        group.control(.post, "deliveries") { request in try await deliver(request) }
    }

    /// Posts a given payload unchanged, for example one that was posted before or has no valid signature.
    private func deliver(_ request: ControlRequest) async throws -> ControlResponse {
        let (payload, target) = try request.input { input throws(EmulatorError) in
            (try input.string("payload", maximum: ControlInput.bodyLimit), try post.order(&input))
        }
        guard let payload else { throw EmulatorError(.memberMalformed, detail: "payload: a string") }
        guard let target else { throw EmulatorError(.notificationURLMissing) }
        let delivery = await post.deliver(payload, to: target)
        return ControlResponse(json: delivery.json, text: delivery.text)
    }
}
