import AppAttestation
import AppleAccounts
import AppleIdentity
import HTTPAPI
import Inspection
import Pages
import StrictJSON

/// The token inspector's pages: a form, and the results of checking the token that an operator enters there.
package struct TokenPages: Sendable {
    private let inspector: TokenInspector

    package init(_ inspector: TokenInspector) {
        self.inspector = inspector
    }

    package var pages: [ConsolePage] {
        [
            ConsolePage(.get, "/tokens", access: .operators, entry: ("Tokens", 30)) { request in
                page(request, result: nil)
            },
            ConsolePage(.post, "/tokens", access: .operators, handle: inspect),
        ]
    }

    private func inspect(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        // Checks the length first, because checking each character takes far longer.
        guard (request.form["token"] ?? "").utf8.count <= TokenInspector.longestText else {
            return .refused(
                "The text is longer than 16 KiB. No token of Apple's, of Google's or of this service is as long."
            )
        }
        let given = (request.form["token"] ?? "").trimmingWhitespace
        let text = TokenText.unwrapped(given).trimmingWhitespace
        guard !text.isEmpty else { return .refused("Give a token, a code or an object in the field.") }
        let others = ["nonce", "authorization_code", "access_token", "challenge", "key_id", "bundle_id"]
        guard others.allSatisfy({ (request.form[$0] ?? "").utf8.count <= TokenInspector.longestValue }) else {
            return .refused("A value beside the token is longer than 4 KiB.")
        }
        let question = TokenInspector.Question(
            text: text, viewer: request.viewer, now: request.now,
            kind: try request.form.value("kind", or: "There is no such kind of token.") {
                InspectedKind(name: $0)
            },
            nonce: value("nonce", request), authorizationCode: value("authorization_code", request),
            accessToken: value("access_token", request), bundleID: value("bundle_id", request),
            challenge: value("challenge", request), keyID: value("key_id", request),
            environment: value("environment", request).flatMap { AttestationEnvironment(rawValue: $0) })
        var token = await inspector.inspect(question)
        if text != given { token.note("The text around the token was left out.") }
        return page(request, result: resultCards(of: token, Self.shortened(text), request))
    }

    private func value(_ name: String, _ request: ConsoleRequest) -> String? {
        request.form[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private func page(_ request: ConsoleRequest, result: HTML?) -> ConsoleAnswer {
        .page("Tokens") {
            Division(result == nil ? "beside alone" : "beside") {
                if let result { Division { result } }
                Division { formCard(request) }
            }
        }
    }

    private func resultCards(of token: InspectedToken, _ shown: String, _ request: ConsoleRequest) -> HTML {
        HTML {
            Card("Is it good now? \(HTML.span(token.answer.style, .text(token.answer.rawValue)))") {
                HTML(token.reasons.map { "<p>\($0)</p>\n" as HTML })
                Facts([
                    Fact("Kind", .code(token.kind)), Fact("Given", .code(shown)),
                    token.signedBy.map { Fact("Signed by", .code($0)) },
                ])
                // Number of the request that contained the token.
                value("request", request).flatMap { Int($0) }.map { number -> HTML in
                    "<p><a href=\"/console/requests/\(number)\">The request that it came with</a></p>"
                }
            }
            if !token.checks.isEmpty {
                Card("Checks") {
                    Table(
                        "Checks", [.head("Check"), "Result", .any("Found"), .any("Expected")], token.checks
                    ) { $0 }
                }
            }
            for section in token.sections { Card(.text(section.title)) { Facts(section.members) } }
        }
    }

    private func formCard(_ request: ConsoleRequest) -> Card {
        // Nothing is secret in development, so the fields keep their values.
        let isDevelopment = request.viewer.isDevelopment
        func given(_ name: String) -> String { isDevelopment ? request.form[name] ?? "" : "" }
        func field(_ label: String, _ name: String, _ value: String? = nil) -> HTML {
            let value = value.map { " value=\"\($0)\"" as HTML }
            return """
                <p><label for="\(name)">\(label)</label><input id="\(name)" name="\(name)" \
                maxlength="4096"\(value) autocomplete="off" spellcheck="false"></p>
                """
        }
        func choice(
            _ label: String, _ name: String, _ none: String, _ words: [String], chosen: String? = nil
        ) -> HTML {
            let select = Select(name, id: name, [("", none)] + words.map { ($0, $0) }, chosen: chosen)
            return "<p><label for=\"\(name)\">\(label)</label>\(select.html)</p>"
        }
        let bundleIDs = inspector.deployment.apps.filter { request.viewer.scope.allows($0) }
            .flatMap { $0.bundleIDs.map(\.rawValue) }
        let masking =
            isDevelopment
            ? ""
            : " The page shows its first and last characters only, and names and addresses in it are masked."
        let compared = [
            ("Nonce of the sign-in, raw", "nonce"),
            ("Authorization code that came with it", "authorization_code"),
            ("Access token that came with it", "access_token"),
        ]
        return Card("Inspect") {
            """
            <p>Any token or code of Apple's, of Google's or of this service. Nothing of it is stored or \
            logged.\(masking)</p>
            """
            """
            <form method="post" action="/console/tokens" autocomplete="off">
            \(HTML.hidden([("csrf", request.viewer.formToken)]))
            <p><label for="token">Token, code or object</label>
            <textarea id="token" name="token" rows="6" cols="72" required maxlength="16384" autocomplete="off" \
            autocapitalize="off" spellcheck="false">\(given("token"))</textarea></p>
            """
            choice(
                "Kind", "kind", "recognize it", InspectedKind.all.map(\.name), chosen: value("kind", request))
            Details(
                "Compare with nonce, code or access token",
                isOpen: compared.contains { !given($0.1).isEmpty }
            ) {
                HTML(compared.map { field($0, $1, given($1)) })
            }
            Details("For objects of App Attest") {
                choice("Bundle ID", "bundle_id", "none", bundleIDs)
                field("Key ID in base64", "key_id")
                field("Challenge as text", "challenge")
                choice(
                    "Environment, for an attestation", "environment", "none", ["production", "development"])
            }
            "<p><button>Inspect</button></p>"
            "</form>"
        }
    }

    /// Returns the first and last characters: enough to recognize the text, and too few to use it. For a
    /// short secret, returns only the length.
    static func shortened(_ text: String) -> String {
        guard text.count >= 40 else { return "\(text.count) characters" }
        return "\(TokenContent.shown(String(text.prefix(8))))…\(TokenContent.shown(String(text.suffix(4)))), "
            + "\(text.count) characters"
    }
}

extension String {
    fileprivate var trimmingWhitespace: String {
        let start = drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}

/// Finds a token inside other text.
enum TokenText {
    /// Names of request and response members that carry tokens and codes.
    private static let members = [
        "payload", "identity_token", "id_token", "refresh_token", "access_token", "token", "code",
        "authorization_code", "device_code", "attestation", "assertion", "SET",
    ]

    /// Returns the token that a request in development carried: in its JSON or form, or as the whole body.
    /// Returns `nil` if there is none, and outside development, where no body is kept.
    static func carried(by exchange: KeptExchange?) -> String? {
        guard let exchange, !exchange.isBodyCut else { return nil }
        let text = String(decoding: exchange.body, as: UTF8.self)
        let fields: (String) -> String?
        if let object = (try? JSONValue(parsing: exchange.body))?.object {
            fields = { object[$0]?.string }
        } else if text.contains("="), let form = ConsoleFields.decode(exchange.body) {
            fields = { form[$0] }
        } else {
            fields = { $0 == "SET" && TokenContent(text, at: .beginning).claims != nil ? text : nil }
        }
        return (members + ["subject_token"]).lazy.compactMap(fields).first { !$0.isEmpty }
    }

    /// Returns the `sub` of a token that was not verified; `nil` if it has none.
    static func subject(of token: String) -> String? {
        TokenContent(token, at: .beginning).claims?["sub"]?.string
    }

    /// Returns the token from an `Authorization` header, from a JSON object with one such member, or from
    /// quoted text. Returns any other text unchanged.
    static func unwrapped(_ text: String) -> String {
        if let json = try? JSONValue(parsing: Array(text.utf8)) {
            if let text = json.string { return text }
            let tokens = members.compactMap { json.object?[$0]?.string }
            return tokens.count == 1 ? tokens[0] : text
        }
        var rest = text[...]
        for word in ["authorization:", "bearer", "dpop"] {
            guard rest.lowercased().hasPrefix(word) else { continue }
            let after = rest.dropFirst(word.count)
            // Requires white space after the word, because a token can begin with the same letters.
            guard word.hasSuffix(":") || after.first?.isWhitespace == true else { continue }
            rest = after.drop(while: \.isWhitespace)
        }
        return String(rest)
    }
}

extension NumericDate {
    /// Placeholder time for content whose times are not shown.
    fileprivate static let beginning = NumericDate(clampingSecondsSince1970: 0)
}
