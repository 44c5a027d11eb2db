import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird

/// The common parts of all pages: style and headers.
struct PageFrame {
    let title: String
    /// HTML in which all values are escaped.
    let content: String
    var status = HTTPResponse.Status.ok
    /// Seconds after which the browser loads the page again.
    var reloadsAfter: Int?

    var response: Response {
        let document = PageDocument(
            title: title, heading: "Receivers of events", content: content, style: Self.style,
            formTargets: "'self'")
        var headers = HTTPFields()
        if let name = HTTPField.Name("Content-Security-Policy") { headers[name] = document.policy }
        if let name = HTTPField.Name("X-Content-Type-Options") { headers[name] = "nosniff" }
        // With `no-referrer`, browsers would send `Origin: null` with the page's own forms.
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "same-origin" }
        // The page has no script.
        if let reloadsAfter, let name = HTTPField.Name("Refresh") { headers[name] = "\(reloadsAfter)" }
        return .uncached(status, "text/html; charset=utf-8", Array(document.html.utf8), headers: headers)
    }

    private static let style = """
        :root{--text:#1c1b22;--soft:#5b5966;--page:#f6f5f9;--card:#fff;--line:#d9d7e0;--accent:#5b37b7;--on:#fff;\
        --good:#12703a;--bad:#b3261e}
        @media (prefers-color-scheme:dark){:root{--text:#e9e7ef;--soft:#a5a2b0;--page:#141318;--card:#1f1e24;\
        --line:#45434e;--accent:#cdbdff;--on:#2b0f6e;--good:#6dd58c;--bad:#f2b8b5}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--page);color:var(--text);font:1rem/1.5 system-ui,"Segoe UI",Roboto,sans-serif}
        header{display:flex;align-items:center;gap:.5rem;padding:.9rem 1.25rem;font-weight:600}
        header small{color:var(--soft);font-weight:400}
        .mark{width:.9rem;height:.9rem;border-radius:.25rem;background:var(--accent)}
        main{max-width:64rem;margin:0 auto;padding:0 1.25rem 3rem}
        section{background:var(--card);border:1px solid var(--line);border-radius:1rem;padding:1.1rem;\
        margin:0 0 1rem;min-width:0}
        @media (min-width:48rem){.columns{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:1rem}}
        h1{font-size:1.5rem;line-height:1.25;margin:.4rem 0 .6rem}
        h2{font-size:1.05rem;margin:0 0 .6rem}
        p{margin:0 0 .8rem;color:var(--soft);overflow-wrap:anywhere}
        code,pre{font:.85em/1.45 ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere;color:var(--text)}
        td code{font-size:.95em}
        pre{white-space:pre-wrap;margin:0;padding:.7rem;border:1px solid var(--line);border-radius:.5rem}
        label{display:block;font-size:.9rem;color:var(--soft)}
        input[type=number],select{width:100%;font:inherit;color:var(--text);background:none;\
        border:1px solid var(--line);border-radius:.5rem;padding:.5rem .6rem;min-height:2.6rem}
        option{color:initial}
        .row{display:flex;flex-wrap:wrap;gap:.5rem;align-items:flex-end}
        .row label{flex:1 1 9rem}
        .row label.short{flex:0 1 6rem}
        form{margin:0}
        .bar{justify-content:space-between;align-items:center;margin:0 0 .6rem}
        .bar h2{margin:0}
        button,a.button{font:inherit;display:inline-block;cursor:pointer;border:1px solid var(--line);\
        border-radius:2rem;background:none;color:var(--accent);padding:.5rem 1.1rem;min-height:2.6rem;text-decoration:none}
        button.main{background:var(--accent);border-color:var(--accent);color:var(--on);font-weight:600}
        button:focus-visible,a:focus-visible,input:focus-visible,select:focus-visible,summary:focus-visible\
        {outline:3px solid var(--accent);outline-offset:2px}
        table{border-collapse:collapse;width:100%;font-size:.9rem;margin:0 0 .8rem}
        td,th{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);\
        overflow-wrap:anywhere}
        th{color:var(--soft);font-weight:400;width:7.5rem}
        .good{color:var(--good)}
        .bad{color:var(--bad)}
        .soft{color:var(--soft);font-size:.9rem}
        details{border-top:1px solid var(--line);padding:.6rem 0}
        details>table{margin-top:.6rem}
        summary{cursor:pointer;overflow-wrap:anywhere}
        summary b{font-weight:600}
        @media (max-width:32rem){main{padding:0 .75rem 2rem}section{padding:.9rem}th{width:6rem}}
        """
}

/// The page of a refused request of a browser.
struct ErrorPage {
    let error: EmulatorError

    var response: Response {
        PageFrame(
            title: "Not possible",
            content: """
                <h1>This is not possible</h1>
                <section><p><code>\(error.code.name)</code></p><p>\(error.detail.htmlEscaped)</p>
                <a class="button" href="/">Back</a></section>
                """, status: error.code.status
        ).response
    }
}
