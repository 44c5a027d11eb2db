import EmulatorServer
import Pages
public import StrictJSON
import Synchronization

extension AccountsRoute {
    /// Bytes.
    private static let longestNonce = 512

    /// Signs a user in to a native app: Apple's sheet on an iPhone has no web page. Every press is a new
    /// sign-in. The page shows the values that the app receives, and the request of its backend to the service.
    func signIn(_ form: FormFields) throws(OAuthError) -> EndpointResponse {
        var recipe = IdentityTokenRecipe()
        (recipe.subject, recipe.clientID) = (try form.require("sub"), try form.require("client_id"))
        (recipe.authorizationCode, recipe.nonce) = (.made, form["nonce"])
        guard recipe.nonce?.utf8.count ?? 0 <= Self.longestNonce else {
            throw OAuthError(.invalidRequest, "a nonce must have at most \(Self.longestNonce) bytes")
        }
        do throws(EmulatorError) {
            return page(of: try state.user(recipe.subject), try state.mint(recipe))
        } catch {
            throw OAuthError(.invalidRequest, error.description)
        }
    }

    private func page(of user: EmulatedUser, _ minted: MintedIdentityToken) -> EndpointResponse {
        let members = minted.signIn.members.map { member in
            "\(member.name)\n\(member.value.string ?? String(decoding: member.value.serialized(), as: UTF8.self))"
        }
        var json = minted.signIn
        // Without `client_id`, the service uses its first configured client ID.
        json["client_id"] = .string(minted.clientID)
        let body = String(decoding: JSONValue.object(json).serialized(), as: UTF8.self)
        let again = [
            ("token", token), ("action", Self.signIn), ("sub", user.subject), ("client_id", minted.clientID),
        ]
        return .page("Sign in on an iPhone", isWide: true) {
            "<h1>Signed in on an iPhone</h1>"
            HTML.section(look: "account") {
                """
                <div class="person">\(user.line)</div>
                <p>The app <b>\(minted.clientID)</b> gets an identity token, which is good for a day, and a code, \
                which is good once and for five minutes. \(Self.gift(isFirst: minted.user != nil))</p>
                <pre>\(members.joined(separator: "\n\n"))</pre>
                """
            }
            HTML.section("What the backend posts to siwa", look: "account") {
                """
                <p>SIWA_KEY is an API key of the service. <code>siwa dev</code> takes siwa_development.</p>
                <pre>\(command(posting: body))</pre>
                """
                if state.appBackend.withLock({ $0 != nil }) {
                    let fields = [("token", token), ("action", Self.send), ("sign_in", body)]
                    HTML.form(to: "/accounts", fields) { "<button class=\"main\">Send to siwa</button>" }
                }
                "<p><a href=\"/\">Back to the accounts</a></p>"
            }
            HTML.section("With a nonce", look: "account") {
                """
                <p>nonce_sha256 of <code>POST /v1/nonces</code>. The sign-in then needs the nonce beside the \
                token.</p>
                """
                HTML.form(to: "/accounts", again) {
                    """
                    <label for="nonce">Nonce in the token</label>\
                    <input id="nonce" type="text" name="nonce" maxlength="\(Self.longestNonce)" \
                    value="\(minted.nonce)"><button>Sign in once more</button>
                    """
                }
            }
        }
    }

    private static func gift(isFirst: Bool) -> String {
        isFirst
            ? "This is the first time, so the app gets the name and the address beside the token too."
            : "The user has used the app before, so Apple does not tell the name again."
    }

    private func command(posting json: String) -> String {
        let path = "/v1/apple/notifications"
        let service = state.notificationTarget.flatMap { target in
            target.url.hasSuffix(path) ? String(target.url.dropLast(path.count)) : nil
        }
        // A shell keeps every character between single quotes, except a single quote.
        let quoted = json.replacing("'", with: #"'\''"#)
        return """
            curl -sS \(service ?? "$SIWA")/v1/sign-ins -H "Authorization: Bearer $SIWA_KEY" --json '\(quoted)'
            """
    }

    /// Lets the app's backend post a sign-in to the service, and shows the response.
    func send(_ form: FormFields) async throws(OAuthError) -> EndpointResponse {
        guard let backend = state.appBackend.withLock({ $0 }) else {
            throw OAuthError(.invalidRequest, "no backend runs beside this fake Apple; use the command")
        }
        let json = try? JSONValue(parsing: Array(try form.require("sign_in").utf8))
        guard let signIn = json?.object else {
            throw OAuthError(.invalidRequest, "sign_in is no JSON object")
        }
        let answer: AppBackendAnswer
        do {
            answer = try await backend(signIn)
        } catch {
            throw OAuthError(.invalidRequest, "the backend got no answer: \(error)")
        }
        let isTaken = (200..<300).contains(answer.status)
        let result: HTML = isTaken ? "The person in the console" : "The request in the console"
        return .page("Sent to siwa", isWide: true) {
            "<h1>siwa has \(isTaken ? "" : "not ")taken the sign-in</h1>"
            HTML.section(look: "account") {
                """
                <p>The response to <code>POST /v1/sign-ins</code> has status <b>\(answer.status)</b>.\
                \(answer.page.map { " \(HTML.link(result, to: $0))" as HTML })</p>
                <pre>\(answer.body?.indented() ?? "no JSON")</pre>
                <p><a href="/">Back to the accounts</a></p>
                """
            }
        }
    }
}

/// The backend of an app that runs beside the fake Apple: posts a sign-in to the service, as the backend of a real
/// app does.
public typealias AppBackend = @Sendable (_ signIn: JSONObject) async throws -> AppBackendAnswer

/// The response of the service to the backend.
public struct AppBackendAnswer: Sendable {
    let status: Int
    let body: JSONValue?
    /// URL of a page that shows the result.
    let page: String?

    public init(status: Int, body: JSONValue?, page: String?) {
        (self.status, self.body, self.page) = (status, body, page)
    }
}
