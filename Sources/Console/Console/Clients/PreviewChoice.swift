import AppleAccounts
import AuthorizationServer
import HTTPAPI
import OAuth

/// The page for users that an operator looks at: which, in which language and colors, and how wide.
struct PreviewChoice: Sendable {
    enum Width: String, Sendable, CaseIterable {
        case desktop
        case phone

        /// Pixels of the frame.
        var pixels: Int {
            switch self {
            case .desktop: 760
            case .phone: 390
            }
        }
    }

    let client: OAuthClient
    let pages: [PagePreview.Page]
    let languages: [PageLanguage]
    let page: PagePreview.Page
    let language: PageLanguage
    let scheme: PagePreview.Scheme
    let width: Width

    /// Unknown words count as absent.
    init?(_ query: [String: String], client: OAuthClient, settings: OAuthSettings) {
        let pages = PagePreview.Page.allCases.filter { page in
            PagePreview(page, of: client, settings: settings, language: .english, scheme: .light) != nil
        }
        guard let first = pages.first else { return nil }
        (self.client, self.pages, languages) = (client, pages, settings.languages.all)
        page = pages.first { $0.rawValue == query["page"] } ?? first
        language = settings.languages.all.first { $0.rawValue == query["language"] } ?? .english
        scheme = query["scheme"].flatMap { PagePreview.Scheme(rawValue: $0) } ?? .light
        width = query["width"].flatMap { Width(rawValue: $0) } ?? .desktop
    }
}

/// The choice as the template shows it.
struct PreviewValues: Sendable {
    struct Option: Sendable {
        let value: String
        let isSelected: Bool
    }

    let source: String
    let title: String
    let width: Int
    let pages: [Option]
    let languages: [Option]
    let schemes: [Option]
    let widths: [Option]

    init(_ choice: PreviewChoice) {
        source =
            "/console/clients/\(choice.client.id.rawValue)/preview/\(choice.page.rawValue)"
            + "?language=\(choice.language.rawValue)&scheme=\(choice.scheme.rawValue)"
        title = "The page \(choice.page.rawValue) in \(choice.language.rawValue), \(choice.scheme.rawValue)"
        width = choice.width.pixels
        pages = choice.pages.map { Option(value: $0.rawValue, isSelected: $0 == choice.page) }
        languages = choice.languages.map {
            Option(value: $0.rawValue, isSelected: $0.rawValue == choice.language.rawValue)
        }
        schemes = PagePreview.Scheme.allCases.map {
            Option(value: $0.rawValue, isSelected: $0 == choice.scheme)
        }
        widths = PreviewChoice.Width.allCases.map {
            Option(value: $0.rawValue, isSelected: $0 == choice.width)
        }
    }
}
