import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// Mints valid and forged identity tokens and notifications.
struct TokenRoutes: Sendable {
    let state: EmulatorState
    let post: NotificationDispatcher

    func add(to api: ControlAPI<EmulatorRequestContext>) {
        api.add(
            .post, "identity-tokens",
            "Signs a user in and makes an identity token, valid or forged; text: the token.",
            status: .created, variant: ControlVariant(.signIn) { SignInBody($0) },
            example: ["nonce": "n-1", "code": true]
        ) { input throws(EmulatorError) in
            try input.identityToken()
        } use: { recipe in
            let token = try await state.mint(recipe)
            return ControlResponse(token, text: token.identityToken)
        }
        api.add(
            .post, "notifications",
            "Makes a notification, valid or forged, and posts it; text: the status of the response.",
            status: .created, example: ["type": "consent-revoked"]
        ) { input throws(EmulatorError) in
            (try input.notification(), try post.order(&input))
        } use: { recipe, target in
            let sent = await post.carryOut(target, try await state.mint(recipe))
            return ControlResponse(sent, text: sent.text)
        }
        api.add(
            .post, "deliveries",
            "Posts a payload unchanged, for example a repeated one; text: the status of the response.",
            example: ["payload": "PAYLOAD"]
        ) { input throws(EmulatorError) in
            (try input.required("payload", maximum: ControlInput.bodyLimit), try post.order(&input))
        } use: { payload, target in
            guard let target else { throw EmulatorError(.notificationURLMissing) }
            let delivery = await post.deliver(payload, to: target)
            return ControlResponse(delivery, text: delivery.text)
        }
    }
}
