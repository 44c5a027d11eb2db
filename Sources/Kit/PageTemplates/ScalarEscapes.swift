import Encodings
import Mustache

/// Escapes values for HTML by bytes.
///
/// The library's own escapes go by characters, and a quotation mark with a combining mark after it is one
/// character, which is not the quotation mark. Such a value would end an attribute in a browser.
struct ScalarEscapes: MustacheContentType {
    /// The name of this content type in a template.
    static let name = "siwa-html"

    /// Makes the content type known to the parser, once.
    static let isRegistered: Bool = {
        MustacheContentTypes.register(ScalarEscapes(), named: name)
        return true
    }()

    /// Returns the template with these escapes. The line does not appear in the page.
    static func applied(to template: String) -> String { "{{% CONTENT_TYPE:\(name)}}\n\(template)" }

    func escapeText(_ text: String) -> String { text.htmlEscaped }
}
