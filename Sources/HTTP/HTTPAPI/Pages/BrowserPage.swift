import AuthorizationServer
import Cryptography
import Encodings
import HTTPEngine
import NIOHTTP1
import Pages

/// The frame of all authorization endpoint pages: layout, style, and security headers. The pages contain no
/// scripts and no content from other servers.
struct BrowserPage {
    let language: PageLanguage
    let title: String
    let content: HTML
    var status = HTTPResponseStatus.ok
    /// Destinations of the page's form, and of redirects after it is submitted, as Content-Security-Policy
    /// sources.
    var formTargets: [String] = []
    /// True for a page whose forms post only to this service.
    var postsToItself = false
    /// True for a page with client pictures, which are `data:` URLs.
    var hasPictures = false
    /// A stable refusal code for the log.
    var code: String?
    var cookie: String?

    var response: HTTPResponse {
        var response = HTTPResponse(
            status: status, contentType: "text/html; charset=utf-8", body: html,
            forbidsCaching: true)
        response.code = code
        response.fields = [
            ("content-security-policy", policy), ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
            // `X-Frame-Options` protects browsers that do not support `frame-ancestors`.
            ("x-frame-options", "DENY"), ("content-language", language.rawValue),
        ]
        if let cookie { response.fields.append(("set-cookie", cookie)) }
        return response
    }

    /// The Content-Security-Policy (CSP Level 3). It allows the page's style and the destinations of its
    /// forms. It forbids all framing, so that no site can trick a user into clicking an invisible button.
    private var policy: String {
        var forms = formTargets.isEmpty && !postsToItself ? "'none'" : "'self'"
        for target in formTargets where Self.isSource(target) { forms += " " + target }
        let pictures = hasPictures ? "; img-src data:" : ""
        return Self.policyStart + forms + "; frame-ancestors 'none'" + pictures
    }

    private static let policyStart =
        "default-src 'none'; style-src '\(styleHash)'; base-uri 'none'; form-action "

    /// Returns `true` if the string contains only characters of an origin or a scheme, so that it cannot end
    /// its policy directive.
    private static func isSource(_ source: String) -> Bool { sourceCharacters.containsAll(of: source[...]) }

    private static let sourceCharacters = ASCIISet(lettersDigitsAnd: "+-.:/")

    private var html: [UInt8] {
        let page: HTML = """
            <!doctype html>
            <html lang="\(language.rawValue)" dir="\(language.direction)">
            \(Self.head)<title>\(title)</title>
            \(Self.styleElement)
            </head>
            <body>
            <main>
            \(content)
            </main>
            </body>
            </html>

            """
        return page.bytes
    }

    private static let head: HTML = """
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="robots" content="noindex">

        """
    private static let styleElement: HTML = "<style>\(HTML(file: Array(style.utf8)))</style>"
    private static let styleHash = "sha256-" + Base64.encode(SHA256Digest.hash(style))

    /// Uses logical CSS properties, so that it also works for right-to-left text.
    private static let style = """
        :root{--text:#1d1d1f;--soft:#5f5f64;--page:#f5f5f7;--card:#fff;--line:#d2d2d7;--hover:#f2f2f5;\
        --blue:#0066cc;--on-blue:#fff}
        @media (prefers-color-scheme:dark){:root{--text:#f5f5f7;--soft:#a8a8ad;--page:#000;--card:#1c1c1e;\
        --line:#3a3a3c;--hover:#2a2a2d;--blue:#2997ff;--on-blue:#00131f}}
        *{box-sizing:border-box}
        [hidden]{display:none!important}
        html{scroll-padding-bottom:6rem}
        body{margin:0;min-height:100vh;background:var(--page);color:var(--text);\
        font:1.0625rem/1.5 -apple-system,system-ui,"Segoe UI",Roboto,"Noto Sans","Noto Sans Arabic",sans-serif}
        main{max-width:30rem;margin:4vh auto;background:var(--card);border:1px solid var(--line);\
        border-radius:1.1rem;padding:1.5rem 1.75rem;overflow-wrap:anywhere}
        h1{font-size:1.375rem;line-height:1.2;margin:0 0 .5rem;text-wrap:balance}
        .pair{margin:0 0 .4rem;font-size:.9375rem;font-weight:600;color:var(--soft)}
        h2{font-size:1rem;line-height:1.4;margin:.9rem 0 .4rem}
        p{margin:0 0 .6rem}
        a{color:var(--blue)}
        form{margin:0}
        .note,.code{font-size:.9rem;line-height:1.4;color:var(--soft)}
        .note{margin:0 0 .4rem}
        .notice{border:1px solid var(--line);border-inline-start:.25rem solid var(--blue);\
        border-radius:.5rem;padding:.5rem .75rem;margin:.8rem 0;font-size:.9375rem;line-height:1.4}
        .code{margin:1.2rem 0 0;font-size:.85rem}
        .code bdi{font-family:ui-monospace,Menlo,monospace}
        .user{display:flex;flex-wrap:wrap;align-items:center;gap:.4rem .8rem;border:1px solid var(--line);\
        border-radius:.75rem;padding:.5rem .8rem;margin:.8rem 0 0}
        .user a{font-size:.9rem}
        .face{flex:none;width:2.4rem;height:2.4rem;border-radius:50%;background:var(--hover);\
        border:1px solid var(--line);display:grid;place-items:center;font-size:.9rem;font-weight:600;\
        color:var(--soft)}
        .who{flex:1 1 12rem;min-width:0;line-height:1.35}
        .who span{display:block;font-size:.85rem;color:var(--soft)}
        .who b{display:block;font-weight:600}
        .scopes{list-style:none;margin:0 0 .5rem;line-height:1.4;padding:0;border:1px solid var(--line);border-radius:.75rem}
        .scopes li{padding:.45rem .8rem}
        .scopes small{display:block;font-size:.9rem;color:var(--soft)}
        .scopes li+li{border-top:1px solid var(--line)}
        .logo{display:block;width:3rem;height:3rem;object-fit:contain;border-radius:.6rem;margin:0 0 .6rem}
        .connections{list-style:none;margin:0;padding:0}
        .connections>li{border:1px solid var(--line);border-radius:.75rem;padding:.2rem .8rem .8rem;margin:.8rem 0 0}
        .connections>li>h2{font-size:1.0625rem}
        .connections button{border-color:var(--line)}
        .field{display:block;font-size:.9375rem;font-weight:600;margin:.8rem 0 0}
        .field input{display:block;width:100%;margin:.3rem 0 0;padding:.6rem .8rem;color:inherit;\
        background:var(--card);border:1px solid var(--soft);border-radius:.75rem;\
        font:600 1.5rem/1.4 ui-monospace,Menlo,monospace;letter-spacing:.12em;text-align:center;\
        text-transform:uppercase}
        .field input::placeholder{color:var(--soft);opacity:1;font-weight:400}
        .device-code{border:1px solid var(--line);border-radius:.75rem;padding:.6rem .8rem;margin:.8rem 0 0;\
        text-align:center}
        .device-code span{display:block;font-size:.9rem;line-height:1.4;color:var(--soft)}
        .device-code b{font:600 1.5rem/1.5 ui-monospace,Menlo,monospace;letter-spacing:.12em}
        .notice p{margin:0}
        .origin{margin:.3rem 0;padding-inline-start:1.2rem}
        .first{margin-top:.8rem}
        .last{margin-top:.8rem}
        .choice{display:flex;gap:.7rem;align-items:flex-start;cursor:pointer}
        .choice input{flex:none;width:1.15rem;height:1.15rem;margin:.15rem 0 0;accent-color:var(--blue)}
        .address{display:block;width:100%;font:.85rem ui-monospace,Menlo,monospace;color:inherit;\
        background:var(--hover);border:1px solid var(--line);border-radius:.75rem;padding:.7rem .8rem;\
        user-select:all;margin:0 0 .8rem}
        .buttons{display:flex;flex-wrap:wrap;gap:.6rem;padding-top:.8rem;background:var(--card)}
        .buttons button{flex:1 1 8rem;width:auto;margin:0}
        @media (min-height:34rem){.buttons{position:sticky;bottom:0;padding-bottom:.8rem;margin-bottom:-.8rem}}
        button,.button{display:block;width:100%;min-height:2.9rem;padding:.6rem 1rem;margin-top:.6rem;\
        font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer;\
        border:1px solid transparent;border-radius:.75rem;background:none;color:var(--blue)}
        button:hover{background:var(--hover)}
        .buttons button:not(.main){border-color:var(--line)}
        .main{background:var(--blue);color:var(--on-blue)}
        .main:hover{background:var(--blue);filter:brightness(1.1)}
        :focus-visible{outline:3px solid var(--blue);outline-offset:2px}
        @media (forced-colors:active){.main,.main:hover{forced-color-adjust:none;background:Highlight;\
        color:HighlightText;border-color:Highlight;filter:none}button:not(.main){border-color:ButtonBorder}\
        :focus-visible{outline-color:CanvasText}}
        @media (max-width:30rem){body{background:var(--card)}\
        main{margin:0;border:0;border-radius:0;padding:1.25rem}}
        """
}

extension HTTPResponse {
    /// Redirects a browser with GET. The URL may contain a secret, so no cache may store the response, and
    /// the browser does not send the URL to the next page.
    static func redirect(to location: String, cookie: String? = nil) -> HTTPResponse {
        var response = HTTPResponse(status: .seeOther, contentType: nil, body: [], forbidsCaching: true)
        response.fields = [("location", location), ("referrer-policy", "no-referrer")]
        if let cookie { response.fields.append(("set-cookie", cookie)) }
        return response
    }
}
