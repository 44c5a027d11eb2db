import Cryptography
import Encodings
package import Hummingbird
import NIOCore
import PageTemplates

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

/// The templates of an emulator's pages, and the parts that all emulators have in common.
package struct PageLibrary: Sendable {
    static let document = PageLibrary([:])

    private let library: TemplateLibrary

    /// - Parameter templates: The text of each template by its name. They are part of the program, and the tests
    ///   open every page, so a mistake in them is a programmer's.
    package init(_ templates: [String: [UInt8]]) {
        let shared = [
            "document": PackageResources.document_mustache, "hidden": PackageResources.hidden_mustache,
            "refusal": PackageResources.refusal_mustache,
        ]
        do {
            library = try TemplateLibrary(shared.merging(templates) { _, own in own })
        } catch {
            preconditionFailure("a template is malformed: \(error)")
        }
    }

    /// Returns the template with these values, which are escaped.
    package func render(_ name: String, _ values: Any) -> String {
        guard let html = library.render(name, values) else {
            preconditionFailure("there is no template \(name)")
        }
        return html
    }
}

/// A row of a table, or a hidden field of a form.
package struct PageField: Sendable {
    let name: String
    let value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

/// The fields of a form of an emulator's own pages.
package struct PageForm: Sendable {
    /// Bytes. The limit of the control API for the longest member of a link, and more than a page offers.
    static let longestField = 2048

    private let fields: [(name: String, value: String)]

    /// Throws `.bodyMalformed`, `.memberMalformed`, and `NIOTooManyBytesError`.
    package init(_ request: Request) async throws {
        let body = try await request.body.collect(upTo: ControlInput.bodyLimit)
        guard let fields = FormEncoding.decode(Array(buffer: body)) else {
            throw EmulatorError(.bodyMalformed, detail: "not a form")
        }
        // Some fields are stored, so their length is bounded.
        if let long = fields.first(where: { $0.value.utf8.count > Self.longestField }) {
            throw EmulatorError(
                .memberMalformed, detail: "\(long.name.prefix(64)): at most \(Self.longestField) bytes")
        }
        self.fields = fields
    }

    /// `nil` when the field is absent or empty.
    package subscript(name: String) -> String? {
        fields.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    /// All fields except the token of the page.
    package var parameters: [(name: String, value: String)] { fields.filter { $0.name != "token" } }

    /// Checks the page's token. Another site can submit a form from a developer's browser, but cannot read
    /// the token (CSRF). Throws `.pageOutdated`.
    package func check(token: String) throws(EmulatorError) {
        guard ConstantTime.areEqual(Array((self["token"] ?? "").utf8), Array(token.utf8)) else {
            throw EmulatorError(.pageOutdated, detail: "this page is from an earlier run; reload it")
        }
    }
}
