import EmulatorServer
import Hummingbird

/// Shows the URL that Google opens, with its parameters, and opens it.
struct OpenPage {
    private let isAppFlip: Bool
    private let url: String
    private let shownURL: String

    init(start: LinkStart) {
        (isAppFlip, url) = (start.begun.mode == .appFlip, start.url)
        shownURL = ShownText.url(start.url)
    }

    var response: Response {
        GooglePage(app: .google, title: "Link", template: "open", values: self).response
    }
}
