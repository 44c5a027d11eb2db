/// Apple's response to the start of a sign-in in a browser, with one client ID.
struct ServicesIDTrial {
    struct Page {
        let status: Int
        let text: String
    }

    let clientID: String
    let returnURL: String
    /// `nil` without a complete response.
    let page: Page?

    /// The error that the page names. Only pages with an error status count, because any other page may
    /// contain the same words.
    private var error: String? {
        ["invalid_client", "unauthorized_client", "invalid_request"].first {
            page?.text.contains($0) ?? false
        }
    }

    var finding: Finding {
        let name = ServicesIDsCheck.name
        guard let page else {
            return .note(
                name, "Apple's page did not answer for \(clientID)", advice: "Run siwa doctor again later.")
        }
        switch (page.status, error) {
        case (200..<400, nil):
            return .good(name, "Apple's page takes \(clientID) with \(returnURL)")
        case (400..<500, "invalid_request"):
            return .wrong(
                name, "Apple's page refuses the return URL \(returnURL) for \(clientID) (invalid_request)",
                advice: "Register exactly this URL as a Return URL of the Services ID at developer.apple.com "
                    + "(Identifiers, Services IDs), or correct SIWA_PUBLIC_URL.")
        case (400..<500, let error?):
            return .wrong(
                name,
                "Apple's page refuses \(clientID) (\(error)), so nobody can sign in with it in a browser",
                advice:
                    "It is a bundle ID, is misspelled, or has no Sign in with Apple. Write the Services IDs of the "
                    + "app into services_ids of the file, or APPLE_SERVICES_IDS.")
        case (_, let error):
            return .note(
                name,
                "Apple's page answered \(page.status) for \(clientID)"
                    + (error.map { " and contains the word \($0)" } ?? ""),
                advice: "Open the page of web sign-in in a browser and see whether Apple asks for an account."
            )
        }
    }
}
