import AppAttestation
import AppleAccounts
import AppleIdentity
import Inspection

/// The token inspector: a form, and the checks of what was given in it.
package struct TokenPages: Sendable {
    private let inspector: TokenInspector

    package init(_ inspector: TokenInspector) {
        self.inspector = inspector
    }

    package var pages: [ConsolePage] {
        [
            ConsolePage(.get, "/tokens", access: .operators, entry: .init("Tokens", order: 30)) { request in
                .template("tokens", title: "Tokens", values: values(request, nil))
            },
            ConsolePage(.post, "/tokens", access: .operators) { request in try await inspect(request) },
        ]
    }

    private struct Values: Sendable {
        let csrf: String
        let isMasked: Bool
        /// The text of the field: what was given, in development, where nothing is secret.
        let text: String
        let nonce: String
        let authorizationCode: String
        let accessToken: String
        let hasOthers: Bool
        let kinds: [Kind]
        let apps: [String]
        let result: Result?
    }

    private struct Kind: Sendable {
        let name: String
        let isSelected: Bool
    }

    private struct Result: Sendable {
        /// The number of the request that the token came with, for a link back.
        let request: String?
        let shown: String
        let token: InspectedToken
        let answer: String
        let style: String
    }

    private func inspect(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        // The length first, because to look at each character takes far longer.
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
        var question = TokenInspector.Question(text: text)
        if let name = value("kind", request) {
            guard let kind = InspectedKind(name: name) else {
                return .refused("There is no such kind of token.")
            }
            question.kind = kind
        }
        question.nonce = value("nonce", request)
        question.authorizationCode = value("authorization_code", request)
        question.accessToken = value("access_token", request)
        question.appAttest = TokenInspector.AppAttestValues(
            bundleID: value("bundle_id", request), challenge: value("challenge", request),
            keyID: value("key_id", request),
            environment: value("environment", request).flatMap { AttestationEnvironment(rawValue: $0) })
        var token = await inspector.inspect(question, for: request.viewer, at: request.now)
        if text != given { token.note("The text around the token was left out.") }
        return .template(
            "tokens", title: "Tokens",
            values: values(
                request,
                Result(
                    request: value("request", request).flatMap { Int($0) }.map { "\($0)" },
                    shown: Self.shortened(text), token: token, answer: token.answer.rawValue,
                    style: token.answer.style)))
    }

    private func value(_ name: String, _ request: ConsoleRequest) -> String? {
        request.form[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private func values(_ request: ConsoleRequest, _ result: Result?) -> Values {
        let selected = request.form["kind"] ?? ""
        let isDevelopment = request.viewer.isDevelopment
        func given(_ name: String) -> String { isDevelopment ? request.form[name] ?? "" : "" }
        return Values(
            csrf: request.viewer.formToken, isMasked: !isDevelopment, text: given("token"),
            nonce: given("nonce"), authorizationCode: given("authorization_code"),
            accessToken: given("access_token"),
            hasOthers: ["nonce", "authorization_code", "access_token"].contains { !given($0).isEmpty },
            kinds: InspectedKind.all.map { Kind(name: $0.name, isSelected: $0.name == selected) },
            apps: inspector.dependencies.deployment.apps.filter { request.viewer.scope.allows($0) }
                .flatMap { $0.bundleIDs.map(\.rawValue) },
            result: result)
    }

    /// The first and the last characters: enough to recognize the text, and too few to use it. A short secret
    /// shows nothing.
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
