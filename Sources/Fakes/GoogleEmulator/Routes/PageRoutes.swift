import Cryptography
import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird

/// The pages: the Google app, and the user's iPhone app.
struct PageRoutes: Sendable {
    let state: GoogleState
    private let token = Base64URL.encode(SecureRandom.bytes(count: 24))

    init(state: GoogleState) { self.state = state }

    private var linking: Linking { Linking(state: state) }

    func add(to router: Router<BasicRequestContext>) {
        router.get("/") { _, _ in HomePage(state: state, token: token).response }
        for path in ["r/:name", "a/:name"] as [RouterPath] {
            router.get(path) { request, _ in
                let fields = FormEncoding.decode((request.uri.query ?? "").utf8) ?? []
                let base = state.update { $0.baseURL }
                let link = try await linking.receiveResponse(fields, at: base + request.uri.path)
                // The redirect removes the URL with the code from the browser's history.
                return Response.seeOther("/#link-\(link.id)")
            }
        }
        router.post("link") { request, _ in
            let form = try await form(request)
            var wanted = LinkRequest()
            wanted.mode = form["mode"] == AccountLink.Mode.appFlip.rawValue ? .appFlip : .browser
            wanted.scope = form["scope"]
            wanted.userLocale = form["user_locale"]
            wanted.loginHint = form["login_hint"]
            wanted.usesPKCE = form["pkce"] != nil
            return OpenPage(start: try linking.begin(wanted)).response
        }
        router.post("links") { request, _ in
            let form = try await form(request)
            switch form["action"] {
            case "refresh": _ = try await linking.refresh(form["link"])
            case "call": _ = try await linking.call(form["link"])
            case "unlink": _ = try await linking.unlink(form["link"])
            default: throw EmulatorError(.memberMalformed, detail: "action")
            }
            return Response.seeOther("/")
        }
        router.post("streamlined") { request, _ in
            let form = try await form(request)
            var account = GoogleAccount()
            if let email = form["email"] { account.email = email }
            if let subject = form["sub"] { account.subject = subject }
            guard let intent = StreamlinedIntent(rawValue: form["intent"] ?? "") else {
                throw EmulatorError(.memberMalformed, detail: "intent")
            }
            _ = try await linking.streamlined(intent, account, scope: nil)
            return Response.seeOther("/")
        }
        router.post("events") { request, _ in
            let form = try await form(request)
            var event = SentEvent()
            event.type = form["type"].flatMap { SentEventType(rawValue: $0) } ?? .sessionsRevoked
            event.subject = form["sub"]
            if event.type == .accountDisabled { event.reason = form["reason"] }
            if event.type == .tokenRevoked { event.refreshToken = try linking.link(nil).refreshToken }
            event.state = "test"
            _ = try await linking.send(event)
            return Response.seeOther("/")
        }
        addApp(to: router)
    }

    private func addApp(to router: Router<BasicRequestContext>) {
        router.get("app/link") { request, _ in
            let link = AppFlipLink(FormEncoding.decode((request.uri.query ?? "").utf8) ?? [])
            return AppPage(link: link, app: AppFlipApp(state: state), token: token).response
        }
        router.post("app/decision") { request, _ in
            let form = try await form(request)
            let (link, app) = (AppFlipLink(form.parameters), AppFlipApp(state: state))
            guard app.check(link) == .fine, let decision = AppFlipDecision(rawValue: form["decision"] ?? "")
            else { throw EmulatorError(.memberMalformed, detail: "decision") }
            var identity: AppFlipIdentity?
            if decision == .granted {
                if let id = form["account_id"] {
                    identity = .accountID(id)
                } else {
                    identity = .identityToken(try await app.identityToken(subject: form["sub"]))
                }
            }
            let (url, response) = try await app.decide(decision, link, identity: identity)
            return AppResponsePage(redirectTo: url, backendResponse: response).response
        }
    }

    private func form(_ request: Request) async throws -> PageForm {
        let form = try await PageForm(request)
        try form.check(token: token)
        return form
    }
}
