import Cryptography
import Encodings
package import HTTPTypes
package import Hummingbird
import NIOCore
package import Pages

/// The document around a page's content, with its content security policy.
package struct PageDocument {
    package let html: HTML
    /// Policy that allows only this page's style and script, by their hashes, so an injected script does not
    /// run (CSP 3 §6.7.3.4).
    package let policy: String

    /// - Parameters:
    ///   - heading: The emulated company or app, shown above the content.
    ///   - style: A style sheet that is part of the program.
    ///   - script: Script that runs when the page opens.
    ///   - formTargets: Allowed targets of forms and of the redirects after them, as written in the policy;
    ///     `nil` allows all targets.
    package init(
        title: String, heading: String, content: HTML, style: [UInt8], bodyClass: String? = nil,
        mainClass: String? = nil, script: HTML? = nil, formTargets: String? = "'self'"
    ) {
        let style = HTML(file: style)
        let scripts = script.map { "script-src \(Self.hash($0)); " } ?? ""
        let forms = formTargets.map { "form-action \($0); " } ?? ""
        policy =
            "default-src 'none'; style-src \(Self.hash(style)); \(scripts)base-uri 'none'; "
            + "\(forms)frame-ancestors 'none'"
        html = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <style>\(style)</style>
            </head>
            <body\(HTML.class(bodyClass))>
            <header><span class="mark" aria-hidden="true"></span>\(heading)<small>for development</small></header>
            <main\(HTML.class(mainClass))>
            \(content)</main>
            \(script.map { "<script>\($0)</script>\n" as HTML })</body>
            </html>

            """
    }

    /// Returns the response for a page whose forms go to the emulator itself.
    ///
    /// - Parameter reloadsAfter: Number of seconds until the browser reloads the page.
    package func response(_ status: HTTPResponse.Status, reloadsAfter: Int? = nil) -> Response {
        let fields = [
            ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"),
            // With `no-referrer`, browsers would send `Origin: null` with the page's own forms.
            ("Referrer-Policy", "same-origin"),
            // Pages that reload have no script, so the header must cause the reload.
            ("Refresh", reloadsAfter.map { String($0) }),
        ]
        var headers = HTTPFields()
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return .uncached(status, "text/html; charset=utf-8", html.bytes, headers: headers)
    }

    private static func hash(_ html: HTML) -> String {
        "'sha256-\(Base64.encode(SHA256Digest.hash(html.bytes)))'"
    }
}

extension EmulatorError {
    /// The page content that a browser displays.
    package var content: HTML {
        HTML {
            "<h1>This is not possible</h1>"
            Card(look: "") {
                "<p><code>\(code.name)</code></p><p>\(detail)</p>"
                "<a class=\"button\" href=\"/\">Back</a>"
            }
        }
    }
}

// Elements of emulator pages.
extension HTML {
    /// Returns a form that includes hidden fields.
    package static func form(
        to address: String, _ fields: [(name: String, value: String)], @PageBuilder _ content: () -> HTML
    ) -> HTML {
        "<form method=\"post\" action=\"\(address)\">\(hidden(fields))\n\(content())</form>"
    }

    /// Returns a table of names with their values. Omits names without a value.
    package static func table(_ rows: [(name: String, value: HTML?)]) -> HTML {
        let lines = rows.compactMap { name, value in
            value.map { "<tr><th>\(name)</th><td>\($0)</td></tr>\n" as HTML }
        }
        return lines.isEmpty ? HTML() : "<table>\n\(HTML(lines))</table>"
    }
}

/// The fields of a form on an emulator's own page.
package struct PageForm: Sendable {
    /// Maximum field length in bytes. It equals the control API's limit for the longest member of a link, and
    /// is more than any form needs.
    static let longestField = 2048

    private let fields: [(name: String, value: String)]

    /// Reads a form and checks its token. Another site can make a developer's browser submit a form, but
    /// cannot read the token (CSRF).
    ///
    /// Throws `.pageOutdated` for a wrong token, `.memberMalformed` for a field that is too long,
    /// `.bodyMalformed` unless the body is a form, and `NIOTooManyBytesError`.
    package init(_ request: Request, token: String) async throws {
        let body = try await request.body.collect(upTo: ControlInput.bodyLimit)
        guard let fields = FormEncoding.decode(Array(buffer: body)) else {
            throw EmulatorError(.bodyMalformed, detail: "not a form")
        }
        // Some fields are stored, so their length must be limited.
        if let long = fields.first(where: { $0.value.utf8.count > Self.longestField }) {
            throw EmulatorError(
                .memberMalformed, detail: "\(long.name.prefix(64)): at most \(Self.longestField) bytes")
        }
        self.fields = fields
        guard ConstantTime.areEqual(Array((self["token"] ?? "").utf8), Array(token.utf8)) else {
            throw EmulatorError(.pageOutdated, detail: "this page is from an earlier run; reload it")
        }
    }

    /// Returns a field's value; `nil` if the field is absent or empty.
    package subscript(name: String) -> String? {
        fields.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// All fields except the form's token.
    package var parameters: [(name: String, value: String)] { fields.filter { $0.name != "token" } }
}
