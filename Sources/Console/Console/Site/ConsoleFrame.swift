import AppleAccounts
import Pages

/// Renders pages inside the console's frame: navigation, the operator, a notice, and the style sheet and
/// script.
struct ConsoleFrame: Sendable {
    private let entries: [(page: ConsolePage, entry: ConsolePage.Entry)]

    init(_ pages: [ConsolePage]) {
        entries = pages.compactMap { page in page.entry.map { (page, $0) } }
            .sorted { ($0.1.order, $0.1.title) < ($1.1.order, $1.1.title) }
    }

    /// Returns the path of the first navigation entry that the operator may open; `nil` if there is none.
    func firstPath(for viewer: ConsoleViewer) -> String? {
        entries.first { $0.page.isOpen(to: viewer) }?.page.path
    }

    /// - Parameters:
    ///   - path: The path below the console's root, for the navigation.
    ///   - viewer: The operator; `nil` for a page outside a session, which has no navigation.
    ///   - live: Address for the page's live updates; `nil` for a page that does not change by itself.
    ///   - reload: Seconds after which the browser loads the same address again.
    func render(
        _ content: HTML, _ title: String, at path: Substring, for viewer: ConsoleViewer? = nil,
        notice: String? = nil, live: String? = nil, reload: Int? = nil
    ) -> [UInt8] {
        let (style, script) = (ConsoleAssets.style, ConsoleAssets.script)
        let reload = reload.map { "<meta http-equiv=\"refresh\" content=\"\($0)\">\n" as HTML }
        let live = live.map { " data-live=\"\($0)\"" as HTML }
        let notice = notice.map { "<p class=\"notice\" role=\"status\">\($0)</p>\n" as HTML }
        let document: HTML = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="robots" content="noindex">
            \(reload)<title>\(title) - siwa</title>
            <link rel="icon" href="data:,">
            <link rel="stylesheet" href="\(style.path)" integrity="\(style.integrity)">
            <script src="\(script.path)" integrity="\(script.integrity)" defer></script>
            </head>
            <body>
            <a class="skip" href="#main">Skip to the content</a>
            \(viewer.map { header(for: $0, at: path) })<main id="main" tabindex="-1"\(live)>
            \(notice)\(content)
            </main>
            </body>
            </html>

            """
        return document.bytes
    }

    private func header(for viewer: ConsoleViewer, at path: Substring) -> HTML {
        var limit: HTML?
        if case .only(let apps) = viewer.scope {
            limit = .muted("sees \(apps.map(\.rawValue).sorted().joined(separator: ", "))") + "\n"
        }
        let signOut = HTML {
            PostForm(to: "/console/sign-out", token: viewer.formToken) {
                "<button class=\"quiet\">Sign out</button>"
            }
        }
        return """
            <header>
            <a class="brand" href="/console"><svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">\
            <rect x="1" y="1" width="18" height="18" rx="5" class="mark"/><path d="M6 12.2c.9 1.2 2.3 1.8 4 1.8 2.3 0 \
            3.8-1 3.8-2.7C13.8 7.8 7 10 7 7.6 7 6.6 8.200 6 9.900 6c1.400 0 2.500.5 3.300 1.400" class="mark-line"/>\
            </svg>siwa <span class="muted">console</span></a>
            <nav aria-label="Pages"><ul>
            \(links(for: viewer, at: path))</ul></nav>
            <div class="who"><span>\(viewer.name)</span>
            \(limit)\(viewer.isDevelopment ? nil : signOut)</div>
            </header>

            """
    }

    /// Returns the navigation links. Marks the entry with the longest path that leads to the page.
    private func links(for viewer: ConsoleViewer, at path: Substring) -> HTML {
        let open = entries.filter { $0.page.isOpen(to: viewer) }
        let current = open.filter { Self.leads($0.page.path, to: path) }
            .max { $0.page.path.utf8.count < $1.page.path.utf8.count }?.page.path
        return HTML(
            open.map { page, entry in
                let mark: HTML = page.path == current ? " aria-current=\"page\"" : ""
                return "<li><a href=\"\(ConsoleSite.root)\(page.path)\"\(mark)>\(entry.title)</a></li>\n"
            })
    }

    private static func leads(_ entry: String, to path: Substring) -> Bool {
        path == entry || path.hasPrefix(entry.hasSuffix("/") ? entry : entry + "/")
    }
}

extension ConsolePage {
    /// Returns true if the operator may open the page. Other operators get the response for a missing page.
    func isOpen(to viewer: ConsoleViewer) -> Bool {
        switch access {
        case .operators: true
        case .operatorsOfAllApps: viewer.scope == .all
        case .development: viewer.isDevelopment
        }
    }
}
