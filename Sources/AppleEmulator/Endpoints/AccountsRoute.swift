import Cryptography
import Encodings
import HTTPTypes
import Hummingbird
import NIOCore

/// `/`: the page with everybody's account, and what its buttons do. And `/site`, for who has no site to come back to.
struct AccountsRoute: Sendable {
    static let changePassword = "change-password"

    let state: EmulatorState
    let post: NotificationPost
    /// New in every run. Another site can send a form here from a developer's browser, but cannot read this.
    private let token = Base64URL.encode(SecureRandom.bytes(count: 24))

    init(state: EmulatorState, post: NotificationPost) {
        (self.state, self.post) = (state, post)
    }

    func add(to router: Router<EmulatorRequestContext>) {
        router.get("/") { request, _ in
            do throws(OAuthRefusal) {
                return try page(FormFields((request.uri.query ?? "").utf8)).answer.response
            } catch {
                return RefusalPage(refusal: error).answer.response
            }
        }
        router.get("site") { request, _ in
            do throws(OAuthRefusal) {
                return SitePage(fields: try FormFields((request.uri.query ?? "").utf8)).answer.response
            } catch {
                return RefusalPage(refusal: error).answer.response
            }
        }
        router.post("accounts") { request, _ in
            do throws(OAuthRefusal) {
                let form = try await FormFields(bodyOf: request)
                try await act(form)
                let back = try UserPage(of: state.users, form).location
                // So that loading the page again does not do it again.
                return EndpointAnswer(status: 303, headers: [.init(name: "Location", value: back)]).response
            } catch {
                return RefusalPage(refusal: error).answer.response
            }
        }
    }

    private func page(_ query: FormFields) throws(OAuthRefusal) -> AccountsPage {
        AccountsPage(
            people: try UserPage(of: state.users, query), deliveries: state.recentDeliveries,
            notificationURL: state.notificationTarget?.url, token: token)
    }

    private func act(_ form: FormFields) async throws(OAuthRefusal) {
        guard ConstantTime.areEqual(Array(try form.require("token").utf8), Array(token.utf8)) else {
            throw OAuthRefusal(.invalidRequest, "this page is of an earlier run; load it again")
        }
        let (subject, action) = (try form.require("sub"), try form.require("action"))
        do throws(EmulatorError) {
            if action == Self.changePassword { return try state.changePassword(of: subject) }
            guard let change = AccountChange(rawValue: action) else {
                throw EmulatorError(.parameterMalformed, detail: "action")
            }
            var recipe = NotificationRecipe()
            recipe.subject = subject
            recipe.clientID = form["client_id"]
            for notification in try state.change(change, notifying: recipe).notifications {
                if let target = state.notificationTarget { _ = await post.announce(notification, to: target) }
            }
        } catch {
            throw OAuthRefusal(.invalidRequest, error.description)
        }
    }
}
