/// Stands in for the site of whoever tries sign-in on the web and has no site yet: it shows what came back.
struct SitePage {
    /// Parameters of the query.
    let fields: FormFields

    var answer: EndpointAnswer {
        let rows = ["code", "state", "error", "error_description"].compactMap { name in
            fields[name].map { "<tr><td>\(name)</td><td><code>\($0.htmlEscaped)</code></td></tr>" }
        }
        return PageFrame(
            title: "Your site",
            content: """
                <h1>Here your site takes over</h1>
                <p>\(fields["code"] == nil ? "Nobody was signed in." : "Its backend exchanges the code for who that is.")</p>
                \(rows.isEmpty ? "" : "<table>\(rows.joined())</table>")
                """
        ).answer
    }
}
