import AppleAccounts
import Encodings
import PageTemplates

/// Renders pages in the frame of the console: navigation, the operator, a notice, the files of style and
/// script.
struct ConsoleFrame: Sendable {
    /// Everything about a page but its template.
    struct Page {
        var title: String
        /// The path below the console's root, for the navigation.
        var path: Substring
        /// `nil` for a page outside a session: it has no navigation.
        var viewer: ConsoleViewer?
        var notice: String?
        /// The address of the page's live updates; `nil` for a page that does not change by itself.
        var live: String?
        /// Seconds after which the browser loads the same address again.
        var reload: Int?
    }

    private struct Link {
        let title: String
        let href: String
        let isCurrent: Bool
    }

    private struct Values {
        let title: String
        let content: String
        let links: [Link]
        let viewer: String?
        let limit: String?
        let signsOut: Bool
        let csrf: String
        let notice: String?
        let live: String?
        let reload: String?
        let style = ConsoleAssets.style
        let script = ConsoleAssets.script
    }

    private let library: TemplateLibrary
    private let entries: [(page: ConsolePage, entry: ConsolePage.Entry)]

    init(_ pages: [ConsolePage], templates: [String: [UInt8]]) throws {
        library = try Templates.library(with: templates)
        entries = pages.compactMap { page in page.entry.map { (page, $0) } }
            .sorted { ($0.1.order, $0.1.title) < ($1.1.order, $1.1.title) }
    }

    /// Returns the path of the first page in the navigation that the operator may open.
    func firstPath(for viewer: ConsoleViewer) -> String? {
        entries.first { $0.page.isOpen(to: viewer) }?.page.path
    }

    /// Returns `nil` when there is no template of this name.
    func render(_ template: String, _ values: Any, as page: Page) -> [UInt8]? {
        guard let content = library.render(template, values) else { return nil }
        let links = page.viewer.map { self.links(for: $0, at: page.path) } ?? []
        var limit: String?
        if case .only(let apps)? = page.viewer?.scope {
            limit = apps.map(\.rawValue).sorted().joined(separator: ", ")
        }
        let frame = Values(
            title: page.title, content: content, links: links, viewer: page.viewer?.name, limit: limit,
            signsOut: page.viewer.map { !$0.isDevelopment } ?? false, csrf: page.viewer?.formToken ?? "",
            notice: page.notice, live: page.live, reload: page.reload.map { "\($0)" })
        return library.render("frame", frame).map { Array($0.utf8) }
    }

    /// Marks the entry with the longest path that leads to the page.
    private func links(for viewer: ConsoleViewer, at path: Substring) -> [Link] {
        let open = entries.filter { $0.page.isOpen(to: viewer) }
        let current = open.filter { Self.leads($0.page.path, to: path) }
            .max { $0.page.path.utf8.count < $1.page.path.utf8.count }?.page.path
        return open.map { page, entry in
            Link(
                title: entry.title, href: ConsoleSite.root + page.path, isCurrent: page.path == current)
        }
    }

    private static func leads(_ entry: String, to path: Substring) -> Bool {
        path == entry || path.hasPrefix(entry.hasSuffix("/") ? entry : entry + "/")
    }
}

extension ConsolePage {
    /// True if the operator may open the page. The others see that there is no such page.
    func isOpen(to viewer: ConsoleViewer) -> Bool {
        switch access {
        case .operators: true
        case .operatorsOfAllApps: viewer.scope == .all
        case .development: viewer.isDevelopment
        }
    }
}
