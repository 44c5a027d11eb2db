import HTTPAPI

/// Values of the page that says what codes mean. Requests lead to its rows.
struct CodeList: Sendable {
    struct Group: Sendable {
        let id: String
        let title: String
        let page: String
        let rows: [Row]
    }

    struct Row: Sendable {
        /// The anchor on the page.
        let id: String
        let code: String
        let status: Int?
        let sentence: String
        let page: DocumentationPlace
    }

    private static let problems = "code"
    private static let reasons = "reason"

    let groups: [Group]

    init() {
        func rows(_ codes: [ExplainedCode], _ kind: String) -> [Row] {
            codes.map {
                Row(
                    id: "\(kind)-\($0.code)", code: $0.code, status: $0.status, sentence: $0.sentence,
                    page: $0.place)
            }
        }
        groups = [
            Group(
                id: "errors", title: "Errors of the interface", page: "docs/api.md",
                rows: rows(ExplainedCode.problems, Self.problems)),
            Group(
                id: "reasons", title: "Reasons of refused token requests", page: "docs/oauth.md",
                rows: rows(ExplainedCode.reasons, Self.reasons)),
            Group(
                id: "oauth", title: "Errors of OAuth without a reason", page: "docs/oauth.md",
                rows: rows(
                    // A code that is also one of the interface has its row there.
                    ExplainedCode.oauth.filter { code in
                        !ExplainedCode.problems.contains { $0.code == code.code }
                    }, Self.problems)),
        ]
    }

    /// The place that explains the code of a request.
    static func place(of request: RecentRequest) -> DocumentationPlace {
        if request.reason != nil { return .tokenRequest }
        return ProblemType.all.first { $0.code == request.code }?.place ?? .errors
    }

    /// The link to the row of a request's code; `nil` for a request without one that is listed.
    static func link(for request: RecentRequest) -> String? {
        if let reason = request.reason, ExplainedCode.reasons.contains(where: { $0.code == reason }) {
            return "/console/codes#\(reasons)-\(reason)"
        }
        let listed = ExplainedCode.problems + ExplainedCode.oauth
        guard let code = request.code, listed.contains(where: { $0.code == code }) else { return nil }
        return "/console/codes#\(problems)-\(code)"
    }
}
