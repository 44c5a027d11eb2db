import Hummingbird

/// A refusal, for a browser.
struct ErrorPage {
    let error: GoogleEmulatorError

    var response: Response {
        GooglePage(
            app: .google, title: "Not possible",
            content: """
                <h1>This is not possible</h1>
                <section><p><code>\(error.code.rawValue)</code></p><p>\(error.detail.escapedForHTML)</p>
                <a class="button" href="/">Back</a></section>
                """, status: error.code.status
        ).response
    }
}
