import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird

/// The common parts of all pages: style, headers, and the app that the page belongs to.
struct GooglePage {
    enum App: String {
        case google = "Fake Google"
        case phone = "Your iPhone app"
    }

    let app: App
    let title: String
    /// HTML in which all values are escaped.
    let content: String
    var status = HTTPResponse.Status.ok
    /// True for a page with two columns.
    var isWide = false

    var response: Response {
        let document = PageDocument(
            title: title, heading: app.rawValue, content: content, style: Self.style,
            bodyClass: app == .phone ? "phone" : isWide ? "home wide" : "home", formTargets: "'self'")
        var headers = HTTPFields()
        if let name = HTTPField.Name("Content-Security-Policy") { headers[name] = document.policy }
        if let name = HTTPField.Name("X-Content-Type-Options") { headers[name] = "nosniff" }
        // With `no-referrer`, browsers would send `Origin: null` with the page's own forms.
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "same-origin" }
        return .uncached(status, "text/html; charset=utf-8", Array(document.html.utf8), headers: headers)
    }

    private static let style = """
        :root{--text:#1f1f1f;--soft:#5f6368;--page:#f8f9fa;--card:#fff;--line:#dadce0;--accent:#0b57d0;\
        --on:#fff;--good:#137333;--bad:#b3261e}
        @media (prefers-color-scheme:dark){:root{--text:#e8eaed;--soft:#9aa0a6;--page:#131314;--card:#1e1f20;\
        --line:#444746;--accent:#a8c7fa;--on:#062e6f;--good:#6dd58c;--bad:#f2b8b5}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--page);color:var(--text);font:1rem/1.5 system-ui,"Segoe UI",Roboto,sans-serif}
        header{display:flex;align-items:center;gap:.5rem;padding:.9rem 1.25rem;font-weight:600}
        header small{color:var(--soft);font-weight:400}
        .mark{width:.9rem;height:.9rem;border-radius:50%;background:var(--accent)}
        .phone .mark{border-radius:.2rem;width:.6rem}
        main{max-width:52rem;margin:0 auto;padding:0 1.25rem 3rem}
        .phone main{max-width:28rem}
        .columns>div{min-width:0}
        @media (min-width:64rem){.wide main{max-width:84rem}\
        .columns{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:1rem;align-items:start}}
        .link+.link{border-top:1px solid var(--line);margin-top:1.1rem;padding-top:1rem}
        section{background:var(--card);border:1px solid var(--line);border-radius:1rem;padding:1.1rem;margin:0 0 1rem}
        h1{font-size:1.5rem;line-height:1.25;margin:.4rem 0 1rem}
        h2{font-size:1.05rem;margin:0 0 .6rem}
        p{margin:0 0 .8rem;color:var(--soft);overflow-wrap:anywhere}
        code,pre{font:.85em/1.45 ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere;color:var(--text)}
        pre{white-space:pre-wrap;margin:0 0 .6rem;padding:.7rem;border:1px solid var(--line);border-radius:.5rem}
        label{display:block;font-size:.9rem;color:var(--soft);margin:0 0 .6rem}
        label.check{display:flex;gap:.5rem;align-items:center}
        input[type=text],select{width:100%;font:inherit;color:var(--text);background:none;border:1px solid var(--line);\
        border-radius:.5rem;padding:.5rem .6rem;min-height:2.6rem}
        option{color:initial}
        .row{display:flex;flex-wrap:wrap;gap:.5rem;align-items:flex-end}
        .row label{flex:1 1 12rem}
        form{margin:0}
        button,a.button{font:inherit;display:inline-block;cursor:pointer;border:1px solid var(--line);border-radius:2rem;\
        background:none;color:var(--accent);padding:.5rem 1.1rem;min-height:2.6rem;text-decoration:none}
        button.main,a.main{background:var(--accent);border-color:var(--accent);color:var(--on);font-weight:600}
        button:focus-visible,a:focus-visible,input:focus-visible,select:focus-visible,summary:focus-visible\
        {outline:3px solid var(--accent);outline-offset:2px}
        table{border-collapse:collapse;width:100%;font-size:.9rem;margin:0 0 .6rem}
        td,th{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);\
        overflow-wrap:anywhere}
        th{color:var(--soft);font-weight:400;min-width:6.5rem}
        .good{color:var(--good)}
        .bad{color:var(--bad)}
        details{border-top:1px solid var(--line);padding:.5rem 0}
        summary{cursor:pointer}
        @media (max-width:32rem){main{padding:0 .75rem 2rem}section{padding:.9rem}}
        """
}

/// HTML of the parts that several pages have. All values are escaped here.
enum HTML {
    static func text(_ label: String, _ name: String, value: String = "", hint: String = "") -> String {
        "<label>\(label.htmlEscaped)<input type=\"text\" name=\"\(name)\" value=\"\(value.htmlEscaped)\" "
            + "placeholder=\"\(hint.htmlEscaped)\" autocomplete=\"off\" maxlength=\"512\"></label>"
    }

    static func choice(_ label: String, _ name: String, _ options: [String]) -> String {
        let items = options.map { "<option>\($0.htmlEscaped)</option>" }.joined()
        return "<label>\(label.htmlEscaped)<select name=\"\(name)\">\(items)</select></label>"
    }

    static func table(_ rows: [(name: String, value: String)]) -> String {
        let cells = rows.map { row in
            "<tr><th>\(row.name.htmlEscaped)</th><td><code>\(row.value.htmlEscaped)</code></td></tr>"
        }
        return "<table>\(cells.joined())</table>"
    }
}
