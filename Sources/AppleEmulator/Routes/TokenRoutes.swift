import HTTPTypes
import Hummingbird

/// Mints valid and forged identity tokens and notifications.
struct TokenRoutes: Sendable {
    let state: EmulatorState
    let post: NotificationPost

    func add(to group: RouterGroup<EmulatorRequestContext>) {
        group.control(.post, "identity-tokens") { call in
            let token = try state.mint(
                call.input { input throws(EmulatorError) in try input.identityToken() })
            return ControlAnswer(
                status: .created, json: token.json, text: token.identityToken, signIn: token.signIn)
        }
        group.control(.post, "notifications") { call in
            let (recipe, target) = try call.input { input throws(EmulatorError) in
                (try input.notification(), try post.order(&input))
            }
            let sent = await post.carryOut(target, try state.mint(recipe))
            return ControlAnswer(status: .created, json: sent.json, text: sent.text)
        }
        group.control(.post, "deliveries") { call in try await deliver(call) }
    }

    /// Posts a given payload unchanged: a repeated one, or one without a valid signature.
    private func deliver(_ call: Call) async throws -> ControlAnswer {
        let (payload, target) = try call.input { input throws(EmulatorError) in
            (try input.string("payload", maximum: ControlInput.bodyLimit), try post.order(&input))
        }
        guard let payload else { throw EmulatorError(.memberMalformed, detail: "payload: a string") }
        guard let target else { throw EmulatorError(.notificationURLMissing) }
        let delivery = await post.deliver(payload, to: target)
        return ControlAnswer(json: delivery.json, text: delivery.text)
    }
}
