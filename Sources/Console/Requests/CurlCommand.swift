import HTTPAPI

/// A request as a command for a shell. Secrets are placeholders. In production the path has its names in place of its
/// values, and the body is a file, because neither is kept.
struct CurlCommand: Sendable {
    let text: String

    init(_ request: RecentRequest, address: String) {
        var parts = ["curl"]
        if request.method != "GET" { parts.append("-X \(ShellText.quoted(request.method))") }
        if request.exchange?.authorization?.lowercased().hasPrefix("basic ") ?? false {
            parts.append(#"-u "$CLIENT_ID:$CLIENT_SECRET""#)
        } else if request.caller != nil || request.exchange?.authorization != nil {
            parts.append(#"-H "Authorization: Bearer $SIWA_API_KEY""#)
        }
        parts.append("-H \(ShellText.quoted("X-Request-ID: \(request.requestID).again"))")
        if let exchange = request.exchange {
            if let type = exchange.contentType {
                parts.append("-H \(ShellText.quoted("Content-Type: \(type)"))")
            }
            if !exchange.body.isEmpty {
                parts.append("--data-raw \(ShellText.quoted(Self.withoutSecret(exchange.body)))")
            }
        } else if ["POST", "PUT", "PATCH"].contains(request.method) {
            let isForm = request.route.hasPrefix("/oauth/")
            let type = isForm ? "application/x-www-form-urlencoded" : "application/json"
            parts.append(
                "-H \(ShellText.quoted("Content-Type: \(type)")) --data @body.\(isForm ? "txt" : "json")")
        }
        parts.append(ShellText.quoted(address + (request.exchange?.target ?? request.route)))
        text = parts.joined(separator: " \\\n  ")
    }

    /// The secret of a client in a form.
    private static func withoutSecret(_ body: [UInt8]) -> String {
        String(decoding: body, as: UTF8.self)
            .replacing(#/(^|&)client_secret=[^&]*/#) { "\($0.output.1)client_secret=CLIENT_SECRET" }
    }
}
