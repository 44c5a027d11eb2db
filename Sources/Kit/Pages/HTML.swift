// Pages writes HTML. It escapes all text, and owns the elements that the console, the fakes and the
// authorization server share. It does not own any page.

import Encodings

/// HTML markup. A string literal is trusted; an interpolated value is escaped unless it is markup itself:
///
///     let row: HTML = "<td>\(name)</td>"
///
/// A literal inside an interpolation is text, so it is escaped; `as HTML` makes it markup.
///
/// Escaping works on bytes, because Swift treats a quotation mark and a combining mark as a single different
/// character, but a browser still ends the attribute there.
public struct HTML: Sendable, Equatable {
    public private(set) var bytes: [UInt8]

    public init(_ parts: [HTML] = []) {
        bytes = []
        for part in parts { bytes += part.bytes }
    }

    /// Returns a string as markup, with escapes for the five characters that can begin markup or end an
    /// attribute.
    public static func text(_ text: String) -> HTML { "\(text)" }

    /// Creates markup from the bytes of one of this program's style sheets.
    public init(file: [UInt8]) {
        bytes = file
    }

    public var isEmpty: Bool { bytes.isEmpty }
    public var string: String { String(decoding: bytes, as: UTF8.self) }

    public static func += (left: inout HTML, right: HTML) { left.bytes += right.bytes }

    public static func + (left: HTML, right: HTML) -> HTML {
        var html = left
        html += right
        return html
    }
}

extension HTML: ExpressibleByStringInterpolation {
    public init(stringLiteral markup: String) {
        bytes = Array(markup.utf8)
    }

    public init(stringInterpolation interpolation: StringInterpolation) {
        bytes = interpolation.bytes
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var bytes: [UInt8] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity + 24 * interpolationCount)
        }

        public mutating func appendLiteral(_ markup: String) { bytes += markup.utf8 }

        public mutating func appendInterpolation(_ text: String) { bytes.append(escapingHTML: text) }
        public mutating func appendInterpolation(_ text: Substring) { appendInterpolation(String(text)) }
        public mutating func appendInterpolation(_ text: StaticString) { appendInterpolation("\(text)") }
        public mutating func appendInterpolation(_ number: some BinaryInteger) { bytes += "\(number)".utf8 }

        public mutating func appendInterpolation(_ html: HTML) { bytes += html.bytes }

        /// Appends an escaped string, or nothing for `nil`.
        public mutating func appendInterpolation(_ text: String?) {
            if let text { appendInterpolation(text) }
        }

        /// Appends markup, or nothing for `nil`.
        public mutating func appendInterpolation(_ html: HTML?) {
            if let html { appendInterpolation(html) }
        }
    }
}

extension DefaultStringInterpolation {
    /// Causes a compiler warning for markup in a plain string, because a page would otherwise show the
    /// escaped markup. The literal must have the type `HTML`.
    @available(*, deprecated, message: "This literal is a String. Write `as HTML` after it.")
    public mutating func appendInterpolation(_ html: HTML) { appendLiteral(html.string) }

    @available(*, deprecated, message: "This literal is a String. Write `as HTML` after it.")
    public mutating func appendInterpolation(_ html: HTML?) { appendLiteral(html?.string ?? "") }
}

// Inline elements. Each class names a style-sheet rule.
extension HTML {
    public static func code(_ text: String, _ style: String? = nil) -> HTML {
        "<code\(Self.class(style))>\(text)</code>"
    }

    public static func span(_ style: String, _ content: HTML) -> HTML {
        "<span class=\"\(style)\">\(content)</span>"
    }

    public static func muted(_ text: String) -> HTML { span("muted", .text(text)) }

    /// - Parameter address: A URL of this program, or one that the caller has checked. An unchecked URL could
    ///   run a script (`javascript:`).
    public static func link(_ content: HTML, to address: String) -> HTML {
        "<a href=\"\(address)\">\(content)</a>"
    }

    /// Returns the attribute with a leading space, or empty markup for `nil`.
    public static func `class`(_ style: String?) -> HTML {
        guard let style, !style.isEmpty else { return "" }
        return " class=\"\(style)\""
    }

    /// Returns the attribute with a leading space, or nothing for `nil`.
    static func id(_ id: String?) -> HTML? { id.map { " id=\"\($0)\"" } }
}

extension [HTML] {
    public func joined(separator: HTML = "") -> HTML {
        HTML(Array<HTML>(map { [$0] }.joined(separator: [separator])))
    }
}

/// A page block: an element of this module or plain markup.
public protocol PagePart {
    var html: HTML { get }
}

extension HTML: PagePart {
    public var html: HTML { self }
}

extension HTML {
    /// Creates markup with each block on its own line.
    public init(@PageBuilder _ content: () throws -> HTML) rethrows {
        self = try content()
    }
}

@resultBuilder
public enum PageBuilder {
    public static func buildExpression(_ html: HTML) -> HTML { html.isEmpty ? html : html + "\n" }
    public static func buildExpression(_ part: some PagePart) -> HTML { buildExpression(part.html) }
    public static func buildExpression(_ html: HTML?) -> HTML { html.map { buildExpression($0) } ?? HTML() }
    public static func buildBlock(_ parts: HTML...) -> HTML { HTML(parts) }
    public static func buildOptional(_ html: HTML?) -> HTML { html ?? HTML() }
    public static func buildEither(first html: HTML) -> HTML { html }
    public static func buildEither(second html: HTML) -> HTML { html }
    public static func buildArray(_ parts: [HTML]) -> HTML { HTML(parts) }
}
