import EmulatorServer

/// The common parts of all pages of the fake Apple: style and headers.
struct PageFrame {
    let title: String
    /// HTML in which all values are escaped.
    let content: String
    var status = 200
    var isWide = false
    /// The allowed targets of forms, and of redirects after them, as in the policy; `nil` allows all.
    var formTargets: String? = "'self'"
    /// Runs when the page opens.
    var script: String?

    var response: EndpointResponse {
        EndpointResponse(
            status: status, contentType: "text/html;charset=UTF-8",
            headers: [
                EndpointResponse.noStore, .init(name: "Content-Security-Policy", value: document.policy),
                .init(name: "X-Content-Type-Options", value: "nosniff"),
            ],
            body: Array(document.html.utf8))
    }

    private var document: PageDocument {
        PageDocument(
            title: title, heading: "Fake Apple", content: content, style: Self.style,
            mainClass: isWide ? "wide" : "card", script: script, formTargets: formTargets)
    }

    private static let style = """
        :root{--text:#1d1d1f;--soft:#6e6e73;--page:#f5f5f7;--card:#fff;--line:#d2d2d7;--hover:#f2f2f5;\
        --blue:#0066cc;--on-blue:#fff;--red:#c9252d;--green:#1e7b34}
        @media (prefers-color-scheme:dark){:root{--text:#f5f5f7;--soft:#a1a1a6;--page:#000;--card:#1c1c1e;\
        --line:#3a3a3c;--hover:#2a2a2d;--blue:#2997ff;--on-blue:#00131f;--red:#ff6961;--green:#5ad16f}}
        *{box-sizing:border-box}
        body{margin:0;min-height:100vh;background:var(--page);color:var(--text);\
        font:1.0625rem/1.45 -apple-system,system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif}
        header{display:flex;align-items:center;gap:.5rem;padding:.9rem 1.25rem;font-weight:600;font-size:.95rem}
        header small{color:var(--soft);font-weight:400;font-size:.85rem}
        .mark{width:.9rem;height:.9rem;border-radius:50% 50% 50% 0;background:var(--blue);transform:rotate(-45deg)}
        main{margin:0 auto;padding:1.5rem}
        .card{max-width:27rem;margin-top:6vh;background:var(--card);border:1px solid var(--line);\
        border-radius:1.1rem;padding:2rem}
        .wide{max-width:60rem}
        h1{font-size:1.55rem;line-height:1.2;letter-spacing:-.01em;margin:0 0 .5rem}
        h2{font-size:1.05rem;margin:0}
        p{margin:0 0 1.1rem;color:var(--soft);overflow-wrap:anywhere}
        b,code{color:var(--text);font-weight:600}
        code{font:.9em ui-monospace,SFMono-Regular,Menlo,monospace;overflow-wrap:anywhere}
        pre{margin:0 0 1.1rem;padding:.8rem;border:1px solid var(--line);border-radius:.75rem;\
        white-space:pre-wrap;overflow-wrap:anywhere;font:.8rem/1.5 ui-monospace,SFMono-Regular,Menlo,monospace}
        a{color:var(--blue)}
        form{margin:0}
        button,input,summary{font:inherit;color:inherit}
        button{cursor:pointer;border-radius:.75rem;border:1px solid var(--line);background:none;\
        padding:.6rem 1rem;min-height:2.75rem}
        button:hover{background:var(--hover)}
        button:focus-visible,input:focus-visible,summary:focus-visible{outline:3px solid var(--blue);outline-offset:2px}
        .main{background:var(--blue);border-color:var(--blue);color:var(--on-blue);font-weight:600}
        .main:hover{background:var(--blue);filter:brightness(1.1)}
        .plain{border-color:transparent;color:var(--blue)}
        .danger{color:var(--red)}
        .full{width:100%;margin-top:.6rem}
        .user{display:flex;align-items:center;gap:.8rem;width:100%;text-align:left;margin-bottom:.5rem;padding:.65rem .8rem}
        .face{flex:none;width:2.4rem;height:2.4rem;border-radius:50%;background:var(--hover);border:1px solid var(--line);\
        display:grid;place-items:center;font-size:.9rem;font-weight:600;color:var(--soft)}
        .who{min-width:0;display:block;overflow-wrap:anywhere}
        .who span{display:block;color:var(--soft);font-size:.85rem;overflow:hidden;text-overflow:ellipsis}
        .tag{margin-left:auto;flex:none;color:var(--soft);font-size:.8rem}
        label,legend{display:block;font-size:.85rem;color:var(--soft);margin-bottom:.25rem;padding:0}
        input[type=text],input[type=email],input[type=search]{width:100%;background:none;border:1px solid var(--line);\
        border-radius:.75rem;padding:.6rem .8rem;min-height:2.75rem;margin-bottom:.8rem}
        ::placeholder{color:var(--soft);opacity:1}
        .search{display:flex;gap:.5rem;margin-bottom:.8rem}
        .search input[type=search]{margin-bottom:0;min-width:0}
        .search button{flex:none}
        .pager{display:flex;align-items:center;justify-content:space-between;gap:.5rem;margin-bottom:.8rem}
        .pager span{color:var(--soft);font-size:.9rem}
        button:disabled{opacity:.4;cursor:default}
        button:disabled:hover{background:none}
        .pair{display:grid;grid-template-columns:1fr 1fr;gap:0 .8rem}
        fieldset{border:0;margin:0 0 .6rem;padding:0;min-width:0}
        .choice{display:flex;gap:.7rem;align-items:flex-start;border:1px solid var(--line);border-radius:.75rem;\
        padding:.7rem .8rem;margin-bottom:.5rem;color:var(--text);font-size:1rem;cursor:pointer}
        .choice input{margin:.3rem 0 0;accent-color:var(--blue)}
        .choice span{min-width:0}
        .choice small{display:block;color:var(--soft);overflow-wrap:anywhere}
        details{border:1px solid var(--line);border-radius:.75rem;padding:.65rem .8rem;margin-bottom:.8rem}
        summary{cursor:pointer;color:var(--blue)}
        details[open] summary{margin-bottom:.8rem}
        .account{background:var(--card);border:1px solid var(--line);border-radius:1.1rem;padding:1.1rem;margin-bottom:1rem}
        div.user{padding:0}
        .account .user{margin:0 0 .6rem}
        .row{display:flex;flex-wrap:wrap;gap:.5rem}
        .row button{font-size:.9rem;padding:.4rem .8rem;min-height:2.4rem}
        .note{font-size:.9rem}
        .good{color:var(--green)}
        .bad{color:var(--red)}
        table{border-collapse:collapse;width:100%;font-size:.9rem}
        td,th{text-align:left;padding:.35rem .6rem .35rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
        th{color:var(--soft);font-weight:400}
        @media (max-width:32rem){main{padding:1rem}.card{margin-top:0;border:0;border-radius:0;background:none;padding:1rem}\
        .pair{grid-template-columns:1fr}}
        """
}
