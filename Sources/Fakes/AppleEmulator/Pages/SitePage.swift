import EmulatorServer

/// A page in place of the developer's own site, which shows the result of sign-in on the web.
struct SitePage {
    private let hasCode: Bool
    private let rows: [PageField]

    /// - Parameter fields: The query parameters.
    init(fields: FormFields) {
        hasCode = fields["code"] != nil
        rows = ["code", "state", "error", "error_description"].compactMap { name in
            fields[name].map { PageField(name, $0) }
        }
    }

    var response: EndpointResponse {
        PageFrame(title: "Your site", template: "site", values: self).response
    }
}
