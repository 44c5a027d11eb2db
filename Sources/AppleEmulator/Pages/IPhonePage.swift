import EmulatorServer
import Encodings
import StrictJSON

/// The values that an iPhone app receives from Apple's sheet, and the request of its backend to the service.
struct IPhonePage {
    /// Bytes.
    static let longestNonce = 512

    let user: EmulatedUser
    let minted: MintedIdentityToken
    let notificationURL: String?
    /// The CSRF token of the form.
    let token: String

    var response: EndpointResponse {
        PageFrame(
            title: "Sign in on an iPhone",
            content: """
                <h1>Signed in on an iPhone</h1>
                <section class="account">
                <div class="person">\(UserLine.html(user))</div>
                <p>The app <b>\(minted.clientID.htmlEscaped)</b> gets an identity token, which is good for a day, \
                and a code, which is good once and for five minutes. \(nameWords)</p>
                <pre>\(body(indent: true).htmlEscaped)</pre>
                </section>
                <section class="account"><h2>What the backend posts to siwa</h2>
                <p>SIWA_KEY is an API key of the service. <code>siwa dev</code> takes siwa_development.</p>
                <pre>\(command.htmlEscaped)</pre>
                <p><a href="/">Back to the accounts</a></p>
                </section>
                <section class="account"><h2>With a nonce</h2>
                <p>nonce_sha256 of <code>POST /v1/nonces</code>. The sign-in then needs the nonce beside the token.</p>
                <form method="post" action="/accounts">\
                \(HiddenFields.html(hidden))\
                <label for="nonce">Nonce in the token</label>\
                <input id="nonce" type="text" name="nonce" maxlength="\(Self.longestNonce)" \
                value="\((minted.nonce ?? "").htmlEscaped)">\
                <button>Sign in once more</button></form>
                </section>
                """,
            isWide: true
        ).response
    }

    private var hidden: [(name: String, value: String)] {
        [
            ("token", token), ("action", AccountsRoute.signIn), ("sub", user.subject),
            ("client_id", minted.clientID),
        ]
    }

    private var nameWords: String {
        minted.user == nil
            ? "The user has used the app before, so Apple does not tell the name again."
            : "This is the first time, so the app gets the name and the address beside the token too."
    }

    private func body(indent: Bool) -> String {
        var json = minted.signIn
        // Without `client_id`, the service uses its first configured client ID.
        json["client_id"] = .string(minted.clientID)
        guard indent else { return String(decoding: JSONValue.object(json).serialized(), as: UTF8.self) }
        return minted.signIn.members.map { member in
            "\(member.name)\n\(member.value.string ?? String(decoding: member.value.serialized(), as: UTF8.self))"
        }.joined(separator: "\n\n")
    }

    private var command: String {
        let path = "/v1/apple/notifications"
        let service = notificationURL.flatMap { $0.hasSuffix(path) ? String($0.dropLast(path.count)) : nil }
        // A shell keeps every character between single quotes, except a single quote.
        let quoted = body(indent: false).replacing("'", with: #"'\''"#)
        return """
            curl -sS \(service ?? "$SIWA")/v1/sign-ins -H "Authorization: Bearer $SIWA_KEY" --json '\(quoted)'
            """
    }
}
