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
    ///   - content: A rendered template, in which all values are escaped.
    ///   - style: A style sheet that is embedded in the program.
    ///   - script: Runs when the page opens.
    ///   - formTargets: The allowed targets of forms, and of redirects after them, as in the policy; `nil`
    ///     allows all.
    package init(
        title: String, heading: String, content: String, style: [UInt8], bodyClass: String? = nil,
        mainClass: String? = nil, script: String? = nil, formTargets: String?
    ) {
        (self.title, self.heading, self.content) = (title, heading, content)
        self.style = String(decoding: style, as: UTF8.self)
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

    package var html: String { PageLibrary.document.render("document", self) }

    private static func hash(_ text: String) -> String {
        "'sha256-\(Base64.encode(SHA256Digest.hash(text)))'"
    }
}
