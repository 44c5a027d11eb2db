import Encodings

/// A page in place of the developer's own site, which shows the result of sign-in on the web.
struct SitePage {
    /// The query parameters.
    let fields: FormFields

    var response: EndpointResponse {
        let rows = ["code", "state", "error", "error_description"].compactMap { name in
            fields[name].map { "<tr><td>\(name)</td><td><code>\($0.htmlEscaped)</code></td></tr>" }
        }
        return PageFrame(
            title: "Your site",
            content: """
                <h1>This page is your site</h1>
                <p>\(fields["code"] == nil ? "No user has signed in." : "The backend of your site exchanges this code for the user.")</p>
                \(rows.isEmpty ? "" : "<table>\(rows.joined())</table>")
                """
        ).response
    }
}
