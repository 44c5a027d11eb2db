import Cryptography
import Encodings

/// The document around the content of a page, and its content security policy.
package struct PageDocument {
    private let title: String
    private let heading: String
    private let content: String
    private let style: String
    private let bodyClass: String?
    private let mainClass: String?
    private let script: String?
    private let formTargets: String?

    /// - Parameters:
    ///   - heading: The emulated company or app, above the content.
    ///   - content: HTML in which all values are escaped.
    ///   - script: Runs when the page opens.
    ///   - formTargets: The allowed targets of forms, and of redirects after them, as in the policy; `nil`
    ///     allows all.
    package init(
        title: String, heading: String, content: String, style: String, bodyClass: String? = nil,
        mainClass: String? = nil, script: String? = nil, formTargets: String?
    ) {
        (self.title, self.heading, self.content, self.style) = (title, heading, content, style)
        (self.bodyClass, self.mainClass) = (bodyClass, mainClass)
        (self.script, self.formTargets) = (script, formTargets)
    }

    /// Allows only this page's style and script, by their hashes, so that an injected script does not run
    /// (CSP 3 §6.7.3.4).
    package var policy: String {
        let scripts = script.map { "script-src \(Self.hash($0)); " } ?? ""
        let forms = formTargets.map { "form-action \($0); " } ?? ""
        return "default-src 'none'; style-src \(Self.hash(style)); \(scripts)base-uri 'none'; "
            + "\(forms)frame-ancestors 'none'"
    }

    package var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title.htmlEscaped)</title>
        <style>\(style)</style>
        </head>
        <body\(Self.attribute(bodyClass))>
        <header><span class="mark" aria-hidden="true"></span>\(heading)<small>for development</small></header>
        <main\(Self.attribute(mainClass))>
        \(content)
        </main>
        \(script.map { "<script>\($0)</script>" } ?? "")
        </body>
        </html>

        """
    }

    private static func attribute(_ names: String?) -> String { names.map { " class=\"\($0)\"" } ?? "" }

    private static func hash(_ text: String) -> String {
        "'sha256-\(Base64.encode(SHA256Digest.hash(text)))'"
    }
}
