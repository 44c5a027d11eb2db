import HTTPAPI

/// A shell command that sends a request again, with shell variables for secrets. In production the service
/// keeps neither path values nor bodies, so the path has parameter names and curl reads the body from a file.
struct CurlCommand: Sendable {
    let text: String
    /// Steps before the command; `nil` if the command is complete.
    let steps: String?

    init(_ request: RecentRequest, address: String) {
        var parts = ["curl"]
        var variables: [String] = []
        if request.method != "GET" { parts.append("-X \(ShellText.quoted(request.method))") }
        switch request.credential {
        case .none: break
        case .apiKey:
            parts.append(#"-H "Authorization: Bearer $SIWA_API_KEY""#)
            variables = ["SIWA_API_KEY"]
        case .clientSecret:
            parts.append(#"-u "$CLIENT_ID:$CLIENT_SECRET""#)
            variables = ["CLIENT_ID", "CLIENT_SECRET"]
        case .accessToken:
            parts.append(#"-H "Authorization: Bearer $ACCESS_TOKEN""#)
            variables = ["ACCESS_TOKEN"]
        }
        parts.append("-H \(ShellText.quoted("X-Request-ID: \(request.requestID).again"))")
        var file: String?
        if let exchange = request.exchange {
            if let type = exchange.contentType {
                parts.append("-H \(ShellText.quoted("Content-Type: \(type)"))")
            }
            if !exchange.body.isEmpty {
                let body = Self.withoutSecret(String(decoding: exchange.body, as: UTF8.self))
                parts.append("--data-raw \(body.text)")
                if body.hasSecret, !variables.contains("CLIENT_SECRET") { variables.append("CLIENT_SECRET") }
            }
        } else if let type = request.bodyType {
            let name = type == "application/json" ? "body.json" : "body.txt"
            parts.append("-H \(ShellText.quoted("Content-Type: \(type)")) --data-binary @\(name)")
            file = name
        }
        // The service does not keep a path that matches no route, so a placeholder replaces the path.
        let target = request.exchange?.target ?? (request.route == "none" ? "/{path}" : request.route)
        // Without this option, curl reads braces and brackets as a list of addresses.
        if target.contains(where: { "{}[]".contains($0) }) { parts.append("--globoff") }
        parts.append(ShellText.quoted(address + target))
        text = parts.joined(separator: " \\\n  ")
        steps = Self.steps(
            variables, hasNames: request.exchange == nil && target.contains("{"), file: file,
            isCut: request.exchange?.isBodyCut ?? false)
    }

    private static func steps(_ variables: [String], hasNames: Bool, file: String?, isCut: Bool) -> String? {
        var steps: [String] = []
        if !variables.isEmpty { steps.append("Set \(variables.joined(separator: " and ")).") }
        if hasNames { steps.append("Fill in the names in braces: siwa keeps no values of paths.") }
        if let file { steps.append("Write the body into \(file): siwa keeps no bodies.") }
        if isCut { steps.append("The body was longer: siwa keeps its first 16 KiB.") }
        return steps.isEmpty ? nil : steps.joined(separator: " ")
    }

    /// Returns the quoted body, with a variable in place of each client secret in a form.
    private static func withoutSecret(_ body: String) -> (text: String, hasSecret: Bool) {
        guard let match = body.firstMatch(of: #/(?:^|&)client_secret=([^&]*)/#) else {
            return (ShellText.quoted(body), false)
        }
        let before = ShellText.quoted(String(body[..<match.output.1.startIndex]))
        let rest = String(body[match.output.1.endIndex...])
        return (before + #""$CLIENT_SECRET""# + (rest.isEmpty ? "" : withoutSecret(rest).text), true)
    }
}

/// Quotes text for shell commands.
enum ShellText {
    /// Quotes text for a shell, which interprets only the closing quote between single quotes.
    static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }
}
