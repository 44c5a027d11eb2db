import EmulatorServer
import Hummingbird

/// The user's iPhone app after it has received the universal link: the app checks the link and asks for
/// consent.
struct AppPage {
    private let rows: [PageField]
    private let token: String
    private let isFine: Bool
    private let isOtherClient: Bool
    private let isOtherRedirectURI: Bool
    private let errorURL: String

    /// - Parameter token: Token of the form (CSRF).
    init(link: AppFlipLink, app: AppFlipApp, token: String) {
        rows = link.fields.map { PageField($0.name, $0.value) }
        (self.token, errorURL) = (token, link.url(error: "invalid_request"))
        let check = app.check(link)
        (isFine, isOtherClient) = (check == .fine, check == .otherClient)
        isOtherRedirectURI = check == .otherRedirectURI
    }

    var response: Response {
        GooglePage(app: .phone, title: "Your iPhone app", template: "app", values: self).response
    }
}

/// The response to the app's backend, and the URL that the app opens.
struct AppResponsePage {
    private let words: String
    private let body: String
    private let shownURL: String
    private let url: String

    init(redirectTo url: String, backendResponse: ServerClient.Response) {
        words =
            backendResponse.status.map { "The backend's response has status \($0)." }
            ?? "The backend could not be reached, so the app makes the cancelled URL itself."
        body = ShownText.body(backendResponse.body)
        (self.url, shownURL) = (url, ShownText.url(url))
    }

    var response: Response {
        GooglePage(app: .phone, title: "Your iPhone app", template: "return", values: self).response
    }
}

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
