import EmulatorServer
import Encodings
import Hummingbird

/// Shows the URL that Google opens, with its parameters, and opens it.
struct OpenPage {
    let start: LinkStart

    var response: Response {
        let isAppFlip = start.begun.mode == .appFlip
        return GooglePage(
            app: .google, title: "Link",
            content: """
                <h1>\(isAppFlip ? "Google opens your app" : "Google opens the authorization URL")</h1>
                <section>
                <pre>\(ShownText.url(start.url).htmlEscaped)</pre>
                <p>\(isAppFlip
                    ? "On an iPhone this is a universal link. Here it opens a page that plays your app."
                    : "The user signs in and agrees there. The response comes back to redirect_uri with the same state.")</p>
                <div class="row"><a class="button main" rel="noreferrer" href="\(start.url.htmlEscaped)">Continue</a>
                <a class="button" href="/">Cancel</a></div>
                </section>
                """
        ).response
    }
}

/// A refusal, for a browser.
struct ErrorPage {
    let error: EmulatorError

    var response: Response {
        GooglePage(
            app: .google, title: "Not possible",
            content: """
                <h1>This is not possible</h1>
                <section><p><code>\(error.code.name)</code></p><p>\(error.detail.htmlEscaped)</p>
                <a class="button" href="/">Back</a></section>
                """, status: error.code.status
        ).response
    }
}
