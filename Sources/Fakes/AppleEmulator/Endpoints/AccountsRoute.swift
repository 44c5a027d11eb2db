import Cryptography
import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON
import Synchronization

/// `/`, the page with all accounts, and the actions of its buttons; and `/site`, a page in place of the
/// developer's own site.
struct AccountsRoute: Sendable {
    static let changePassword = "change-password"
    static let signIn = "sign-in-on-iphone"
    static let send = "send-to-siwa"

    let state: EmulatorState
    let post: NotificationDispatcher
    /// A random token for the forms (CSRF). Another site can submit a form to the emulator from a developer's
    /// browser, but cannot read this token.
    private let token = Base64URL.encode(SecureRandom.bytes(count: 24))

    init(state: EmulatorState, post: NotificationDispatcher) {
        (self.state, self.post) = (state, post)
    }

    func add(to router: Router<EmulatorRequestContext>) {
        router.get("/") { request, _ in
            do throws(OAuthError) {
                return try page(FormFields((request.uri.query ?? "").utf8)).response.hummingbird
            } catch {
                return ErrorPage(refusal: error).response.hummingbird
            }
        }
        router.get("site") { request, _ in
            do throws(OAuthError) {
                return SitePage(fields: try FormFields((request.uri.query ?? "").utf8)).response.hummingbird
            } catch {
                return ErrorPage(refusal: error).response.hummingbird
            }
        }
        router.post("accounts") { request, _ in
            do throws(OAuthError) {
                let form = try await FormFields(bodyOf: request)
                if form["action"] == Self.signIn { return try signIn(form).response.hummingbird }
                if form["action"] == Self.send { return try await send(form).response.hummingbird }
                try await act(form)
                let back = try UserPage(of: state.users, form).location
                // A redirect, so that reloading the page does not repeat the action.
                return EndpointResponse(status: 303, headers: [.init(name: "Location", value: back)])
                    .hummingbird
            } catch {
                return ErrorPage(refusal: error).response.hummingbird
            }
        }
    }

    private func page(_ query: FormFields) throws(OAuthError) -> AccountsPage {
        let users = state.users
        let deliveries = state.recentDeliveries
        let subjects = Set(deliveries.compactMap(\.subject))
        var names: [String: String] = [:]
        for user in users {
            for identity in user.identities where subjects.contains(identity.subject) {
                names[identity.subject] = UserLine.name(user)
            }
        }
        return AccountsPage(
            users: try UserPage(of: users, query), deliveries: deliveries, names: names,
            bundleIDs: state.apps.map(\.primaryClientID), notificationURL: state.notificationTarget?.url,
            token: token)
    }

    /// Signs a user in to a native app: Apple's sheet on an iPhone has no web page. Every press is a new
    /// sign-in.
    private func signIn(_ form: FormFields) throws(OAuthError) -> IPhonePage {
        try check(form)
        var recipe = IdentityTokenRecipe()
        (recipe.subject, recipe.clientID) = (try form.require("sub"), try form.require("client_id"))
        (recipe.authorizationCode, recipe.nonce) = (.made, form["nonce"].flatMap { $0.isEmpty ? nil : $0 })
        guard recipe.nonce?.utf8.count ?? 0 <= IPhonePage.longestNonce else {
            throw OAuthError(.invalidRequest, "a nonce must have at most \(IPhonePage.longestNonce) bytes")
        }
        do throws(EmulatorError) {
            return IPhonePage(
                user: try state.user(recipe.subject), minted: try state.mint(recipe),
                notificationURL: state.notificationTarget?.url, token: token,
                canSend: state.appBackend.withLock { $0 != nil })
        } catch {
            throw OAuthError(.invalidRequest, error.description)
        }
    }

    /// Lets the app's backend post a sign-in to the service.
    private func send(_ form: FormFields) async throws(OAuthError) -> SentPage {
        try check(form)
        guard let backend = state.appBackend.withLock({ $0 }) else {
            throw OAuthError(.invalidRequest, "no backend runs beside this fake Apple; use the command")
        }
        let json = try? JSONValue(parsing: Array(try form.require("sign_in").utf8))
        guard let signIn = json?.object else {
            throw OAuthError(.invalidRequest, "sign_in is no JSON object")
        }
        do {
            return SentPage(try await backend(signIn))
        } catch {
            throw OAuthError(.invalidRequest, "the backend got no answer: \(error)")
        }
    }

    private func check(_ form: FormFields) throws(OAuthError) {
        guard ConstantTime.areEqual(Array(try form.require("token").utf8), Array(token.utf8)) else {
            throw OAuthError(.invalidRequest, "this page is from an earlier run; reload it")
        }
    }

    private func act(_ form: FormFields) async throws(OAuthError) {
        try check(form)
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
            throw OAuthError(.invalidRequest, error.description)
        }
    }
}
