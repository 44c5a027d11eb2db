import Cryptography
import Encodings

/// The pages at the loopback address. They contain no scripts, load no resources, and direct the user back to
/// the terminal.
enum CallbackPage: Equatable {
    case signedIn
    /// Shows a `LoginError` message.
    case failed(String)
    case otherState
    case alreadyAnswered
    case nothingHere
    case otherMethod
    case otherHost

    var status: Int {
        switch self {
        case .signedIn: 200
        case .failed, .otherState: 400
        case .nothingHere: 404
        case .otherMethod: 405
        case .alreadyAnswered: 410
        case .otherHost: 421
        }
    }

    /// The page's headers, with `no-referrer` because the page's URL contains the code.
    var headers: [(name: String, value: String)] {
        [
            ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store"),
            (
                "Content-Security-Policy",
                "default-src 'none'; style-src 'sha256-\(Base64.encode(SHA256Digest.hash(Self.style)))'; "
                    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ), ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Opener-Policy", "same-origin"), ("Connection", "close"),
        ] + (self == .otherMethod ? [("Allow", "GET")] : [])
    }

    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(title)</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <main>
        <h1>\(title)</h1>
        <p>\(text.htmlEscaped)</p>
        </main>
        </body>
        </html>

        """
    }

    private var title: String {
        switch self {
        case .signedIn: "You are signed in"
        case .failed: "You are not signed in"
        case .otherState: "This is not the sign-in of this terminal"
        case .alreadyAnswered: "The sign-in is over"
        case .nothingHere, .otherMethod, .otherHost: "There is nothing here"
        }
    }

    private var text: String {
        switch self {
        case .signedIn:
            "siwa login has verified the tokens and keeps them in a file. You can close this window and go back to the terminal."
        case .failed(let words):
            "The reason is: \(words). You can close this window and go back to the terminal."
        case .otherState: "The answer belongs to another sign-in. Open the address that the terminal shows."
        case .alreadyAnswered: "The terminal already has an answer. You can close this window."
        case .nothingHere, .otherMethod, .otherHost:
            "siwa login waits here for the answer of a sign-in. Go back to the terminal."
        }
    }

    private static let style = """
        :root{--text:#1d1d1f;--soft:#5d5d62;--page:#f5f5f7;--card:#fff;--line:#d2d2d7}
        @media (prefers-color-scheme:dark){:root{--text:#f5f5f7;--soft:#a1a1a6;--page:#000;--card:#1c1c1e;--line:#3a3a3c}}
        body{margin:0;background:var(--page);color:var(--text);font:1.0625rem/1.45 system-ui,"Segoe UI",Roboto,sans-serif}
        main{max-width:27rem;margin:12vh auto 0;padding:2rem;background:var(--card);border:1px solid var(--line);\
        border-radius:1.1rem}
        h1{font-size:1.5rem;line-height:1.2;margin:0 0 .6rem}
        p{margin:0;color:var(--soft);overflow-wrap:anywhere}
        @media (max-width:32rem){main{margin:0;border:0;border-radius:0;background:none;padding:1.25rem}}
        """
}
