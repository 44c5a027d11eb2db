import Cryptography
import Encodings
import HTTPEngine
import NIOHTTP1

/// The page at `/` in development, which leads to everything that can be tried. Production has none.
public struct StartPage: Sendable {
    public struct Entry: Sendable {
        /// `nil` for a value to copy.
        public let url: String?
        public let name: String
        public let text: String

        public init(_ name: String, at url: String? = nil, _ text: String) {
            (self.name, self.url, self.text) = (name, url, text)
        }
    }

    public struct Section: Sendable {
        public let title: String
        public let entries: [Entry]

        public init(_ title: String, _ entries: [Entry]) {
            (self.title, self.entries) = (title, entries)
        }
    }

    public let title: String
    public let sections: [Section]

    public init(title: String, sections: [Section]) {
        (self.title, self.sections) = (title, sections)
    }

    var response: HTTPResponse {
        var response = HTTPResponse(
            status: .ok, contentType: "text/html; charset=utf-8", body: Array(html.utf8),
            forbidsCaching: true)
        let hash = Base64.encode(SHA256Digest.hash(Self.style))
        response.fields = [
            (
                "content-security-policy",
                "default-src 'none'; style-src 'sha256-\(hash)'; base-uri 'none'; form-action 'none'; "
                    + "frame-ancestors 'none'"
            ), ("referrer-policy", "no-referrer"), ("x-content-type-options", "nosniff"),
        ]
        return response
    }

    private var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(title.htmlEscaped)</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <main>
        <h1>\(title.htmlEscaped)</h1>
        \(sections.map(Self.html).joined(separator: "\n"))
        </main>
        </body>
        </html>

        """
    }

    private static func html(of section: Section) -> String {
        let entries = section.entries.map { entry in
            let name = entry.name.htmlEscaped
            let term = entry.url.map { "<a href=\"\($0.htmlEscaped)\">\(name)</a>" } ?? "<code>\(name)</code>"
            return "<dt>\(term)</dt><dd>\(entry.text.htmlEscaped)</dd>"
        }
        return "<h2>\(section.title.htmlEscaped)</h2>\n<dl>\(entries.joined(separator: "\n"))</dl>"
    }

    private static let style = """
        :root{color-scheme:light dark}\
        body{margin:0;font:1.0625rem/1.5 system-ui,sans-serif;background:Canvas;color:CanvasText}\
        main{box-sizing:border-box;max-width:46rem;margin:0 auto;padding:1.5rem}\
        h1{font-size:1.5rem;line-height:1.25}\
        h2{font-size:1.125rem;margin:1.5rem 0 .25rem}\
        dl{margin:0}dt{margin-top:.5rem}dd{margin:0}\
        code{font:.9rem ui-monospace,monospace;overflow-wrap:anywhere}
        """
}
