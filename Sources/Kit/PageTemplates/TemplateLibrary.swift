import Encodings
import Mustache

/// Pages as Mustache templates that are embedded in the program, one file a page. A template names another as
/// a partial, `{{> name}}`, and its values are escaped for HTML.
public struct TemplateLibrary: Sendable {
    private let library: MustacheLibrary

    /// - Parameter templates: The text of each template by its name: the file's name without `.mustache`.
    /// - Throws: The error of the first template that cannot be parsed.
    public init(_ templates: [String: [UInt8]]) throws {
        precondition(ScalarEscapes.isRegistered)
        library = MustacheLibrary(
            templates: try templates.mapValues {
                let text = String(decoding: $0, as: UTF8.self)
                return try MustacheTemplate(string: ScalarEscapes.applied(to: text))
            })
    }

    /// Returns the page, or `nil` when there is no template of this name.
    ///
    /// - Parameter values: A dictionary, or a value whose stored properties are the names of the template.
    public func render(_ name: String, _ values: Any) -> String? {
        library.render(values, withTemplate: name)
    }
}

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
