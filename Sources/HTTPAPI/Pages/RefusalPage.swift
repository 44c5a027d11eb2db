import Cryptography
import Encodings

/// The page that a user sees when a web sign-in or an authorization request cannot continue. It has no script,
/// nothing from other servers, and nothing of the request but its ID.
enum RefusalPage {
    static func html(_ problem: Problem, requestID: String) -> [UInt8] {
        Array(
            """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="robots" content="noindex">
            <title>\(problem.title.htmlEscaped)</title>
            <style>\(style)</style>
            </head>
            <body>
            <main>
            <h1>\(problem.title.htmlEscaped)</h1>
            <p>\(problem.detail.htmlEscaped)</p>
            <p>Go back to the page where you wanted to sign in, and try again.</p>
            <p class="code">\(problem.code.htmlEscaped) · \(requestID.htmlEscaped)</p>
            </main>
            </body>
            </html>

            """.utf8)
    }

    /// Allows this one style and nothing else (CSP Level 3), and no page may frame this one.
    static let policy: String = {
        let hash = Base64.encode(SHA256Digest.hash(style))
        return
            "default-src 'none'; style-src 'sha256-\(hash)'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }()

    /// The system's colours and fonts, so that it is readable in dark mode, on a phone, and enlarged.
    private static let style = """
        :root{color-scheme:light dark}\
        body{margin:0;min-height:100vh;display:grid;place-items:center;\
        font:1.0625rem/1.5 system-ui,sans-serif;background:Canvas;color:CanvasText}\
        main{box-sizing:border-box;width:100%;max-width:32rem;padding:1.5rem}\
        h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}\
        p{margin:0 0 .75rem}\
        .code{font:.875rem ui-monospace,monospace;opacity:.75;overflow-wrap:anywhere}
        """
}
